package portal_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

// yard is a desk whose cluster is a simulated one that lives, in mode enforce.
type yard struct {
	*desk
	sim *sim.Cluster
}

var h100Key = fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}

func newYard(t testing.TB, queues ...sim.Queue) *yard {
	t.Helper()
	y := &yard{desk: newDesk(t)}
	var err error
	y.sim, err = sim.Open(sim.Config{ID: "east", Idle: true, Now: y.clock, Queues: queues, WatchEvery: 10 * time.Millisecond,
		File: filepath.Join(t.TempDir(), "east.json"), Pools: yardPools()})
	require.NoError(t, err)
	y.Dial = func(context.Context, string) (fleet.Cluster, error) { return y.sim, nil }
	y.Log = slog.New(slog.DiscardHandler)
	y.SettleFor = 50 * time.Millisecond
	y.mode(fleet.PlanOnly, fleet.Enforce)
	return y
}

func yardPools() []sim.Pool {
	pool := func(flavor string) sim.Pool {
		return sim.Pool{Key: fleet.PoolKey{Flavor: flavor, Resource: "nvidia.com/gpu"}, Product: flavor, Unit: fleet.Card, Nodes: 4, PerNode: 8,
			CPUPerUnit: fleet.Count(8), MemoryPerUnit: fleet.MustQuantity("64Gi")}
	}
	return []sim.Pool{pool("h100"), pool("a100"), pool("l40s")}
}

func (y *yard) mode(modes ...fleet.Mode) {
	y.t.Helper()
	for _, m := range modes {
		_, err := y.ChangeClusterMode(y.t.Context(), y.as("cleo"), portal.ModeInput{ClusterID: "east", Mode: m, Reason: "test"})
		require.NoError(y.t, err)
	}
}

// granted asks for lines and has them approved over every warning; the change is not applied yet.
func (y *yard) granted(lines ...request.Line) (portal.RequestRef, portal.DecideResult) {
	y.t.Helper()
	ref := y.submitted(quota(lines...))
	y.decide("ben", acknowledged(approve(ref, "team")))
	return ref, y.decide("cleo", acknowledged(approve(ref, "capacity")))
}

func (y *yard) apply(id string) portal.ApplyResult {
	y.t.Helper()
	res, err := y.ApplyChange(y.t.Context(), id)
	require.NoError(y.t, err)
	return res
}

func (y *yard) change(id string) portal.Change {
	y.t.Helper()
	c, err := y.store.Change(y.t.Context(), id)
	require.NoError(y.t, err)
	return c
}

func (y *yard) state(number int64) request.State {
	y.t.Helper()
	r, err := y.store.RequestByNumber(y.t.Context(), number)
	require.NoError(y.t, err)
	return r.State
}

// live is the nominal quota that the cluster holds for h100 in a queue; "" = none.
func (y *yard) live(queue string) string {
	return y.sim.ObjectFields(fleet.ObjectRef{Kind: "ClusterQueue", Name: queue})["h100 nvidia.com/gpu nominalQuota"]
}

func (y *yard) writes(queue string) int {
	return y.sim.Writes(fleet.ObjectRef{Kind: "ClusterQueue", Name: queue})
}

func (y *yard) down() {
	y.sim.Intercept(func(context.Context, string) error {
		return fault.New(fault.Unavailable, "The cluster cannot be reached.")
	})
}

// of counts the entries of a type about one object.
func (y *yard) of(t ledger.Type, object string) int {
	y.t.Helper()
	n := 0
	for row, err := range y.store.StreamEntries(y.t.Context(), portal.EntryQuery{Types: []ledger.Type{t}}) {
		require.NoError(y.t, err)
		if row.Entry.Object.ID == object {
			n++
		}
	}
	return n
}

const place = "vision-street-production"
