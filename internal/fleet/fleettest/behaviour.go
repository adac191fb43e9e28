package fleettest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

func planWritesNothing(t *testing.T, x Target) {
	d := desired(x.Binding(t), Limit(x.Pool, 4, 2))
	for range 2 {
		p := plan(t, x, d)
		require.True(t, p.Changed())
		require.Empty(t, p.Conflicts)
		created := map[string]bool{}
		for _, o := range p.Objects {
			created[o.Object.Kind] = created[o.Object.Kind] || o.Create
		}
		for _, kind := range x.Creates {
			require.True(t, created[kind], "%s is shown as created", kind)
		}
	}
	require.Nil(t, queue(t, x, d.Binding))
}

func applyCreates(t *testing.T, x Target) {
	d := desired(x.Binding(t), Limit(x.Pool, 4, 2), Limit(x.Other, 2, 0))
	rb := settled(t, x, d)
	require.True(t, rb.Active, rb.ActiveReason)
	f := flavor(t, x, d.Binding, x.Pool)
	require.Equal(t, "6", f.Nominal.Amount.Add(*f.Borrowing).String(), "all that may be used")
	require.Nil(t, f.Lending, "all of it is lent")
	require.Equal(t, "2", flavor(t, x, d.Binding, x.Other).Nominal.String())
	q := queue(t, x, d.Binding)
	require.True(t, q.Ours)
	if d.Binding.Account != "" {
		return
	}
	require.Equal(t, "4", f.Nominal.String())
	require.Equal(t, d.Binding.Cohort, q.Cohort)
	require.Equal(t, []string{d.Binding.Namespace + "/" + d.Binding.LocalQueue}, q.LocalQueues)
}

func applyTwice(t *testing.T, x Target) {
	d := desired(x.Binding(t), Limit(x.Pool, 4, 2))
	require.NotEmpty(t, apply(t, x, d).Written)
	again := plan(t, x, d)
	require.False(t, again.Changed(), "%+v", again.Objects)
	r, err := x.Cluster.Apply(t.Context(), again)
	require.NoError(t, err)
	require.Empty(t, r.Written)
	// 12000m is 12, also to the cluster.
	same := d
	same.Limits = []fleet.Limit{{Pool: x.Pool, Nominal: fleet.MustQuantity("4000m"), Borrowing: d.Limits[0].Borrowing}}
	require.False(t, plan(t, x, same).Changed())
}

func oldPlanIsStale(t *testing.T, x Target) {
	b := x.Binding(t)
	settled(t, x, desired(b, Limit(x.Pool, 4, 0)))
	old := plan(t, x, desired(b, Limit(x.Pool, 6, 0)))
	settled(t, x, desired(b, Limit(x.Pool, 8, 0)))
	_, err := x.Cluster.Apply(t.Context(), old)
	kind(t, fault.Stale, err)
	require.Equal(t, "8", flavor(t, x, b, x.Pool).Nominal.String())
}

func editMakesStale(t *testing.T, x Target) {
	b := x.Binding(t)
	settled(t, x, desired(b, Limit(x.Pool, 4, 0)))
	p := plan(t, x, desired(b, Limit(x.Pool, 6, 0)))
	x.Edit(t, b, x.Pool, 5)
	_, err := x.Cluster.Apply(t.Context(), p)
	require.Contains(t, []fault.Kind{fault.Stale, fault.Conflict}, fault.KindOf(err), "%v", err)
	require.Equal(t, "5", flavor(t, x, b, x.Pool).Nominal.String())
}

func takeover(t *testing.T, x Target) {
	b := x.Foreign(t, "somebody-else", Limit(x.Pool, 8, 0))
	d := desired(b, Limit(x.Pool, 12, 0))
	p := plan(t, x, d)
	require.NotEmpty(t, p.Conflicts)
	require.Equal(t, "somebody-else", p.Conflicts[0].Manager)
	_, err := x.Cluster.Apply(t.Context(), p)
	kind(t, fault.Conflict, err)
	require.Equal(t, "8", flavor(t, x, b, x.Pool).Nominal.String())

	d.Takeover = true
	rb := settled(t, x, d)
	require.True(t, rb.Verified())
	require.Equal(t, "12", flavor(t, x, b, x.Pool).Nominal.String())

	d = desired(b, Limit(x.Pool, 10, 0)) // ours from now on
	require.Empty(t, plan(t, x, d).Conflicts)
	settled(t, x, d)
}

