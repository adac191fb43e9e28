package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

const noChange = "There is no such change."

type changeRow struct {
	ID         string                   `db:"id"`
	Seq        int64                    `db:"seq"`
	BindingID  string                   `db:"binding_id"`
	ClusterID  string                   `db:"cluster_id"`
	RequestID  string                   `db:"request_id"`
	Cause      string                   `db:"cause"`
	State      portal.ChangeState       `db:"state"`
	Takeover   bool                     `db:"takeover"`
	Expected   document[[]fleet.Limit]  `db:"expected"`
	Plan       document[fleet.Plan]     `db:"plan"`
	Receipt    document[fleet.Receipt]  `db:"receipt"`
	ReadBack   document[fleet.ReadBack] `db:"readback"`
	Problem    string                   `db:"problem"`
	CreatedAt  time.Time                `db:"created_at"`
	AppliedAt  *time.Time               `db:"applied_at"`
	VerifiedAt *time.Time               `db:"verified_at"`
}

func (c changeRow) toDomain() portal.Change {
	return portal.Change{ID: c.ID, Seq: c.Seq, BindingID: c.BindingID, ClusterID: c.ClusterID, RequestID: c.RequestID, Cause: c.Cause, State: c.State,
		Takeover: c.Takeover, Expected: *c.Expected.Doc, Plan: c.Plan.Doc, Receipt: c.Receipt.Doc, ReadBack: c.ReadBack.Doc, Problem: c.Problem,
		CreatedAt: c.CreatedAt.UTC(), AppliedAt: utc(c.AppliedAt), VerifiedAt: utc(c.VerifiedAt)}
}

const (
	changeColumns = `c.id, c.seq, c.binding_id, c.cluster_id, coalesce(c.request_id::text, '') AS request_id, c.cause, c.state, c.takeover, c.expected,
		c.plan, c.receipt, c.readback, c.problem, c.created_at, c.applied_at, c.verified_at`
	selectChange = `SELECT ` + changeColumns + ` FROM change c `
)

// ChangesOfRequest oldest first.
func (r reader) ChangesOfRequest(ctx context.Context, requestID string) ([]portal.Change, error) {
	if !isID(requestID) {
		return nil, fault.New(fault.NotFound, noRequest)
	}
	return r.changes(ctx, selectChange+`WHERE c.request_id = $1 ORDER BY c.seq`, requestID)
}

// Change by id.
func (r reader) Change(ctx context.Context, id string) (portal.Change, error) {
	return r.change(ctx, id, selectChange+`WHERE c.id = $1`)
}

// ChangeForUpdate locks the change until the transaction ends.
func (t *tx) ChangeForUpdate(ctx context.Context, id string) (portal.Change, error) {
	return t.change(ctx, id, selectChange+`WHERE c.id = $1 FOR UPDATE`)
}

// OpenChanges of a cluster are those that still have to come true, oldest first.
func (r reader) OpenChanges(ctx context.Context, clusterID string) ([]portal.Change, error) {
	return r.changes(ctx, selectChange+`
		WHERE c.cluster_id = $1 AND c.state IN ('planned', 'held', 'waiting', 'applying', 'applied') ORDER BY c.seq`, clusterID)
}

// StoppedChanges of a cluster that no newer change of their binding overtook, oldest first.
func (r reader) StoppedChanges(ctx context.Context, clusterID string) ([]portal.Change, error) {
	return r.changes(ctx, selectChange+`
		WHERE c.cluster_id = $1 AND c.state = 'stopped'
		  AND NOT EXISTS (SELECT FROM change n WHERE n.binding_id = c.binding_id AND n.seq > c.seq) ORDER BY c.seq`, clusterID)
}

// ChangesOfBinding newest first.
func (r reader) ChangesOfBinding(ctx context.Context, bindingID string, limit int) ([]portal.Change, error) {
	if !isID(bindingID) {
		return nil, fault.New(fault.NotFound, noBinding)
	}
	return r.changes(ctx, selectChange+`WHERE c.binding_id = $1 ORDER BY c.seq DESC LIMIT $2`, bindingID, pageSize(limit))
}

// ChangeCounts by cluster: open changes, and stopped ones that nothing overtook.
func (r reader) ChangeCounts(ctx context.Context) (map[string]portal.ChangeCount, error) {
	var rows []struct {
		ClusterID string `db:"cluster_id"`
		Open      int    `db:"open"`
		Stopped   int    `db:"stopped"`
	}
	err := r.all(ctx, &rows, `
		SELECT x.cluster_id, sum(x.open) AS open, sum(x.stopped) AS stopped FROM (
			SELECT c.cluster_id, count(*) AS open, 0 AS stopped FROM change c
			WHERE c.state IN ('planned', 'held', 'waiting', 'applying', 'applied') GROUP BY c.cluster_id
			UNION ALL
			SELECT c.cluster_id, 0, count(*) FROM change c
			WHERE c.state = 'stopped' AND NOT EXISTS (SELECT FROM change n WHERE n.binding_id = c.binding_id AND n.seq > c.seq) GROUP BY c.cluster_id
		) x GROUP BY x.cluster_id`)
	if err != nil {
		return nil, fmt.Errorf("count changes: %w", err)
	}
	out := make(map[string]portal.ChangeCount, len(rows))
	for _, c := range rows {
		out[c.ClusterID] = portal.ChangeCount{Open: c.Open, Stopped: c.Stopped}
	}
	return out, nil
}

func (r reader) change(ctx context.Context, id, query string) (portal.Change, error) {
	if !isID(id) {
		return portal.Change{}, fault.New(fault.NotFound, noChange)
	}
	var row changeRow
	if err := r.get(ctx, &row, noChange, query, id); err != nil {
		return portal.Change{}, fmt.Errorf("load change: %w", err)
	}
	return row.toDomain(), nil
}

func (r reader) changes(ctx context.Context, query string, args ...any) ([]portal.Change, error) {
	var rows []changeRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load changes: %w", err)
	}
	return changesOf(rows), nil
}

func changesOf(rows []changeRow) []portal.Change {
	out := make([]portal.Change, 0, len(rows))
	for _, c := range rows {
		out = append(out, c.toDomain())
	}
	return out
}
