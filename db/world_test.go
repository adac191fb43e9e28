package db_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

const issuer = "https://id.example.org"

// noon is when the tests play. Times of the database have microseconds.
var noon = time.Date(2026, 12, 2, 12, 0, 0, 123456000, time.UTC)

// world is a small organisation in a database of its own: two teams with a
// project each, two clusters, three pools.
type world struct {
	*db.Store
	t       testing.TB
	owner   *sqlx.DB // a superuser on the same database
	address string
	people  map[string]org.Person // by subject
}

var (
	h100 = fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}
	a100 = fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"}
)

func organisation() portal.Organisation {
	ceiling := fleet.Count(16)
	return portal.Organisation{
		Units: []org.Unit{{ID: "research", Name: "Research"}},
		Teams: []org.Team{{ID: "vision", Name: "Vision", UnitID: "research"}, {ID: "speech", Name: "Speech"}},
		Projects: []org.Project{
			{ID: "cv", Name: "CV training", TeamID: "vision", Owner: "ada", CostCentre: "4711", Environments: []string{"development", "production"}, DataClasses: []string{"internal"}},
			{ID: "asr", Name: "100% ASR", TeamID: "speech", Environments: []string{"development"}, DataClasses: []string{"internal"}},
		},
		Clusters: []org.Cluster{{ID: "east", Name: "East", Kind: fleet.Kubernetes, RootCohort: "all"}, {ID: "west", Name: "West", Kind: fleet.Slurm}},
		Pools: []org.Pool{
			{ID: "east-h100", ClusterID: "east", Name: "H100 80 GB", Key: h100, Tier: "high", HourlyCents: 250, Currency: "EUR", BorrowCeiling: &ceiling,
				CPUPerUnit: fleet.Count(8), MemoryPerUnit: fleet.MustQuantity("64Gi"), DataClasses: []string{"internal"}},
			{ID: "east-a100", ClusterID: "east", Name: "A100", Key: a100},
			{ID: "west-h100", ClusterID: "west", Name: "H100", Key: fleet.PoolKey{Flavor: "gpu", Resource: "gres/gpu:h100"}},
		},
		People: []portal.OrgPerson{
			{Issuer: issuer, Subject: "ada", Name: "Ada", Email: "ada@example.org", Groups: []string{"vision"}},
			{Issuer: issuer, Subject: "mia", Name: "Mia", Groups: []string{"vision-leads"}},
			{Issuer: issuer, Subject: "sol", Name: "Sol", Groups: []string{"speech-leads"}},
			{Issuer: issuer, Subject: "cap", Name: "Cap", Groups: []string{"capacity"}},
			{Issuer: issuer, Subject: "east", Name: "Eastwood", Groups: []string{"east-capacity"}},
			{Issuer: issuer, Subject: "aud", Name: "Audrey", Groups: []string{"audit"}},
			{Issuer: issuer, Subject: "ada-admin", Name: "Ada (admin)", Groups: []string{"vision-leads", "capacity"}, LinkedTo: "ada"},
		},
		Mappings: []org.Mapping{
			{Group: "vision", Role: org.Requester, Scope: org.Scope{Kind: org.TeamScope, ID: "vision"}},
			{Group: "vision-leads", Role: org.TeamManager, Scope: org.Scope{Kind: org.TeamScope, ID: "vision"}},
			{Group: "speech-leads", Role: org.TeamManager, Scope: org.Scope{Kind: org.TeamScope, ID: "speech"}},
			{Group: "capacity", Role: org.CapacityManager, Scope: org.Scope{Kind: org.Everywhere}},
			{Group: "east-capacity", Role: org.CapacityManager, Scope: org.Scope{Kind: org.ClusterScope, ID: "east"}},
			{Group: "audit", Role: org.Auditor, Scope: org.Scope{Kind: org.Everywhere}},
		},
	}
}

func newWorld(t testing.TB) *world {
	t.Helper()
	address := dbtest.URL(t)
	w := &world{Store: dbtest.StoreAt(t, address), t: t, owner: dbtest.Open(t, address), address: address, people: map[string]org.Person{}}
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.SaveOrg(ctx, organisation(), "digest", "test")
		return err
	})
	for _, p := range organisation().People {
		who, err := w.PersonBySubject(t.Context(), issuer, p.Subject)
		require.NoError(t, err)
		w.people[p.Subject] = who
	}
	return w
}

// tx runs fn in a transaction that has to succeed.
func (w *world) tx(fn func(ctx context.Context, tx portal.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.InTx(w.t.Context(), fn))
}

// fails runs fn in a transaction that has to end with a fault of kind.
func (w *world) fails(kind fault.Kind, fn func(ctx context.Context, tx portal.Tx) error) {
	w.t.Helper()
	err := w.InTx(w.t.Context(), fn)
	require.Equal(w.t, kind, fault.KindOf(err), "%v", err)
}

func (w *world) id(subject string) string { return w.people[subject].ID }

