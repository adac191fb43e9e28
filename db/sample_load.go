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
		return r.samples(ctx, from, to, `
			SELECT date_bin($4, s.at, $2) AS at, NULL AS capacity, (array_agg(s.nominal ORDER BY s.at DESC) FILTER (WHERE s.nominal IS NOT NULL))[1] AS nominal,
			       sum(s.reserved_sum) / nullif(sum(s.reserved_n), 0) AS reserved, sum(s.in_use_sum) / nullif(sum(s.in_use_n), 0) AS in_use,
			       sum(s.borrowed_sum) / nullif(sum(s.borrowed_n), 0) AS borrowed, sum(s.pending_sum) / nullif(sum(s.pending_n), 0) AS pending
			FROM usage_hour s WHERE s.at >= $2 AND s.at < $3 AND s.binding_id = $1 AND s.pool_id = $5
			GROUP BY 1 ORDER BY 1`, bindingID, poolID)
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
			SELECT date_bin($4, s.at, $2) AS at, (array_agg(s.capacity ORDER BY s.at DESC) FILTER (WHERE s.capacity IS NOT NULL))[1] AS capacity,
			       (array_agg(s.nominal ORDER BY s.at DESC) FILTER (WHERE s.nominal IS NOT NULL))[1] AS nominal,
			       sum(s.reserved_sum) / nullif(sum(s.reserved_n), 0) AS reserved, sum(s.in_use_sum) / nullif(sum(s.in_use_n), 0) AS in_use, sum(s.borrowed_sum) / nullif(sum(s.borrowed_n), 0) AS borrowed, NULL AS pending
			FROM pool_hour s WHERE s.at >= $2 AND s.at < $3 AND s.pool_id = $1
			GROUP BY 1 ORDER BY 1`, poolID)
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
