package db_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/portal"
	"quartermaster/internal/usage"
)

// What was read before there were partitions is all there after, and is rolled up.
func TestReadingsMoveIntoPartitions(t *testing.T) {
	address := dbtest.URL(t)
	owner := dbtest.Open(t, address)
	owner.MustExec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	require.NoError(t, db.MigrateTo(t.Context(), address, 8))
	for _, s := range []string{
		`INSERT INTO team (id, name) VALUES ('t', 'T')`,
		`INSERT INTO project (id, name, team_id, environments, data_classes) VALUES ('p', 'P', 't', '{development}', '{internal}')`,
		`INSERT INTO cluster (id, name, kind, last_good_at) VALUES ('c', 'C', 'kubernetes', '2026-11-03 12:00Z')`,
		`INSERT INTO pool (id, cluster_id, flavor, resource, name) VALUES ('g', 'c', 'h100', 'nvidia.com/gpu', 'H100')`,
		`INSERT INTO binding (id, project_id, environment, cluster_id, cluster_queue, created_at) VALUES ('00000000-0000-4000-8000-000000000001', 'p', 'development', 'c', 'q', '2026-11-01 00:00Z')`,
		`INSERT INTO usage_now (binding_id, pool_id, nominal, in_use, at) VALUES ('00000000-0000-4000-8000-000000000001', 'g', '8', '4', '2026-11-03 12:00Z')`,
		`INSERT INTO usage_sample (binding_id, pool_id, at, nominal, in_use) SELECT '00000000-0000-4000-8000-000000000001', 'g', x, 8, 4 FROM generate_series('2026-11-01 00:00:30Z'::timestamptz, '2026-11-03 12:00Z', interval '30 seconds') x`,
		`INSERT INTO pool_sample (pool_id, at, capacity, in_use) SELECT 'g', x, 64, 4 FROM generate_series('2026-11-01 00:00:30Z'::timestamptz, '2026-11-03 12:00Z', interval '30 seconds') x`,
		`INSERT INTO usage_hour (binding_id, pool_id, at, reserved_sum, reserved_n, in_use_sum, in_use_n, borrowed_sum, borrowed_n, pending_sum, pending_n) VALUES ('00000000-0000-4000-8000-000000000001', 'g', '2026-11-01 00:00Z', 0, 0, 480, 120, 0, 0, 0, 0)`,
	} {
		owner.MustExec(s)
	}
	require.NoError(t, db.Migrate(t.Context(), address))
	const polls = 60*120 + 0
	for _, table := range []string{"usage_sample", "pool_sample"} {
		var n, stray, days int
		require.NoError(t, owner.Get(&n, `SELECT count(*) FROM `+table))
		require.Equal(t, polls, n, table)
		require.NoError(t, owner.Get(&stray, `SELECT count(*) FROM `+table+`_rest`))
		require.Zero(t, stray, table)
		require.NoError(t, owner.Get(&days, `SELECT count(DISTINCT tableoid) FROM `+table))
		require.Equal(t, 3, days, table)
	}
	s := dbtest.StoreAt(t, address)
	for again := true; again; {
		require.NoError(t, s.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
			done, err := tx.RollUsage(ctx, time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC), time.Time{})
			again = done.Hours > 0
			return err
		}))
	}
	rows, err := s.UsageSums(t.Context(), portal.UsageSumQuery{By: usage.ByTeam, Span: usage.Span{From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)}})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, int64(60*hourMS-30_000), rows[0].InUseKnown, "60 hours but the 30 s before the first poll")
	require.Equal(t, rows[0].InUseKnown, rows[0].Expected)
	require.Equal(t, 4*rows[0].InUseKnown, rows[0].InUse)
}

// A reading never fails for want of a partition: it waits in the rest until it is made.
func TestPartitionsAreMadeAheadAndOnDemand(t *testing.T) {
	w := newWorld(t)
	b := w.binding("cv", "east")
	hour := noon.Truncate(time.Hour)
	old := hour.AddDate(-1, 0, 0)
	w.read(b, "east-h100", old, ptr(int64(4)))
	w.read(b, "east-h100", hour, ptr(int64(4)))
	count := func(table string) (n int) {
		t.Helper()
		require.NoError(t, w.owner.Get(&n, `SELECT count(*) FROM `+table))
		return n
	}
	require.Equal(t, 2, count("usage_sample_rest"))
	made := 0
	again := func() {
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			made, err = tx.MakePartitions(ctx, hour)
			return err
		})
	}
	again()
	require.Equal(t, 2*8+1+2*3, made, "a week of days, two months, and the old day")
	require.Zero(t, count("usage_sample_rest"))
	require.Equal(t, 1, count("usage_sample_p20251202"))
	require.Equal(t, 1, count("usage_sample_p20261202"))
	again()
	require.Zero(t, made)
	w.read(b, "east-h100", hour.AddDate(0, 0, 7), ptr(int64(4)))
	require.Zero(t, count("usage_sample_rest"), "made ahead")

	// Whatever waits to be rolled up keeps its readings; then they go as a whole.
	prune := func() (out portal.UsagePruned) {
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			out, err = tx.PruneUsage(ctx, portal.UsageCut{Samples: hour, Hours: hour, Polls: hour, Workloads: hour})
			return err
		})
		return out
	}
	require.Zero(t, prune().Samples)
	require.Equal(t, 3, w.roll(hour.AddDate(0, 0, 8)))
	again() // the hour of a year ago waits in the rest as well
	require.Equal(t, 1, made)
	out := prune()
	require.Equal(t, int64(1), out.Samples)
	require.Equal(t, hour.Truncate(24*time.Hour), out.SamplesBefore)
	require.Equal(t, int64(1), out.Hours, "of a year ago")
	require.Zero(t, out.Polls, "gone with the first run")
	require.Equal(t, 2, count("usage_sample"))
	require.Equal(t, 3, count("usage_by_day"), "days are kept")
	require.Zero(t, prune().Samples)
}

