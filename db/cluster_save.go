package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

// InsertCluster connects a cluster. One that the organisation only named so far
// is filled in; one that is connected already is a Conflict.
func (t *tx) InsertCluster(ctx context.Context, c portal.Cluster, ca string, tokenSealed []byte) error {
	if c.Mode == "" {
		c.Mode = fleet.Observe
	}
	var createdAt *time.Time
	if !c.CreatedAt.IsZero() {
		createdAt = &c.CreatedAt
	}
	n, err := t.exec(ctx, `
		INSERT INTO cluster AS c (id, name, kind, mode, paused, server, ca, token_sealed, token_set_at, root_cohort, discovery, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, now()))
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, kind = EXCLUDED.kind, mode = EXCLUDED.mode, paused = EXCLUDED.paused,
			server = EXCLUDED.server, ca = EXCLUDED.ca, token_sealed = EXCLUDED.token_sealed, token_set_at = EXCLUDED.token_set_at,
			root_cohort = EXCLUDED.root_cohort, discovery = EXCLUDED.discovery
		WHERE c.server = '' AND c.token_sealed IS NULL`,
		c.ID, c.Name, c.Kind, c.Mode, c.Paused, c.Server, ca, tokenSealed, c.TokenSetAt, c.RootCohort, document[fleet.Discovery]{c.Discovery}, createdAt)
	if err == nil && n == 0 {
		err = fault.Newf(fault.Conflict, "A cluster with the id %s is connected already.", c.ID)
	}
	if err != nil {
		return fmt.Errorf("insert cluster: %w", err)
	}
	return nil
}

// SaveClusterMode stores what may be written on a cluster.
func (t *tx) SaveClusterMode(ctx context.Context, id string, mode fleet.Mode, paused bool) error {
	if err := t.one(ctx, noCluster, `UPDATE cluster SET mode = $2, paused = $3 WHERE id = $1`, id, mode, paused); err != nil {
		return fmt.Errorf("save cluster mode: %w", err)
	}
	return nil
}

// SaveDiscovery stores what a test of the connection found, its pools included.
func (t *tx) SaveDiscovery(ctx context.Context, id string, d fleet.Discovery) error {
	if err := t.one(ctx, noCluster, `UPDATE cluster SET discovery = $2 WHERE id = $1`, id, jsonOf(d)); err != nil {
		return fmt.Errorf("save discovery: %w", err)
	}
	if err := t.observePools(ctx, id, d.Pools, d.At); err != nil {
		return fmt.Errorf("save discovered pools: %w", err)
	}
	return nil
}
