package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quartermaster/internal/fleet"
)

// Versions that the simulated cluster claims to be like.
const (
	likeKubernetes = "1.35.4"
	likeKueue      = "0.17.0"
)

// Discover says what the cluster is made of and who manages its queues.
func (c *Cluster) Discover(ctx context.Context) (fleet.Discovery, error) {
	leave, err := c.enter(ctx, "discover")
	if err != nil {
		return fleet.Discovery{}, err
	}
	defer leave()
	d := fleet.Discovery{
		Kind: fleet.Simulated, Version: likeKubernetes, KueueVersion: likeKueue, KueueAPI: "v1beta2",
		Capabilities: []string{"kueue", "cohort", "resourcequota", "simulated"},
		Pools:        c.pools(), Queues: c.queues(), Quotas: c.quotas(), Capacities: c.capacities(), At: c.cfg.Now(),
	}
	for _, p := range c.cfg.Pools {
		d.Nodes += p.Nodes
	}
	return d, nil
}

// Observe reads everything at once: limits in force, use, queues and workloads.
func (c *Cluster) Observe(ctx context.Context) (fleet.Observation, error) {
	leave, err := c.enter(ctx, "observe")
	if err != nil {
		return fleet.Observation{}, err
	}
	defer leave()
	return fleet.Observation{
		At: c.cfg.Now(), Pools: c.pools(), Queues: c.queues(), Quotas: c.quotas(), Workloads: c.workloads(), Capacities: c.capacities(),
		QueuesKnown: true, QuotasKnown: true, WorkloadsKnown: true, PoolsKnown: true,
		Loose: c.cfg.Loose, LooseKnown: true,
	}, nil
}

func (c *Cluster) pools() []fleet.Pool {
	var out []fleet.Pool
	for _, p := range c.cfg.Pools {
		n := int64(p.Nodes * p.PerNode)
		pool := fleet.Pool{
			Key: p.Key, Capacity: fleet.Known(fleet.Count(n)), Unit: p.Unit, Product: p.Product, Nodes: p.Nodes,
			Labels: map[string]string{"quartermaster/flavor": p.Key.Flavor},
			CPU:    fleet.Known(p.CPUPerUnit.Mul(n)), Memory: fleet.Known(p.MemoryPerUnit.Mul(n)),
			Notes: []string{"simulated"},
		}
		if p.Unit == fleet.Card {
			pool.Cards = pool.Capacity
		}
		out = append(out, pool)
	}
	return out
}

// capacities are what the nodes of each flavor allocate.
func (c *Cluster) capacities() []fleet.Amount {
	var out []fleet.Amount
	for _, p := range c.pools() {
		for resource, m := range map[string]fleet.Measure{p.Key.Resource: p.Capacity, "cpu": p.CPU, "memory": p.Memory} {
			out = append(out, fleet.Amount{Pool: fleet.PoolKey{Flavor: p.Key.Flavor, Resource: resource}, Amount: m.Amount})
		}
	}
	slices.SortFunc(out, func(a, b fleet.Amount) int { return strings.Compare(a.Pool.String(), b.Pool.String()) })
	return out
}

func (c *Cluster) queues() []fleet.Queue {
	out := make([]fleet.Queue, 0, len(c.world.queues))
	for _, name := range sortedNames(c.world.queues) {
		q, o := c.world.queues[name], c.objects[queueRef(name)]
		v := fleet.Queue{Name: name, Cohort: q.cohort, StopPolicy: o.get(stopPath), Managers: o.managers(), Selector: selectorOf(o), Writers: writersOf(o)}
		if q.local != "" {
			v.Namespaces, v.LocalQueues = []string{q.namespace}, []string{q.namespace + "/" + q.local}
		}
		v.Active, v.Inactive = c.active(o)
		v.Ours = slices.Equal(v.Managers, []string{limitsManager})
		for _, m := range v.Managers {
			if tool := toolOf(m); tool != "" {
				v.Owner = tool
			}
		}
		pending := 0
		for _, line := range q.waiting {
			pending += len(line)
		}
		v.Pending = fleet.Known(fleet.Count(int64(pending)))
		v.Admitted = fleet.Known(fleet.Count(int64(len(q.running))))
		for _, l := range o.limits() {
			v.Flavors = append(v.Flavors, c.use(q, l))
		}
		out = append(out, v)
	}
	return out
}

// selectorOf says which namespaces may use a queue, as a real cluster is read.
func selectorOf(o *object) *string {
	s := o.get(selectorPath)
	if s == "{}" {
		s = "every namespace"
	}
	return &s
}

// writersOf a queue; the simulated cluster keeps no times.
func writersOf(o *object) []fleet.Writer {
	var out []fleet.Writer
	add := func(part, path string) {
		v, ok := o.Fields[path]
		if !ok {
			return
		}
		if v.Manager == shapeManager {
			v.Manager = limitsManager
		}
		out = append(out, fleet.Writer{Part: part, Manager: v.Manager})
	}
	add(fleet.PartStop, stopPath)
	add(fleet.PartCohort, cohortPath)
	add(fleet.PartSelector, selectorPath)
	for _, m := range o.managers() {
		out = append(out, fleet.Writer{Part: fleet.PartLimits, Manager: m})
	}
	return out
}

