package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"quartermaster/internal/portal"
)

const (
	// daysAhead and monthsAhead are how many partitions are made before they are needed.
	daysAhead, monthsAhead = 7, 2
	// pruneBatch bounds how many rows one statement removes where there are no partitions.
	pruneBatch = 50_000
)

// MakePartitions makes those of the days and months from now on, and of whatever lies
// in none: that never fails a reading, it only has to be moved.
func (t *tx) MakePartitions(ctx context.Context, now time.Time) (made int, err error) {
	for _, x := range []struct {
		table, stray string
		ahead        func(n int) time.Time
		count        int
	}{
		{"usage_sample", `SELECT DISTINCT date_trunc('day', s.at, 'UTC') FROM usage_sample_rest s`, day(now), daysAhead},
		{"pool_sample", `SELECT DISTINCT date_trunc('day', s.at, 'UTC') FROM pool_sample_rest s`, day(now), daysAhead},
		{"usage_by_hour", `SELECT DISTINCT date_trunc('month', s.at, 'UTC') FROM usage_by_hour_rest s`, month(now), monthsAhead},
		{"pool_by_hour", `SELECT DISTINCT date_trunc('month', s.at, 'UTC') FROM pool_by_hour_rest s`, month(now), monthsAhead},
	} {
		var at []time.Time
		if err := t.all(ctx, &at, x.stray); err != nil {
			return made, fmt.Errorf("make partitions: %w", err)
		}
		for n := range x.count + 1 {
			at = append(at, x.ahead(n))
		}
		for _, moment := range at {
			var is bool
			if err := t.get(ctx, &is, "", `SELECT usage_partition_make($1, $2)`, x.table, moment); err != nil {
				return made, fmt.Errorf("make partition of %s: %w", x.table, err)
			}
			if is {
				made++
			}
		}
	}
	return made, nil
}

func day(now time.Time) func(int) time.Time {
	return func(n int) time.Time { return now.AddDate(0, 0, n) }
}

func month(now time.Time) func(int) time.Time {
	return func(n int) time.Time {
		return time.Date(now.Year(), now.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	}
}

// PruneUsage removes what is older than cut says: partitions as a whole, the rest in
// bounded batches. Readings of an hour that is not rolled up yet stay, and so does a workload
// that might still be there.
func (t *tx) PruneUsage(ctx context.Context, cut portal.UsageCut) (portal.UsagePruned, error) {
	var out portal.UsagePruned
	samples := cut.Samples.UTC().Truncate(24 * time.Hour)
	var due sql.NullTime
	if err := t.get(ctx, &due, "", `SELECT min(d.at) FROM usage_due d`); err != nil {
		return out, fmt.Errorf("prune usage: %w", err)
	}
	if due.Valid { // an hour needs what was read in the hour before it
		if first := due.Time.UTC().Add(-time.Hour).Truncate(24 * time.Hour); first.Before(samples) {
			samples = first
		}
	}
	hours := time.Date(cut.Hours.UTC().Year(), cut.Hours.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		table  string
		before time.Time
		skip   bool
		n      *int64
	}{
		{"usage_sample", samples, cut.Samples.IsZero(), &out.Samples}, {"pool_sample", samples, cut.Samples.IsZero(), &out.Samples},
		{"usage_by_hour", hours, cut.Hours.IsZero(), &out.Hours}, {"pool_by_hour", hours, cut.Hours.IsZero(), &out.Hours},
	} {
		if x.skip {
			continue
		}
		var n int64
		if err := t.get(ctx, &n, "", `SELECT coalesce(sum(d.dropped), 0) FROM usage_partition_drop($1, $2) d`, x.table, x.before); err != nil {
			return out, fmt.Errorf("prune %s: %w", x.table, err)
		}
		*x.n += n
	}
	if !cut.Samples.IsZero() {
		out.SamplesBefore = samples
	}
	for _, x := range []struct {
		statement string
		before    time.Time
		n         *int64
	}{
		{`DELETE FROM usage_by_day WHERE (at, binding_id, pool_id, workload_type) IN (SELECT d.at, d.binding_id, d.pool_id, d.workload_type FROM usage_by_day d WHERE d.at < $1 LIMIT $2)`, cut.Days, &out.Days},
		{`DELETE FROM poll WHERE id IN (SELECT p.id FROM poll p WHERE p.at < $1 LIMIT $2)`, cut.Polls, &out.Polls},
		{`DELETE FROM workload WHERE (cluster_id, uid) IN (
			SELECT w.cluster_id, w.uid FROM workload w
			WHERE (w.finished_at IS NOT NULL OR w.gone_at IS NOT NULL) AND coalesce(w.finished_at, w.gone_at) < $1 AND (w.state = 'finished' OR w.gone_at IS NOT NULL)
				AND NOT EXISTS (SELECT FROM usage_due d WHERE d.cluster_id = w.cluster_id AND d.at <= coalesce(w.finished_at, w.gone_at))
			LIMIT $2)`, cut.Workloads, &out.Workloads},
	} {
		if x.before.IsZero() {
			continue
		}
		for {
			n, err := t.exec(ctx, x.statement, x.before, pruneBatch)
			if err != nil {
				return out, fmt.Errorf("prune usage: %w", err)
			}
			*x.n += n
			if n < pruneBatch {
				break
			}
		}
	}
	return out, nil
}
