package portal

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"quartermaster/internal/org"
)

// Choices are what a request form offers.
type Choices struct {
	Projects []org.Project
	Teams    map[string]string // names by id, of the projects' teams
	Pools    []PoolState
	People   []PersonName // on whose behalf one may ask: requesters of the same teams
}

// RequestChoices are the projects, pools and people that actor may name in a request.
func (p *Portal) RequestChoices(ctx context.Context, actor Actor) (Choices, error) {
	ids, all := actor.Person.Teams()
	if !all && ids == nil {
		ids = []string{} // no team, not every team
	}
	out := Choices{Teams: map[string]string{}}
	teams, err := p.Store.Teams(ctx)
	if err != nil {
		return out, err
	}
	asks := func(at org.Place, who org.Person) bool {
		_, requester := who.Holding(org.Requester, at)
		_, manager := who.Holding(org.TeamManager, at)
		return requester || manager
	}
	places := map[string]org.Place{}
	for _, t := range teams {
		if at := (org.Place{UnitID: t.UnitID, TeamID: t.ID}); asks(at, actor.Person) {
			places[t.ID], out.Teams[t.ID] = at, t.Name
		}
	}
	projects, err := p.Store.Projects(ctx, ids)
	if err != nil {
		return out, err
	}
	for _, project := range projects {
		if _, ok := places[project.TeamID]; ok {
			out.Projects = append(out.Projects, project)
		}
	}
	if out.Pools, err = p.Store.Pools(ctx); err != nil {
		return out, err
	}
	people, err := p.Store.PeopleHoldingAt(ctx, org.Requester, slices.Collect(maps.Values(places)))
	if err != nil {
		return out, err
	}
	for _, who := range people {
		if who.ID == actor.Person.ID || who.Identity == actor.Person.Identity {
			continue
		}
		for _, at := range places {
			if asks(at, who) {
				out.People = append(out.People, PersonName{who.ID, who.Name})
				break
			}
		}
	}
	slices.SortFunc(out.People, func(a, b PersonName) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out, nil
}

// CountApprovals counts what waits for actor, up to limit.
func (p *Portal) CountApprovals(ctx context.Context, actor Actor, limit int) (int, error) {
	return p.Store.CountWaiting(ctx, actor.Person, limit)
}
