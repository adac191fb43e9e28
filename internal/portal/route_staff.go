package portal

import (
	"context"
	"fmt"
	"strings"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

// namesShown is how many people a page names before it counts.
const namesShown = 10

// staff is a route and the people who count for it.
type staff struct {
	route   approval.Route
	subject approval.Subject
	people  []org.Person // who hold a role of the route, and whom separation of duties looks at
}

// loadStaff freezes the route in force for c and loads everybody who could decide in it.
func loadStaff(ctx context.Context, r Reader, at place, c request.Content, subject approval.Subject) (staff, error) {
	templates, version, err := r.RouteInForce(ctx)
	if err != nil {
		return staff{}, fmt.Errorf("route in force: %w", err)
	}
	if len(templates) == 0 {
		templates = approval.Default
	}
	s := staff{subject: subject}
	var pools []org.Place
	for _, l := range c.Lines {
		if pool, ok := at.pools[l.PoolID]; ok {
			pools = append(pools, org.Place{ClusterID: pool.ClusterID, PoolID: pool.ID})
		}
	}
	var wanted []posts
	for _, t := range templates {
		if t.Scope == approval.OfTeam {
			wanted = append(wanted, posts{t.Role, []org.Place{at.teamPlace()}})
		} else {
			wanted = append(wanted, posts{t.Role, pools})
		}
	}
	if s.people, err = loadPeople(ctx, r, wanted, subject); err != nil {
		return staff{}, err
	}
	holding := func(role org.Role, where org.Place) (ids []string) {
		for _, who := range s.people {
			if _, ok := who.Holding(role, where); ok && who.Active {
				ids = append(ids, who.ID)
			}
		}
		return ids
	}
	s.route = approval.Freeze(templates, version, at.teamPlace(), pools, holding)
	return s, nil
}

// posts are a role and the places where a stage wants it held.
type posts struct {
	role   org.Role
	places []org.Place
}

// loadPeople returns everybody who holds one of the posts, and the subject's people, each once.
func loadPeople(ctx context.Context, r Reader, wanted []posts, subject approval.Subject) ([]org.Person, error) {
	var out []org.Person
	seen := map[string]bool{}
	add := func(who org.Person) {
		if !seen[who.ID] {
			seen[who.ID] = true
			out = append(out, who)
		}
	}
	for _, w := range wanted {
		if len(w.places) == 0 {
			continue
		}
		people, err := r.PeopleHoldingAt(ctx, w.role, w.places)
		if err != nil {
			return nil, fmt.Errorf("people who are %s: %w", w.role, err)
		}
		for _, who := range people {
			add(who)
		}
	}
	var missing []string
	for _, id := range append([]string{subject.RequesterID, subject.BeneficiaryID}, subject.EditorIDs...) {
		if id != "" && !seen[id] {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	others, err := r.PeopleByID(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("people of a request: %w", err)
	}
	for _, id := range missing {
		if who, ok := others[id]; ok {
			add(who)
		}
	}
	return out, nil
}

// stages names who can decide in each stage.
func (s staff) stages() []StagePeople {
	out := make([]StagePeople, 0, len(s.route.Stages))
	for _, st := range s.route.Stages {
		out = append(out, s.stage(st, nil, ""))
	}
	return out
}

func (s staff) stage(st approval.Stage, decisions []approval.Decision, digest string) StagePeople {
	v := StagePeople{Key: st.Key, Name: st.Name, Role: st.Role, Quorum: st.Quorum, RespondWithin: st.RespondWithin}
	human := map[string]bool{}
	for _, who := range approval.Eligible(s.people, st, s.subject, decisions, digest) {
		if human[who.Identity] {
			continue
		}
		human[who.Identity] = true
		v.Count++
		if len(v.People) < namesShown {
			v.People = append(v.People, PersonName{who.ID, who.Name})
		}
	}
	if v.Count < st.Quorum {
		v.Missing = fmt.Sprintf("%d needed, %d can decide. A platform admin can map a group to the role %s.", st.Quorum, v.Count, st.Role.Label())
	}
	return v
}

// staffed is nil when the route has enough distinct people; otherwise the fault
// says what is missing and names who can mend it.
func (s staff) staffed(ctx context.Context, r Reader) error {
	err := s.route.Staffed(s.people, s.subject)
	f := fault.As(err)
	if f == nil {
		return err
	}
	admins, e := r.PeopleHolding(ctx, org.PlatformAdmin)
	if e != nil {
		return fmt.Errorf("platform admins: %w", e)
	}
	var names []string
	for _, a := range admins {
		if len(names) < 3 {
			names = append(names, a.Name)
		}
	}
	if len(names) > 0 {
		f.At("route", "Platform admin: %s.", strings.Join(names, ", "))
	}
	return f
}
