package portal_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
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

const testIssuer = "https://id.example.org"

// noon is when the tests begin.
var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// desk is a portal on a database of its own with a small organisation: the team
// vision with a manager, capacity managers, an auditor, and accounts linked to others.
type desk struct {
	*portal.Portal
	t      testing.TB
	store  *db.Store
	remote *paperCluster
	people map[string]org.Person
	owner  string // address as the owner of the database
	record *dbtest.Record

	mu  sync.Mutex
	now time.Time
}

const deskOrg = `
units: [{id: research, name: Research}]
teams: [{id: vision, name: Vision, unit: research}, {id: speech, name: Speech, unit: research}]
projects:
  - {id: street, name: Street Scenes, team: vision, owner: ana, environments: [development, production], data_classes: [internal]}
  - {id: asr, name: Dictation, team: speech, owner: tom, environments: [development], data_classes: [internal]}
people:
  - {issuer: "https://id.example.org", subject: ana, name: Ana, groups: [vision]}
  - {issuer: "https://id.example.org", subject: bob, name: Bob, groups: [vision]}
  - {issuer: "https://id.example.org", subject: ben, name: Ben, groups: [vision-leads]}
  - {issuer: "https://id.example.org", subject: eve, name: Eve, groups: [vision-leads]}
  - {issuer: "https://id.example.org", subject: tom, name: Tom, groups: [speech]}
  - {issuer: "https://id.example.org", subject: cleo, name: Cleo, groups: [capacity]}
  - {issuer: "https://id.example.org", subject: kofi, name: Kofi, groups: [capacity]}
  - {issuer: "https://id.example.org", subject: otto, name: Otto, groups: [audit]}
  - {issuer: "https://id.example.org", subject: pia, name: Pia, groups: [platform]}
  - {issuer: "https://id.example.org", subject: iris, name: Iris, groups: [compliance]}
  - {issuer: "https://id.example.org", subject: finn, name: Finn, groups: [finance]}
  - {issuer: "https://id.example.org", subject: ana-admin, name: Ana (admin), groups: [vision-leads, capacity], linked_to: ana}
  - {issuer: "https://id.example.org", subject: all, name: Allround, groups: [vision, vision-leads, capacity]}
roles:
  - {group: vision, role: requester, scope: {kind: team, id: vision}}
  - {group: vision-leads, role: team_manager, scope: {kind: team, id: vision}}
  - {group: speech, role: requester, scope: {kind: team, id: speech}}
  - {group: capacity, role: capacity_manager, scope: {kind: cluster, id: east}}
  - {group: audit, role: auditor, scope: {kind: organisation}}
  - {group: compliance, role: compliance_officer, scope: {kind: organisation}}
  - {group: finance, role: finance, scope: {kind: organisation}}
  - {group: platform, role: platform_admin, scope: {kind: organisation}}
clusters: [{id: east, name: East, kind: kubernetes, root_cohort: east}]
pools:
  - {id: h100, cluster: east, name: H100, flavor: h100, resource: nvidia.com/gpu, hourly_cents: 320, currency: EUR, borrow_ceiling: 8, cpu_per_unit: 8, memory_per_unit: 64Gi}
  - {id: a100, cluster: east, name: A100, flavor: a100, resource: nvidia.com/gpu, hourly_cents: 190, currency: EUR, cpu_per_unit: 8, memory_per_unit: 64Gi}
route:
  - {key: team, name: Team manager, role: team_manager, scope: team, quorum: 1, respond_within: 48h}
  - {key: capacity, name: Capacity manager, role: capacity_manager, scope: pools, quorum: 1, respond_within: 48h}
`

func newDesk(t testing.TB) *desk {
	t.Helper()
	address := dbtest.URL(t)
	d := &desk{t: t, store: dbtest.StoreAt(t, address), people: map[string]org.Person{}, now: noon, remote: &paperCluster{}, owner: address}
	d.Portal = &portal.Portal{
		Store: d.store, Now: d.clock, NewID: uuid.NewString, BaseURL: "https://qm.example.org",
		Dial: func(context.Context, string) (fleet.Cluster, error) { return d.remote, nil },
	}
	d.record = dbtest.KeepRecord(t, d.Portal, address)
	o, err := portal.ParseOrganisation([]byte(deskOrg))
	require.NoError(t, err)
	_, err = d.ImportOrg(t.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(t, err)
	for _, p := range o.People {
		d.people[p.Subject], err = d.store.PersonBySubject(t.Context(), testIssuer, p.Subject)
		require.NoError(t, err)
	}
	d.poll(32, 0)
	return d
}

func (d *desk) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *desk) pass(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

// poll keeps an observation: what the cluster can carry and what is committed on each pool.
func (d *desk) poll(capacity, committed int64, usage ...portal.UsageRow) {
	d.t.Helper()
	o := fleet.Observation{At: d.clock(), PoolsKnown: true, QueuesKnown: true, WorkloadsKnown: true, QuotasKnown: true}
	q := fleet.Queue{Name: "others", Active: true}
	for _, flavor := range []string{"h100", "a100"} {
		key := fleet.PoolKey{Flavor: flavor, Resource: "nvidia.com/gpu"}
		o.Pools = append(o.Pools, fleet.Pool{Key: key, Capacity: fleet.Known(fleet.Count(capacity)), Unit: fleet.Card, Nodes: 4})
		zero := fleet.Known(fleet.Count(0))
		q.Flavors = append(q.Flavors, fleet.FlavorUse{Pool: key, Nominal: fleet.Known(fleet.Count(committed)), Reserved: zero, InUse: zero, Borrowed: zero})
	}
	o.Queues = []fleet.Queue{q}
	d.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.SavePoll(ctx, "east", o, usage, time.Millisecond)
	})
}

