package k8s

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

func TestTimeSlicedCardsAreShares(t *testing.T) {
	pools := readPools([]node{*parse[node](t, `
metadata: {labels: {nvidia.com/gpu.count: "2", nvidia.com/gpu.replicas: "5", nvidia.com/gpu.product: Tesla-T4-SHARED}}
status: {allocatable: {cpu: 7910m, memory: 31696348Ki, nvidia.com/gpu: "10"}}
`)}, nil)
	require.Len(t, pools, 1)
	p := pools[0]
	require.Equal(t, fleet.PoolKey{Resource: "nvidia.com/gpu"}, p.Key)
	require.Equal(t, fleet.Share, p.Unit)
	require.Equal(t, "10", p.Capacity.String())
	require.Equal(t, "2", p.Cards.String())
	require.Contains(t, p.Notes, "2 physical cards, 10 shares: what is granted here are shares")
}

func TestWholeCardsAndSlicesAreTwoPools(t *testing.T) {
	pools := readPools([]node{*parse[node](t, `
metadata: {labels: {pool: a, nvidia.com/gpu.count: "4", nvidia.com/mig.strategy: mixed, nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}}
status: {allocatable: {nvidia.com/gpu: "3", nvidia.com/mig-2g.10gb: "3", nvidia.com/gpucores: "100"}}
`)}, []resourceFlavor{*parse[resourceFlavor](t, "metadata: {name: a100}\nspec: {nodeLabels: {pool: a}}")})
	require.Len(t, pools, 2)
	require.Equal(t, fleet.Card, pools[0].Unit)
	require.Equal(t, "3", pools[0].Capacity.String())
	require.Equal(t, fleet.MIG, pools[1].Unit)
	require.Equal(t, "3", pools[1].Capacity.String())
	require.False(t, pools[1].Cards.Known, "slices do not tell how many cards there are")
}

func TestPoolsAddUpTheNodesOfTheirFlavor(t *testing.T) {
	ready := `{kind: h}`
	nodes := []node{
		*parse[node](t, "metadata: {labels: "+ready+"}\nstatus: {allocatable: {cpu: 96, memory: 1Ti, nvidia.com/gpu: 8}, conditions: [{type: Ready, status: 'True'}]}"),
		*parse[node](t, "metadata: {labels: "+ready+"}\nspec: {unschedulable: true}\nstatus: {allocatable: {cpu: 96, memory: 1Ti, nvidia.com/gpu: 8}}"),
		*parse[node](t, "status: {allocatable: {amd.com/gpu: 4, gpu.intel.com/i915_monitoring: 1}}"),
	}
	flavors := []resourceFlavor{*parse[resourceFlavor](t, "metadata: {name: h100}\nspec: {nodeLabels: {kind: h}}")}
	pools := readPools(nodes, flavors)
	require.Len(t, pools, 2)
	require.Equal(t, "amd.com/gpu", pools[0].Key.Resource)
	require.Contains(t, pools[0].Notes, "in no flavor: only a ResourceQuota limits these nodes")
	h := pools[1]
	require.Equal(t, "16", h.Capacity.String())
	require.Equal(t, "192", h.CPU.String())
	require.True(t, h.Memory.Amount.Equal(fleet.MustQuantity("2Ti")))
	require.Equal(t, []string{"1 of 2 nodes are not ready or cordoned; they count in the capacity"}, h.Notes)
}

func TestHelpersOfCardsAreNoAccelerators(t *testing.T) {
	for name, is := range map[string]bool{
		"nvidia.com/gpu": true, "nvidia.com/mig-1g.10gb": true, "amd.com/gpu": true, "gpu.intel.com/i915": true, "huawei.com/Ascend910": true,
		"gpu.intel.com/i915_monitoring": false, "nvidia.com/gpucores": false, "nvidia.com/gpumem": false, "cpu": false, "rdma/hca": false,
	} {
		require.Equal(t, is, IsAccelerator(name), name)
	}
}
