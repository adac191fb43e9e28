package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

type usageRow struct {
	bindingRow
	PoolID         string    `db:"usage_pool"`
	PoolName       string    `db:"pool_name"`
	Resource       string    `db:"resource"`
	Nominal        measure   `db:"nominal"`
	Borrowing      bound     `db:"borrowing"`
	BorrowingKnown bool      `db:"borrowing_known"`
	Reserved       measure   `db:"reserved"`
	InUse          measure   `db:"in_use"`
	Borrowed       measure   `db:"borrowed"`
	Pending        *int64    `db:"pending"`
	PendingAmount  measure   `db:"pending_amount"`
	Active         *bool     `db:"active"`
	InactiveReason string    `db:"inactive_reason"`
	At             time.Time `db:"at"`
	Stale          bool      `db:"stale"`
}

func (u usageRow) toDomain() portal.UsageRow {
	row := portal.UsageRow{Binding: u.bindingRow.toDomain(), PoolID: u.PoolID, PoolName: u.PoolName, Resource: u.Resource,
		Nominal: u.Nominal.Measure, Borrowing: u.Borrowing.limit, BorrowingKnown: u.BorrowingKnown, Reserved: u.Reserved.Measure,
		InUse: u.InUse.Measure, Borrowed: u.Borrowed.Measure, PendingAmount: u.PendingAmount.Measure, Active: u.Active,
		InactiveReason: u.InactiveReason, At: u.At.UTC(), Stale: u.Stale}
	if u.Pending != nil {
		row.Pending = fleet.Known(fleet.Count(*u.Pending))
	}
	return row
}

// Usage per binding and pool: the last good figures.
func (r reader) Usage(ctx context.Context, q portal.UsageQuery) ([]portal.UsageRow, error) {
	var rows []usageRow
	err := r.all(ctx, &rows, `
		SELECT `+bindingColumns+`, u.pool_id AS usage_pool, p.name AS pool_name, p.resource, u.nominal, u.borrowing, u.borrowing_known,
		       u.reserved, u.in_use, u.borrowed, u.pending, u.pending_amount, u.active, u.inactive_reason, u.at, c.last_problem <> '' AS stale
		FROM usage_now u JOIN binding b ON b.id = u.binding_id JOIN pool p ON p.id = u.pool_id JOIN cluster c ON c.id = b.cluster_id
		WHERE ($1 = '' OR b.project_id = $1) AND ($2 = '' OR b.environment = $2) AND ($3 = '' OR b.cluster_id = $3) AND ($4 = '' OR u.pool_id = $4)
		  AND ($5::text[] IS NULL OR b.project_id = ANY($5))
		ORDER BY b.project_id, b.environment, b.cluster_id, p.name, p.id`, q.ProjectID, q.Environment, q.ClusterID, q.PoolID, pq.Array(q.ProjectIDs))
	if err != nil {
		return nil, fmt.Errorf("load usage: %w", err)
	}
	out := make([]portal.UsageRow, 0, len(rows))
	for _, u := range rows {
		out = append(out, u.toDomain())
	}
	return out, nil
}
