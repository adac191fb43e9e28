package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

func TestPoolSumsAddEveryQueueAndKeepUnknownUnknown(t *testing.T) {
	h100, a100, idle := fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}, fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"}, fleet.PoolKey{Flavor: "idle", Resource: "nvidia.com/gpu"}
	n := func(v int64) fleet.Measure { return fleet.Known(fleet.Count(v)) }
	use := func(p fleet.PoolKey, v int64) fleet.FlavorUse {
		return fleet.FlavorUse{Pool: p, Nominal: n(v), Reserved: n(v), InUse: n(v), Borrowed: n(0)}
	}
	blind := use(a100, 4)
	blind.InUse = fleet.Unknown
	o := fleet.Observation{QueuesKnown: true, Pools: []fleet.Pool{{Key: idle}}, Queues: []fleet.Queue{
		{Pending: n(2), Flavors: []fleet.FlavorUse{use(h100, 8), use(a100, 1)}},
		{Pending: n(3), Flavors: []fleet.FlavorUse{use(h100, 16), blind}},
	}}
	sums := o.PoolSums()
	require.Equal(t, "24", sums[h100].Nominal.String())
	require.Equal(t, "5", sums[h100].Pending.String())
	require.Equal(t, "5", sums[a100].Nominal.String())
	require.Equal(t, "unknown", sums[a100].InUse.String())
	require.Equal(t, "0", sums[idle].Nominal.String(), "the queues were read and none holds it")

	o.QueuesKnown = false
	require.Nil(t, o.PoolSums(), "a list that could not be read says nothing")
}
