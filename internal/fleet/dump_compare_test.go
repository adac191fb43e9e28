package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

// C018, C044, C045: other notations of one amount are no difference.
func TestEqualAmountsAreTheSameObject(t *testing.T) {
	read := func(cpu, memory string, borrowing *fleet.Quantity) fleet.Discovery {
		use := func(resource, amount string) fleet.FlavorUse {
			return fleet.FlavorUse{Pool: fleet.PoolKey{Flavor: "any", Resource: resource}, Nominal: fleet.Known(fleet.MustQuantity(amount)), Borrowing: borrowing}
		}
		return fleet.Discovery{
			Queues: []fleet.Queue{{Name: "paint", Cohort: "studio", StopPolicy: "None", Flavors: []fleet.FlavorUse{use("cpu", cpu), use("memory", memory)}}},
			Quotas: []fleet.Quota{{Namespace: "n", Name: "q", Key: "requests.memory", Hard: fleet.Known(fleet.MustQuantity(memory))}},
		}
	}
	state := func(after, before fleet.Discovery) []fleet.DifferenceState {
		var out []fleet.DifferenceState
		for _, d := range after.Compare(before) {
			out = append(out, d.State)
		}
		return out
	}
	same, changed, fresh := fleet.DifferenceSame, fleet.DifferenceChanged, fleet.DifferenceNew
	base := read("12", "4402341478400m", nil)
	require.Equal(t, []fleet.DifferenceState{same, same}, state(read("12000m", "4.1Gi", nil), base))
	require.Equal(t, []fleet.DifferenceState{fresh, fresh}, state(base, fleet.Discovery{}))
	require.Equal(t, []fleet.DifferenceState{changed, same}, state(read("12", "4.1Gi", q(0)), base), "no limit is not 0")
	require.Equal(t, []fleet.DifferenceState{changed, changed}, state(read("13", "4Gi", nil), base))
}
