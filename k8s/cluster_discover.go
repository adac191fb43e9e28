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
	out := r.discovery()
	out.Version, out.KueueVersion, out.KueueAPI, out.At = server, release, r.kueue.version, c.now().UTC()
	out.Capabilities = r.capabilities()
	return out, nil
}

// discovery is what was read, whether from a cluster or from a file of its objects.
func (r *reading) discovery() fleet.Discovery {
	return fleet.Discovery{
		Kind: fleet.Kubernetes, Nodes: r.acceleratorNodes(),
		Pools: r.pools(), Queues: r.fleetQueues(), Quotas: r.fleetQuotas(), Objects: r.objects(),
		Capacities: r.capacities(), Problems: r.problems(),
	}
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
		for resource, a := range n.resources() {
			if m := a.measure(); IsAccelerator(resource) && m.Known && m.Amount.Sign() > 0 {
				count++
				break
			}
		}
	}
	return count
}
