package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

type grantRow struct {
	ID          string          `db:"id"`
	Seq         int64           `db:"seq"`
	RequestID   string          `db:"request_id"`
	Digest      string          `db:"digest"`
	ProjectID   string          `db:"project_id"`
	Environment string          `db:"environment"`
	PoolID      string          `db:"pool_id"`
	Kind        fleet.GrantKind `db:"kind"`
	Asked       quantity        `db:"asked"`
	Amount      quantity        `db:"amount"`
	StartsAt    *time.Time      `db:"starts_at"`
	EndsAt      *time.Time      `db:"ends_at"`
	MadeAt      time.Time       `db:"made_at"`
	EndedAt     *time.Time      `db:"ended_at"`
	EndCause    string          `db:"end_cause"`
}

func (g grantRow) toDomain() portal.GrantRow {
	return portal.GrantRow{
		Grant: fleet.Grant{ID: g.ID, RequestID: g.RequestID, Seq: g.Seq, PoolID: g.PoolID, Kind: g.Kind, Amount: g.Amount.Quantity,
			Start: utc(g.StartsAt), End: utc(g.EndsAt), Revoked: utc(g.EndedAt)},
		ProjectID: g.ProjectID, Environment: g.Environment, Asked: g.Asked.Quantity, Digest: g.Digest, MadeAt: g.MadeAt.UTC(), EndCause: g.EndCause}
}

const grantColumns = `
	SELECT g.id, g.seq, g.request_id, g.digest, g.project_id, g.environment, g.pool_id, g.kind, g.asked, g.amount, g.starts_at, g.ends_at, g.made_at,
	       e.at AS ended_at, coalesce(e.cause, '') AS end_cause
	`

const selectGrant = grantColumns + `FROM grant_line g LEFT JOIN grant_end e ON e.grant_id = g.id `

// GrantsOfRequest in the order in which they were made.
func (r reader) GrantsOfRequest(ctx context.Context, requestID string) ([]portal.GrantRow, error) {
	if !isID(requestID) {
		return nil, fault.New(fault.NotFound, noRequest)
	}
	return r.grants(ctx, selectGrant+`WHERE g.request_id = $1 ORDER BY g.seq`, requestID)
}

// GrantsOfPlace are all ever made for a project and environment, oldest first.
func (r reader) GrantsOfPlace(ctx context.Context, projectID, environment string) ([]portal.GrantRow, error) {
	return r.grants(ctx, selectGrant+`WHERE g.project_id = $1 AND g.environment = $2 ORDER BY g.seq`, projectID, environment)
}

// GrantsStanding are those of projects that did not end before at, oldest first.
func (r reader) GrantsStanding(ctx context.Context, projectIDs []string, at time.Time) ([]portal.GrantRow, error) {
	// Each grant's end is looked up by itself: a join would read all ends there are.
	return r.grants(ctx, grantColumns+`FROM grant_line g LEFT JOIN LATERAL (SELECT x.at, x.cause FROM grant_end x WHERE x.grant_id = g.id OFFSET 0) e ON true
		WHERE g.project_id = ANY($1) AND (g.ends_at IS NULL OR g.ends_at > $2) AND (e.at IS NULL OR e.at > $2) ORDER BY g.seq`, pq.Array(projectIDs), at)
}

func (r reader) grants(ctx context.Context, query string, args ...any) ([]portal.GrantRow, error) {
	var rows []grantRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load grants: %w", err)
	}
	out := make([]portal.GrantRow, 0, len(rows))
	for _, g := range rows {
		out = append(out, g.toDomain())
	}
	return out, nil
}

// GrantsDue are the places where a grant starts or ends by itself in (after, until]
// and no tick handled it. A start before the grant was made is none: the decision itself
// was followed by a change. What was ended otherwise says nothing any more.
func (r reader) GrantsDue(ctx context.Context, after, until time.Time) ([]portal.PlaceKey, error) {
	var rows []struct {
		ProjectID   string `db:"project_id"`
		Environment string `db:"environment"`
	}
	err := r.all(ctx, &rows, `
		SELECT g.project_id, g.environment FROM grant_line g LEFT JOIN grant_end e ON e.grant_id = g.id
		WHERE g.starts_at > $1 AND g.starts_at <= $2 AND g.starts_at > g.made_at AND (e.at IS NULL OR e.at > g.starts_at)
		  AND NOT EXISTS (SELECT FROM grant_start s WHERE s.grant_id = g.id)
		UNION
		SELECT g.project_id, g.environment FROM grant_line g
		WHERE g.ends_at > $1 AND g.ends_at <= $2 AND NOT EXISTS (SELECT FROM grant_end e WHERE e.grant_id = g.id)
		ORDER BY project_id, environment`, after, until)
	if err != nil {
		return nil, fmt.Errorf("load due grants: %w", err)
	}
	out := make([]portal.PlaceKey, 0, len(rows))
	for _, p := range rows {
		out = append(out, portal.PlaceKey(p))
	}
	return out, nil
}
