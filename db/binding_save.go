package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fleet"
)

// InsertBinding stores which objects carry the limits of a project and environment.
func (t *tx) InsertBinding(ctx context.Context, b fleet.Binding) error {
	_, err := t.exec(ctx, `
		INSERT INTO binding (id, project_id, environment, cluster_id, namespace, local_queue, cluster_queue, cohort, root_cohort, resource_quota, account, adopted)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		b.ID, b.ProjectID, b.Environment, b.ClusterID, b.Namespace, b.LocalQueue, b.ClusterQueue, b.Cohort, b.RootCohort, b.ResourceQuota, b.Account, b.Adopted)
	if err != nil {
		return fmt.Errorf("insert binding: %w", err)
	}
	return nil
}

// InsertBaseline records the limits that a pool of a binding starts from. The
// ceiling belongs to the pool, not to the baseline.
func (t *tx) InsertBaseline(ctx context.Context, bindingID, poolID string, base fleet.Base, at time.Time) error {
	_, err := t.exec(ctx, `INSERT INTO baseline (binding_id, pool_id, nominal, borrowing, lending, at) VALUES ($1, $2, $3, $4, $5, $6)`,
		bindingID, poolID, base.Nominal.String(), boundText(base.Borrowing), boundText(base.Lending), at)
	if err != nil {
		return fmt.Errorf("insert baseline: %w", err)
	}
	return nil
}
