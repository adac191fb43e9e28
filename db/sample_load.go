package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
)

// buckets is how many points a chart gets at most.
const buckets = 300

// fineSpan is up to which length a chart is drawn from single polls; a longer
// one is drawn from the hours, which are a hundred times fewer rows.
const fineSpan = 48 * time.Hour

// freshSpan bounds how many readings stand in for hours that are not rolled up yet.
const freshSpan = "3 hours"

type sampleRow struct {
	At       time.Time `db:"at"`
	Capacity *float64  `db:"capacity"`
	Nominal  *float64  `db:"nominal"`
	Reserved *float64  `db:"reserved"`
	InUse    *float64  `db:"in_use"`
	Borrowed *float64  `db:"borrowed"`
	Pending  *float64  `db:"pending"`
}

func (s sampleRow) toDomain() portal.Sample {
	s.At = s.At.UTC()
	return portal.Sample(s)
}

// BindingSamples of one pool of a binding in [from, to): use is averaged per bucket,
// a limit is the bucket's last one (no limit was ever 6.7). A bucket without a poll
// has no row, and a figure that no poll of a bucket knew is nil: NULL is left out,
// never counted as 0.
func (r reader) BindingSamples(ctx context.Context, bindingID, poolID string, from, to time.Time) ([]portal.Sample, error) {
	if !isID(bindingID) {
		return nil, fault.New(fault.NotFound, noBinding)
	}
	if to.Sub(from) > fineSpan {
		// What was read since the last hour that is rolled up comes from the readings.
		return r.samples(ctx, from, to, `
			WITH rolled AS MATERIALIZED (
				SELECT h.at, h.nominal, h.reserved_ms, h.reserved_known_ms, h.in_use_ms, h.in_use_known_ms, h.borrowed_ms, h.borrowed_known_ms, h.pending_ms, h.pending_known_ms
				FROM usage_by_hour h WHERE h.at >= $2 AND h.at < $3 AND h.binding_id = $1 AND h.pool_id = $5),
			fresh AS (
				SELECT s.at, s.nominal, s.reserved, s.in_use, s.borrowed, s.pending, s.holds_ms / 2 AS w
				FROM usage_sample s WHERE s.at >= greatest($2, $3::timestamptz - interval '`+freshSpan+`') AND s.at < $3 AND s.binding_id = $1 AND s.pool_id = $5
					AND s.at >= coalesce((SELECT max(h.at) + interval '1 hour' FROM rolled h), $2)),
			x AS (
				SELECT * FROM rolled
				UNION ALL
				SELECT s.at, s.nominal, s.reserved * s.w, CASE WHEN s.reserved IS NOT NULL THEN s.w END, s.in_use * s.w, CASE WHEN s.in_use IS NOT NULL THEN s.w END, s.borrowed * s.w, CASE WHEN s.borrowed IS NOT NULL THEN s.w END, s.pending * s.w, CASE WHEN s.pending IS NOT NULL THEN s.w END FROM fresh s)
			SELECT date_bin($4, x.at, $2) AS at, NULL AS capacity, (array_agg(x.nominal ORDER BY x.at DESC) FILTER (WHERE x.nominal IS NOT NULL))[1] AS nominal,
			       sum(x.reserved_ms)::float8 / nullif(sum(x.reserved_known_ms), 0) AS reserved, sum(x.in_use_ms)::float8 / nullif(sum(x.in_use_known_ms), 0) AS in_use,
			       sum(x.borrowed_ms)::float8 / nullif(sum(x.borrowed_known_ms), 0) AS borrowed, sum(x.pending_ms)::float8 / nullif(sum(x.pending_known_ms), 0) AS pending
			FROM x GROUP BY 1 HAVING sum(x.reserved_known_ms + x.in_use_known_ms + x.borrowed_known_ms + x.pending_known_ms) > 0 OR count(x.nominal) > 0 ORDER BY 1`, bindingID, poolID)
	}
	return r.samples(ctx, from, to, `
		SELECT date_bin($4, s.at, $2) AS at, NULL AS capacity, (array_agg(s.nominal ORDER BY s.at DESC) FILTER (WHERE s.nominal IS NOT NULL))[1] AS nominal, avg(s.reserved) AS reserved,
		       avg(s.in_use) AS in_use, avg(s.borrowed) AS borrowed, avg(s.pending) AS pending
		FROM usage_sample s WHERE s.at >= $2 AND s.at < $3 AND s.binding_id = $1 AND s.pool_id = $5
		GROUP BY 1 ORDER BY 1`, bindingID, poolID)
}

