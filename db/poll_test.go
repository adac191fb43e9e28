package db_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

func known(n int64) fleet.Measure { return fleet.Known(fleet.Count(n)) }

func observation(at time.Time) fleet.Observation {
	return fleet.Observation{At: at, PoolsKnown: true, QueuesKnown: true, WorkloadsKnown: true,
		Pools: []fleet.Pool{
			{Key: h100, Capacity: known(64), Cards: known(8), Unit: fleet.MIG, Product: "NVIDIA-H100", Nodes: 2, Notes: []string{"sliced"}},
			{Key: a100, Unit: fleet.Card, Product: "NVIDIA-A100"},
			{Key: fleet.PoolKey{Flavor: "unknown to the portal", Resource: "x"}, Capacity: known(1)},
		},
		Queues: []fleet.Queue{
			{Name: "cv-dev", Pending: known(2), Flavors: []fleet.FlavorUse{{Pool: h100, Nominal: known(8), Reserved: known(4), InUse: known(4), Borrowed: known(0)}}},
			{Name: "theirs", Pending: known(1), Flavors: []fleet.FlavorUse{{Pool: h100, Nominal: known(16), Reserved: known(1), InUse: fleet.Unknown, Borrowed: known(3)}}},
		},
		Workloads: []fleet.Workload{workload("a", fleet.Pending, at), workload("b", fleet.Admitted, at.Add(time.Minute))},
	}
}

func workload(uid string, state fleet.WorkloadState, at time.Time) fleet.Workload {
	return fleet.Workload{UID: uid, Namespace: "cv-dev", Name: "w-" + uid, Job: "Job " + uid, State: state, CreatedAt: at,
		Amounts: []fleet.Amount{{Pool: fleet.PoolKey{Resource: "nvidia.com/gpu"}, Amount: fleet.MustQuantity("4")}}}
}

func (w *world) poll(o fleet.Observation, usage ...portal.UsageRow) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.SavePoll(ctx, "east", o, usage, 1500*time.Millisecond)
	})
}

func TestAPollIsKeptAndAFailedOneKeepsTheLastGoodFigures(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	b := w.binding("cv", "east")
	row := portal.UsageRow{Binding: b, PoolID: "east-h100", Nominal: known(8), BorrowingKnown: true, Reserved: known(4), InUse: known(0),
		Pending: known(2), Active: ptr(false), InactiveReason: "held", At: noon}
	w.poll(observation(noon), row, portal.UsageRow{Binding: b, PoolID: "east-a100", Borrowing: ptr(fleet.Count(3)), At: noon})

	usage, err := w.Usage(ctx, portal.UsageQuery{ProjectID: "cv"})
	require.NoError(t, err)
	require.Len(t, usage, 2)
	blind, full := usage[0], usage[1]
	require.Equal(t, b, full.Binding)
	require.Equal(t, "H100 80 GB", full.PoolName)
	require.Equal(t, "nvidia.com/gpu", full.Resource)
	require.Equal(t, "8", full.Nominal.String())
	require.Equal(t, "0", full.InUse.String())
	require.Equal(t, "unknown", full.Borrowed.String())
	require.Equal(t, "2", full.Pending.String())
	require.Equal(t, "unknown", full.PendingAmount.String())
	require.True(t, full.BorrowingKnown)
	require.Nil(t, full.Borrowing, "no limit")
	require.False(t, *full.Active)
	require.Equal(t, "held", full.InactiveReason)
	require.Equal(t, noon, full.At)
	require.False(t, full.Stale)
	require.Equal(t, "unknown", blind.Nominal.String())
	require.Equal(t, "unknown", blind.Pending.String(), "an unread count is not 0")
	require.Nil(t, blind.Active)
	require.True(t, blind.Borrowing.Equal(fleet.Count(3)))

	pool, err := w.Pool(ctx, "east-h100")
	require.NoError(t, err)
	require.Equal(t, "64", pool.Capacity.String())
	require.Equal(t, fleet.MIG, pool.Unit)
	require.Equal(t, 2, *pool.Nodes)
	require.Equal(t, []string{"sliced"}, pool.Notes)
	require.Equal(t, "24", pool.Nominal.String())
	require.Equal(t, "unknown", pool.InUse.String(), "one unknown queue makes the sum unknown")
	require.Equal(t, "3", pool.Borrowed.String())
	require.Equal(t, "3", pool.Pending.String())
	require.Equal(t, noon, *pool.ObservedAt)
	other, err := w.Pool(ctx, "east-a100")
	require.NoError(t, err)
	require.Equal(t, "unknown", other.Capacity.String())
	require.Equal(t, "0", other.Nominal.String(), "the queues were read and none holds it")

	cluster, err := w.Cluster(ctx, "east")
	require.NoError(t, err)
	require.Len(t, cluster.Observation.Queues, 2)
	require.Empty(t, cluster.Observation.Workloads)
	require.Equal(t, noon, *cluster.LastGoodAt)

	later := noon.Add(time.Minute)
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.SaveFailedPoll(ctx, "east", "The cluster does not answer.", later, 10*time.Second)
	})
	cluster, err = w.Cluster(ctx, "east")
	require.NoError(t, err)
	require.Equal(t, "The cluster does not answer.", cluster.Problem)
	require.Equal(t, noon, *cluster.LastGoodAt)
	require.Equal(t, later, *cluster.LastPollAt)
	require.Len(t, cluster.Observation.Queues, 2)
	pool, err = w.Pool(ctx, "east-h100")
	require.NoError(t, err)
	require.True(t, pool.Stale)
	require.Equal(t, "64", pool.Capacity.String())
	usage, err = w.Usage(ctx, portal.UsageQuery{PoolID: "east-h100"})
	require.NoError(t, err)
	require.True(t, usage[0].Stale)
	require.Equal(t, "8", usage[0].Nominal.String())
	require.Equal(t, noon, usage[0].At)
	polls, err := w.Polls(ctx, "east", 10)
	require.NoError(t, err)
	require.Equal(t, []portal.Poll{{At: later, Took: 10 * time.Second, Problem: "The cluster does not answer."}, {At: noon, OK: true, Took: 1500 * time.Millisecond}}, polls)
	times, err := w.PollTimes(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]*time.Time{"east": &later, "west": nil}, times)

	// A poll that set out before and came back late changes nothing newer.
	old := observation(noon.Add(-time.Minute))
	old.Queues = nil
	row.Nominal, row.At = known(99), old.At
	w.poll(old, row)
	usage, err = w.Usage(ctx, portal.UsageQuery{PoolID: "east-h100"})
	require.NoError(t, err)
	require.Equal(t, "8", usage[0].Nominal.String())
	cluster, err = w.Cluster(ctx, "east")
	require.NoError(t, err)
	require.NotEmpty(t, cluster.Problem)
	require.Len(t, cluster.Observation.Queues, 2)
	pool, err = w.Pool(ctx, "east-h100")
	require.NoError(t, err)
	require.Equal(t, "24", pool.Nominal.String())
}

