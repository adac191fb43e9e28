package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

type poolRow struct {
	ID            string         `db:"id"`
	ClusterID     string         `db:"cluster_id"`
	Flavor        string         `db:"flavor"`
	Resource      string         `db:"resource"`
	Name          string         `db:"name"`
	Tier          string         `db:"tier"`
	HourlyCents   int64          `db:"hourly_cents"`
	Currency      string         `db:"currency"`
	BorrowCeiling bound          `db:"borrow_ceiling"`
	CPUPerUnit    quantity       `db:"cpu_per_unit"`
	MemoryPerUnit quantity       `db:"memory_per_unit"`
	DataClasses   pq.StringArray `db:"data_classes"`
	Unit          fleet.Unit     `db:"unit"`
	Product       string         `db:"product"`
	Capacity      measure        `db:"capacity"`
	Cards         measure        `db:"cards"`
	Nodes         *int           `db:"nodes"`
	Notes         pq.StringArray `db:"notes"`
	Nominal       measure        `db:"nominal"`
	Reserved      measure        `db:"reserved"`
	InUse         measure        `db:"in_use"`
	Borrowed      measure        `db:"borrowed"`
	Pending       measure        `db:"pending"`
	ObservedAt    *time.Time     `db:"observed_at"`
	ClusterName   string         `db:"cluster_name"`
	ClusterKind   fleet.Kind     `db:"cluster_kind"`
	Stale         bool           `db:"stale"`
}

func (p poolRow) toDomain() portal.PoolState {
	return portal.PoolState{
		Pool: org.Pool{ID: p.ID, ClusterID: p.ClusterID, Name: p.Name, Key: fleet.PoolKey{Flavor: p.Flavor, Resource: p.Resource},
			Tier: p.Tier, HourlyCents: p.HourlyCents, Currency: p.Currency, BorrowCeiling: p.BorrowCeiling.limit,
			CPUPerUnit: p.CPUPerUnit.Quantity, MemoryPerUnit: p.MemoryPerUnit.Quantity, DataClasses: p.DataClasses},
		ClusterName: p.ClusterName, ClusterKind: p.ClusterKind, Unit: p.Unit, Product: p.Product,
		Capacity: p.Capacity.Measure, Cards: p.Cards.Measure, Nodes: p.Nodes, Notes: p.Notes, ObservedAt: utc(p.ObservedAt),
		Nominal: p.Nominal.Measure, Reserved: p.Reserved.Measure, InUse: p.InUse.Measure, Borrowed: p.Borrowed.Measure,
		Pending: p.Pending.Measure, Stale: p.Stale,
	}
}

const selectPool = `
	SELECT p.id, p.cluster_id, p.flavor, p.resource, p.name, p.tier, p.hourly_cents, p.currency, p.borrow_ceiling,
	       p.cpu_per_unit, p.memory_per_unit, p.data_classes, p.unit, p.product, p.capacity, p.cards, p.nodes, p.notes,
	       p.nominal, p.reserved, p.in_use, p.borrowed, p.pending, p.observed_at,
	       c.name AS cluster_name, c.kind AS cluster_kind, c.last_problem <> '' AS stale
	FROM pool p JOIN cluster c ON c.id = p.cluster_id `

// Pools by cluster and name.
func (r reader) Pools(ctx context.Context) ([]portal.PoolState, error) {
	var rows []poolRow
	if err := r.all(ctx, &rows, selectPool+poolOrder); err != nil {
		return nil, fmt.Errorf("load pools: %w", err)
	}
	return poolStates(rows), nil
}

const poolOrder = `ORDER BY c.name, c.id, p.name, p.id`

// PoolsNear by cluster and name.
func (r reader) PoolsNear(ctx context.Context, q portal.PoolQuery) ([]portal.PoolState, error) {
	var rows []poolRow
	err := r.all(ctx, &rows, selectPool+`
		WHERE p.cluster_id = ANY(ARRAY(
			SELECT unnest($1::text[])
			UNION SELECT x.cluster_id FROM pool x WHERE x.id = ANY($2)
			UNION SELECT b.cluster_id FROM binding b WHERE b.project_id = $3 AND ($4 = '' OR b.environment = $4)
			UNION SELECT x.cluster_id FROM pool x WHERE x.id IN (SELECT g.pool_id FROM grant_line g WHERE g.project_id = $3 AND ($4 = '' OR g.environment = $4))))
		`+poolOrder, pq.Array(q.ClusterIDs), pq.Array(q.PoolIDs), q.ProjectID, q.Environment)
	if err != nil {
		return nil, fmt.Errorf("load pools: %w", err)
	}
	return poolStates(rows), nil
}

func poolStates(rows []poolRow) []portal.PoolState {
	out := make([]portal.PoolState, 0, len(rows))
	for _, p := range rows {
		out = append(out, p.toDomain())
	}
	return out
}

// Pool by id.
func (r reader) Pool(ctx context.Context, id string) (portal.PoolState, error) {
	var row poolRow
	if err := r.get(ctx, &row, "There is no such pool.", selectPool+`WHERE p.id = $1`, id); err != nil {
		return portal.PoolState{}, fmt.Errorf("load pool: %w", err)
	}
	return row.toDomain(), nil
}
