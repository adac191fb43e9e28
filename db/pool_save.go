package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// UpsertPool stores what the organisation says of a pool; what was observed stays.
func (t *tx) UpsertPool(ctx context.Context, p org.Pool) error {
	if err := t.upsertPools(ctx, []org.Pool{p}); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	return nil
}

type poolRecord struct {
	ID            string          `json:"id"`
	ClusterID     string          `json:"cluster_id"`
	Flavor        string          `json:"flavor"`
	Resource      string          `json:"resource"`
	Name          string          `json:"name"`
	Tier          string          `json:"tier"`
	HourlyCents   int64           `json:"hourly_cents"`
	Currency      string          `json:"currency"`
	BorrowCeiling *fleet.Quantity `json:"borrow_ceiling"`
	CPUPerUnit    fleet.Quantity  `json:"cpu_per_unit"`
	MemoryPerUnit fleet.Quantity  `json:"memory_per_unit"`
	DataClasses   []string        `json:"data_classes"`
}

func (t *tx) upsertPools(ctx context.Context, pools []org.Pool) error {
	rows := make([]poolRecord, 0, len(pools))
	for _, p := range pools {
		if p.Currency == "" {
			p.Currency = "EUR"
		}
		rows = append(rows, poolRecord{p.ID, p.ClusterID, p.Key.Flavor, p.Key.Resource, p.Name, p.Tier, p.HourlyCents, p.Currency,
			p.BorrowCeiling, p.CPUPerUnit, p.MemoryPerUnit, notNil(p.DataClasses)})
	}
	_, err := t.exec(ctx, `
		INSERT INTO pool (id, cluster_id, flavor, resource, name, tier, hourly_cents, currency, borrow_ceiling, cpu_per_unit, memory_per_unit, data_classes)
		SELECT x.id, x.cluster_id, x.flavor, x.resource, x.name, x.tier, x.hourly_cents, x.currency, x.borrow_ceiling, x.cpu_per_unit, x.memory_per_unit, x.data_classes
		FROM jsonb_to_recordset($1) AS x (id text, cluster_id text, flavor text, resource text, name text, tier text, hourly_cents bigint,
			currency text, borrow_ceiling text, cpu_per_unit text, memory_per_unit text, data_classes text[])
		ON CONFLICT (id) DO UPDATE SET cluster_id = EXCLUDED.cluster_id, flavor = EXCLUDED.flavor, resource = EXCLUDED.resource,
			name = EXCLUDED.name, tier = EXCLUDED.tier, hourly_cents = EXCLUDED.hourly_cents, currency = EXCLUDED.currency,
			borrow_ceiling = EXCLUDED.borrow_ceiling, cpu_per_unit = EXCLUDED.cpu_per_unit, memory_per_unit = EXCLUDED.memory_per_unit,
			data_classes = EXCLUDED.data_classes`, jsonOf(rows))
	return err
}

type observedPool struct {
	Flavor   string        `json:"flavor"`
	Resource string        `json:"resource"`
	Unit     fleet.Unit    `json:"unit"`
	Product  string        `json:"product"`
	Capacity fleet.Measure `json:"capacity"`
	Cards    fleet.Measure `json:"cards"`
	Nodes    int           `json:"nodes"`
	Notes    []string      `json:"notes"`
}

// observePools keeps what a discovery or poll saw of the cluster's pools. A pool
// that it did not see keeps its last figures with their time.
func (t *tx) observePools(ctx context.Context, clusterID string, pools []fleet.Pool, at time.Time) error {
	rows := make([]observedPool, 0, len(pools))
	for _, p := range pools {
		rows = append(rows, observedPool{p.Key.Flavor, p.Key.Resource, p.Unit, p.Product, p.Capacity, p.Cards, p.Nodes, notNil(p.Notes)})
	}
	_, err := t.exec(ctx, `
		UPDATE pool AS p SET unit = coalesce(nullif(x.unit, ''), p.unit), product = x.product, capacity = x.capacity, cards = x.cards,
			nodes = x.nodes, notes = x.notes, observed_at = $3
		FROM jsonb_to_recordset($2) AS x (flavor text, resource text, unit text, product text, capacity text, cards text, nodes int, notes text[])
		WHERE p.cluster_id = $1 AND p.flavor = x.flavor AND p.resource = x.resource AND (p.observed_at IS NULL OR p.observed_at <= $3)`,
		clusterID, jsonOf(rows), at)
	return err
}