// A part that could not be read says nothing; it never empties what is known.
func TestAPartThatCouldNotBeReadChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.poll(observation(noon))
	blind := fleet.Observation{At: noon.Add(time.Minute), Problems: []string{"nothing could be listed"}}
	w.poll(blind)
	pool, err := w.Pool(t.Context(), "east-h100")
	require.NoError(t, err)
	require.Equal(t, "64", pool.Capacity.String())
	require.Equal(t, "24", pool.Nominal.String())
	require.Equal(t, noon, *pool.ObservedAt, "the figures are of then")
	workloads, err := w.Workloads(t.Context(), "east", "cv-dev", 10)
	require.NoError(t, err)
	require.Len(t, workloads, 2)
}

func TestWorkloadsFollowPollsAndEvents(t *testing.T) {
	w := newWorld(t)
	w.poll(observation(noon))
	names := func() (out []string) {
		t.Helper()
		rows, err := w.Workloads(t.Context(), "east", "cv-dev", 10)
		require.NoError(t, err)
		for _, r := range rows {
			out = append(out, r.UID+" "+string(r.State))
		}
		return out
	}
	event := func(x fleet.Workload, gone bool, at time.Time) {
		w.tx(func(ctx context.Context, tx portal.Tx) error { return tx.SaveWorkload(ctx, "east", x, gone, at) })
	}
	require.Equal(t, []string{"b admitted", "a pending"}, names(), "newest first")
	rows, err := w.Workloads(t.Context(), "east", "cv-dev", 1)
	require.NoError(t, err)
	require.Equal(t, workload("b", fleet.Admitted, noon.Add(time.Minute)), rows[0])

	at := noon.Add(time.Minute)
	event(workload("a", fleet.Admitted, noon), false, at)
	require.Equal(t, []string{"b admitted", "a admitted"}, names())
	event(workload("a", fleet.Pending, noon), false, noon) // came late
	require.Equal(t, []string{"b admitted", "a admitted"}, names())
	event(workload("b", fleet.Finished, noon), false, at)
	event(workload("short", fleet.Finished, noon), true, at) // between two polls
	require.Equal(t, []string{"a admitted"}, names())

	next := observation(noon.Add(2 * time.Minute))
	next.Workloads = []fleet.Workload{workload("c", fleet.Pending, noon)}
	w.poll(next)
	require.Equal(t, []string{"c pending"}, names(), "a is gone")
	var gone []string
	require.NoError(t, w.owner.Select(&gone, `SELECT uid FROM workload WHERE gone_at IS NOT NULL ORDER BY uid`))
	require.Equal(t, []string{"a", "short"}, gone, "b finished and stays")
	next.At, next.Workloads = noon.Add(3*time.Minute), []fleet.Workload{workload("a", fleet.Pending, noon)}
	w.poll(next)
	require.Equal(t, []string{"a pending"}, names(), "it came back")

	var version string
	require.NoError(t, w.owner.Get(&version, `SELECT xmin::text FROM workload WHERE uid = 'a'`))
	next.At = noon.Add(4 * time.Minute)
	w.poll(next)
	var after string
	require.NoError(t, w.owner.Get(&after, `SELECT xmin::text FROM workload WHERE uid = 'a'`))
	require.Equal(t, version, after, "what did not change is not written")
}

