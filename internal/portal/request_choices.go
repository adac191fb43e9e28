package portal

import (
	"context"
	"maps"
	"slices"

	"quartermaster/internal/org"
)

// choicesShown is how many projects and how many people a form offers at once.
const choicesShown = 100

// ChoiceQuery narrows what a request form offers, by a part of a name. What is
// chosen already stays on offer.
type ChoiceQuery struct {
	Project, Person     string // searched for
	ProjectID, PersonID string // chosen
}

// Choices are what a request form offers.
type Choices struct {
	Projects []org.Project
	Teams    map[string]string // names by id, of the projects' teams
	Pools    []PoolState
	People   []PersonName // on whose behalf one may ask: requesters of the same teams
	Classes  []string     // of data, of all projects that may be named
	// There are more than are listed.
	MoreProjects, MorePeople bool
}

// RequestChoices are the projects, pools and people that actor may name in a request.
func (p *Portal) RequestChoices(ctx context.Context, actor Actor, q ChoiceQuery) (Choices, error) {
	out := Choices{Teams: map[string]string{}}
	teams, err := p.Store.Teams(ctx)
	if err != nil {
		return out, err
	}
	places := map[string]org.Place{}
	for _, t := range teams {
		if at := (org.Place{UnitID: t.UnitID, TeamID: t.ID}); asksAt(actor.Person, at) {
			places[t.ID], out.Teams[t.ID] = at, t.Name
		}
	}
	if out.Pools, err = p.Store.Pools(ctx); err != nil {
		return out, err
	}
	ids := slices.Sorted(maps.Keys(places))
	if out.Classes, err = p.Store.DataClassesOf(ctx, ids); err != nil {
		return out, err
	}
	if err := p.projectChoices(ctx, q, ids, &out); err != nil {
		return out, err
	}
	return out, p.personChoices(ctx, actor, q, slices.Collect(maps.Values(places)), &out)
}

func asksAt(who org.Person, at org.Place) bool {
	_, requester := who.Holding(org.Requester, at)
	_, manager := who.Holding(org.TeamManager, at)
	return requester || manager
}

// projectChoices are the first that fit, by name, behind the one that is chosen.
func (p *Portal) projectChoices(ctx context.Context, q ChoiceQuery, teams []string, out *Choices) error {
	if teams == nil {
		teams = []string{} // no team, not every team
	}
	found, err := p.Store.ProjectList(ctx, teams, ProjectQuery{Search: q.Project, Limit: choicesShown + 1})
	if err != nil {
		return err
	}
	out.MoreProjects = len(found) > choicesShown
	out.Projects = found[:min(len(found), choicesShown)]
	if q.ProjectID == "" || slices.ContainsFunc(out.Projects, func(x org.Project) bool { return x.ID == q.ProjectID }) {
		return nil
	}
	chosen, err := p.Store.ProjectsByID(ctx, []string{q.ProjectID})
	if err != nil {
		return err
	}
	if x, ok := chosen[q.ProjectID]; ok && slices.Contains(teams, x.TeamID) {
		out.Projects = append([]org.Project{x}, out.Projects...)
	}
	return nil
}

// personChoices are the first that fit, by name, behind the one that is chosen.
func (p *Portal) personChoices(ctx context.Context, actor Actor, q ChoiceQuery, places []org.Place, out *Choices) error {
	people, err := p.Store.PeopleHoldingNamed(ctx, org.Requester, places, q.Person, actor.Person.Identity, choicesShown+1)
	if err != nil {
		return err
	}
	out.MorePeople = len(people) > choicesShown
	people = people[:min(len(people), choicesShown)]
	if q.PersonID != "" && !slices.ContainsFunc(people, func(x org.Person) bool { return x.ID == q.PersonID }) {
		chosen, err := p.Store.PeopleByID(ctx, []string{q.PersonID})
		if err != nil {
			return err
		}
		if x, ok := chosen[q.PersonID]; ok {
			people = append([]org.Person{x}, people...)
		}
	}
	for _, who := range people {
		if who.ID != actor.Person.ID && who.Identity != actor.Person.Identity && slices.ContainsFunc(places, func(at org.Place) bool { return asksAt(who, at) }) {
			out.People = append(out.People, PersonName{who.ID, who.Name})
		}
	}
	return nil
}

// CountApprovals counts what waits for actor, up to limit.
func (p *Portal) CountApprovals(ctx context.Context, actor Actor, limit int) (int, error) {
	return p.Store.CountWaiting(ctx, actor.Person, limit)
}
