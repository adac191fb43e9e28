package db_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

func TestAListRowShowsTheWholeStory(t *testing.T) {
	w := newWorld(t)
	b := w.binding("cv", "east")
	l := line("east-h100", 12)
	l.Kind, l.Current = request.Soft, fleet.Unknown
	r := w.submit(w.draft("ada", "cv", l, line("east-a100", 2)), noon)
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.SavePoll(ctx, "east", fleet.Observation{At: noon}, []portal.UsageRow{{Binding: b, PoolID: "east-h100",
			Nominal: fleet.Known(fleet.Count(4)), InUse: fleet.Known(fleet.Count(0))}}, time.Second)
	})
	row := w.list(portal.RequestQuery{})[0]
	require.Equal(t, portal.RequestRow{Key: "1", ID: r.ID, Number: 1, State: request.Submitted, ProjectID: "cv", ProjectName: "CV training", TeamName: "Vision",
		Environment: "development", RequesterID: w.id("ada"), RequesterName: "Ada", Purpose: "train cv", StageName: "Team manager",
		WaitingSince: ptr(noon), DueAt: ptr(noon.Add(48 * time.Hour)), CreatedAt: noon, Lines: row.Lines}, row)
	require.Len(t, row.Lines, 2)
	first := row.Lines[0]
	require.Equal(t, "H100 80 GB", first.PoolName)
	require.Equal(t, "nvidia.com/gpu", first.Resource)
	require.Equal(t, request.Soft, first.Kind)
	require.Equal(t, "unknown", first.Current.String())
	require.Equal(t, "12", first.Asked.String())
	require.Equal(t, "unknown", first.Granted.String(), "nobody approved yet")
	require.Equal(t, "4", first.Enforced.String())
	require.Equal(t, "0", first.InUse.String(), "a known 0 is not unknown")
	require.Equal(t, "unknown", row.Lines[1].Enforced.String(), "never polled")

	r = w.decide(r, "mia", approval.Approve, noon.Add(time.Hour), approval.Granted{PoolID: "east-h100", Amount: fleet.Count(8)}, approval.Granted{PoolID: "east-a100", Amount: fleet.Count(2)})
	row = w.list(portal.RequestQuery{})[0]
	require.Equal(t, "8", row.Lines[0].Granted.String())
	require.Equal(t, "Capacity manager", row.StageName)
	require.Equal(t, noon.Add(time.Hour), *row.WaitingSince, "since the decision in the stage before")
	require.Nil(t, row.DueAt)

	w.decide(r, "cap", approval.Reject, noon.Add(2*time.Hour))
	row = w.list(portal.RequestQuery{})[0]
	require.Empty(t, row.StageName)
	require.Nil(t, row.WaitingSince)
}

func (w *world) list(q portal.RequestQuery) []portal.RequestRow {
	w.t.Helper()
	rows, err := w.RequestList(w.t.Context(), q)
	require.NoError(w.t, err)
	return rows
}

func ptr[T any](v T) *T { return &v }

func TestListFilters(t *testing.T) {
	w := newWorld(t)
	one := w.draft("ada", "cv", line("east-h100", 1))
	two := w.submit(w.draft("sol", "asr", line("west-h100", 2)), noon)
	c := two.Revision.Content
	c.BeneficiaryID, c.Purpose, c.ProjectID = w.id("ada"), "fine-tune 100%", "cv"
	three := w.draftOf("mia", c)
	for name, x := range map[string]struct {
		q    portal.RequestQuery
		want []int64
	}{
		"all, newest first":    {portal.RequestQuery{}, []int64{3, 2, 1}},
		"oldest first":         {portal.RequestQuery{Sort: "oldest"}, []int64{1, 2, 3}},
		"due first":            {portal.RequestQuery{Sort: "due"}, []int64{2, 1, 3}},
		"one team":             {portal.RequestQuery{Teams: []string{"speech"}}, []int64{2}},
		"no team":              {portal.RequestQuery{Teams: []string{}}, nil},
		"mine, also on behalf": {portal.RequestQuery{RequesterID: w.id("ada")}, []int64{3, 1}},
		"of no person":         {portal.RequestQuery{RequesterID: "nobody"}, nil},
		"project":              {portal.RequestQuery{ProjectID: "cv"}, []int64{3, 1}},
		"pool":                 {portal.RequestQuery{PoolID: "east-h100"}, []int64{1}},
		"cluster":              {portal.RequestQuery{ClusterID: "west"}, []int64{3, 2}},
		"states":               {portal.RequestQuery{States: []request.State{request.Submitted, request.InReview}}, []int64{2}},
		"number":               {portal.RequestQuery{Search: " qm-2 "}, []int64{2}},
		"project name":         {portal.RequestQuery{Search: "asr"}, []int64{2}},
		"purpose":              {portal.RequestQuery{Search: "FINE-tune"}, []int64{3}},
		"a percent sign":       {portal.RequestQuery{Search: "0%"}, []int64{3, 2}},
		"a quote":              {portal.RequestQuery{Search: "' OR true --"}, nil},
		"filters add up":       {portal.RequestQuery{ProjectID: "cv", ClusterID: "west"}, []int64{3}},
		"limit":                {portal.RequestQuery{Limit: 2}, []int64{3, 2}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, x.want, numbers(w.list(x.q))) })
	}
	require.NotEqual(t, one.ID, three.ID)
	for _, q := range []portal.RequestQuery{{Sort: "random"}, {AfterKey: "x"}, {Sort: "due", AfterKey: "yesterday_1"}, {Sort: "due", AfterKey: "1"}} {
		_, err := w.RequestList(t.Context(), q)
		require.Equal(t, fault.Invalid, fault.KindOf(err))
	}
}

