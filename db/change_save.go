package db

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

// InsertChange stores the work of making limits true and returns its place in
// the order of all changes.
func (t *tx) InsertChange(ctx context.Context, c portal.Change) (int64, error) {
	var seq int64
	err := t.get(ctx, &seq, "", `
		INSERT INTO change (id, binding_id, cluster_id, request_id, cause, state, takeover, expected, plan, receipt, readback, problem, created_at, applied_at, verified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING seq`,
		c.ID, c.BindingID, c.ClusterID, orNull(c.RequestID), c.Cause, c.State, c.Takeover, expectedOf(c), document[fleet.Plan]{c.Plan},
		document[fleet.Receipt]{c.Receipt}, document[fleet.ReadBack]{c.ReadBack}, c.Problem, c.CreatedAt, c.AppliedAt, c.VerifiedAt)
	if err != nil {
		return 0, fmt.Errorf("insert change: %w", err)
	}
	return seq, nil
}

// SaveChange writes where a change stands. Lock it with ChangeForUpdate first.
func (t *tx) SaveChange(ctx context.Context, c portal.Change) error {
	err := t.one(ctx, noChange, `
		UPDATE change SET state = $2, takeover = $3, expected = $4, plan = $5, receipt = $6, readback = $7, problem = $8, applied_at = $9, verified_at = $10
		WHERE id = $1`, c.ID, c.State, c.Takeover, expectedOf(c), document[fleet.Plan]{c.Plan}, document[fleet.Receipt]{c.Receipt},
		document[fleet.ReadBack]{c.ReadBack}, c.Problem, c.AppliedAt, c.VerifiedAt)
	if err != nil {
		return fmt.Errorf("save change: %w", err)
	}
	return nil
}

// SupersedeOlder ends the open changes of a binding before seq, so that an older
// one never lands after a newer one.
func (t *tx) SupersedeOlder(ctx context.Context, bindingID string, seq int64) ([]portal.Change, error) {
	return t.changes(ctx, `
		WITH older AS (
			UPDATE change AS c SET state = 'superseded'
			WHERE c.binding_id = $1 AND c.seq < $2 AND c.state IN ('planned', 'held', 'waiting', 'applying', 'applied')
			RETURNING c.*
		)
		SELECT `+changeColumns+` FROM older c ORDER BY c.seq`, bindingID, seq)
}

// ReleaseChanges makes changes of a cluster planned again that stand in one of
// from; their ids, oldest first.
func (t *tx) ReleaseChanges(ctx context.Context, clusterID string, from []portal.ChangeState) ([]string, error) {
	ids := []string{}
	err := t.all(ctx, &ids, `
		WITH released AS (
			UPDATE change AS c SET state = 'planned', problem = ''
			WHERE c.cluster_id = $1 AND c.state = ANY($2) RETURNING c.id, c.seq
		)
		SELECT r.id FROM released r ORDER BY r.seq`, clusterID, pq.Array(from))
	if err != nil {
		return nil, fmt.Errorf("release changes: %w", err)
	}
	return ids, nil
}

func expectedOf(c portal.Change) document[[]fleet.Limit] {
	if c.Expected == nil {
		return jsonOf([]fleet.Limit{})
	}
	return jsonOf(c.Expected)
}
