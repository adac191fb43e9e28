package portal

import (
	"sort"

	"quartermaster/internal/fleet"
	"quartermaster/internal/policy"
)

// saneQuotas compares what all queues of a cluster give of each flavor and resource
// with what the flavor's nodes can allocate, cpu and memory too: a count of nodes in the
// place of one of cores shows there. The latest reading counts, or else a kept file.
func saneQuotas(c Cluster) []SanityRow {
	var queues []fleet.Queue
	var capacities []fleet.Amount
	switch {
	case c.Observation != nil && c.Observation.QueuesKnown && c.Observation.PoolsKnown:
		queues, capacities = c.Observation.Queues, c.Observation.Capacities
	case c.Discovery != nil:
		queues, capacities = c.Discovery.Queues, c.Discovery.Capacities
	}
	have := map[fleet.PoolKey]fleet.Measure{}
	for _, a := range capacities {
		have[a.Pool] = fleet.Known(a.Amount)
	}
	sums := map[fleet.PoolKey]fleet.Measure{}
	for _, q := range queues {
		for _, u := range q.Flavors {
			if sum, seen := sums[u.Pool]; seen {
				sums[u.Pool] = sum.Add(u.Nominal)
			} else {
				sums[u.Pool] = u.Nominal
			}
		}
	}
	var out []SanityRow
	for key, sum := range sums {
		capacity, known := have[key]
		if !known {
			continue // nothing on the nodes to compare with
		}
		out = append(out, SanityRow{Pool: key, Quota: sum, Capacity: capacity, Result: policy.QuotaSanity(key.Flavor, key.Resource, sum, capacity)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Pool.String() < out[j].Pool.String() })
	return out
}
