package db

import (
	"context"
	"fmt"
	"slices"
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
		{"usage", func() error { return t.saveUsage(ctx, usage, o) }},
		{"hours", func() error { return t.markHours(ctx, clusterID, usage, o) }},
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
// for the charts and the roll-ups.
func (t *tx) saveUsage(ctx context.Context, usage []portal.UsageRow, o fleet.Observation) error {
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
			row.At = o.At
		}
		rows = append(rows, row)
	}
	_, err := t.exec(ctx, `
		INSERT INTO usage_now AS u (binding_id, pool_id, nominal, borrowing, borrowing_known, reserved, in_use, borrowed, pending, pending_amount, active, inactive_reason, at, since)
		SELECT x.binding, x.pool, x.nominal, x.borrowing, x.borrowing_known, x.reserved, x.in_use, x.borrowed, x.pending, x.pending_amount, x.active, x.inactive_reason, x.at, x.at
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
	_, err = t.exec(ctx, `
		INSERT INTO usage_sample (binding_id, pool_id, at, nominal, reserved, in_use, borrowed, pending, holds_ms)
		SELECT x.binding, x.pool, x.at, x.nominal, x.reserved, x.in_use, x.borrowed, x.pending, $2
		FROM jsonb_to_recordset($1) AS x (binding uuid, pool text, at timestamptz, nominal float8, reserved float8, in_use float8, borrowed float8, pending float8)
		ON CONFLICT DO NOTHING`, jsonOf(samples), o.Holds().Milliseconds())
	return err
}

// markHours says which hours have to be rolled up anew: those in which the readings
// lie and into which they hold. It waits for a roll-up of such an hour that is under
// way, which did not see these readings (DO UPDATE locks the row, DO NOTHING would not).
func (t *tx) markHours(ctx context.Context, clusterID string, usage []portal.UsageRow, o fleet.Observation) error {
	at := []time.Time{o.At}
	for _, u := range usage {
		if !u.At.IsZero() && !slices.ContainsFunc(at, u.At.Equal) {
			at = append(at, u.At)
		}
	}
	var hours []time.Time
	for _, x := range at {
		hours = append(hours, x.UTC().Truncate(time.Hour), x.Add(o.Holds()).UTC().Truncate(time.Hour))
	}
	slices.SortFunc(hours, time.Time.Compare) // one order of locks
	_, err := t.exec(ctx, `
		INSERT INTO usage_due AS d (cluster_id, at) SELECT DISTINCT $1, x.at::timestamptz FROM jsonb_array_elements_text($2) AS x (at) ORDER BY 2
		ON CONFLICT (cluster_id, at) DO UPDATE SET marks = d.marks + 1`, clusterID, jsonOf(hours))
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