func numbers(rows []portal.RequestRow) (out []int64) {
	for _, r := range rows {
		out = append(out, r.Number)
	}
	return out
}

func TestEverySortIsPagedWithoutGapOrRepeat(t *testing.T) {
	w := newWorld(t)
	for i := range 13 {
		r := w.draft("ada", "cv", line("east-h100", 1))
		if i%3 > 0 { // several with the same moment, some that wait for nobody
			w.submit(r, noon.Add(time.Duration(i/6)*time.Hour))
		}
	}
	mia := w.people["mia"]
	for _, q := range []portal.RequestQuery{{}, {Sort: "newest"}, {Sort: "oldest"}, {Sort: "due"}, {WaitingFor: &mia}, {WaitingFor: &mia, Sort: "due"}, {WaitingFor: &mia, Sort: "newest"}} {
		t.Run(fmt.Sprint(q.Sort, q.WaitingFor != nil), func(t *testing.T) {
			whole := numbers(w.list(q))
			var paged []int64
			q.Limit = 2
			for {
				page := w.list(q)
				paged = append(paged, numbers(page)...)
				if len(page) < q.Limit {
					break
				}
				q.AfterKey = page[1].Key
			}
			require.Equal(t, whole, paged)
			if q.WaitingFor == nil {
				require.Len(t, whole, 13)
			} else {
				require.Len(t, whole, 8)
			}
		})
	}
}

// What waits for somebody is decided by approval.MayDecide; the query has to
// answer the same for everybody and every request.
func TestWaitingForAgreesWithTheRules(t *testing.T) {
	w := newWorld(t)
	w.owner.MustExec(`UPDATE person SET active = false WHERE subject = 'aud'`)
	extra := []org.Person{w.people["ada"], w.people["mia"], w.people["sol"], w.people["cap"], w.people["east"], w.people["ada-admin"]}
	role := func(p org.Person, r org.Role, kind org.ScopeKind, id string) org.Person {
		p.Roles = []org.Assignment{{Role: r, Scope: org.Scope{Kind: kind, ID: id}}}
		return p
	}
	people := append([]org.Person{}, extra...)
	people = append(people,
		role(extra[2], org.TeamManager, org.UnitScope, "research"), role(extra[2], org.TeamManager, org.UnitScope, ""), role(extra[2], org.TeamManager, "", ""),
		role(extra[2], org.CapacityManager, org.PoolScope, "east-h100"), role(extra[2], org.CapacityManager, org.ClusterScope, "west"),
		role(extra[0], org.CapacityManager, org.Everywhere, ""), role(extra[1], org.CapacityManager, org.Everywhere, ""), role(extra[3], org.Auditor, org.Everywhere, ""))
	both := role(extra[4], org.CapacityManager, org.PoolScope, "east-h100")
	both.Roles = append(both.Roles, org.Assignment{Role: org.CapacityManager, Scope: org.Scope{Kind: org.PoolScope, ID: "west-h100"}}, org.Assignment{Role: org.TeamManager, Scope: org.Scope{Kind: org.Everywhere}})
	idle := role(extra[4], org.TeamManager, org.Everywhere, "")
	idle.Active = false
	people = append(people, both, idle)

	var requests []request.Request
	for _, subject := range []string{"ada", "mia", "sol", "ada-admin"} {
		for _, lines := range [][]request.Line{{line("east-h100", 1)}, {line("east-h100", 1), line("west-h100", 1)}, {line("east-a100", 3)}} {
			for _, beneficiary := range []string{"", "mia"} {
				project := "cv"
				if subject == "sol" {
					project = "asr"
				}
				c := request.Content{Kind: request.Quota, ProjectID: project, Environment: "development", Purpose: "p", Lines: lines, BeneficiaryID: w.people[beneficiary].ID}
				requests = append(requests, w.submit(w.draftOf(subject, c), noon.Add(time.Duration(len(requests))*time.Minute)))
				r := w.submit(w.draftOf(subject, c), noon)
				requests = append(requests, w.decide(r, "mia", approval.Approve, noon.Add(time.Hour)))
			}
		}
	}
	identity := func(id string) string {
		for _, p := range w.people {
			if p.ID == id {
				return p.Identity
			}
		}
		return ""
	}
	total := 0
	for i, p := range people {
		want := map[int64]bool{}
		for _, r := range requests {
			if stage, ok := r.Stage(); ok && approval.MayDecide(p, stage, r.Subject(), r.Decisions, r.Revision.Digest, identity) == nil {
				want[r.Number] = true
			}
		}
		got := map[int64]bool{}
		rows := w.list(portal.RequestQuery{WaitingFor: &p, Limit: 200})
		for j, row := range rows {
			got[row.Number] = true
			if j > 0 {
				require.False(t, row.WaitingSince.Before(*rows[j-1].WaitingSince), "oldest first")
			}
		}
		require.Equal(t, want, got, "person %d: %s %v", i, p.Subject, p.Roles)
		n, err := w.CountWaiting(t.Context(), p, 1000)
		require.NoError(t, err)
		require.Equal(t, len(want), n)
		n, err = w.CountWaiting(t.Context(), p, 3)
		require.NoError(t, err)
		require.Equal(t, min(3, len(want)), n)
		total += len(want)
	}
	require.Greater(t, total, 50, "the case is not empty")
}
