package db

import (
	"context"
	"time"

	"quartermaster/internal/fleet"
)

type poolSumRecord struct {
	Flavor   string        `json:"flavor"`
	Resource string        `json:"resource"`
	Nominal  fleet.Measure `json:"nominal"`
	Reserved fleet.Measure `json:"reserved"`
	InUse    fleet.Measure `json:"in_use"`
	Borrowed fleet.Measure `json:"borrowed"`
	Pending  fleet.Measure `json:"pending"`
}

// savePolledPools keeps what the poll saw of each pool and of all queues
// together, and a sample for the charts.
func (t *tx) savePolledPools(ctx context.Context, clusterID string, o fleet.Observation) error {
	if o.PoolsKnown {
		if err := t.observePools(ctx, clusterID, o.Pools, o.At); err != nil {
			return err
		}
	}
	sums := o.PoolSums()
	if err := t.savePoolSums(ctx, clusterID, sums, o.At); err != nil {
		return err
	}
	samples := make([]poolSampleRecord, 0, len(o.Pools))
	seen := map[fleet.PoolKey]bool{}
	if o.PoolsKnown {
		for _, p := range o.Pools {
			seen[p.Key] = true
			samples = append(samples, poolSample(p.Key, p.Capacity, sums[p.Key]))
		}
	}
	for key, sum := range sums {
		if !seen[key] {
			samples = append(samples, poolSample(key, fleet.Unknown, sum))
		}
	}
	if len(samples) == 0 {
		return nil
	}
	_, err := t.exec(ctx, `
		INSERT INTO pool_sample (pool_id, at, capacity, nominal, reserved, in_use, borrowed, holds_ms)
		SELECT p.id, $3, x.capacity, x.nominal, x.reserved, x.in_use, x.borrowed, $4
		FROM jsonb_to_recordset($2) AS x (flavor text, resource text, capacity float8, nominal float8, reserved float8, in_use float8, borrowed float8)
		JOIN pool p ON p.cluster_id = $1 AND p.flavor = x.flavor AND p.resource = x.resource
		ON CONFLICT DO NOTHING`, clusterID, jsonOf(samples), o.At, o.Holds().Milliseconds())
	return err
}

// savePoolSums keeps the sums over all queues; sums nil = the queues could not be
// read, and the last good ones stay.
func (t *tx) savePoolSums(ctx context.Context, clusterID string, sums map[fleet.PoolKey]fleet.PoolSum, at time.Time) error {
	if len(sums) == 0 {
		return nil
	}
	rows := make([]poolSumRecord, 0, len(sums))
	for key, s := range sums {
		rows = append(rows, poolSumRecord{key.Flavor, key.Resource, s.Nominal, s.Reserved, s.InUse, s.Borrowed, s.Pending})
	}
	_, err := t.exec(ctx, `
		UPDATE pool AS p SET nominal = x.nominal, reserved = x.reserved, in_use = x.in_use, borrowed = x.borrowed, pending = x.pending, observed_at = $3
		FROM jsonb_to_recordset($2) AS x (flavor text, resource text, nominal text, reserved text, in_use text, borrowed text, pending text)
		WHERE p.cluster_id = $1 AND p.flavor = x.flavor AND p.resource = x.resource AND (p.observed_at IS NULL OR p.observed_at <= $3)`,
		clusterID, jsonOf(rows), at)
	return err
}

type poolSampleRecord struct {
	Flavor   string   `json:"flavor"`
	Resource string   `json:"resource"`
	Capacity *float64 `json:"capacity"`
	Nominal  *float64 `json:"nominal"`
	Reserved *float64 `json:"reserved"`
	InUse    *float64 `json:"in_use"`
	Borrowed *float64 `json:"borrowed"`
}

func poolSample(key fleet.PoolKey, capacity fleet.Measure, s fleet.PoolSum) poolSampleRecord {
	return poolSampleRecord{key.Flavor, key.Resource, float(capacity), float(s.Nominal), float(s.Reserved), float(s.InUse), float(s.Borrowed)}
}