// use of one resource of a flavor; cpu and memory follow the accelerators.
func (c *Cluster) use(q *queue, l fleet.Limit) fleet.FlavorUse {
	used := fleet.Count(q.used[l.Pool])
	for _, p := range q.pools {
		if p.Flavor != l.Pool.Flavor {
			continue
		}
		switch l.Pool.Resource {
		case "cpu":
			used = c.world.pools[p].CPUPerUnit.Mul(q.used[p])
		case "memory":
			used = c.world.pools[p].MemoryPerUnit.Mul(q.used[p])
		}
	}
	borrowed := fleet.Quantity{}
	if q.cohort != "" {
		borrowed = fleet.Max(borrowed, used.Sub(l.Nominal))
	}
	return fleet.FlavorUse{Pool: l.Pool, Nominal: fleet.Known(l.Nominal), Borrowing: l.Borrowing, Lending: l.Lending,
		Reserved: fleet.Known(used), InUse: fleet.Known(used), Borrowed: fleet.Known(borrowed)}
}

func (c *Cluster) quotas() []fleet.Quota {
	var out []fleet.Quota
	for ref, o := range c.objects {
		if ref.Kind != "ResourceQuota" {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(o.Fields)) {
			used := fleet.Quantity{}
			for _, q := range c.world.queues {
				for _, p := range q.pools {
					if q.namespace == ref.Namespace && "requests."+p.Resource == key {
						used = used.Add(fleet.Count(q.used[p]))
					}
				}
			}
			out = append(out, fleet.Quota{Namespace: ref.Namespace, Name: ref.Name, Key: key,
				Hard: fleet.Known(fleet.MustQuantity(o.Fields[key].Text)), Used: fleet.Known(used), Ours: o.Fields[key].Manager == limitsManager})
		}
	}
	slices.SortFunc(out, func(a, b fleet.Quota) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Key, b.Key))
	})
	return out
}

func (c *Cluster) workloads() []fleet.Workload {
	out := make([]fleet.Workload, 0, len(c.world.byUID))
	for _, l := range c.world.byUID {
		out = append(out, c.seen(l))
	}
	slices.SortFunc(out, func(a, b fleet.Workload) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.UID, b.UID))
	})
	return out
}

// seen is the workload as the cluster would show it now.
func (c *Cluster) seen(l *workload) fleet.Workload {
	v := l.Workload
	v.Namespace, v.LocalQueue = l.q.namespace, l.q.local
	if v.State == fleet.Pending {
		v.Message = c.world.why(l)
	}
	return v
}

// Watch reports all workloads, then each as it changes.
func (c *Cluster) Watch(ctx context.Context, report func(fleet.WorkloadEvent)) error {
	leave, err := c.enter(ctx, "watch")
	if err != nil {
		return err
	}
	all, seen := c.workloads(), c.world.seq
	leave()
	for _, w := range all {
		report(fleet.WorkloadEvent{Workload: w})
	}
	report(fleet.WorkloadEvent{Synced: true})
	tick := time.NewTicker(c.cfg.WatchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		leave, err := c.enter(ctx, "watch")
		if err != nil {
			return err
		}
		changed := c.since(seen)
		seen = c.world.seq
		leave()
		for _, e := range changed {
			report(e)
		}
	}
}

func (c *Cluster) since(seq int64) []fleet.WorkloadEvent {
	var out []fleet.WorkloadEvent
	for _, l := range c.world.byUID {
		if l.seq > seq {
			out = append(out, fleet.WorkloadEvent{Workload: c.seen(l)})
		}
	}
	for _, l := range c.world.gone {
		if l.seq > seq {
			out = append(out, fleet.WorkloadEvent{Workload: c.seen(l), Gone: true})
		}
	}
	slices.SortFunc(out, func(a, b fleet.WorkloadEvent) int { return strings.Compare(a.Workload.UID, b.Workload.UID) })
	return out
}

func toolOf(manager string) string {
	switch {
	case strings.HasPrefix(manager, "argocd"):
		return "Argo CD"
	case strings.Contains(manager, "kustomize-controller"), strings.Contains(manager, "flux"):
		return "Flux"
	case manager == "helm":
		return "Helm"
	}
	return ""
}

// ObjectFields shows what is stored of an object: path → value and manager; nil when it does not exist.
func (c *Cluster) ObjectFields(ref fleet.ObjectRef) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.objects[ref]
	if o == nil {
		return nil
	}
	out := map[string]string{}
	for path, v := range o.Fields {
		out[path] = v.Text
	}
	out["resourceVersion"] = strconv.FormatInt(o.Version, 10)
	return out
}

// String names the cluster in logs.
func (c *Cluster) String() string { return fmt.Sprintf("simulated cluster %s", c.cfg.ID) }
