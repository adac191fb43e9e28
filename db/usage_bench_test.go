package db_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/portal"
	"quartermaster/internal/usage"
)

// BenchmarkUsage measures the reads of charts and accounts on 1,000 bindings with 400
// days of hours: 9.6 million rows.
func BenchmarkUsage(b *testing.B) {
	w := newWorld(b)
	until := noon.Truncate(time.Hour)
	from := until.AddDate(0, 0, -400)
	for _, s := range []string{
		`SELECT usage_partition_make(t, m) FROM unnest(ARRAY['usage_by_hour', 'pool_by_hour']) t, generate_series($1::timestamptz, $2::timestamptz + interval '20 days', interval '20 days') m`,
		`INSERT INTO binding (project_id, environment, cluster_id, cluster_queue, created_at)
			SELECT 'cv', 'e' || n, 'east', 'q' || n, $1::timestamptz FROM generate_series(1, 1000) n WHERE $2::timestamptz IS NOT NULL`,
		`INSERT INTO usage_by_hour SELECT x.id, 'east-h100', h, (ARRAY['training', 'inference', ''])[1 + x.n % 3], 3600000, 16, 57600000, 3600000, 0, 0, (8 + x.n % 7) * 3600000::bigint, 3600000, 0, 3600000, 0, 3600000
			FROM generate_series($1::timestamptz, $2::timestamptz - interval '1 hour', interval '1 hour') h, (SELECT b.id, row_number() OVER () AS n FROM binding b) x`,
		`INSERT INTO usage_by_day SELECT date_trunc('day', at, 'UTC'), binding_id, pool_id, workload_type, sum(expected_ms), sum(nominal_ms), sum(nominal_known_ms), sum(in_use_ms), sum(in_use_known_ms)
			FROM usage_by_hour WHERE at >= $1 AND at < $2 GROUP BY 1, 2, 3, 4`,
		`INSERT INTO usage_by_month SELECT date_trunc('month', at, 'UTC'), binding_id, pool_id, workload_type, sum(expected_ms), sum(nominal_ms), sum(nominal_known_ms), sum(in_use_ms), sum(in_use_known_ms)
			FROM usage_by_day WHERE at >= date_trunc('day', $1::timestamptz) AND at < $2 GROUP BY 1, 2, 3, 4`,
	} {
		w.owner.MustExec(s, from, until)
	}
	w.owner.MustExec(`VACUUM ANALYZE`)
	var one string
	require.NoError(b, w.owner.Get(&one, `SELECT id FROM binding WHERE environment = 'e7'`))
	span := func(days int) usage.Span { return usage.Span{From: until.AddDate(0, 0, -days), Until: until} }
	account := func(by usage.Group, s usage.Span) func() error {
		q := portal.UsageSumQuery{By: by, Span: s}
		return func() error {
			if _, err := w.UsageSums(b.Context(), q); err != nil {
				return err
			}
			_, err := w.UsageOverTime(b.Context(), q, s.Bucket())
			return err
		}
	}
	fmt.Printf("\n%-44s %10s %10s\n", "read of 1,000 bindings x 400 days of hours", "median ms", "worst ms")
	for _, x := range []struct {
		name string
		read func() error
	}{
		{"account of 24 h by project", account(usage.ByProject, span(1))},
		{"account of 30 d by team", account(usage.ByTeam, span(30))},
		{"account of 90 d by pool", account(usage.ByPool, span(90))},
		{"account of 400 d by environment", account(usage.ByEnvironment, span(399))},
		{"account of 12 months by type", account(usage.ByType, usage.Span{From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Until: until})},
		{"chart of 30 d of a binding", func() error {
			_, err := w.BindingSamples(b.Context(), one, "east-h100", until.AddDate(0, 0, -30), until)
			return err
		}},
		{"chart of 90 d of a binding", func() error {
			_, err := w.BindingSamples(b.Context(), one, "east-h100", until.AddDate(0, 0, -90), until)
			return err
		}},
	} {
		var took []time.Duration
		for range 12 {
			start := time.Now()
			require.NoError(b, x.read())
			took = append(took, time.Since(start))
		}
		took = took[2:] // the first ones fill caches
		slices.Sort(took)
		fmt.Printf("%-44s %10.1f %10.1f\n", x.name, took[len(took)/2].Seconds()*1000, took[len(took)-1].Seconds()*1000)
	}
}
