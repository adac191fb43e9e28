package k8s

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

func limit(flavor, resource, nominal string, borrowing ...string) fleet.Limit {
	l := fleet.Limit{Pool: fleet.PoolKey{Flavor: flavor, Resource: resource}, Nominal: fleet.MustQuantity(nominal)}
	if len(borrowing) > 0 {
		q := fleet.MustQuantity(borrowing[0])
		l.Borrowing = &q
	}
	if len(borrowing) > 1 {
		q := fleet.MustQuantity(borrowing[1])
		l.Lending = &q
	}
	return l
}

// composed returns the groups as compact JSON.
func composed(t *testing.T, live string, d fleet.Desired, cohort, keepOthers bool) (string, *groups) {
	t.Helper()
	var list any
	if live != "" {
		list = *parse[any](t, live)
	}
	g, err := composeGroups(list, d, cohort, keepOthers)
	require.NoError(t, err)
	text, err := json.Marshal(g.list)
	require.NoError(t, err)
	return string(text), g
}

func TestNewQueueCoversTheSameResourcesInOneOrder(t *testing.T) {
	got, g := composed(t, "", fleet.Desired{
		Companions: []fleet.Limit{limit("a100", "cpu", "32", "0"), limit("a100", "memory", "1Ti", "0"), limit("h100", "cpu", "96", "0"), limit("h100", "memory", "2Ti", "0")},
		Limits:     []fleet.Limit{limit("a100", "nvidia.com/gpu", "4", "0"), limit("h100", "nvidia.com/gpu", "12")},
	}, true, false)
	require.JSONEq(t, `[{"coveredResources":["cpu","memory","nvidia.com/gpu"],"flavors":[
		{"name":"a100","resources":[
			{"name":"cpu","nominalQuota":"32","borrowingLimit":"0"},
			{"name":"memory","nominalQuota":"1Ti","borrowingLimit":"0"},
			{"name":"nvidia.com/gpu","nominalQuota":"4","borrowingLimit":"0"}]},
		{"name":"h100","resources":[
			{"name":"cpu","nominalQuota":"96","borrowingLimit":"0"},
			{"name":"memory","nominalQuota":"2Ti","borrowingLimit":"0"},
			{"name":"nvidia.com/gpu","nominalQuota":"12"}]}]}]`, got)
	require.Empty(t, g.warnings)
	_, bounded := g.most("nvidia.com/gpu")
	require.False(t, bounded)
	cpu, bounded := g.most("cpu")
	require.True(t, bounded)
	require.Equal(t, "128", cpu.String())
}

func TestBorrowingAndLendingNeedACohort(t *testing.T) {
	got, g := composed(t, "", fleet.Desired{Limits: []fleet.Limit{limit("h100", "nvidia.com/gpu", "8", "4", "2")}}, false, false)
	require.JSONEq(t, `[{"coveredResources":["nvidia.com/gpu"],"flavors":[{"name":"h100","resources":[{"name":"nvidia.com/gpu","nominalQuota":"8"}]}]}]`, got)
	require.Len(t, g.warnings, 2, "cpu and memory are not covered")
	most, bounded := g.most("nvidia.com/gpu")
	require.True(t, bounded)
	require.Equal(t, "8", most.String())
}

const oddShape = `
- coveredResources: [memory, cpu]
  flavors: [{name: default, resources: [{name: memory, nominalQuota: 3072Mi}, {name: cpu, nominalQuota: 12000m, borrowingLimit: 3}]}]
- coveredResources: [nvidia.com/gpu, example.com/license]
  flavors:
  - {name: h100, note: kept, resources: [{name: nvidia.com/gpu, nominalQuota: 8, future: x}, {name: example.com/license, nominalQuota: 1}]}
  - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}, {name: example.com/license, nominalQuota: 1}]}
`

func TestAdoptedQueueKeepsEverythingElse(t *testing.T) {
	got, _ := composed(t, oddShape, fleet.Desired{Limits: []fleet.Limit{limit("h100", "nvidia.com/gpu", "12", "0")}}, true, true)
	require.JSONEq(t, `[
		{"coveredResources":["memory","cpu"],"flavors":[{"name":"default","resources":[
			{"name":"memory","nominalQuota":"3072Mi"},{"name":"cpu","nominalQuota":"12000m","borrowingLimit":3}]}]},
		{"coveredResources":["nvidia.com/gpu","example.com/license"],"flavors":[
			{"name":"h100","note":"kept","resources":[{"name":"nvidia.com/gpu","nominalQuota":"12","borrowingLimit":"0","future":"x"},{"name":"example.com/license","nominalQuota":1}]},
			{"name":"a100","resources":[{"name":"nvidia.com/gpu","nominalQuota":4},{"name":"example.com/license","nominalQuota":1}]}]}]`, got)
}

func TestAddedFlavorListsAllOfItsGroup(t *testing.T) {
	got, _ := composed(t, oddShape, fleet.Desired{Limits: []fleet.Limit{limit("l40s", "nvidia.com/gpu", "2", "1")}}, true, true)
	require.Contains(t, got, `{"name":"l40s","resources":[{"borrowingLimit":"1","name":"nvidia.com/gpu","nominalQuota":"2"},{"borrowingLimit":"0","name":"example.com/license","nominalQuota":"0"}]}`)
}

func TestFlavorAndResourceOfTwoGroupsAreRefused(t *testing.T) {
	_, err := composeGroups(*parse[any](t, oddShape), fleet.Desired{Limits: []fleet.Limit{limit("default", "nvidia.com/gpu", "1")}}, true, true)
	require.Equal(t, fault.Invalid, fault.KindOf(err))
}

func TestWithdrawnFlavorGoesToZeroAndStays(t *testing.T) {
	got, g := composed(t, oddShape, fleet.Desired{Limits: []fleet.Limit{limit("h100", "nvidia.com/gpu", "8", "0")}}, true, false)
	require.Contains(t, got, `{"name":"a100","resources":[{"borrowingLimit":"0","name":"nvidia.com/gpu","nominalQuota":"0"}`)
	require.Contains(t, g.warnings, "a100 nvidia.com/gpu is no longer granted: its quota goes to 0. What runs keeps running.")
}

func TestNoCompanionsLeavesCPUAndMemoryAsTheyAre(t *testing.T) {
	got, g := composed(t, oddShape, fleet.Desired{Limits: []fleet.Limit{limit("h100", "nvidia.com/gpu", "8", "0"), limit("a100", "nvidia.com/gpu", "4", "0")}}, true, false)
	require.Contains(t, got, "12000m")
	require.Empty(t, g.warnings)
}

func TestEqualAmountsAreNoChange(t *testing.T) {
	got, _ := composed(t, `[{coveredResources: [cpu, memory], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 12000m}, {name: memory, nominalQuota: 3072Mi}]}]}]`,
		fleet.Desired{Limits: []fleet.Limit{limit("f", "cpu", "12"), limit("f", "memory", "3Gi")}}, true, false)
	require.Contains(t, got, "12000m")
	require.Contains(t, got, "3072Mi")
}

func TestLimitsThatCannotBeAreRefused(t *testing.T) {
	for name, l := range map[string]fleet.Limit{
		"lending above nominal": limit("h100", "nvidia.com/gpu", "4", "0", "5"),
		"half a card":           limit("h100", "nvidia.com/gpu", "500m"),
		"negative":              limit("h100", "nvidia.com/gpu", "-1"),
	} {
		_, err := composeGroups(nil, fleet.Desired{Limits: []fleet.Limit{l}}, true, false)
		require.Equal(t, fault.Invalid, fault.KindOf(err), name)
	}
}