// The app may have partitions made and dropped, and nothing else.
func TestTheAppDropsNoOtherTable(t *testing.T) {
	w := newWorld(t)
	app := dbtest.Open(t, dbtest.AppURL(t, w.address))
	for _, table := range []string{"ledger_entry", "usage_by_day", "request", "usage_sample; DROP TABLE poll"} {
		_, err := app.Exec(`SELECT * FROM usage_partition_drop($1, now())`, table)
		require.ErrorContains(t, err, "has no partitions", table)
		_, err = app.Exec(`SELECT usage_partition_make($1, now())`, table)
		require.ErrorContains(t, err, "has no partitions", table)
	}
	for _, statement := range []string{`DROP TABLE usage_sample_rest`, `CREATE TABLE public.mine (n int)`, `ALTER TABLE usage_sample DETACH PARTITION usage_sample_rest`} {
		_, err := app.Exec(statement)
		require.Error(t, err, statement)
	}
	var public bool
	require.NoError(t, w.owner.Get(&public, `SELECT has_function_privilege('quartermaster_signer', 'usage_partition_drop(text, timestamptz)', 'EXECUTE')`))
	require.False(t, public)
}

// Charts and accounts enter the tables by an index and look only into the partitions of
// their period.
func TestUsageQueriesPrunePartitions(t *testing.T) {
	w := newWorld(t)
	b := w.binding("cv", "east")
	w.owner.MustExec(`SELECT usage_partition_make('usage_by_hour', m), usage_partition_make('pool_by_hour', m) FROM generate_series('2025-12-01Z'::timestamptz, '2026-12-01Z', interval '1 month') m`)
	w.owner.MustExec(`SELECT usage_partition_make('usage_sample', d), usage_partition_make('pool_sample', d) FROM generate_series('2026-11-20Z'::timestamptz, '2026-12-03Z', interval '1 day') d`)
	w.owner.MustExec(`INSERT INTO binding (id, project_id, environment, cluster_id, cluster_queue) SELECT gen_random_uuid(), 'cv', 'e' || n, 'east', 'q' || n FROM generate_series(1, 50) n`)
	w.owner.MustExec(`INSERT INTO usage_by_hour SELECT b.id, 'east-h100', h, '', 3600000, 8, 0, 0, 0, 0, 4 * 3600000, 3600000, 0, 0, 0, 0
		FROM binding b, generate_series('2025-12-01Z'::timestamptz, '2026-12-02 11:00Z', interval '4 hours') h`)
	w.owner.MustExec(`INSERT INTO usage_by_day SELECT date_trunc('day', at, 'UTC'), binding_id, pool_id, workload_type, sum(expected_ms), 0, 0, sum(in_use_ms), sum(in_use_known_ms) FROM usage_by_hour GROUP BY 1, 2, 3, 4`)
	w.owner.MustExec(`INSERT INTO usage_by_month SELECT date_trunc('month', at, 'UTC'), binding_id, pool_id, workload_type, sum(expected_ms), 0, 0, sum(in_use_ms), sum(in_use_known_ms) FROM usage_by_day GROUP BY 1, 2, 3, 4`)
	w.owner.MustExec(`ANALYZE`)
	app := dbtest.Open(t, dbtest.AppURL(t, w.address))
	hour := noon.Truncate(time.Hour)
	account := portal.UsageSumQuery{By: usage.ByProject, Span: usage.Span{From: hour.AddDate(0, -6, 0), Until: hour}}
	for _, x := range []struct {
		name      string
		read      func(r portal.Reader) error
		has, none []string
	}{
		{"chart of 7 days", func(r portal.Reader) error {
			_, err := r.BindingSamples(t.Context(), b.ID, "east-h100", hour.AddDate(0, 0, -7), hour)
			return err
		},
			[]string{"usage_by_hour_p202611_pkey", "usage_by_hour_p202612_pkey"}, []string{"p202610", "p202601", "usage_sample_p20261130", "Seq Scan on usage_by_hour_p"}},
		{"chart of 90 days of a pool", func(r portal.Reader) error {
			_, err := r.PoolSamples(t.Context(), "east-h100", hour.AddDate(0, 0, -90), hour)
			return err
		},
			[]string{"pool_by_hour_p202609"}, []string{"p202608", "p202512"}},
		{"chart of a day", func(r portal.Reader) error {
			_, err := r.BindingSamples(t.Context(), b.ID, "east-h100", hour.AddDate(0, 0, -1), hour)
			return err
		},
			[]string{"usage_sample_p20261201", "usage_sample_p20261202"}, []string{"p20261130", "p20261203", "usage_by_hour"}},
		{"account of half a year", func(r portal.Reader) error { _, err := r.UsageSums(t.Context(), account); return err },
			[]string{"usage_by_month", "usage_by_day"}, []string{"p202607", "p202610", "Seq Scan on usage_by_hour", "Seq Scan on usage_by_day"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			e := &explained{DB: app, t: t}
			require.NoError(t, x.read(db.NewReader(e)))
			plan := strings.Join(e.plans, "\n")
			executed := onlyExecuted(plan)
			for _, s := range x.has {
				require.Contains(t, executed, s, plan)
			}
			for _, s := range x.none {
				require.NotContains(t, executed, s, plan)
			}
		})
	}
}

// onlyExecuted leaves out the parts of a plan that never ran.
func onlyExecuted(plan string) string {
	var out []string
	for line := range strings.Lines(plan) {
		if !strings.Contains(line, "(never executed)") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