func noLimitIsNotZero(t *testing.T, x Target) {
	b := x.Binding(t)
	open := fleet.Limit{Pool: x.Pool, Nominal: fleet.Count(4)}
	settled(t, x, desired(b, open))
	require.Nil(t, flavor(t, x, b, x.Pool).Borrowing)
	settled(t, x, desired(b, Limit(x.Pool, 4, 0)))
	f := flavor(t, x, b, x.Pool)
	require.NotNil(t, f.Borrowing)
	require.Equal(t, "0", f.Borrowing.String())
	p := plan(t, x, desired(b, open))
	require.True(t, p.Changed(), "0 → no limit is a change")
	require.NotEmpty(t, p.Warnings, "borrowing without limit is said")
	settled(t, x, desired(b, open))
	require.Nil(t, flavor(t, x, b, x.Pool).Borrowing)
}

func lendingFollows(t *testing.T, x Target) {
	b := x.Binding(t)
	lend := func(n, lending int64) fleet.Desired {
		l := Limit(x.Pool, n, 0)
		q := fleet.Count(lending)
		l.Lending = &q
		return desired(b, l)
	}
	settled(t, x, lend(8, 6))
	settled(t, x, lend(4, 4))
	f := flavor(t, x, b, x.Pool)
	require.Equal(t, "4", f.Nominal.String())
	require.Equal(t, "4", f.Lending.String())
	settled(t, x, lend(4, 0))
	require.Equal(t, "0", flavor(t, x, b, x.Pool).Lending.String(), "0 lends nothing")
}

func quotaIsSum(t *testing.T, x Target) {
	b := x.Binding(t)
	hard := func() *fleet.Measure {
		o, err := x.Cluster.Observe(t.Context())
		require.NoError(t, err)
		require.True(t, o.QuotasKnown)
		for _, q := range o.Quotas {
			if q.Namespace == b.Namespace && q.Name == b.ResourceQuota && q.Key == "requests."+x.Pool.Resource {
				return &q.Hard
			}
		}
		return nil
	}
	settled(t, x, desired(b, Limit(x.Pool, 4, 2), Limit(x.Other, 3, 0)))
	require.NotNil(t, hard())
	require.Equal(t, "9", hard().String(), "over both pools")
	settled(t, x, desired(b, fleet.Limit{Pool: x.Pool, Nominal: fleet.Count(4)}, Limit(x.Other, 3, 0)))
	require.Nil(t, hard(), "borrowing without limit leaves no key")
}

func holdHolds(t *testing.T, x Target) {
	b := x.Binding(t)
	d := desired(b, Limit(x.Pool, 4, 0))
	settled(t, x, d)
	held := desired(b, Limit(x.Pool, 0, 0))
	held.Hold = true
	before, err := x.Cluster.ReadBack(t.Context(), held)
	require.NoError(t, err)
	require.False(t, before.Verified())
	settled(t, x, held)
	require.Equal(t, "Hold", queue(t, x, b).StopPolicy)
	settled(t, x, d)
	require.NotEqual(t, "Hold", queue(t, x, b).StopPolicy)
}

func readBackSeesEdits(t *testing.T, x Target) {
	b := x.Binding(t)
	d := desired(b, Limit(x.Pool, 4, 0))
	settled(t, x, d)
	x.Edit(t, b, x.Pool, 7)
	rb, err := x.Cluster.ReadBack(t.Context(), d)
	require.NoError(t, err)
	require.False(t, rb.Verified())
	require.Len(t, rb.Differences(), 1)
	for _, f := range rb.Differences()[0].Fields {
		if f.Changed() {
			require.Equal(t, fleet.LimitPath(x.Pool, x.Field), f.Path)
			require.Equal(t, "7", *f.Before)
			require.Equal(t, "4", *f.After)
		}
	}
}

func missingIsNotVerified(t *testing.T, x Target) {
	d := desired(x.Binding(t), Limit(x.Pool, 0, 0))
	rb, err := x.Cluster.ReadBack(t.Context(), d)
	require.NoError(t, err)
	require.False(t, rb.Verified(), "a limit of 0 on a queue that is not there is not enforced")
	require.False(t, rb.Active)
}

func unknownIsNotZero(t *testing.T, x Target) {
	b := x.Binding(t)
	require.Nil(t, queue(t, x, b))
	settled(t, x, desired(b, Limit(x.Pool, 4, 0)))
	f := flavor(t, x, b, x.Pool)
	require.Equal(t, fleet.Known(fleet.Quantity{}).String(), f.InUse.String())
	require.Equal(t, "0", f.Borrowed.String())
	o, err := x.Cluster.Observe(t.Context())
	require.NoError(t, err)
	require.True(t, o.PoolsKnown)
	for _, p := range o.Pools {
		if p.Key == x.Pool {
			require.True(t, p.Capacity.Known)
			require.Positive(t, p.Capacity.Amount.Sign())
		}
	}
}
