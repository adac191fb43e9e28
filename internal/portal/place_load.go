package portal

import (
	"context"
	"fmt"
	"math"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

// place is what the portal knows of one project and environment: who it belongs
// to, the pools it has to do with, and what it holds and uses of them.
type place struct {
	project  org.Project
	team     org.Team
	pools    map[string]PoolState
	poolList []PoolState
	usage    map[string]UsageRow       // by pool id
	bindings map[string]fleet.Binding  // by cluster id
	read     map[string]bool           // binding ids of which anything was read
	coming   map[string]fleet.Quantity // by pool id: granted to others, not enforced yet
}

// place loads what is known of the project and environment of c, and of its pools.
func (p *Portal) place(ctx context.Context, r Reader, c request.Content) (place, error) {
	var pools []string
	for _, l := range c.Lines {
		pools = append(pools, l.PoolID)
	}
	at, err := loadPlace(ctx, r, c.ProjectID, c.Environment, pools)
	if err != nil {
		return at, err
	}
	if len(pools) == 0 {
		return at, nil
	}
	at.coming, err = r.ComingOfPools(ctx, pools, PlaceKey{c.ProjectID, c.Environment}, p.Now())
	return at, err
}

// committed is everything that others and the place itself hold of a pool, or were
// granted and will hold once their cluster took it.
func (at place) committed(poolID string) fleet.Measure {
	return at.pools[poolID].Nominal.Add(fleet.Known(at.coming[poolID]))
}

// loadPlace knows named pools and all pools of the clusters that the place has to do with.
func loadPlace(ctx context.Context, r Reader, projectID, environment string, named []string) (place, error) {
	at := place{pools: map[string]PoolState{}, usage: map[string]UsageRow{}, bindings: map[string]fleet.Binding{}, read: map[string]bool{}}
	var err error
	if at.project, err = r.Project(ctx, projectID); err != nil {
		return at, err
	}
	if at.team, err = r.Team(ctx, at.project.TeamID); err != nil {
		return at, fmt.Errorf("team of project %s: %w", projectID, err)
	}
	if at.poolList, err = r.PoolsNear(ctx, PoolQuery{PoolIDs: named, ProjectID: projectID, Environment: environment}); err != nil {
		return at, fmt.Errorf("pools: %w", err)
	}
	for _, s := range at.poolList {
		at.pools[s.ID] = s
	}
	if environment == "" {
		return at, nil
	}
	bindings, err := r.Bindings(ctx, BindingQuery{ProjectID: projectID, Environment: environment})
	if err != nil {
		return at, fmt.Errorf("bindings of %s %s: %w", projectID, environment, err)
	}
	for _, b := range bindings {
		at.bindings[b.ClusterID] = b
	}
	if len(bindings) == 0 {
		return at, nil
	}
	rows, err := r.Usage(ctx, UsageQuery{ProjectID: projectID, Environment: environment})
	if err != nil {
		return at, fmt.Errorf("usage of %s %s: %w", projectID, environment, err)
	}
	for _, u := range rows {
		at.usage[u.PoolID] = u
		at.read[u.Binding.ID] = true
	}
	return at, nil
}

// team place for roles that hold on the team or its unit.
func (at place) teamPlace() org.Place { return org.Place{UnitID: at.team.UnitID, TeamID: at.team.ID} }

// now is what is known of a pool for this place. A project with no binding on a
// cluster holds nothing there: that is 0, not unknown. A binding that was never
// read is unknown.
func (at place) now(poolID string) LineNow {
	s := at.pools[poolID]
	n := LineNow{PoolID: poolID, PoolName: s.Name, Resource: s.Key.Resource, ClusterID: s.ClusterID, ClusterName: s.ClusterName,
		Simulated: s.ClusterKind == fleet.Simulated, Unit: s.Unit}
	none := fleet.Known(fleet.Quantity{})
	if u, ok := at.usage[poolID]; ok {
		n.Current, n.Borrowing, n.BorrowingKnown = u.Nominal, u.Borrowing, u.BorrowingKnown
		n.Reserved, n.InUse, n.Borrowed, n.Pending, n.PendingAmount = u.Reserved, u.InUse, u.Borrowed, u.Pending, u.PendingAmount
		n.At, n.Stale = &u.At, u.Stale
		if !u.Nominal.Known || !u.InUse.Known {
			n.Why = s.ClusterName + " did not say"
		}
		return n
	}
	b, bound := at.bindings[s.ClusterID]
	if bound && !at.read[b.ID] {
		n.Why = s.ClusterName + " was not read yet"
		return n
	}
	n.Current, n.InUse, n.Reserved, n.Borrowed = none, none, none, none
	n.Borrowing, n.BorrowingKnown = &fleet.Quantity{}, true
	return n
}

// capture writes what the server knows now into the lines: no figure is taken
// from a form. Only lines for which keep is false are touched.
func (at place) capture(c request.Content, keep func(request.Line) (request.Line, bool)) request.Content {
	lines := make([]request.Line, len(c.Lines))
	for i, l := range c.Lines {
		if old, ok := keep(l); ok {
			l.Current, l.InUse = old.Current, old.InUse
		} else {
			n := at.now(l.PoolID)
			l.Current, l.InUse = n.Current, n.InUse
		}
		l.Start, l.End = utc(l.Start), utc(l.End)
		lines[i] = l
	}
	c.Lines = lines
	return c
}

func keepNone(request.Line) (request.Line, bool) { return request.Line{}, false }

// facts are what the checks look at, with the figures of now.
func (p *Portal) facts(at place, c request.Content, deciding bool) policy.Facts {
	f := policy.Facts{Now: p.Now(), Content: c, Project: at.project, Deciding: deciding}
	for _, l := range c.Lines {
		s, n := at.pools[l.PoolID], at.now(l.PoolID)
		f.Lines = append(f.Lines, policy.LineFacts{Pool: s.Pool, Unit: s.Unit, Current: n.Current, InUse: n.InUse, Capacity: s.Capacity, Committed: at.committed(l.PoolID)})
	}
	return f
}

// headroom of each pool that c names, once.
func (at place) headroom(c request.Content) []Headroom {
	var out []Headroom
	seen := map[string]bool{}
	for _, l := range c.Lines {
		s, ok := at.pools[l.PoolID]
		if !ok || seen[l.PoolID] {
			continue
		}
		seen[l.PoolID] = true
		adds := policy.Adds(l, at.now(l.PoolID).Current)
		out = append(out, Headroom{
			PoolID: s.ID, PoolName: s.Name, Resource: s.Key.Resource, ClusterID: s.ClusterID, ClusterName: s.ClusterName,
			Simulated: s.ClusterKind == fleet.Simulated, Unit: s.Unit, Capacity: s.Capacity, Committed: at.committed(s.ID), Coming: at.coming[s.ID],
			Reserved: s.Reserved, InUse: s.InUse, Borrowed: s.Borrowed, Adds: adds, After: at.committed(s.ID).Add(adds), At: s.ObservedAt, Stale: s.Stale,
		})
	}
	return out
}

// hoursAMonth is the month of cost figures.
const hoursAMonth = 730

// cost of a month at the pools' rates, by line and in all.
func (at place) cost(c request.Content) Cost {
	out := Cost{Complete: true}
	for _, l := range c.Lines {
		s := at.pools[l.PoolID]
		line := LineCost{PoolID: l.PoolID, Known: s.HourlyCents > 0 && s.Currency != ""}
		month := l.Asked.Mul(s.HourlyCents).Mul(hoursAMonth)
		line.Known = line.Known && month.Cmp(fleet.Count(math.MaxInt64)) < 0
		if line.Known {
			line.Asked = Money{Cents: month.Int64(), Currency: s.Currency}
			out.Totals = addMoney(out.Totals, line.Asked)
		}
		out.Complete = out.Complete && line.Known
		out.Lines = append(out.Lines, line)
	}
	return out
}

func addMoney(sums []Money, m Money) []Money {
	for i := range sums {
		if sums[i].Currency == m.Currency {
			sums[i].Cents += m.Cents
			return sums
		}
	}
	return append(sums, m)
}