// line asks for n units of a pool.
func line(pool string, n int64) request.Line {
	return request.Line{PoolID: pool, Current: fleet.Known(fleet.Count(0)), Asked: fleet.Count(n), Kind: request.Hard}
}

// draft stores a draft that subject asks for project.
func (w *world) draft(subject, project string, lines ...request.Line) request.Request {
	w.t.Helper()
	c := request.Content{Kind: request.Quota, ProjectID: project, Environment: "development", DataClass: "internal", WorkloadType: "training",
		Purpose: "train " + project, Justification: "because", Lines: lines}
	return w.draftOf(subject, c)
}

func (w *world) draftOf(subject string, c request.Content) request.Request {
	w.t.Helper()
	p, err := w.Project(w.t.Context(), c.ProjectID)
	require.NoError(w.t, err)
	r := request.Request{ID: uuid.NewString(), State: request.Draft, TeamID: p.TeamID, RequesterID: w.id(subject), CreatedAt: noon}
	r, err = r.Edit(c, w.id(subject), noon)
	require.NoError(w.t, err)
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.InsertRequest(ctx, r)
		return err
	})
	return w.load(r.ID)
}

// submit freezes the route of a draft: the team's manager, then the capacity manager of its pools.
func (w *world) submit(r request.Request, at time.Time) request.Request {
	w.t.Helper()
	team := org.Place{TeamID: r.TeamID}
	if r.TeamID == "vision" {
		team.UnitID = "research"
	}
	stages := []approval.Stage{{Key: "team", Name: "Team manager", Role: org.TeamManager, Places: []org.Place{team}, Quorum: 1, RespondWithin: 48 * time.Hour}}
	capacity := approval.Stage{Key: "capacity", Name: "Capacity manager", Role: org.CapacityManager, Quorum: 1}
	for _, l := range r.Revision.Content.Lines {
		p, err := w.Pool(w.t.Context(), l.PoolID)
		require.NoError(w.t, err)
		capacity.Places = append(capacity.Places, org.Place{ClusterID: p.ClusterID, PoolID: p.ID})
	}
	next, err := r.Submit(approval.Route{Version: 1, Why: "test", Stages: append(stages, capacity)}, at)
	require.NoError(w.t, err)
	w.save(next)
	return w.load(r.ID)
}

// decide takes subject's decision without asking whether they may.
func (w *world) decide(r request.Request, subject string, outcome approval.Outcome, at time.Time, granted ...approval.Granted) request.Request {
	w.t.Helper()
	stage, ok := r.Stage()
	require.True(w.t, ok)
	d := approval.Decision{ID: uuid.NewString(), RequestID: r.ID, Revision: r.Revision.Number, Digest: r.Revision.Digest, StageKey: stage.Key,
		PersonID: w.id(subject), Identity: w.people[subject].Identity, Outcome: outcome, Reason: "reason of " + subject, Granted: granted, Factors: []string{"otp"}, At: at}
	if outcome == approval.Approve && granted == nil {
		d.Granted = r.Granted()
	}
	next, err := r.Decide(d)
	require.NoError(w.t, err)
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		row, err := tx.Append(ctx, w.entry(subject, ledger.RequestDecided, "request", r.ID), portal.EntryRefs{RequestID: r.ID, ProjectID: r.Revision.Content.ProjectID},
			map[string]string{portal.OpeningReason: d.Reason})
		if err != nil {
			return err
		}
		if err := tx.InsertDecision(ctx, next.Decisions[len(next.Decisions)-1], row.Entry.ID); err != nil {
			return err
		}
		return tx.SaveRequest(ctx, next)
	})
	return w.load(r.ID)
}

func (w *world) save(r request.Request) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx portal.Tx) error { return tx.SaveRequest(ctx, r) })
}

func (w *world) load(id string) request.Request {
	w.t.Helper()
	r, err := w.Request(w.t.Context(), id)
	require.NoError(w.t, err)
	return r
}

// entry is the start of a ledger entry by subject.
func (w *world) entry(subject string, t ledger.Type, kind, id string) ledger.Entry {
	return ledger.Entry{ID: uuid.NewString(), Type: t, At: ledger.Time(noon), Outcome: ledger.Done, Via: "web",
		Actor: ledger.Actor{ID: w.id(subject)}, Object: ledger.Object{Kind: kind, ID: id}}
}

// binding stores a binding of project and development on cluster.
func (w *world) binding(project, cluster string) fleet.Binding {
	w.t.Helper()
	b := fleet.Binding{ID: uuid.NewString(), ProjectID: project, Environment: "development", ClusterID: cluster, Namespace: project + "-dev",
		LocalQueue: "main", ClusterQueue: project + "-dev", Cohort: "team", RootCohort: "all"}
	w.tx(func(ctx context.Context, tx portal.Tx) error { return tx.InsertBinding(ctx, b) })
	return b
}

func withSetting(t testing.TB, address, name, value string) string {
	u, err := url.Parse(address)
	require.NoError(t, err)
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

func withUser(t testing.TB, address, user, password string) string {
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User = url.UserPassword(user, password)
	return u.String()
}
