package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/portal"
)

// InsertGrant stores what an approval gave and returns its place in the order of
// all grants.
func (t *tx) InsertGrant(ctx context.Context, g portal.GrantRow) (int64, error) {
	var seq int64
	err := t.get(ctx, &seq, "", `
		INSERT INTO grant_line (id, request_id, digest, project_id, environment, pool_id, kind, asked, amount, starts_at, ends_at, made_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING seq`,
		g.ID, g.RequestID, g.Digest, g.ProjectID, g.Environment, g.PoolID, g.Kind, g.Asked.String(), g.Amount.String(), g.Start, g.End, g.MadeAt)
	if err != nil {
		return 0, fmt.Errorf("insert grant: %w", err)
	}
	return seq, nil
}

// EndGrant records that a grant ended otherwise than by its own end. The first
// end counts: a second one changes nothing.
func (t *tx) EndGrant(ctx context.Context, grantID, cause string, at time.Time) error {
	_, err := t.exec(ctx, `INSERT INTO grant_end (grant_id, at, cause) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, grantID, at.Truncate(time.Microsecond), cause) // as its entry writes it, where PostgreSQL would round
	if err != nil {
		return fmt.Errorf("end grant: %w", err)
	}
	return nil
}

// StartGrant marks that a grant's own start was handled; first is false if it was before.
func (t *tx) StartGrant(ctx context.Context, grantID string, at time.Time) (first bool, err error) {
	n, err := t.exec(ctx, `INSERT INTO grant_start (grant_id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, grantID, at)
	if err != nil {
		return false, fmt.Errorf("start grant: %w", err)
	}
	return n == 1, nil
}
