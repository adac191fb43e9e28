package k8s

import (
	"context"
	"fmt"
	"sync"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// reading is what one round of lists brought. Each list has its own error: a
// list that failed says nothing, and its part stays unknown.
type reading struct {
	kueue     kueueAPI
	nodes     []node
	flavors   []resourceFlavor
	queues    []clusterQueue
	locals    []localQueue
	quotas    []resourceQuota
	devices   *deviceCount
	workloads []fleet.Workload
	counted   countedWork
	pods      []gpuPod
	// Read by Discover alone.
	namespaces []plainObject
	cohorts    []cohort

	errs map[string]error // by part
}

// Parts of a reading, as problems name them.
const (
	partNodes     = "nodes"
	partFlavors   = "flavors"
	partQueues    = "queues"
	partLocals    = "local queues"
	partQuotas    = "quotas"
	partDevices   = "pods and claims"
	partWorkloads = "workloads"
	partPods      = "pods"
	partSpaces    = "namespaces"
	partCohorts   = "cohorts"
)

// Observe reads limits, use and workloads.
func (c *Cluster) Observe(ctx context.Context) (fleet.Observation, error) {
	r, err := c.read(ctx, true)
	if err != nil {
		return fleet.Observation{}, err
	}
	out := fleet.Observation{
		At: c.now().UTC(), Workloads: r.workloads, Problems: r.problems(),
		QueuesKnown: r.ok(partQueues, partLocals), QuotasKnown: r.ok(partQuotas),
		WorkloadsKnown: r.ok(partWorkloads), PoolsKnown: r.ok(partNodes, partFlavors),
		LooseKnown: r.countsWork() && r.ok(partPods, partWorkloads, partNodes, partFlavors),
	}
	out.Pools, out.Queues, out.Quotas, out.Capacities = r.pools(), r.fleetQueues(), r.fleetQuotas(), r.capacities()
	if out.LooseKnown {
		out.Loose = r.loose()
	}
	return out, nil
}

// countsWork: without Kueue nothing counts workloads, and none passes by.
func (r *reading) countsWork() bool { return r.kueue.served() }

// read makes the lists side by side. It is an error only when nothing at all
// could be read.
func (c *Cluster) read(ctx context.Context, workloads bool) (*reading, error) {
	kueue, err := c.detectKueue(ctx)
	if err != nil {
		return nil, err
	}
	r := &reading{kueue: kueue, errs: map[string]error{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	tried := 0
	part := func(name string, do func() error) {
		tried++
		all.Go(func() {
			if err := do(); err != nil {
				mu.Lock()
				r.errs[name] = err
				mu.Unlock()
			}
		})
	}
	part(partNodes, func() (err error) {
		r.nodes, err = listAll[node](ctx, c, "/api/v1/nodes")
		return err
	})
	part(partQuotas, func() (err error) {
		r.quotas, err = listAll[resourceQuota](ctx, c, "/api/v1/resourcequotas")
		return err
	})
	if !workloads {
		part(partSpaces, func() (err error) {
			r.namespaces, err = listAll[plainObject](ctx, c, "/api/v1/namespaces")
			return err
		})
	}
	if !workloads && kueue.cohorts {
		part(partCohorts, func() (err error) {
			r.cohorts, err = listAll[cohort](ctx, c, kueue.path("cohorts", ""))
			return err
		})
	}
	if workloads && kueue.served() {
		part(partPods, func() (err error) {
			r.pods, err = c.readGPUPods(ctx)
			return err
		})
	}
	if kueue.served() {
		part(partFlavors, func() (err error) {
			r.flavors, err = listAll[resourceFlavor](ctx, c, kueue.path("resourceflavors", ""))
			return err
		})
		part(partQueues, func() (err error) {
			r.queues, err = listAll[clusterQueue](ctx, c, kueue.path("clusterqueues", ""))
			return err
		})
		part(partLocals, func() (err error) {
			r.locals, err = listAll[localQueue](ctx, c, kueue.path("localqueues", ""))
			return err
		})
	}
	all.Wait()
	if len(r.errs) == tried {
		return nil, r.errs[partNodes]
	}
	c.readDependent(ctx, r, workloads && kueue.served())
	return r, nil
}

// readDependent reads what the first lists are needed for.
func (c *Cluster) readDependent(ctx context.Context, r *reading, workloads bool) {
	if workloads {
		queueOf := queueIndex(r.locals)
		_, err := list(ctx, c, r.kueue.path("workloads", ""), func(w workload) {
			r.workloads = append(r.workloads, readWorkload(&w, queueOf))
			r.counted.add(&w)
		})
		if err != nil {
			r.errs[partWorkloads], r.workloads = err, nil
		}
	}
	devices, err := c.readDevices(ctx, r.quotas)
	if err != nil {
		r.errs[partDevices] = err
	}
	r.devices = devices
}

func queueIndex(locals []localQueue) func(namespace, name string) string {
	index := make(map[namespaced]string, len(locals))
	for _, l := range locals {
		index[namespaced{l.Metadata.Namespace, l.Metadata.Name}] = l.Spec.ClusterQueue
	}
	return func(namespace, name string) string { return index[namespaced{namespace, name}] }
}

func (r *reading) ok(parts ...string) bool {
	for _, part := range parts {
		if r.errs[part] != nil {
			return false
		}
	}
	return true
}

// problems are sentences for people, in a fixed order.
func (r *reading) problems() []string {
	var out []string
	for _, part := range []string{partNodes, partFlavors, partQueues, partLocals, partQuotas, partDevices, partWorkloads, partPods, partSpaces, partCohorts} {
		err := r.errs[part]
		if err == nil {
			continue
		}
		public := "The answer could not be understood."
		if f := fault.As(err); f != nil {
			public = f.Public
		}
		out = append(out, fmt.Sprintf("Could not read the %s: %s", part, public))
	}
	return out
}

func (r *reading) pools() []fleet.Pool {
	if !r.ok(partNodes, partFlavors) {
		return nil
	}
	return readPools(r.nodes, r.flavors)
}

func (r *reading) capacities() []fleet.Amount {
	if !r.ok(partNodes, partFlavors) {
		return nil
	}
	return flavorCapacities(r.nodes, r.flavors)
}

func (r *reading) fleetQueues() []fleet.Queue {
	if !r.ok(partQueues, partLocals) {
		return nil
	}
	locals := make([]*localQueue, len(r.locals))
	for i := range r.locals {
		locals[i] = &r.locals[i]
	}
	out := make([]fleet.Queue, 0, len(r.queues))
	for i := range r.queues {
		out = append(out, readQueue(&r.queues[i], locals))
	}
	noteSharedQuota(out, r.cohorts)
	return out
}

func (r *reading) fleetQuotas() []fleet.Quota {
	var out []fleet.Quota
	for i := range r.quotas {
		out = append(out, readQuota(&r.quotas[i], r.devices)...)
	}
	return out
}
