package portal

import (
	"context"
	"slices"
	"strings"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
)

// pollsShown is how many polls the page of a cluster lists.
const pollsShown = 20

// ListClusters is every connected cluster with what still has to come true on it.
func (p *Portal) ListClusters(ctx context.Context, actor Actor) ([]ClusterRow, error) {
	if err := seesClusters(actor); err != nil {
		return nil, err
	}
	clusters, err := p.Store.Clusters(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := p.Store.ChangeCounts(ctx)
	if err != nil {
		return nil, err
	}
	pools, err := p.Store.Pools(ctx)
	if err != nil {
		return nil, err
	}
	units := map[string]fleet.Measure{}
	for _, s := range pools {
		if slices.ContainsFunc(pools, func(o PoolState) bool { return o.ClusterID == s.ClusterID && o.Key != s.Key && o.Key.Counts(s.Key) }) {
			continue // its units are in the pool of all types
		}
		if sum, seen := units[s.ClusterID]; seen {
			units[s.ClusterID] = sum.Add(s.Capacity)
		} else {
			units[s.ClusterID] = s.Capacity
		}
	}
	out := make([]ClusterRow, 0, len(clusters))
	for _, c := range clusters {
		row := ClusterRow{Cluster: c, Units: units[c.ID], Open: counts[c.ID].Open, Stopped: counts[c.ID].Stopped}
		if c.Discovery != nil {
			row.Nodes = fleet.Known(fleet.Count(int64(c.Discovery.Nodes)))
		}
		out = append(out, row)
	}
	return out, nil
}

// ViewCluster is the page of one cluster.
func (p *Portal) ViewCluster(ctx context.Context, actor Actor, id string) (ClusterDetail, error) {
	if err := seesClusters(actor); err != nil {
		return ClusterDetail{}, err
	}
	d := ClusterDetail{PollEach: orElse(p.PollEvery, 30*time.Second), At: p.Now()}
	var err error
	if d.Cluster, err = p.Store.Cluster(ctx, id); err != nil {
		return d, err
	}
	_, why := p.manages(actor, id)
	d.MayManage = why == nil
	if d.Pools, err = p.Store.PoolsNear(ctx, PoolQuery{ClusterIDs: []string{id}}); err != nil {
		return d, err
	}
	if d.MayManage {
		if d.Projects, err = p.Store.Projects(ctx, nil); err != nil {
			return d, err
		}
	}
	if d.Bindings, err = p.bindingRows(ctx, id); err != nil {
		return d, err
	}
	if d.Polls, err = p.Store.Polls(ctx, id, pollsShown); err != nil {
		return d, err
	}
	if d.Limits, err = p.limitRows(ctx, d); err != nil {
		return d, err
	}
	if d.PausedBy, err = p.pausedBy(ctx, d.Cluster); err != nil {
		return d, err
	}
	_, steer := p.steers(ctx, p.Store, actor, id)
	d.MaySteer = steer == nil
	d.Sanity = saneQuotas(d.Cluster)
	if d.Import, err = p.Store.NewestImport(ctx, id); err != nil {
		return d, err
	}
	return d, p.clusterChanges(ctx, actor, &d)
}

func (p *Portal) clusterChanges(ctx context.Context, actor Actor, d *ClusterDetail) error {
	changes, err := p.Store.OpenChanges(ctx, d.Cluster.ID)
	if err != nil {
		return err
	}
	stopped, err := p.Store.StoppedChanges(ctx, d.Cluster.ID)
	if err != nil {
		return err
	}
	for _, c := range append(changes, stopped...) {
		detail, err := p.changeDetail(ctx, actor, c)
		if err != nil {
			return err
		}
		d.Changes = append(d.Changes, detail)
	}
	return nil
}

// pausedBy is the entry that says who paused writing.
func (p *Portal) pausedBy(ctx context.Context, c Cluster) (*EntryRow, error) {
	if !c.Paused {
		return nil, nil
	}
	rows, err := p.Store.Entries(ctx, EntryQuery{ClusterID: c.ID, Types: []ledger.Type{ledger.ClusterMode}, Outcome: ledger.Done, Limit: 20})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Entry.Facts["paused"] == "true" && row.Entry.Facts["paused_before"] == "false" {
			return &row, nil
		}
	}
	return nil, nil
}

