package main

import (
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// simulated makes the organisation's simulated clusters, each once, when first reached.
func (d *devSite) simulated() dialer {
	var mu sync.Mutex
	made := map[string]*sim.Cluster{}
	return func(_ context.Context, c portal.Cluster) (fleet.Cluster, error) {
		mu.Lock()
		defer mu.Unlock()
		if k, ok := made[c.ID]; ok {
			return k, nil
		}
		if !slices.ContainsFunc(d.o.Clusters, func(x org.Cluster) bool { return x.ID == c.ID }) {
			return nil, fault.New(fault.Unavailable, "This simulated cluster is not in the organisation file that dev runs with.")
		}
		seed := fnv.New64a()
		seed.Write([]byte(c.ID))
		k, err := sim.Open(sim.Config{
			ID: c.ID, Pools: sim.PoolsOf(c.ID, d.o.Pools), Queues: sim.QueuesOf(c.Cluster, d.o.Projects, d.o.Pools),
			Seed: seed.Sum64(), Loose: sim.LooseOf(c.ID, d.o.Pools, time.Now().UTC()), File: d.file("cluster-" + c.ID + ".json"), Now: func() time.Time { return time.Now().UTC() }, Log: d.log,
		})
		if err != nil {
			return nil, err
		}
		made[c.ID] = k
		return k, nil
	}
}