func TestChartsKeepGapsAndHaveFewPoints(t *testing.T) {
	w := newWorld(t)
	b := w.binding("cv", "east")
	from := noon.Truncate(time.Hour)
	// A poll a minute for a day, with an hour without any and an hour of unknown use.
	for m := range 24 * 60 {
		if m >= 600 && m < 660 {
			continue
		}
		u := portal.UsageRow{Binding: b, PoolID: "east-h100", Nominal: known(8), InUse: known(int64(m % 2)), At: from.Add(time.Duration(m) * time.Minute)}
		if m >= 900 && m < 960 {
			u.InUse = fleet.Unknown
		}
		w.owner.MustExec(`INSERT INTO usage_sample (binding_id, pool_id, at, nominal, in_use) VALUES ($1, $2, $3, 8, $4)`, b.ID, u.PoolID, u.At, floatOf(u.InUse))
	}
	day, err := w.BindingSamples(t.Context(), b.ID, "east-h100", from, from.Add(24*time.Hour))
	require.NoError(t, err)
	require.Greater(t, len(day), 250)
	require.LessOrEqual(t, len(day), 300)
	unknown := 0
	for i, s := range day {
		require.InDelta(t, 8, *s.Nominal, 0.001)
		require.Nil(t, s.Borrowed)
		at := s.At.Sub(from)
		require.False(t, at > 600*time.Minute && at < 655*time.Minute, "no bucket where nothing was polled: %v", at)
		if i > 0 {
			require.True(t, s.At.After(day[i-1].At))
		}
		if s.InUse == nil {
			unknown++
		} else {
			require.True(t, *s.InUse >= 0 && *s.InUse <= 1)
		}
	}
	require.Greater(t, unknown, 10)
	hour, err := w.BindingSamples(t.Context(), b.ID, "east-h100", from, from.Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, hour, 60, "as fine as the polls")
	for _, x := range [][2]time.Time{{from, from}, {from.Add(time.Hour), from}} {
		none, err := w.BindingSamples(t.Context(), b.ID, "east-h100", x[0], x[1])
		require.NoError(t, err)
		require.Empty(t, none)
	}

	// A week is drawn from hours: three polls of one, of which one did not know the use, and a repeated one.
	for i, use := range []fleet.Measure{known(2), fleet.Unknown, known(6), known(6)} {
		at := from.Add(26*time.Hour + time.Duration(min(i, 2))*time.Minute)
		w.poll(observation(at), portal.UsageRow{Binding: b, PoolID: "east-h100", Nominal: known(8), InUse: use, At: at})
	}
	w.roll(from.Add(48 * time.Hour))
	week, err := w.BindingSamples(t.Context(), b.ID, "east-h100", from.Add(-5*24*time.Hour), from.Add(2*24*time.Hour))
	require.NoError(t, err)
	require.Len(t, week, 1)
	require.InDelta(t, 4, *week[0].InUse, 0.001, "the mean of the time in which it was known")
	require.InDelta(t, 8, *week[0].Nominal, 0.001)
	require.Nil(t, week[0].Borrowed, "unknown is not 0")
	pools, err := w.PoolSamples(t.Context(), "east-h100", from.Add(-5*24*time.Hour), from.Add(2*24*time.Hour))
	require.NoError(t, err)
	require.Len(t, pools, 1)
	require.InDelta(t, 64, *pools[0].Capacity, 0.001)
	require.Nil(t, pools[0].Pending)

	w.poll(observation(noon), portal.UsageRow{Binding: b, PoolID: "east-h100", At: noon})
	whole, err := w.PoolSamples(t.Context(), "east-h100", noon.Add(-time.Hour), noon.Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, whole, 1)
	require.InDelta(t, 64, *whole[0].Capacity, 0.001)
	require.InDelta(t, 24, *whole[0].Nominal, 0.001)
	require.Nil(t, whole[0].InUse)
}

