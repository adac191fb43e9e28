package k8s

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"quartermaster/internal/fleet"
)

// parse reads one YAML document as the API server would serve it.
func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	require.NoError(t, yaml.Unmarshal([]byte(text), out))
	return out
}

// use finds one flavor and resource of a queue.
func use(t *testing.T, q fleet.Queue, flavor, resource string) fleet.FlavorUse {
	t.Helper()
	for _, u := range q.Flavors {
		if u.Pool == (fleet.PoolKey{Flavor: flavor, Resource: resource}) {
			return u
		}
	}
	t.Fatalf("queue %s has no %s %s", q.Name, flavor, resource)
	return fleet.FlavorUse{}
}

func TestUseAboveQuotaWithoutCohortIsNotBorrowed(t *testing.T) {
	q := readQueue(parse[clusterQueue](t, `
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: lone}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 2}]}]
status:
  flavorsUsage: [{name: any, resources: [{name: cpu, borrowed: "3", total: "5"}]}]
`), nil)
	cpu := use(t, q, "any", "cpu")
	require.Equal(t, "0", cpu.Borrowed.String())
	require.Equal(t, "5", cpu.InUse.String())
	require.Equal(t, []string{"over quota by 3", "source says borrowed 3"}, cpu.Notes)
	require.NotNil(t, cpu.Borrowing)
	require.Equal(t, 0, cpu.Borrowing.Sign())
	require.False(t, cpu.Reserved.Known, "what the status does not name is unknown")
}

func TestBorrowingWithoutLimitIsNotBorrowingNothing(t *testing.T) {
	q := readQueue(parse[clusterQueue](t, `
metadata: {name: q}
spec:
  cohortName: team
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: open, resources: [{name: nvidia.com/gpu, nominalQuota: "4"}]}
    - {name: closed, resources: [{name: nvidia.com/gpu, nominalQuota: "4", borrowingLimit: "0", lendingLimit: "1"}]}
`), nil)
	require.Nil(t, use(t, q, "open", "nvidia.com/gpu").Borrowing)
	require.Nil(t, use(t, q, "open", "nvidia.com/gpu").Lending)
	closed := use(t, q, "closed", "nvidia.com/gpu")
	require.Equal(t, "0", closed.Borrowing.String())
	require.Equal(t, "1", closed.Lending.String())
}

func TestCohortReadsTheSameInBothVersions(t *testing.T) {
	old := readQueue(parse[clusterQueue](t, "apiVersion: kueue.x-k8s.io/v1beta1\nspec: {cohort: red}"), nil)
	now := readQueue(parse[clusterQueue](t, "apiVersion: kueue.x-k8s.io/v1beta2\nspec: {cohortName: red}"), nil)
	require.Equal(t, "red", old.Cohort)
	require.Equal(t, old, now)
}

func TestTinyUseIsShownRoundedUpAndComputedExactly(t *testing.T) {
	q := readQueue(parse[clusterQueue](t, `
metadata: {name: q}
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 1m}]}]
status:
  flavorsUsage: [{name: any, resources: [{name: cpu, total: 100u}]}]
`), nil)
	cpu := use(t, q, "any", "cpu")
	require.Equal(t, "1m", cpu.InUse.Amount.Display("cpu"))
	share, ok := cpu.InUse.Amount.ShareOf(cpu.Nominal.Amount)
	require.True(t, ok)
	require.InDelta(t, 10, share, 1e-9)
}

func TestFlavorsHaveWhatTheirNodesCanAllocate(t *testing.T) {
	nodes := make([]node, 512)
	for i := range nodes {
		nodes[i] = *parse[node](t, "metadata: {labels: {kind: cpu}}\nstatus: {allocatable: {cpu: '64'}}")
	}
	flavors := []resourceFlavor{*parse[resourceFlavor](t, "metadata: {name: any}\nspec: {nodeLabels: {kind: cpu}}")}
	require.Equal(t, []fleet.Amount{{Pool: fleet.PoolKey{Flavor: "any", Resource: "cpu"}, Amount: fleet.Count(32768)}}, flavorCapacities(nodes, flavors))
}

func TestQueueSaysWhyItIsNotActive(t *testing.T) {
	for _, test := range []struct {
		name, status, reason string
		active               bool
	}{
		{"new", "{}", "Kueue has not judged the queue yet", false},
		{"changed since", `{conditions: [{type: Active, status: "True", observedGeneration: 1}]}`, "Kueue has not judged the queue since its last change", false},
		{"held", `{conditions: [{type: Active, status: "False", reason: Stopped, message: is stopped, observedGeneration: 2}]}`, "Stopped: is stopped", false},
		{"works", `{conditions: [{type: Active, status: "True", reason: Ready, observedGeneration: 2}]}`, "", true},
	} {
		q := readQueue(parse[clusterQueue](t, "metadata: {generation: 2}\nstatus: "+test.status), nil)
		require.Equal(t, test.active, q.Active, test.name)
		require.Equal(t, test.reason, q.Inactive, test.name)
	}
}

func TestAmountsMayBeNumbersAndCarryBlanks(t *testing.T) {
	limit := parse[resourceLimit](t, "{name: cpu, nominalQuota: '300m ', borrowingLimit: 2}")
	require.True(t, limit.NominalQuota.measure().Amount.Equal(fleet.MustQuantity("0.3")))
	require.Equal(t, "2", limit.BorrowingLimit.optional().String())
	require.False(t, amount("1E").measure().Known, "an amount nobody can count is unknown, not 0")
}
