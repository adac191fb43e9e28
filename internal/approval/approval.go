// Package approval knows routes: who has to decide on a request, in which order,
// and who may not because of separation of duties. Pure: it takes values and
// returns values; request asks it whether a stage is complete, portal who may act.
package approval

import (
	"fmt"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// Outcome of one decision.
type Outcome string

const (
	Approve Outcome = "approve"
	Return  Outcome = "return" // back to the requester with questions
	Reject  Outcome = "reject"
)

// Valid reports whether o is an outcome.
func (o Outcome) Valid() bool { return o == Approve || o == Return || o == Reject }

// Template is one stage of a route before it is frozen for a request.
type Template struct {
	Key           string        `json:"key" yaml:"key"`
	Name          string        `json:"name" yaml:"name"`
	Role          org.Role      `json:"role" yaml:"role"`
	Scope         ScopeOf       `json:"scope" yaml:"scope"`
	Quorum        int           `json:"quorum" yaml:"quorum"`
	RespondWithin time.Duration `json:"respond_within" yaml:"respond_within"`
}

// ScopeOf says which places a stage covers.
type ScopeOf string

const (
	OfTeam ScopeOf = "team"  // the project's team
	OfPool ScopeOf = "pools" // every pool the request names
)

// Default is the two-stage route: the team's manager, then who owns the pools.
var Default = []Template{
	{Key: "team", Name: "Team manager", Role: org.TeamManager, Scope: OfTeam, Quorum: 1, RespondWithin: 48 * time.Hour},
	{Key: "capacity", Name: "Capacity manager", Role: org.CapacityManager, Scope: OfPool, Quorum: 1, RespondWithin: 48 * time.Hour},
}

// Route is what a request was frozen with at submission.
type Route struct {
	Version int     `json:"version"`
	Why     string  `json:"why"` // which rule matched, in words
	Stages  []Stage `json:"stages"`
}

// Stage is one step: Quorum distinct people who hold Role at every one of Places.
type Stage struct {
	Key           string        `json:"key"`
	Name          string        `json:"name"`
	Role          org.Role      `json:"role"`
	Places        []org.Place   `json:"places"`
	Quorum        int           `json:"quorum"`
	RespondWithin time.Duration `json:"respond_within"`
}

// Freeze turns templates into the route of one request. team and pools are where
// it belongs. Pools whose managers differ become stages of their own, so that
// nobody has to own every pool of a request; managers names the people who hold
// role at a place.
func Freeze(templates []Template, version int, team org.Place, pools []org.Place, managers func(org.Role, org.Place) []string) Route {
	r := Route{Version: version, Why: "default route: the team's manager, then the capacity manager of the pools"}
	for _, t := range templates {
		s := Stage{Key: t.Key, Name: t.Name, Role: t.Role, Quorum: max(1, t.Quorum), RespondWithin: t.RespondWithin}
		if t.Scope == OfTeam {
			s.Places = []org.Place{team}
			r.Stages = append(r.Stages, s)
			continue
		}
		groups := map[string]int{}
		for _, p := range pools {
			who := fmt.Sprint(managers(t.Role, p))
			if i, ok := groups[who]; ok {
				r.Stages[i].Places = append(r.Stages[i].Places, p)
				continue
			}
			g := s
			g.Places = []org.Place{p}
			if len(groups) > 0 {
				g.Key = fmt.Sprintf("%s-%d", t.Key, len(groups)+1)
			}
			groups[who] = len(r.Stages)
			r.Stages = append(r.Stages, g)
		}
	}
	return r
}

// Subject names those whom separation of duties keeps from deciding.
type Subject struct {
	RequesterID   string
	BeneficiaryID string   // "" when the requester asks for themselves
	EditorIDs     []string // whoever edited the revision under decision, last one included
}

// Decision is one person's word on one revision in one stage.
type Decision struct {
	ID        string
	RequestID string
	Revision  int
	Digest    string // of the revision that the person saw
	StageKey  string
	PersonID  string
	Identity  string // linked accounts count once
	Outcome   Outcome
	Reason    string
	// Granted per pool; set on approve, equal to or below what was asked.
	Granted []Granted
	Factors []string // amr of the step-up
	At      time.Time
}

// Granted is what an approver gives for one pool.
type Granted struct {
	PoolID string         `json:"pool"`
	Amount fleet.Quantity `json:"amount"`
	Start  *time.Time     `json:"start,omitempty"`
	End    *time.Time     `json:"end,omitempty"`
}

// Current returns the index of the first stage without its quorum among decisions on
// digest; len(Stages) when all are complete.
func (r Route) Current(decisions []Decision, digest string) int {
	for i, s := range r.Stages {
		if len(s.Approvers(decisions, digest)) < s.Quorum {
			return i
		}
	}
	return len(r.Stages)
}

// Approvers returns the distinct identities that approved digest in s.
func (s Stage) Approvers(decisions []Decision, digest string) []string {
	var out []string
	seen := map[string]bool{}
	for _, d := range decisions {
		if d.StageKey == s.Key && d.Outcome == Approve && d.Digest == digest && !seen[d.Identity] {
			seen[d.Identity] = true
			out = append(out, d.Identity)
		}
	}
	return out
}

// Holds returns the assignment by which p can act in s. Holding the role at one
// of several places is not enough: it has to hold at all of them.
func (s Stage) Holds(p org.Person) (org.Assignment, bool) {
	var first org.Assignment
	for i, at := range s.Places {
		a, ok := p.Holding(s.Role, at)
		if !ok {
			return org.Assignment{}, false
		}
		if i == 0 {
			first = a
		}
	}
	return first, len(s.Places) > 0 && p.Active
}

// MayDecide returns nil, or a Forbidden fault with the rule that keeps p from deciding in s.
// people are all whose ids occur in subject or decisions, so that linked identities are known.
func MayDecide(p org.Person, s Stage, subject Subject, decisions []Decision, digest string, identityOf func(personID string) string) error {
	if _, ok := s.Holds(p); !ok {
		return fault.Newf(fault.Forbidden, "This step is decided by the %s. A platform admin can map you to that role.", lower(s.Role.Label()))
	}
	same := func(id string) bool { return id != "" && (id == p.ID || identityOf(id) == p.Identity) }
	if same(subject.RequesterID) {
		return fault.New(fault.Forbidden, "You asked for this yourself. Another person has to decide.")
	}
	if same(subject.BeneficiaryID) {
		return fault.New(fault.Forbidden, "This is asked on your behalf. Another person has to decide.")
	}
	for _, id := range subject.EditorIDs {
		if same(id) {
			return fault.New(fault.Forbidden, "You edited this request. Another person has to decide.")
		}
	}
	for _, d := range decisions {
		if d.Digest == digest && (d.PersonID == p.ID || d.Identity == p.Identity) {
			return fault.New(fault.Conflict, "You already decided on this revision. One person decides once.")
		}
	}
	return nil
}

// Eligible returns those among people who may decide in s now.
func Eligible(people []org.Person, s Stage, subject Subject, decisions []Decision, digest string) []org.Person {
	identity := identities(people)
	var out []org.Person
	for _, p := range people {
		if MayDecide(p, s, subject, decisions, digest, identity) == nil {
			out = append(out, p)
		}
	}
	return out
}

func identities(people []org.Person) func(string) string {
	m := make(map[string]string, len(people))
	for _, p := range people {
		m[p.ID] = p.Identity
	}
	return func(id string) string { return m[id] }
}

// Staffed checks that each stage can get its quorum from distinct people, since
// one person holds at most one stage; if not the fault names the stage and who can mend it.
func (r Route) Staffed(people []org.Person, subject Subject) error {
	err := fault.New(fault.Invalid, "Nobody could decide on this request as it stands.")
	sets := make([][]string, 0, len(r.Stages))
	for _, s := range r.Stages {
		var ids []string
		seen := map[string]bool{}
		for _, p := range Eligible(people, s, subject, nil, "") {
			if !seen[p.Identity] {
				seen[p.Identity] = true
				ids = append(ids, p.Identity)
			}
		}
		if len(ids) < s.Quorum {
			err.At("route", "%s: %d needed, %d can decide. A platform admin can map a group to this role.", s.Name, s.Quorum, len(ids))
		}
		for range s.Quorum {
			sets = append(sets, ids)
		}
	}
	if len(err.Fields) == 0 && !distinct(sets) {
		err.At("route", "One person would have to decide twice. A platform admin can map more people to the roles of this route.")
	}
	return err.OrNil()
}

// distinct reports whether each set can give a member of its own (bipartite matching).
func distinct(sets [][]string) bool {
	owner := map[string]int{}
	var try func(i int, seen map[string]bool) bool
	try = func(i int, seen map[string]bool) bool {
		for _, id := range sets[i] {
			if seen[id] {
				continue
			}
			seen[id] = true
			if j, taken := owner[id]; !taken || try(j, seen) {
				owner[id] = i
				return true
			}
		}
		return false
	}
	for i := range sets {
		if !try(i, map[string]bool{}) {
			return false
		}
	}
	return true
}

func lower(s string) string {
	if s == "" {
		return s
	}
	return string(s[0]|0x20) + s[1:]
}