func floatOf(m fleet.Measure) any {
	if !m.Known {
		return nil
	}
	return m.Amount.Float()
}

func TestAClusterIsConnectedOnce(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	c := portal.Cluster{Cluster: org.Cluster{ID: "east", Name: "East", Kind: fleet.Kubernetes, RootCohort: "all"}, Server: "https://east", TokenSetAt: ptr(noon), CreatedAt: noon,
		Discovery: &fleet.Discovery{Version: "v1.35", At: noon}}
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.InsertCluster(ctx, c, "PEM", []byte("sealed\x00"))
	})
	w.fails(fault.Conflict, func(ctx context.Context, tx portal.Tx) error { return tx.InsertCluster(ctx, c, "", []byte("x")) })
	got, err := w.Cluster(ctx, "east")
	require.NoError(t, err)
	require.Equal(t, fleet.Observe, got.Mode, "where every cluster starts")
	require.False(t, got.Writes())
	require.True(t, got.HasToken)
	require.Equal(t, noon, *got.TokenSetAt)
	require.Equal(t, "v1.35", got.Discovery.Version)
	token, err := w.ClusterToken(ctx, "east")
	require.NoError(t, err)
	require.Equal(t, "sealed\x00", string(token))

	w.tx(func(ctx context.Context, tx portal.Tx) error {
		if err := tx.SaveClusterMode(ctx, "east", fleet.Enforce, true); err != nil {
			return err
		}
		return tx.SaveDiscovery(ctx, "east", fleet.Discovery{Version: "v1.36", At: noon, Pools: observation(noon).Pools})
	})
	got, err = w.Cluster(ctx, "east")
	require.NoError(t, err)
	require.Equal(t, fleet.Enforce, got.Mode)
	require.True(t, got.Paused)
	require.Equal(t, "v1.36", got.Discovery.Version)
	pool, err := w.Pool(ctx, "east-h100")
	require.NoError(t, err)
	require.Equal(t, "64", pool.Capacity.String())
	// An import neither reaches the connection nor the mode.
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.SaveOrg(ctx, organisation(), "x", "test")
		return err
	})
	again, err := w.Cluster(ctx, "east")
	require.NoError(t, err)
	require.Equal(t, got, again)
	all, err := w.Clusters(ctx)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "v1.36", all[0].Discovery.Version)
	require.Empty(t, all[0].Discovery.Queues)
	require.Nil(t, all[0].Observation)
	w.fails(fault.NotFound, func(ctx context.Context, tx portal.Tx) error {
		return tx.SaveClusterMode(ctx, "north", fleet.Enforce, false)
	})
	w.fails(fault.Invalid, func(ctx context.Context, tx portal.Tx) error { return tx.SaveClusterMode(ctx, "east", "force", false) })
}

func TestBindingsDoNotShareObjects(t *testing.T) {
	w := newWorld(t)
	b := w.binding("cv", "east")
	got, err := w.Binding(t.Context(), b.ID)
	require.NoError(t, err)
	require.Equal(t, b, got)
	at, err := w.BindingAt(t.Context(), "cv", "development", "east")
	require.NoError(t, err)
	require.Equal(t, b, at)
	for i, spoil := range []func(*fleet.Binding){
		func(x *fleet.Binding) { x.ClusterQueue = "other" }, // the same place twice
		func(x *fleet.Binding) { x.ProjectID = "asr" },      // the same queue for two projects
	} {
		other := b
		other.ID = fmt.Sprintf("00000000-0000-0000-0000-00000000000%d", i)
		spoil(&other)
		w.fails(fault.Conflict, func(ctx context.Context, tx portal.Tx) error { return tx.InsertBinding(ctx, other) })
	}
	ceiling, lending := fleet.Count(16), fleet.MustQuantity("2")
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		if err := tx.InsertBaseline(ctx, b.ID, "east-h100", fleet.Base{Nominal: fleet.Count(1)}, noon); err != nil {
			return err
		}
		return tx.InsertBaseline(ctx, b.ID, "east-h100", fleet.Base{Nominal: fleet.MustQuantity("4"), Lending: &lending}, noon)
	})
	bases, err := w.Baselines(t.Context(), b.ID)
	require.NoError(t, err)
	require.Len(t, bases, 1)
	base := bases["east-h100"]
	require.Equal(t, "4", base.Nominal.String(), "the newest counts")
	require.Nil(t, base.Borrowing, "no limit")
	require.True(t, base.Lending.Equal(lending))
	require.True(t, base.Ceiling.Equal(ceiling))
	list, err := w.Bindings(t.Context(), portal.BindingQuery{ClusterID: "east"})
	require.NoError(t, err)
	require.Equal(t, []fleet.Binding{b}, list)
}
