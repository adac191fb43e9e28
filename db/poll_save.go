package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

// SavePoll keeps a good poll. A part that could not be read changes nothing: its
// last good figures stay with their time.
func (t *tx) SavePoll(ctx context.Context, clusterID string, o fleet.Observation, usage []portal.UsageRow, took time.Duration) error {
	kept := o
	kept.Workloads = nil
	// A poll that took long does not overwrite the one that overtook it.
	err := t.one(ctx, noCluster, `
		UPDATE cluster AS c SET
			observation = CASE WHEN c.last_good_at > $3 THEN c.observation ELSE $2::jsonb END,
			last_poll_at = greatest(c.last_poll_at, $3), last_good_at = greatest(c.last_good_at, $3),
			last_problem = CASE WHEN c.last_poll_at > $3 THEN c.last_problem ELSE '' END
		WHERE c.id = $1`, clusterID, jsonOf(kept), o.At)
	if err != nil {
		return fmt.Errorf("save poll: %w", err)
	}
	for _, part := range []struct {
		name string
		save func() error
	}{
		{"pools", func() error { return t.savePolledPools(ctx, clusterID, o) }},
		{"usage", func() error { return t.saveUsage(ctx, usage, o.At) }},
		{"workloads", func() error { return t.savePolledWorkloads(ctx, clusterID, o) }},
		{"poll", func() error { return t.insertPoll(ctx, clusterID, o.At, true, took, "") }},
	} {
		if err := part.save(); err != nil {
			return fmt.Errorf("save poll: %s: %w", part.name, err)
		}
	}
	return nil
}

// SaveFailedPoll keeps the problem; every figure stays what the last good poll said.
func (t *tx) SaveFailedPoll(ctx context.Context, clusterID, problem string, at time.Time, took time.Duration) error {
	err := t.one(ctx, noCluster, `
		UPDATE cluster AS c SET last_problem = CASE WHEN c.last_poll_at > $3 THEN c.last_problem ELSE $2 END, last_poll_at = greatest(c.last_poll_at, $3)
		WHERE c.id = $1`, clusterID, problem, at)
	if err == nil {
		err = t.insertPoll(ctx, clusterID, at, false, took, problem)
	}
	if err != nil {
		return fmt.Errorf("save failed poll: %w", err)
	}
	return nil
}

func (t *tx) insertPoll(ctx context.Context, clusterID string, at time.Time, ok bool, took time.Duration, problem string) error {
	_, err := t.exec(ctx, `INSERT INTO poll (cluster_id, at, ok, took_ms, problem) VALUES ($1, $2, $3, $4, $5)`,
		clusterID, at, ok, took.Milliseconds(), problem)
	return err
}

type usageRecord struct {
	Binding        string          `json:"binding"`
	Pool           string          `json:"pool"`
	Nominal        fleet.Measure   `json:"nominal"`
	Borrowing      *fleet.Quantity `json:"borrowing"`
	BorrowingKnown bool            `json:"borrowing_known"`
	Reserved       fleet.Measure   `json:"reserved"`
	InUse          fleet.Measure   `json:"in_use"`
	Borrowed       fleet.Measure   `json:"borrowed"`
	Pending        *int64          `json:"pending"`
	PendingAmount  fleet.Measure   `json:"pending_amount"`
	Active         *bool           `json:"active"`
	InactiveReason string          `json:"inactive_reason"`
	At             time.Time       `json:"at"`
}