// PoolSamples of a whole pool in [from, to), as BindingSamples.
func (r reader) PoolSamples(ctx context.Context, poolID string, from, to time.Time) ([]portal.Sample, error) {
	if to.Sub(from) > fineSpan {
		return r.samples(ctx, from, to, `
			WITH rolled AS MATERIALIZED (
				SELECT h.at, h.capacity, h.nominal, h.reserved_ms, h.reserved_known_ms, h.in_use_ms, h.in_use_known_ms, h.borrowed_ms, h.borrowed_known_ms
				FROM pool_by_hour h WHERE h.at >= $2 AND h.at < $3 AND h.pool_id = $1),
			fresh AS (
				SELECT s.at, s.capacity, s.nominal, s.reserved, s.in_use, s.borrowed, s.holds_ms / 2 AS w
				FROM pool_sample s WHERE s.at >= greatest($2, $3::timestamptz - interval '`+freshSpan+`') AND s.at < $3 AND s.pool_id = $1
					AND s.at >= coalesce((SELECT max(h.at) + interval '1 hour' FROM rolled h), $2)),
			x AS (
				SELECT * FROM rolled
				UNION ALL
				SELECT s.at, s.capacity, s.nominal, s.reserved * s.w, CASE WHEN s.reserved IS NOT NULL THEN s.w END, s.in_use * s.w, CASE WHEN s.in_use IS NOT NULL THEN s.w END, s.borrowed * s.w, CASE WHEN s.borrowed IS NOT NULL THEN s.w END FROM fresh s)
			SELECT date_bin($4, x.at, $2) AS at, (array_agg(x.capacity ORDER BY x.at DESC) FILTER (WHERE x.capacity IS NOT NULL))[1] AS capacity,
			       (array_agg(x.nominal ORDER BY x.at DESC) FILTER (WHERE x.nominal IS NOT NULL))[1] AS nominal,
			       sum(x.reserved_ms)::float8 / nullif(sum(x.reserved_known_ms), 0) AS reserved, sum(x.in_use_ms)::float8 / nullif(sum(x.in_use_known_ms), 0) AS in_use,
			       sum(x.borrowed_ms)::float8 / nullif(sum(x.borrowed_known_ms), 0) AS borrowed, NULL AS pending
			FROM x GROUP BY 1 ORDER BY 1`, poolID)
	}
	return r.samples(ctx, from, to, `
		SELECT date_bin($4, s.at, $2) AS at, (array_agg(s.capacity ORDER BY s.at DESC) FILTER (WHERE s.capacity IS NOT NULL))[1] AS capacity, (array_agg(s.nominal ORDER BY s.at DESC) FILTER (WHERE s.nominal IS NOT NULL))[1] AS nominal, avg(s.reserved) AS reserved,
		       avg(s.in_use) AS in_use, avg(s.borrowed) AS borrowed, NULL AS pending
		FROM pool_sample s WHERE s.at >= $2 AND s.at < $3 AND s.pool_id = $1
		GROUP BY 1 ORDER BY 1`, poolID)
}

// samples runs query with id as $1, the period as $2 and $3, the bucket as $4 and
// more from $5 on.
func (r reader) samples(ctx context.Context, from, to time.Time, query, id string, more ...any) ([]portal.Sample, error) {
	if !from.Before(to) {
		return nil, nil
	}
	width := (to.Sub(from) + buckets - 1) / buckets
	width = max(width.Truncate(time.Microsecond)+time.Microsecond, time.Second)
	if to.Sub(from) > fineSpan {
		from = from.Truncate(time.Hour) // hours are whole ones
		width = max(width, time.Hour)
	}
	args := append([]any{id, from, to, fmt.Sprintf("%d microseconds", width.Microseconds())}, more...)
	var rows []sampleRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load samples: %w", err)
	}
	out := make([]portal.Sample, 0, len(rows))
	for _, s := range rows {
		out = append(out, s.toDomain())
	}
	return out, nil
}
