package k8s

import (
	"context"

	"quartermaster/internal/fleet"
)

// Discover says what is there: what connecting a cluster shows before anything
// is written.
func (c *Cluster) Discover(ctx context.Context) (fleet.Discovery, error) {
	r, err := c.read(ctx, false)
	if err != nil {
		return fleet.Discovery{}, err
	}
	server, release, err := c.versions(ctx, r.kueue)
	if err != nil {
		return fleet.Discovery{}, err
	}
	return fleet.Discovery{
		Kind: fleet.Kubernetes, Version: server, KueueVersion: release, KueueAPI: r.kueue.version,
		Capabilities: r.capabilities(), Nodes: r.acceleratorNodes(),
		Pools: r.pools(), Queues: r.fleetQueues(), Quotas: r.fleetQuotas(),
		Problems: r.problems(), At: c.now().UTC(),
	}, nil
}

func (r *reading) capabilities() []string {
	out := []string{"resourcequota"}
	if r.kueue.served() {
		out = append(out, "kueue")
	}
	if r.kueue.cohorts {
		out = append(out, "cohort")
	}
	return out
}

// acceleratorNodes counts the nodes with accelerators.
func (r *reading) acceleratorNodes() int {
	count := 0
	for _, n := range r.nodes {
		for resource, a := range n.Status.Allocatable {
			if m := a.measure(); IsAccelerator(resource) && m.Known && m.Amount.Sign() > 0 {
				count++
				break
			}
		}
	}
	return count
}
