package portal

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"quartermaster/internal/fleet"
)

// pendingShown is how many waiting workloads a page lists.
const pendingShown = 50

// ListPools is every pool with its headroom: what one may ask for is nobody's secret.
func (p *Portal) ListPools(ctx context.Context, _ Actor) ([]PoolState, error) {
	return p.Store.Pools(ctx)
}

// ViewPool is the page of one pool. Who holds it is shown to whoever may see the project.
func (p *Portal) ViewPool(ctx context.Context, actor Actor, id string, r Range) (PoolDetail, error) {
	now := p.Now()
	d := PoolDetail{From: now.Add(-r.Length()), To: now}
	var err error
	if d.Pool, err = p.Store.Pool(ctx, id); err != nil {
		return d, err
	}
	if d.Samples, err = p.Store.PoolSamples(ctx, id, d.From, d.To); err != nil {
		return d, err
	}
	if d.Holders, err = p.holders(ctx, actor, d.Pool); err != nil {
		return d, err
	}
	slices.SortStableFunc(d.Holders, func(a, b PlaceLine) int {
		return cmp.Or(b.held().Cmp(a.held()), cmp.Compare(a.Project.Name, b.Project.Name), cmp.Compare(a.Environment, b.Environment))
	})
	cluster, err := p.Store.Cluster(ctx, d.Pool.ClusterID)
	if err != nil {
		return d, err
	}
	d.found(cluster)
	if d.Unbound, err = p.unbound(ctx, cluster, d.Pool.Key); err != nil {
		return d, err
	}
	return d, p.pendingFor(ctx, &d)
}

// held is what a line holds, for sorting: what is enforced, else what is granted.
func (l PlaceLine) held() fleet.Quantity {
	if l.Usage.Nominal.Known {
		return l.Usage.Nominal.Amount
	}
	return l.Granted.Amount
}

func (d *PoolDetail) found(c Cluster) {
	if c.Discovery == nil {
		return
	}
	for _, f := range c.Discovery.Pools {
		if f.Key == d.Pool.Key {
			d.Found = &f
		}
	}
}

// unbound counts the queues that use the pool and carry no project.
func (p *Portal) unbound(ctx context.Context, c Cluster, key fleet.PoolKey) (int, error) {
	if c.Observation == nil {
		return 0, nil
	}
	bindings, err := p.Store.Bindings(ctx, BindingQuery{ClusterID: c.ID})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, q := range c.Observation.Queues {
		uses := slices.ContainsFunc(q.Flavors, func(f fleet.FlavorUse) bool { return f.Pool == key })
		bound := slices.ContainsFunc(bindings, func(b fleet.Binding) bool { return b.Queue() == q.Name })
		if uses && !bound {
			n++
		}
	}
	return n, nil
}

// pendingFor lists what waits in the places that the actor may see, oldest first.
func (p *Portal) pendingFor(ctx context.Context, d *PoolDetail) error {
	var namespaces []string
	for _, h := range d.Holders {
		if h.Usage.Binding.Home() != "" && !(h.Usage.Pending.Known && h.Usage.Pending.Amount.Sign() == 0) {
			namespaces = append(namespaces, h.Usage.Binding.Home())
		}
	}
	// More than are shown: some may wait for another pool of the cluster.
	all, err := p.Store.PendingWorkloads(ctx, d.Pool.ClusterID, namespaces, 10*pendingShown)
	if err != nil {
		return err
	}
	for _, w := range all {
		if asks(w, d.Pool.Key) {
			d.Pending = append(d.Pending, w)
		}
	}
	d.Pending = d.Pending[:min(len(d.Pending), pendingShown)]
	return nil
}

// asks reports whether a workload may wait for the pool.
func asks(w fleet.Workload, key fleet.PoolKey) bool {
	return slices.ContainsFunc(w.Amounts, func(a fleet.Amount) bool {
		return key.Counts(a.Pool) || a.Pool.Resource == key.Resource && a.Pool.Flavor == "" && (w.Message == "" || namesFlavor(w.Message, key.Flavor))
	})
}

// holders are the figure lines of the places on the pool's cluster that actor may see.
func (p *Portal) holders(ctx context.Context, actor Actor, pool PoolState) ([]PlaceLine, error) {
	load, err := p.loadLines(ctx, BindingQuery{ClusterID: pool.ClusterID})
	if err != nil {
		return nil, err
	}
	projects, err := p.Store.ProjectsByID(ctx, slices.Sorted(maps.Keys(load.bindings)))
	if err != nil {
		return nil, err
	}
	teams := teamsOf(actor)
	var out []PlaceLine
	for _, id := range slices.Sorted(maps.Keys(projects)) {
		if teams == nil || slices.Contains(teams, projects[id].TeamID) {
			out = append(out, load.of(projects[id], pool.ID)...)
		}
	}
	return out, nil
}
