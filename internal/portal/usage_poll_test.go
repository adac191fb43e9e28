package portal_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

// fixed answers each observation with what it is told, and nothing else.
type fixed struct {
	fleet.Cluster
	observation fleet.Observation
	err         error
	wait        bool
}

func (f *fixed) Observe(ctx context.Context) (fleet.Observation, error) {
	if f.wait {
		<-ctx.Done()
		return fleet.Observation{}, ctx.Err()
	}
	return f.observation, f.err
}

func (f *fixed) Discover(context.Context) (fleet.Discovery, error) {
	return fleet.Discovery{Kind: fleet.Kubernetes, Version: "1.35.4"}, nil
}

func (y *yard) usage(pool string) portal.UsageRow {
	y.t.Helper()
	rows, err := y.store.Usage(y.t.Context(), portal.UsageQuery{ProjectID: "street", Environment: "production", PoolID: pool})
	require.NoError(y.t, err)
	require.Len(y.t, rows, 1)
	return rows[0]
}

func (y *yard) poll() bool {
	y.t.Helper()
	ok, err := y.PollCluster(y.t.Context(), "east")
	require.NoError(y.t, err)
	return ok
}

func TestAPollSaysWhatIsHeldUsedAndWaitedFor(t *testing.T) {
	y := newYard(t)
	ref, out := y.granted(ask("h100", 12))
	y.apply(out.Changes[0])
	_, err := y.sim.Submit(place, "first", h100Key, 12, time.Hour)
	require.NoError(t, err)
	_, err = y.sim.Submit(place, "second", h100Key, 4, time.Hour)
	require.NoError(t, err)
	require.True(t, y.poll())
	u := y.usage("h100")
	require.Equal(t, []string{"12", "12", "12", "0", "1", "4"},
		[]string{u.Nominal.String(), u.Reserved.String(), u.InUse.String(), u.Borrowed.String(), u.Pending.String(), u.PendingAmount.String()})
	require.True(t, *u.Active)
	v := y.detail(ref.Number)
	require.Len(t, v.Pending, 1)
	require.Equal(t, "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed", v.Pending[0].Message)

	// The cluster goes away: the figures stay, marked, with their time.
	at := u.At
	y.pass(time.Minute)
	y.down()
	require.False(t, y.poll())
	u = y.usage("h100")
	require.Equal(t, "12", u.InUse.String())
	require.True(t, u.Stale)
	require.True(t, at.Equal(u.At))
	polls, err := y.store.Polls(t.Context(), "east", 1)
	require.NoError(t, err)
	require.False(t, polls[0].OK)
	require.Equal(t, "The cluster cannot be reached.", polls[0].Problem)
}

func TestASlowClusterIsAFailedPollOfItsOwn(t *testing.T) {
	y := newYard(t)
	slow := &fixed{wait: true}
	y.Dial = func(context.Context, string) (fleet.Cluster, error) { return slow, nil }
	y.PollTimeout = 20 * time.Millisecond
	require.False(t, y.poll())
	slow.wait = false // it answers, and says nothing: that is not "nothing is there"
	require.False(t, y.poll())
}

// Parts that could not be read leave the last good figures of those parts alone.
func TestAPartThatCouldNotBeReadStaysAsItWas(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 12))
	y.apply(out.Changes[0])
	require.True(t, y.poll())
	y.pass(time.Minute)
	part := &fixed{observation: fleet.Observation{At: y.clock(), PoolsKnown: true, Problems: []string{"The queues could not be listed."}}}
	y.Dial = func(context.Context, string) (fleet.Cluster, error) { return part, nil }
	require.True(t, y.poll())
	require.Equal(t, "12", y.usage("h100").Nominal.String())
}

func TestWhatABindingUsesOfEachPool(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 12), ask("a100", 4))
	y.apply(out.Changes[0])
	known := func(n int64) fleet.Measure { return fleet.Known(fleet.Count(n)) }
	a100 := fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"}
	flavor := func(k fleet.PoolKey, nominal, used, borrowed fleet.Measure) fleet.FlavorUse {
		return fleet.FlavorUse{Pool: k, Nominal: nominal, Reserved: used, InUse: used, Borrowed: borrowed}
	}
	pending := func(uid, message string, n int64) fleet.Workload {
		return fleet.Workload{UID: uid, Namespace: place, Name: uid, Queue: place, State: fleet.Pending, Message: message, CreatedAt: noon,
			Amounts: []fleet.Amount{{Pool: fleet.PoolKey{Resource: "nvidia.com/gpu"}, Amount: fleet.Count(n)}}}
	}
	c := &fixed{observation: fleet.Observation{At: y.clock(), QueuesKnown: true, WorkloadsKnown: true,
		Queues: []fleet.Queue{{Name: place, Active: true, Flavors: []fleet.FlavorUse{
			flavor(h100Key, known(12), known(15), known(3)), flavor(a100, known(4), fleet.Unknown, fleet.Unknown)}}},
		Workloads: []fleet.Workload{
			pending("a", "insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed", 4),
			pending("b", "insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed", 2),
			pending("c", "", 1),
		}}}
	y.Dial = func(context.Context, string) (fleet.Cluster, error) { return c, nil }
	require.True(t, y.poll())
	h, a := y.usage("h100"), y.usage("a100")
	require.Equal(t, "0", h.Borrowed.String(), "C001: without a cohort nothing is borrowed; it is over quota")
	require.Equal(t, "15", h.InUse.String())
	require.Nil(t, h.Borrowing)
	require.True(t, h.BorrowingKnown, "C002: no limit")
	require.False(t, a.InUse.Known, "not said is not 0")
	require.Equal(t, []string{"2", "5"}, []string{h.Pending.String(), h.PendingAmount.String()}, "its own and the one that names none")
	require.Equal(t, []string{"2", "3"}, []string{a.Pending.String(), a.PendingAmount.String()})

	// Without the workloads, what waits in a queue of two pools belongs to neither for sure.
	c.observation.WorkloadsKnown, c.observation.Workloads, c.observation.Queues[0].Pending = false, nil, known(3)
	y.pass(time.Minute)
	c.observation.At = y.clock()
	require.True(t, y.poll())
	require.False(t, y.usage("h100").Pending.Known)
}

func TestAWatchKeepsWhatAPollMisses(t *testing.T) {
	y := newYard(t)
	_, out := y.granted(ask("h100", 12))
	y.apply(out.Changes[0])
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- y.WatchCluster(ctx, "east") }()
	uid, err := y.sim.Submit(place, "short", h100Key, 2, time.Minute)
	require.NoError(t, err)
	seen := func(state fleet.WorkloadState) func() bool {
		return func() bool {
			var got string
			err := y.store.DB().Get(&got, `SELECT state FROM workload WHERE uid = $1`, uid)
			return err == nil && got == string(state)
		}
	}
	require.Eventually(t, seen(fleet.Admitted), 20*time.Second, 20*time.Millisecond)
	y.pass(2 * time.Minute) // over before any poll
	require.Eventually(t, seen(fleet.Finished), 20*time.Second, 20*time.Millisecond)
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}
