package approval_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/org"
)

var (
	team   = org.Place{UnitID: "research", TeamID: "vision"}
	h100   = org.Place{ClusterID: "east", PoolID: "h100"}
	a100   = org.Place{ClusterID: "east", PoolID: "a100"}
	mi300x = org.Place{ClusterID: "west", PoolID: "mi300x"}
)

func person(id string, roles ...org.Assignment) org.Person {
	return org.Person{ID: id, Name: id, Identity: "human-" + id, Active: true, Roles: roles}
}

func holds(role org.Role, kind org.ScopeKind, id string) org.Assignment {
	return org.Assignment{Role: role, Scope: org.Scope{Kind: kind, ID: id}, Group: "g"}
}

func identityOf(people ...org.Person) func(string) string {
	m := map[string]string{}
	for _, p := range people {
		m[p.ID] = p.Identity
	}
	return func(id string) string { return m[id] }
}

func teamStage() approval.Stage {
	return approval.Stage{Key: "team", Name: "Team manager", Role: org.TeamManager, Places: []org.Place{team}, Quorum: 1}
}

// Who may decide a stage, rule by rule.
func TestMayDecide(t *testing.T) {
	ben := person("ben", holds(org.TeamManager, org.TeamScope, "vision"))
	linked := func(p org.Person, to string) org.Person { p.Identity = "human-" + to; return p }
	inactive := func(p org.Person) org.Person { p.Active = false; return p }
	for name, c := range map[string]struct {
		who       org.Person
		subject   approval.Subject
		decisions []approval.Decision
		kind      fault.Kind
	}{
		"manager of the team":                {ben, approval.Subject{RequesterID: "ana"}, nil, ""},
		"manager of the unit":                {person("ben", holds(org.TeamManager, org.UnitScope, "research")), approval.Subject{RequesterID: "ana"}, nil, ""},
		"manager everywhere":                 {person("ben", holds(org.TeamManager, org.Everywhere, "")), approval.Subject{RequesterID: "ana"}, nil, ""},
		"manager of another team":            {person("ben", holds(org.TeamManager, org.TeamScope, "speech")), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"manager of a team without name":     {person("ben", holds(org.TeamManager, org.TeamScope, "")), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"requester of the team":              {person("bob", holds(org.Requester, org.TeamScope, "vision")), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"platform admin":                     {person("pia", holds(org.PlatformAdmin, org.Everywhere, "")), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"auditor":                            {person("otto", holds(org.Auditor, org.Everywhere, "")), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"nobody":                             {person("x"), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"deactivated":                        {inactive(ben), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"asked for it":                       {ben, approval.Subject{RequesterID: "ben"}, nil, fault.Forbidden},
		"asked by a linked account":          {linked(ben, "ana"), approval.Subject{RequesterID: "ana"}, nil, fault.Forbidden},
		"beneficiary":                        {ben, approval.Subject{RequesterID: "ana", BeneficiaryID: "ben"}, nil, fault.Forbidden},
		"beneficiary by a linked account":    {linked(ben, "bob"), approval.Subject{RequesterID: "ana", BeneficiaryID: "bob"}, nil, fault.Forbidden},
		"last editor":                        {ben, approval.Subject{RequesterID: "ana", EditorIDs: []string{"ana", "ben"}}, nil, fault.Forbidden},
		"editor of an earlier revision":      {ben, approval.Subject{RequesterID: "ana", EditorIDs: []string{"ben", "ana"}}, nil, fault.Forbidden},
		"editor by a linked account":         {linked(ben, "bob"), approval.Subject{RequesterID: "ana", EditorIDs: []string{"bob"}}, nil, fault.Forbidden},
		"decided in another stage":           {ben, approval.Subject{RequesterID: "ana"}, []approval.Decision{{PersonID: "ben", Identity: "human-ben", Digest: "d", StageKey: "other"}}, fault.Conflict},
		"decided by a linked account":        {linked(ben, "eve"), approval.Subject{RequesterID: "ana"}, []approval.Decision{{PersonID: "eve", Identity: "human-eve", Digest: "d"}}, fault.Conflict},
		"decided on another revision":        {ben, approval.Subject{RequesterID: "ana"}, []approval.Decision{{PersonID: "ben", Identity: "human-ben", Digest: "old"}}, ""},
		"another decided":                    {ben, approval.Subject{RequesterID: "ana"}, []approval.Decision{{PersonID: "eve", Identity: "human-eve", Digest: "d"}}, ""},
		"requester unknown to the directory": {ben, approval.Subject{RequesterID: "gone"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			known := identityOf(person("ana"), person("bob"), person("eve"), c.who)
			err := approval.MayDecide(c.who, teamStage(), c.subject, c.decisions, "d", known)
			assert.Equal(t, c.kind, fault.KindOf(err), "%v", err)
		})
	}
}

// Holding the role at one of several pools is not enough for a stage over all of them.
func TestStageOverSeveralPoolsNeedsTheRoleAtAll(t *testing.T) {
	s := approval.Stage{Role: org.CapacityManager, Places: []org.Place{h100, mi300x}, Quorum: 1}
	for name, c := range map[string]struct {
		roles []org.Assignment
		may   bool
	}{
		"one pool":     {[]org.Assignment{holds(org.CapacityManager, org.PoolScope, "h100")}, false},
		"one cluster":  {[]org.Assignment{holds(org.CapacityManager, org.ClusterScope, "east")}, false},
		"both pools":   {[]org.Assignment{holds(org.CapacityManager, org.PoolScope, "h100"), holds(org.CapacityManager, org.PoolScope, "mi300x")}, true},
		"mixed scopes": {[]org.Assignment{holds(org.CapacityManager, org.ClusterScope, "east"), holds(org.CapacityManager, org.PoolScope, "mi300x")}, true},
		"everywhere":   {[]org.Assignment{holds(org.CapacityManager, org.Everywhere, "")}, true},
		"no place":     {nil, false},
	} {
		_, ok := s.Holds(person("cleo", c.roles...))
		assert.Equal(t, c.may, ok, name)
	}
	_, ok := approval.Stage{Role: org.CapacityManager}.Holds(person("cleo", holds(org.CapacityManager, org.Everywhere, "")))
	assert.False(t, ok, "a stage of no place is decided by nobody")
}

// Pools of one owner share a stage; pools of different owners get stages of their own.
func TestFreezeSplitsPoolsByTheirOwners(t *testing.T) {
	managers := func(role org.Role, at org.Place) []string {
		if role == org.CapacityManager && at.ClusterID == "west" {
			return []string{"kofi"}
		}
		return []string{"cleo"}
	}
	r := approval.Freeze(approval.Default, 3, team, []org.Place{h100, mi300x, a100}, managers)
	require.Len(t, r.Stages, 3)
	assert.Equal(t, 3, r.Version)
	assert.Equal(t, []string{"team", "capacity", "capacity-2"}, []string{r.Stages[0].Key, r.Stages[1].Key, r.Stages[2].Key})
	assert.Equal(t, []org.Place{h100, a100}, r.Stages[1].Places)
	assert.Equal(t, []org.Place{mi300x}, r.Stages[2].Places)
}

// Each stage needs people of its own: one person cannot hold two.
func TestStaffedNeedsDistinctPeople(t *testing.T) {
	manager, capacity := holds(org.TeamManager, org.TeamScope, "vision"), holds(org.CapacityManager, org.Everywhere, "")
	both := person("both", manager, capacity)
	twin := both
	twin.ID = "twin" // another account of the same human being
	r := approval.Freeze(approval.Default, 1, team, []org.Place{h100}, func(org.Role, org.Place) []string { return nil })
	ana := approval.Subject{RequesterID: "ana"}
	for name, c := range map[string]struct {
		people  []org.Person
		subject approval.Subject
		says    string
	}{
		"one for each":                      {[]org.Person{person("ben", manager), person("cleo", capacity)}, ana, ""},
		"one for both":                      {[]org.Person{both}, ana, "decide twice"},
		"one human being with two accounts": {[]org.Person{both, twin}, ana, "decide twice"},
		"one for both and one for the team": {[]org.Person{both, person("ben", manager)}, ana, ""},
		"the manager asks":                  {[]org.Person{person("ben", manager), person("cleo", capacity)}, approval.Subject{RequesterID: "ben"}, "Team manager: 1 needed, 0 can decide"},
		"the manager is the beneficiary":    {[]org.Person{person("ben", manager), person("cleo", capacity)}, approval.Subject{RequesterID: "ana", BeneficiaryID: "ben"}, "Team manager: 1 needed, 0 can decide"},
		"no capacity manager":               {[]org.Person{person("ben", manager)}, ana, "Capacity manager: 1 needed, 0 can decide"},
		"nobody":                            {nil, ana, "Team manager: 1 needed, 0 can decide"},
	} {
		t.Run(name, func(t *testing.T) {
			err := r.Staffed(c.people, c.subject)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, fault.Invalid, fault.KindOf(err))
			assert.Contains(t, err.Error(), c.says)
			assert.Contains(t, err.Error(), "platform admin")
		})
	}
}

// A quorum counts human beings, not accounts, and only approvals of this revision.
func TestQuorumCountsHumanBeings(t *testing.T) {
	s := teamStage()
	s.Quorum = 2
	r := approval.Route{Stages: []approval.Stage{s}}
	vote := func(who, identity, digest string, o approval.Outcome) approval.Decision {
		return approval.Decision{PersonID: who, Identity: identity, Digest: digest, StageKey: "team", Outcome: o}
	}
	one := vote("ben", "1", "d", approval.Approve)
	for name, c := range map[string]struct {
		second approval.Decision
		stage  int
	}{
		"another human being": {vote("eve", "2", "d", approval.Approve), 1},
		"another account":     {vote("ben-admin", "1", "d", approval.Approve), 0},
		"another revision":    {vote("eve", "2", "old", approval.Approve), 0},
		"a return":            {vote("eve", "2", "d", approval.Return), 0},
	} {
		assert.Equal(t, c.stage, r.Current([]approval.Decision{one, c.second}, "d"), name)
	}
	assert.Equal(t, 0, r.Current(nil, "d"))
}
