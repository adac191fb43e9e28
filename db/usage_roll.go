package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/portal"
	"quartermaster/internal/usage"
)

// MarkUsageDue has hours from the first up to and without until rolled up, of every
// cluster that was ever read: also where nothing was read, which is a gap to be shown.
func (t *tx) MarkUsageDue(ctx context.Context, from, until time.Time) error {
	_, err := t.exec(ctx, `
		INSERT INTO usage_due AS d (cluster_id, at)
		SELECT c.id, h FROM cluster c, generate_series($1::timestamptz, $2::timestamptz - interval '1 hour', interval '1 hour') h
		WHERE c.last_good_at IS NOT NULL ORDER BY 1, 2
		ON CONFLICT (cluster_id, at) DO UPDATE SET marks = d.marks + 1`, from, until)
	if err != nil {
		return fmt.Errorf("mark hours: %w", err)
	}
	return nil
}

// RollUsage computes the due hours of one cluster and day anew, and with them the day
// and its month: all of it or nothing. Only hours that ended by closed; those whose
// readings are gone (before kept) stay what they are.
func (t *tx) RollUsage(ctx context.Context, closed, kept time.Time) (portal.RolledUsage, error) {
	var out portal.RolledUsage
	var first []struct {
		ClusterID string    `db:"cluster_id"`
		At        time.Time `db:"at"`
	}
	err := t.all(ctx, &first, `
		SELECT d.cluster_id, d.at FROM usage_due d WHERE d.at <= $1::timestamptz - interval '1 hour'
		ORDER BY d.at, d.cluster_id LIMIT 1 FOR UPDATE SKIP LOCKED`, closed)
	if err != nil || len(first) == 0 {
		return out, err
	}
	out.ClusterID, out.Day = first[0].ClusterID, first[0].At.UTC().Truncate(24*time.Hour)
	// Two at once would each sum up a day without the hours of the other.
	if _, err := t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('usage roll-up ' || $1, 0))`, out.ClusterID); err != nil {
		return out, fmt.Errorf("roll up usage: %w", err)
	}
	var hours []time.Time
	err = t.all(ctx, &hours, `
		SELECT d.at FROM usage_due d WHERE d.cluster_id = $1 AND d.at >= $2 AND d.at < $2::timestamptz + interval '1 day' AND d.at <= $3::timestamptz - interval '1 hour'
		ORDER BY d.at FOR UPDATE SKIP LOCKED`, out.ClusterID, out.Day, closed)
	if err != nil {
		return out, fmt.Errorf("roll up usage: %w", err)
	}
	steps := []rollStep{}
	for _, h := range hours {
		out.Hours++
		if h.After(kept) { // the first hour kept lacks what held into it
			steps = append(steps, rollStep{"clear hours", clearHour, h}, rollStep{"hours", rollHour, h}, rollStep{"clear pool hours", clearPoolHour, h}, rollStep{"pool hours", rollPoolHour, h})
		}
	}
	if len(steps) > 0 {
		month := time.Date(out.Day.Year(), out.Day.Month(), 1, 0, 0, 0, 0, time.UTC)
		steps = append(steps, rollStep{"clear day", clearDay, out.Day}, rollStep{"day", rollDay, out.Day}, rollStep{"clear month", clearMonth, month}, rollStep{"month", rollMonth, month})
	}
	for _, h := range hours {
		steps = append(steps, rollStep{"due", `DELETE FROM usage_due WHERE cluster_id = $1 AND at = $2`, h})
	}
	for _, s := range steps {
		if _, err := t.exec(ctx, s.statement, out.ClusterID, s.at); err != nil {
			return out, fmt.Errorf("roll up usage of %s: %s: %w", out.ClusterID, s.name, err)
		}
	}
	return out, nil
}

type rollStep struct {
	name, statement string
	at              time.Time
}

const (
	clearHour     = `DELETE FROM usage_by_hour WHERE at = $2 AND binding_id IN (SELECT b.id FROM binding b WHERE b.cluster_id = $1)`
	clearPoolHour = `DELETE FROM pool_by_hour WHERE at = $2 AND pool_id IN (SELECT p.id FROM pool p WHERE p.cluster_id = $1)`
	clearDay      = `DELETE FROM usage_by_day WHERE at = $2 AND binding_id IN (SELECT b.id FROM binding b WHERE b.cluster_id = $1)`
	clearMonth    = `DELETE FROM usage_by_month WHERE at = $2 AND binding_id IN (SELECT b.id FROM binding b WHERE b.cluster_id = $1)`
)

// rollHour weighs each reading with the time until the next one, at most as long as it
// holds, cut to the hour and counted in whole milliseconds of the clock, so that the
// pieces of an hour add up to it. A figure that a reading did not know is not known for that time.
//
// A pool of a binding is expected in the hour if it was read in it, or if it was there
// before and was still there at the next reading (or there was none since): then
// nothing known is a gap. What was gone at the next reading is not expected.
const rollHour = `
	WITH bounds AS (SELECT $2::timestamptz AS low, $2::timestamptz + interval '1 hour' AS high),
	reading AS (
		SELECT s.binding_id, s.pool_id, s.at, s.nominal, s.reserved, s.in_use, s.borrowed, s.pending, x.low,
			least(lead(s.at) OVER (PARTITION BY s.binding_id, s.pool_id ORDER BY s.at), s.at + s.holds_ms * interval '1 millisecond', x.high) AS until
		FROM bounds x, binding b JOIN usage_sample s ON s.binding_id = b.id
		WHERE b.cluster_id = $1 AND s.at >= $2::timestamptz - interval '1 hour' AND s.at < $2::timestamptz + interval '1 hour'),
	piece AS (
		SELECT r.*, floor(extract(epoch FROM r.until) * 1000)::bigint - floor(extract(epoch FROM greatest(r.at, r.low)) * 1000)::bigint AS ms
		FROM reading r WHERE r.until > r.low),
	known AS (
		SELECT p.binding_id, p.pool_id, min(greatest(p.at, p.low)) AS began,
			(array_agg(p.nominal ORDER BY p.at DESC) FILTER (WHERE p.nominal IS NOT NULL))[1] AS nominal,
			coalesce(sum(round(p.nominal * p.ms)), 0)::bigint AS nominal_ms, coalesce(sum(p.ms) FILTER (WHERE p.nominal IS NOT NULL), 0)::bigint AS nominal_known_ms,
			coalesce(sum(round(p.reserved * p.ms)), 0)::bigint AS reserved_ms, coalesce(sum(p.ms) FILTER (WHERE p.reserved IS NOT NULL), 0)::bigint AS reserved_known_ms,
			coalesce(sum(round(p.in_use * p.ms)), 0)::bigint AS in_use_ms, coalesce(sum(p.ms) FILTER (WHERE p.in_use IS NOT NULL), 0)::bigint AS in_use_known_ms,
			coalesce(sum(round(p.borrowed * p.ms)), 0)::bigint AS borrowed_ms, coalesce(sum(p.ms) FILTER (WHERE p.borrowed IS NOT NULL), 0)::bigint AS borrowed_known_ms,
			coalesce(sum(round(p.pending * p.ms)), 0)::bigint AS pending_ms, coalesce(sum(p.ms) FILTER (WHERE p.pending IS NOT NULL), 0)::bigint AS pending_known_ms
		FROM piece p GROUP BY p.binding_id, p.pool_id),
	live AS (
		SELECT u.binding_id, u.pool_id, greatest(coalesce(u.since, b.created_at), x.low) AS began
		FROM bounds x, usage_now u JOIN binding b ON b.id = u.binding_id
		WHERE b.cluster_id = $1 AND coalesce(u.since, b.created_at) < x.high
			AND u.at >= least(x.high, (SELECT max(v.at) FROM usage_now v JOIN binding w ON w.id = v.binding_id WHERE w.cluster_id = $1)))
	INSERT INTO usage_by_hour (binding_id, pool_id, at, workload_type, expected_ms, nominal, nominal_ms, nominal_known_ms,
		reserved_ms, reserved_known_ms, in_use_ms, in_use_known_ms, borrowed_ms, borrowed_known_ms, pending_ms, pending_known_ms)
	SELECT b.id, pool_id, x.low, coalesce(kind.of, ''),
		floor(extract(epoch FROM x.high) * 1000)::bigint - floor(extract(epoch FROM least(k.began, l.began)) * 1000)::bigint,
		k.nominal, coalesce(k.nominal_ms, 0), coalesce(k.nominal_known_ms, 0),
		coalesce(k.reserved_ms, 0), coalesce(k.reserved_known_ms, 0), coalesce(k.in_use_ms, 0), coalesce(k.in_use_known_ms, 0),
		coalesce(k.borrowed_ms, 0), coalesce(k.borrowed_known_ms, 0), coalesce(k.pending_ms, 0), coalesce(k.pending_known_ms, 0)
	FROM bounds x, known k FULL JOIN live l USING (binding_id, pool_id) JOIN binding b ON b.id = binding_id
	LEFT JOIN LATERAL (
		SELECT r.content->>'workload_type' AS of
		FROM grant_line g JOIN request_revision r ON r.request_id = g.request_id AND r.digest = g.digest LEFT JOIN grant_end e ON e.grant_id = g.id
		WHERE g.project_id = b.project_id AND g.environment = b.environment AND g.pool_id = coalesce(k.pool_id, l.pool_id)
			AND greatest(g.starts_at, g.made_at) < $2::timestamptz + interval '1 hour' AND coalesce(least(g.ends_at, e.at), 'infinity') > $2
		ORDER BY g.seq DESC, r.saved DESC LIMIT 1) kind ON true`

const rollPoolHour = `
	WITH bounds AS (SELECT $2::timestamptz AS low, $2::timestamptz + interval '1 hour' AS high),
	reading AS (
		SELECT s.pool_id, s.at, s.capacity, s.nominal, s.reserved, s.in_use, s.borrowed, x.low,
			least(lead(s.at) OVER (PARTITION BY s.pool_id ORDER BY s.at), s.at + s.holds_ms * interval '1 millisecond', x.high) AS until
		FROM bounds x, pool p JOIN pool_sample s ON s.pool_id = p.id
		WHERE p.cluster_id = $1 AND s.at >= $2::timestamptz - interval '1 hour' AND s.at < $2::timestamptz + interval '1 hour'),
	piece AS (
		SELECT r.*, floor(extract(epoch FROM r.until) * 1000)::bigint - floor(extract(epoch FROM greatest(r.at, r.low)) * 1000)::bigint AS ms
		FROM reading r WHERE r.until > r.low)
	INSERT INTO pool_by_hour (pool_id, at, capacity, nominal, reserved_ms, reserved_known_ms, in_use_ms, in_use_known_ms, borrowed_ms, borrowed_known_ms)
	SELECT p.pool_id, $2,
		(array_agg(p.capacity ORDER BY p.at DESC) FILTER (WHERE p.capacity IS NOT NULL))[1],
		(array_agg(p.nominal ORDER BY p.at DESC) FILTER (WHERE p.nominal IS NOT NULL))[1],
		coalesce(sum(round(p.reserved * p.ms)), 0), coalesce(sum(p.ms) FILTER (WHERE p.reserved IS NOT NULL), 0),
		coalesce(sum(round(p.in_use * p.ms)), 0), coalesce(sum(p.ms) FILTER (WHERE p.in_use IS NOT NULL), 0),
		coalesce(sum(round(p.borrowed * p.ms)), 0), coalesce(sum(p.ms) FILTER (WHERE p.borrowed IS NOT NULL), 0)
	FROM piece p GROUP BY p.pool_id`

const rollDay = `
	INSERT INTO usage_by_day (at, binding_id, pool_id, workload_type, expected_ms, nominal_ms, nominal_known_ms, in_use_ms, in_use_known_ms)
	SELECT $2, h.binding_id, h.pool_id, h.workload_type, sum(h.expected_ms), sum(h.nominal_ms), sum(h.nominal_known_ms), sum(h.in_use_ms), sum(h.in_use_known_ms)
	FROM usage_by_hour h JOIN binding b ON b.id = h.binding_id
	WHERE b.cluster_id = $1 AND h.at >= $2 AND h.at < $2::timestamptz + interval '1 day'
	GROUP BY h.binding_id, h.pool_id, h.workload_type`

const rollMonth = `
	INSERT INTO usage_by_month (at, binding_id, pool_id, workload_type, expected_ms, nominal_ms, nominal_known_ms, in_use_ms, in_use_known_ms)
	SELECT $2, d.binding_id, d.pool_id, d.workload_type, sum(d.expected_ms), sum(d.nominal_ms), sum(d.nominal_known_ms), sum(d.in_use_ms), sum(d.in_use_known_ms)
	FROM usage_by_day d JOIN binding b ON b.id = d.binding_id
	WHERE b.cluster_id = $1 AND d.at >= $2 AND d.at < (($2::timestamptz AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'
	GROUP BY d.binding_id, d.pool_id, d.workload_type`

// UsageDue is how many hours of a period wait to be rolled up, whatever the cluster.
func (r reader) UsageDue(ctx context.Context, span usage.Span) (int, error) {
	var n int
	if err := r.get(ctx, &n, "", `SELECT count(DISTINCT d.at) FROM usage_due d WHERE d.at >= $1 AND d.at < $2`, span.From, span.Until); err != nil {
		return 0, fmt.Errorf("load due hours: %w", err)
	}
	return n, nil
}