func (p *Portal) bindingRows(ctx context.Context, clusterID string) ([]BindingRow, error) {
	bindings, err := p.Store.Bindings(ctx, BindingQuery{ClusterID: clusterID})
	if err != nil {
		return nil, err
	}
	usage, err := p.Store.Usage(ctx, UsageQuery{ClusterID: clusterID})
	if err != nil {
		return nil, err
	}
	of := map[string][]UsageRow{}
	for _, u := range usage {
		of[u.Binding.ID] = append(of[u.Binding.ID], u)
	}
	ids := make([]string, 0, len(bindings))
	for _, b := range bindings {
		ids = append(ids, b.ProjectID)
	}
	projects, err := p.Store.ProjectsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	teams, _, err := teamNames(ctx, p.Store)
	if err != nil {
		return nil, err
	}
	out := make([]BindingRow, 0, len(bindings))
	for _, b := range bindings {
		project := projects[b.ProjectID]
		out = append(out, BindingRow{Binding: b, ProjectName: project.Name, TeamName: teams[project.TeamID], Usage: of[b.ID]})
	}
	return out, nil
}

// limitRows are the limits of the last good poll, with what the portal desires there now.
func (p *Portal) limitRows(ctx context.Context, d ClusterDetail) ([]LimitRow, error) {
	o := d.Cluster.Observation
	if o == nil {
		return nil, nil
	}
	load, err := p.loadLines(ctx, BindingQuery{ClusterID: d.Cluster.ID})
	if err != nil {
		return nil, err
	}
	bound := map[string]fleet.Desired{}
	for _, row := range d.Bindings {
		b := row.Binding
		bound[b.Queue()] = desiredOf(b, load.bases[b.ID], load.grants[PlaceKey{b.ProjectID, b.Environment}], d.Pools, d.At)
	}
	var out []LimitRow
	for _, q := range o.Queues {
		want, adopted := bound[q.Name]
		owner := q.Owner
		if owner == "" && !q.Ours {
			owner = strings.Join(q.Managers, ", ")
		}
		for _, f := range q.Flavors {
			if !f.Pool.Accelerator() {
				continue
			}
			row := LimitRow{Object: fleet.ObjectRef{Kind: d.Cluster.Kind.QueueWord(), Name: q.Name}, Path: f.Pool.String(), Value: f.Nominal,
				Borrows: true, Borrowing: measureOf(f.Borrowing), NoLimit: f.Borrowing == nil,
				Owner: owner, Tool: q.Owner != "", Ours: q.Ours, Adopted: adopted, Findings: append(append([]string{}, f.Notes...), q.Notes...)}
			if len(q.LocalQueues) > 0 || d.Cluster.Kind == fleet.Slurm {
				row.Queue = q.Name
			}
			for _, l := range want.Limits {
				if l.Pool == f.Pool {
					row.Granted, row.GrantedBorrowing = fleet.Known(l.Nominal), measureOf(l.Borrowing)
					if f.Nominal.Known && (!f.Nominal.Amount.Equal(l.Nominal) || d.Cluster.Kind == fleet.Slurm && (f.Borrowing == nil) != (l.Borrowing == nil)) {
						row.Findings = append(row.Findings, "differs from what is granted")
					}
				}
			}
			out = append(out, row)
		}
	}
	for _, q := range o.Quotas {
		out = append(out, LimitRow{Object: fleet.ObjectRef{Kind: "ResourceQuota", Namespace: q.Namespace, Name: q.Name}, Path: q.Key, Value: q.Hard,
			Owner: q.Owner, Ours: q.Ours, Findings: q.Notes})
	}
	return out, nil
}

func measureOf(q *fleet.Quantity) fleet.Measure {
	if q == nil {
		return fleet.Unknown
	}
	return fleet.Known(*q)
}
