package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/approval"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

// mayDecide is nil when actor may decide the stage that waits, with the assignment
// by which; otherwise the fault says which rule is in the way. It loads the people
// whom separation of duties looks at, so that linked accounts count as one human being.
func (p *Portal) mayDecide(ctx context.Context, r Reader, actor Actor, req request.Request, s approval.Stage) (org.Assignment, error) {
	subject := req.Subject()
	ids := append([]string{subject.RequesterID, subject.BeneficiaryID}, subject.EditorIDs...)
	for _, d := range req.Decisions {
		ids = append(ids, d.PersonID)
	}
	people, err := r.PeopleByID(ctx, unique(ids))
	if err != nil {
		return org.Assignment{}, fmt.Errorf("people of request %d: %w", req.Number, err)
	}
	identity := func(id string) string { return people[id].Identity }
	if err := approval.MayDecide(actor.Person, s, subject, req.Decisions, req.Revision.Digest, identity); err != nil {
		return org.Assignment{}, err
	}
	a, _ := s.Holds(actor.Person)
	return a, nil
}

// mayComment: auditors and finance read only.
func mayComment(actor Actor, r request.Request) bool {
	return owns(actor, r) || actor.Person.HasAny(org.Requester, org.TeamManager, org.CapacityManager, org.Compliance, org.PlatformAdmin)
}

func unique(ids []string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
