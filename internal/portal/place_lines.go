package portal

import (
	"cmp"
	"context"
	"slices"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// lineLoad is what figure lines are put together from, read once for many projects.
type lineLoad struct {
	now      time.Time
	pools    []PoolState
	teams    map[string]string
	bindings map[string][]fleet.Binding // by project id
	usage    map[string][]UsageRow      // by binding id
	bases    map[string]map[string]fleet.Base
	grants   map[PlaceKey][]GrantRow // that may still count
}

func (p *Portal) loadLines(ctx context.Context, q BindingQuery) (lineLoad, error) {
	l := lineLoad{now: p.Now(), bindings: map[string][]fleet.Binding{}, usage: map[string][]UsageRow{}, grants: map[PlaceKey][]GrantRow{}}
	var err error
	if l.teams, _, err = teamNames(ctx, p.Store); err != nil {
		return l, err
	}
	bindings, err := p.Store.Bindings(ctx, q)
	if err != nil {
		return l, err
	}
	ids := make([]string, 0, len(bindings))
	projects := make([]string, 0, len(bindings))
	clusters := make([]string, 0, len(bindings))
	for _, b := range bindings {
		if l.bindings[b.ProjectID] == nil {
			projects = append(projects, b.ProjectID)
		}
		l.bindings[b.ProjectID] = append(l.bindings[b.ProjectID], b)
		ids = append(ids, b.ID)
		clusters = append(clusters, b.ClusterID)
	}
	if l.pools, err = p.Store.PoolsNear(ctx, PoolQuery{ClusterIDs: clusters, ProjectID: q.ProjectID, Environment: q.Environment}); err != nil {
		return l, err
	}
	if l.bases, err = p.Store.BaselinesOf(ctx, ids); err != nil {
		return l, err
	}
	grants, err := p.Store.GrantsStanding(ctx, projects, l.now)
	if err != nil {
		return l, err
	}
	for _, g := range grants {
		at := PlaceKey{g.ProjectID, g.Environment}
		l.grants[at] = append(l.grants[at], g)
	}
	usage, err := p.Store.Usage(ctx, UsageQuery{ProjectID: q.ProjectID, Environment: q.Environment, ClusterID: q.ClusterID, ProjectIDs: q.ProjectIDs})
	if err != nil {
		return l, err
	}
	for _, u := range usage {
		l.usage[u.Binding.ID] = append(l.usage[u.Binding.ID], u)
	}
	return l, nil
}

// of are the lines of one project, by environment and pool.
func (l lineLoad) of(project org.Project, poolID string) []PlaceLine {
	var out []PlaceLine
	for _, b := range l.bindings[project.ID] {
		grants := l.grants[PlaceKey{b.ProjectID, b.Environment}]
		desired := desiredOf(b, l.bases[b.ID], grants, l.pools, l.now)
		for _, s := range l.pools {
			if s.ClusterID != b.ClusterID || poolID != "" && s.ID != poolID {
				continue
			}
			if line, ok := l.line(project, b, s, desired, grants); ok {
				out = append(out, line)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b PlaceLine) int {
		return cmp.Or(cmp.Compare(slices.Index(project.Environments, a.Environment), slices.Index(project.Environments, b.Environment)), cmp.Compare(a.PoolName, b.PoolName))
	})
	return out
}

func (l lineLoad) line(project org.Project, b fleet.Binding, s PoolState, desired fleet.Desired, grants []GrantRow) (PlaceLine, bool) {
	line := PlaceLine{Project: project, TeamName: l.teams[project.TeamID], Environment: b.Environment, PoolID: s.ID, PoolName: s.Name, Resource: s.Key.Resource,
		ClusterID: s.ClusterID, ClusterName: s.ClusterName, ClusterKind: s.ClusterKind, Unit: s.Unit}
	says := false
	for _, d := range desired.Limits {
		if d.Pool == s.Key {
			line.Granted, line.Borrowing, says = fleet.Known(d.Nominal), d.Borrowing, true
		}
	}
	for _, g := range grants { // oldest first: the newest counts
		if g.PoolID == s.ID && g.Kind != fleet.BurstGrant && g.InForce(l.now) {
			line.Asked = fleet.Known(g.Asked)
		}
		if g.PoolID == s.ID && g.End != nil && g.InForce(l.now) && (line.Ends == nil || g.End.Before(*line.Ends)) {
			line.Ends = g.End
		}
	}
	line.Usage = UsageRow{Binding: b, PoolID: s.ID, PoolName: s.Name, Resource: s.Key.Resource}
	for _, u := range l.usage[b.ID] {
		if u.PoolID == s.ID {
			line.Usage, line.Read, says = u, true, true
		}
	}
	switch {
	case line.Read && !(line.Usage.Nominal.Known && line.Usage.InUse.Known):
		line.Why = s.ClusterName + " did not say"
	case !line.Read && len(l.usage[b.ID]) > 0:
		line.Why = "the queue does not list this pool yet"
	case !line.Read:
		line.Why = "the queue was not read yet"
	}
	return line, says
}
