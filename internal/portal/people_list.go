package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/fault"
	"quartermaster/internal/org"
)

// ListPeople pages through everybody by name, with the roles in force and the
// groups that bring them.
func (p *Portal) ListPeople(ctx context.Context, actor Actor, q PeopleQuery) (PeoplePage, error) {
	if !actor.Person.HasAny(org.PlatformAdmin, org.Auditor, org.Compliance) {
		return PeoplePage{}, fault.New(fault.Forbidden, "People are shown to platform admins, auditors and compliance officers. A platform admin can map you to one of these roles.")
	}
	if q.Limit <= 0 || q.Limit > 199 {
		q.Limit = pageSize
	}
	shown := q.Limit
	q.Limit++
	people, err := p.Store.People(ctx, q)
	if err != nil {
		return PeoplePage{}, fmt.Errorf("list people: %w", err)
	}
	page := PeoplePage{People: people}
	if len(people) > shown {
		page.People, page.More = people[:shown], true
	}
	_, page.Mappings, err = p.Store.Mappings(ctx)
	return page, err
}
