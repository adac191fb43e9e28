// Package fleettest is what every fleet.Cluster has to do, as a table of behaviours.
// The simulated cluster and the adapters run it, so that what a use case may rely on
// holds for all of them. Only tests import it.
package fleettest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// Target is one cluster under test.
type Target struct {
	Cluster fleet.Cluster
	// Pool and Other are two flavors of the cluster with one resource.
	Pool, Other fleet.PoolKey
	// Binding names objects of the template that do not exist yet; where the cluster has
	// them, with a cohort and a ResourceQuota.
	Binding func(t *testing.T) fleet.Binding
	// Foreign makes a queue whose limits somebody else manages, and binds it as adopted.
	Foreign func(t *testing.T, manager string, limits ...fleet.Limit) fleet.Binding
	// Edit sets the nominal quota of a binding's queue as somebody else would, by force.
	Edit func(t *testing.T, b fleet.Binding, pool fleet.PoolKey, nominal int64)
	// Creates are the kinds of object that a new binding needs; nil: those of Kueue.
	Creates []string
	// Field is the name of the number that Edit sets; "": nominalQuota.
	Field string
	// Lacks says of each behaviour that cannot exist on this cluster why it cannot.
	Lacks map[string]string
	// Settle bounds how long the cluster's own controllers may take.
	Settle time.Duration
}

// Run checks the target; make is called once for each behaviour and may return the same one.
func Run(t *testing.T, make func(t *testing.T) Target) {
	known := map[string]bool{}
	for _, c := range behaviours {
		known[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			x := make(t)
			if why := x.Lacks[c.name]; why != "" {
				t.Log("cannot exist on this cluster: " + why)
				return
			}
			if x.Settle == 0 {
				x.Settle = 5 * time.Second
			}
			if x.Creates == nil {
				x.Creates = []string{"Namespace", "ClusterQueue", "LocalQueue"}
			}
			if x.Field == "" {
				x.Field = fleet.NominalField
			}
			c.check(t, x)
		})
	}
	for name := range make(t).Lacks {
		require.True(t, known[name], "%q is no behaviour of the table", name)
	}
}

var behaviours = []struct {
	name  string
	check func(t *testing.T, x Target)
}{
	{"a plan writes nothing", planWritesNothing},
	{"an apply creates what the plan shows", applyCreates},
	{"an apply of what is so sends nothing", applyTwice},
	{"an older plan never lands after a newer one", oldPlanIsStale},
	{"a plan made before somebody's edit is refused", editMakesStale},
	{"fields of another manager conflict until taken over", takeover},
	{"no borrowing limit is not a limit of 0", noLimitIsNotZero},
	{"lending follows a lowered quota in one write", lendingFollows},
	{"a ResourceQuota is the sum of quota and borrowing", quotaIsSum},
	{"Hold is verified only when it holds", holdHolds},
	{"read-back sees what somebody changed", readBackSeesEdits},
	{"what does not exist is not verified", missingIsNotVerified},
	{"a new queue uses 0, and a missing one is not listed", unknownIsNotZero},
	{"an ended call says so", endedCall},
}

// Limit of n units with that much borrowing.
func Limit(pool fleet.PoolKey, n, borrowing int64) fleet.Limit {
	b := fleet.Count(borrowing)
	return fleet.Limit{Pool: pool, Nominal: fleet.Count(n), Borrowing: &b}
}

func desired(b fleet.Binding, limits ...fleet.Limit) fleet.Desired {
	d := fleet.Desired{Binding: b, Limits: limits, RequestID: "00000000-0000-4000-8000-000000000042", RequestURL: "https://portal.example.org/requests/42"}
	if !b.Adopted && b.Account == "" {
		for _, l := range limits {
			for resource, unit := range map[string]string{"cpu": "8", "memory": "64Gi"} {
				share := fleet.Limit{Pool: fleet.PoolKey{Flavor: l.Pool.Flavor, Resource: resource}, Nominal: fleet.MustQuantity(unit).Mul(l.Nominal.Int64())}
				if l.Borrowing != nil {
					q := fleet.MustQuantity(unit).Mul(l.Borrowing.Int64())
					share.Borrowing = &q
				}
				d.Companions = append(d.Companions, share)
			}
		}
		sortLimits(d.Companions)
	}
	return d
}

func sortLimits(l []fleet.Limit) {
	for i := range l {
		for j := i; j > 0 && l[j].Pool.String() < l[j-1].Pool.String(); j-- {
			l[j], l[j-1] = l[j-1], l[j]
		}
	}
}

func plan(t *testing.T, x Target, d fleet.Desired) fleet.Plan {
	t.Helper()
	p, err := x.Cluster.Plan(t.Context(), d)
	require.NoError(t, err)
	return p
}

func apply(t *testing.T, x Target, d fleet.Desired) fleet.Receipt {
	t.Helper()
	r, err := x.Cluster.Apply(t.Context(), plan(t, x, d))
	require.NoError(t, err)
	require.False(t, r.At.IsZero())
	return r
}

// settled applies d and waits until it is read back.
func settled(t *testing.T, x Target, d fleet.Desired) fleet.ReadBack {
	t.Helper()
	apply(t, x, d)
	var rb fleet.ReadBack
	require.Eventually(t, func() bool {
		var err error
		rb, err = x.Cluster.ReadBack(t.Context(), d)
		return err == nil && rb.Verified() && (rb.Active || d.Hold)
	}, x.Settle, 50*time.Millisecond, "read back: %+v", &rb)
	return rb
}

// queue of a binding as observed; nil when the cluster does not list it.
func queue(t *testing.T, x Target, b fleet.Binding) *fleet.Queue {
	t.Helper()
	o, err := x.Cluster.Observe(t.Context())
	require.NoError(t, err)
	require.True(t, o.QueuesKnown)
	for i := range o.Queues {
		if o.Queues[i].Name == b.Queue() {
			return &o.Queues[i]
		}
	}
	return nil
}

func flavor(t *testing.T, x Target, b fleet.Binding, pool fleet.PoolKey) fleet.FlavorUse {
	t.Helper()
	q := queue(t, x, b)
	require.NotNil(t, q, "the queue is listed")
	for _, f := range q.Flavors {
		if f.Pool == pool {
			return f
		}
	}
	t.Fatalf("%s does not list %s", b.Queue(), pool)
	return fleet.FlavorUse{}
}

func endedCall(t *testing.T, x Target) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := x.Cluster.Observe(ctx)
	require.Error(t, err, "never an empty observation")
	_, err = x.Cluster.Plan(ctx, desired(x.Binding(t), Limit(x.Pool, 1, 0)))
	require.Error(t, err)
}

func kind(t *testing.T, want fault.Kind, err error) {
	t.Helper()
	require.Equal(t, want, fault.KindOf(err), "%v", err)
}