func (d *desk) tx(fn func(ctx context.Context, tx portal.Tx) error) {
	d.t.Helper()
	require.NoError(d.t, d.store.InTx(d.t.Context(), fn))
}

// as is subject in a session of their own, who answers every step-up.
func (d *desk) as(subject string) portal.Actor {
	who, ok := d.people[subject]
	require.True(d.t, ok, subject)
	return portal.Actor{Person: who, Via: "web", SessionID: "s-" + subject, AMR: []string{"pwd", "otp"},
		AuthTime: d.clock().Add(-time.Hour)}
}

func quota(lines ...request.Line) request.Content {
	return request.Content{Kind: request.Quota, ProjectID: "street", Environment: "production", DataClass: "internal", WorkloadType: "training",
		Purpose: "Train the detector", Justification: "One run takes nine days with the present limit.", RuntimeHours: 20, Lines: lines}
}

func ask(pool string, n int64) request.Line {
	return request.Line{PoolID: pool, Asked: fleet.Count(n), Kind: request.Hard}
}

// submitted is a request of ana's in the first stage.
func (d *desk) submitted(c request.Content) portal.RequestRef {
	d.t.Helper()
	ref, err := d.DraftRequest(d.t.Context(), d.as("ana"), portal.DraftInput{Content: c})
	require.NoError(d.t, err)
	ref, err = d.SubmitRequest(d.t.Context(), d.as("ana"), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
	require.NoError(d.t, err)
	return ref
}

func approve(ref portal.RequestRef, stage string, granted ...int64) portal.DecideInput {
	in := portal.DecideInput{Number: ref.Number, Digest: ref.Digest, StageKey: stage, Outcome: approval.Approve}
	for i, g := range granted {
		in.Granted = append(in.Granted, approval.Granted{PoolID: []string{"h100", "a100"}[i], Amount: fleet.Count(g)})
	}
	return in
}

func (d *desk) decide(subject string, in portal.DecideInput) portal.DecideResult {
	d.t.Helper()
	d.pass(time.Second) // decisions are ordered by their time
	out, err := d.DecideRequest(d.t.Context(), d.as(subject), in)
	require.NoError(d.t, err)
	return out
}

// refused runs a decision that has to fail and checks that it left nothing but a refused entry.
func (d *desk) refused(actor portal.Actor, in portal.DecideInput, kind fault.Kind) error {
	d.t.Helper()
	before := d.detail(in.Number)
	_, err := d.DecideRequest(d.t.Context(), actor, in)
	require.Equal(d.t, kind, fault.KindOf(err), "%v", err)
	after := d.detail(in.Number)
	require.Equal(d.t, before.Request.State, after.Request.State)
	require.Equal(d.t, before.Request.Decisions, after.Request.Decisions)
	return err
}

func (d *desk) detail(number int64) portal.RequestDetail {
	d.t.Helper()
	v, err := d.ViewRequest(d.t.Context(), d.as("otto"), number)
	require.NoError(d.t, err)
	return v
}

// entries of a request by type and outcome, oldest first.
func (d *desk) entries(number int64, t ledger.Type, o ledger.Outcome) []portal.EntryRow {
	d.t.Helper()
	r, err := d.store.RequestByNumber(d.t.Context(), number)
	require.NoError(d.t, err)
	rows, err := d.store.EntriesOfRequest(d.t.Context(), r.ID)
	require.NoError(d.t, err)
	var out []portal.EntryRow
	for _, e := range rows {
		if e.Entry.Type == t && e.Entry.Outcome == o {
			out = append(out, e)
		}
	}
	return out
}

// intact checks the whole record.
func (d *desk) intact() {
	d.t.Helper()
	v, err := d.VerifyRecord(d.t.Context(), portal.VerifyInput{})
	require.NoError(d.t, err)
	require.Empty(d.t, v.Problems)
	require.Positive(d.t, v.Entries)
}

// paperCluster answers plans from what it is told is live.
type paperCluster struct {
	fleet.Cluster
	mu   sync.Mutex
	live map[fleet.PoolKey]string
	hang bool
	seen []fleet.Desired
}

func (c *paperCluster) Plan(ctx context.Context, d fleet.Desired) (fleet.Plan, error) {
	if c.hang {
		<-ctx.Done()
		return fleet.Plan{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, d)
	o := fleet.ObjectDiff{Object: fleet.ObjectRef{Kind: "ClusterQueue", Name: d.Binding.ClusterQueue}, Create: c.live == nil}
	for _, l := range d.Limits {
		f := fleet.Field{Path: l.Pool.String() + " nominalQuota", Limit: true}
		after := l.Nominal.String()
		f.After = &after
		if live, ok := c.live[l.Pool]; ok {
			f.Before = &live
		}
		o.Fields = append(o.Fields, f)
	}
	return fleet.Plan{Desired: d, Objects: []fleet.ObjectDiff{o}, At: noon}, nil
}