// saveUsage keeps the figures of each binding and pool as of now, and a sample
// for the charts. Both come out of one statement.
func (t *tx) saveUsage(ctx context.Context, usage []portal.UsageRow, at time.Time) error {
	if len(usage) == 0 {
		return nil
	}
	rows := make([]usageRecord, 0, len(usage))
	for _, u := range usage {
		row := usageRecord{u.Binding.ID, u.PoolID, u.Nominal, u.Borrowing, u.BorrowingKnown, u.Reserved, u.InUse, u.Borrowed, nil,
			u.PendingAmount, u.Active, u.InactiveReason, u.At}
		if u.Pending.Known {
			n := u.Pending.Amount.Int64()
			row.Pending = &n
		}
		if row.At.IsZero() {
			row.At = at
		}
		rows = append(rows, row)
	}
	_, err := t.exec(ctx, `
		INSERT INTO usage_now AS u (binding_id, pool_id, nominal, borrowing, borrowing_known, reserved, in_use, borrowed, pending, pending_amount, active, inactive_reason, at)
		SELECT x.binding, x.pool, x.nominal, x.borrowing, x.borrowing_known, x.reserved, x.in_use, x.borrowed, x.pending, x.pending_amount, x.active, x.inactive_reason, x.at
		FROM jsonb_to_recordset($1) AS x (binding uuid, pool text, nominal text, borrowing text, borrowing_known boolean, reserved text, in_use text,
			borrowed text, pending int, pending_amount text, active boolean, inactive_reason text, at timestamptz)
		ON CONFLICT (binding_id, pool_id) DO UPDATE SET nominal = EXCLUDED.nominal, borrowing = EXCLUDED.borrowing, borrowing_known = EXCLUDED.borrowing_known,
			reserved = EXCLUDED.reserved, in_use = EXCLUDED.in_use, borrowed = EXCLUDED.borrowed, pending = EXCLUDED.pending,
			pending_amount = EXCLUDED.pending_amount, active = EXCLUDED.active, inactive_reason = EXCLUDED.inactive_reason, at = EXCLUDED.at
		WHERE u.at <= EXCLUDED.at`, jsonOf(rows))
	if err != nil {
		return err
	}
	samples := make([]sampleRecord, 0, len(usage))
	for i, u := range usage {
		samples = append(samples, sampleRecord{Binding: u.Binding.ID, Pool: u.PoolID, At: rows[i].At,
			Nominal: float(u.Nominal), Reserved: float(u.Reserved), InUse: float(u.InUse), Borrowed: float(u.Borrowed), Pending: float(u.PendingAmount)})
	}
	// A sample that is kept already is not added to its hour again.
	_, err = t.exec(ctx, `
		WITH kept AS (
			INSERT INTO usage_sample (binding_id, pool_id, at, nominal, reserved, in_use, borrowed, pending)
			SELECT x.binding, x.pool, x.at, x.nominal, x.reserved, x.in_use, x.borrowed, x.pending
			FROM jsonb_to_recordset($1) AS x (binding uuid, pool text, at timestamptz, nominal float8, reserved float8, in_use float8, borrowed float8, pending float8)
			ON CONFLICT DO NOTHING
			RETURNING binding_id, pool_id, at, nominal, reserved, in_use, borrowed, pending)
		INSERT INTO usage_hour AS h (binding_id, pool_id, at, nominal,
			reserved_sum, reserved_n, in_use_sum, in_use_n, borrowed_sum, borrowed_n, pending_sum, pending_n)
		SELECT k.binding_id, k.pool_id, date_trunc('hour', k.at, 'UTC'), k.nominal,
			coalesce(k.reserved, 0), (k.reserved IS NOT NULL)::int,
			coalesce(k.in_use, 0), (k.in_use IS NOT NULL)::int,
			coalesce(k.borrowed, 0), (k.borrowed IS NOT NULL)::int,
			coalesce(k.pending, 0), (k.pending IS NOT NULL)::int
		FROM kept k
		ON CONFLICT (binding_id, pool_id, at) DO UPDATE SET nominal = coalesce(EXCLUDED.nominal, h.nominal),
			reserved_sum = h.reserved_sum + EXCLUDED.reserved_sum, reserved_n = h.reserved_n + EXCLUDED.reserved_n,
			in_use_sum = h.in_use_sum + EXCLUDED.in_use_sum, in_use_n = h.in_use_n + EXCLUDED.in_use_n,
			borrowed_sum = h.borrowed_sum + EXCLUDED.borrowed_sum, borrowed_n = h.borrowed_n + EXCLUDED.borrowed_n,
			pending_sum = h.pending_sum + EXCLUDED.pending_sum, pending_n = h.pending_n + EXCLUDED.pending_n`, jsonOf(samples))
	return err
}

type sampleRecord struct {
	Binding  string    `json:"binding,omitempty"`
	Pool     string    `json:"pool"`
	At       time.Time `json:"at"`
	Nominal  *float64  `json:"nominal"`
	Reserved *float64  `json:"reserved"`
	InUse    *float64  `json:"in_use"`
	Borrowed *float64  `json:"borrowed"`
	Pending  *float64  `json:"pending"`
}

func float(m fleet.Measure) *float64 {
	if !m.Known {
		return nil
	}
	v := m.Amount.Float()
	return &v
}
