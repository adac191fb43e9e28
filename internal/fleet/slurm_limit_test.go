package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

var (
	anyGPU  = fleet.PoolKey{Flavor: "gpu", Resource: "gres/gpu"}
	a100GPU = fleet.PoolKey{Flavor: "a100", Resource: "gres/gpu:a100"}
)

// A Slurm account has one number: all that may be used. No number is no limit.
func TestAnAccountIsHeldToOneNumber(t *testing.T) {
	account := fleet.Binding{Account: "lab-a"}
	for name, c := range map[string]struct {
		base   fleet.Base
		grants []fleet.Grant
		want   string
	}{
		"a new account":                  {fleet.Base{Borrowing: q(0)}, nil, "0 + 0, lends no limit"},
		"an adopted one without a limit": {fleet.Base{}, nil, "0 + no limit, lends no limit"},
		"a grant on it":                  {fleet.Base{}, []fleet.Grant{{Kind: fleet.HardGrant, Amount: fleet.Count(6)}}, "6 + 0, lends no limit"},
		"a burst raises the number":      {fleet.Base{Nominal: fleet.Count(6), Borrowing: q(0)}, []fleet.Grant{{Kind: fleet.BurstGrant, Amount: fleet.Count(2)}}, "8 + 0, lends no limit"},
		"a soft grant is its ceiling":    {fleet.Base{Borrowing: q(0), Ceiling: q(4)}, []fleet.Grant{{Kind: fleet.SoftGrant, Amount: fleet.Count(6)}}, "10 + 0, lends no limit"},
		"soft without a ceiling":         {fleet.Base{Borrowing: q(0)}, []fleet.Grant{{Kind: fleet.SoftGrant, Amount: fleet.Count(6)}}, "0 + no limit, lends no limit"},
	} {
		d := fleet.DesiredAt(noon, account, []fleet.PoolTerms{{Key: anyGPU, Base: c.base, Grants: c.grants, CPUPerUnit: fleet.Count(8)}})
		require.Len(t, d.Limits, 1, name)
		assert.Equal(t, c.want, limitText(d.Limits[0]), name)
		assert.Empty(t, d.Companions, name)
		assert.False(t, d.Hold, name)
	}
	assert.Equal(t, "lab-a", account.Queue())
	assert.Equal(t, "lab-a", account.Home())
}

func TestPlanBaseKnowsNoLimitFromNoAccount(t *testing.T) {
	six := "6"
	fields := []fleet.Field{
		{Path: fleet.LimitPath(a100GPU, fleet.TotalField), Limit: true, After: &six},
		{Path: fleet.LimitPath(anyGPU, fleet.TotalField), Limit: true, Before: &six, After: &six},
	}
	p := fleet.Plan{Desired: fleet.Desired{Limits: []fleet.Limit{{Pool: a100GPU}, {Pool: anyGPU}}}, Objects: []fleet.ObjectDiff{{Fields: fields}}}
	base := p.Base()
	require.Len(t, base, 2)
	assert.Equal(t, "0 + no limit, lends no limit", limitText(base[0]))
	assert.Equal(t, "6 + 0, lends no limit", limitText(base[1]))
	p.Objects[0].Create = true
	assert.Empty(t, p.Base(), "an account that does not exist has no limits")
}

func TestAllTypesCountEachType(t *testing.T) {
	assert.True(t, anyGPU.Counts(a100GPU))
	assert.True(t, anyGPU.Counts(anyGPU))
	assert.False(t, a100GPU.Counts(anyGPU))
	assert.False(t, anyGPU.Counts(fleet.PoolKey{Flavor: "big", Resource: "gres/gpumem:big"}))
	assert.False(t, fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}.Counts(fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"}))
}

// The use of an account includes that of the accounts below it.
func TestPoolSumsCountAParentsUseOnce(t *testing.T) {
	n := func(v int64) fleet.Measure { return fleet.Known(fleet.Count(v)) }
	account := func(name, parent string, limit *int64, used int64) fleet.Queue {
		f := fleet.FlavorUse{Pool: anyGPU, Nominal: n(0), Reserved: n(used), InUse: n(used), Borrowed: n(0)}
		if limit != nil {
			f.Nominal, f.Borrowing = n(*limit), q(0)
		}
		return fleet.Queue{Name: name, Parent: parent, Flavors: []fleet.FlavorUse{f}, Pending: n(1)}
	}
	limit := func(v int64) *int64 { return &v }
	o := fleet.Observation{QueuesKnown: true, Queues: []fleet.Queue{
		account("physics", "root", limit(8), 6), account("lab-a", "physics", limit(4), 4), account("lab-b", "physics", nil, 2),
		account("open", "root", nil, 3), account("lab-c", "open", limit(5), 3),
		account("loop", "loop", limit(1), 0),
	}}
	sum := o.PoolSums()[anyGPU]
	assert.Equal(t, "13", sum.Nominal.String(), "8 of physics and 5 of lab-c; an account above itself ends the walk")
	assert.Equal(t, "9", sum.InUse.String(), "6 of physics and 3 of open")
	assert.Equal(t, "6", sum.Pending.String())
}
