package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/approval"
	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/internal/signin"
	"quartermaster/jobs"
)

const issuer = "https://id.example.org"

const yardOrg = `
units: [{id: research, name: Research}]
teams: [{id: vision, name: Vision, unit: research}]
projects: [{id: street, name: Street Scenes, team: vision, owner: ana, environments: [development, production], data_classes: [internal]}]
people:
  - {issuer: "https://id.example.org", subject: ana, name: Ana, groups: [vision]}
  - {issuer: "https://id.example.org", subject: ben, name: Ben, groups: [vision-leads]}
  - {issuer: "https://id.example.org", subject: cleo, name: Cleo, groups: [capacity]}
  - {issuer: "https://id.example.org", subject: pia, name: Pia, groups: [platform]}
roles:
  - {group: vision, role: requester, scope: {kind: team, id: vision}}
  - {group: vision-leads, role: team_manager, scope: {kind: team, id: vision}}
  - {group: capacity, role: capacity_manager, scope: {kind: organisation}}
  - {group: platform, role: platform_admin, scope: {kind: organisation}}
clusters: [{id: east, name: East, kind: simulated, root_cohort: east}, {id: west, name: West, kind: simulated, root_cohort: west}]
pools:
  - {id: east-h100, cluster: east, name: H100, flavor: h100, resource: nvidia.com/gpu, cpu_per_unit: 8, memory_per_unit: 64Gi}
  - {id: west-h100, cluster: west, name: H100, flavor: h100, resource: nvidia.com/gpu, cpu_per_unit: 8, memory_per_unit: 64Gi}
route:
  - {key: team, name: Team manager, role: team_manager, scope: team, quorum: 1, respond_within: 48h}
  - {key: capacity, name: Capacity manager, role: capacity_manager, scope: pools, quorum: 1, respond_within: 48h}
`

var h100 = fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}

// yard is a portal with two simulated clusters in mode enforce, on a database of its own.
type yard struct {
	*portal.Portal
	t     *testing.T
	store *db.Store
	url   string // as the app
	owner string
	sims  map[string]*sim.Cluster

	record *dbtest.Record
}

func newYard(t *testing.T) *yard {
	t.Helper()
	owner := dbtest.URL(t)
	y := &yard{t: t, store: dbtest.StoreAt(t, owner), url: dbtest.AppURL(t, owner), owner: owner, sims: map[string]*sim.Cluster{}}
	for _, id := range []string{"east", "west"} {
		c, err := sim.Open(sim.Config{ID: id, Idle: true, File: filepath.Join(t.TempDir(), id+".json"), WatchEvery: 20 * time.Millisecond,
			Pools: []sim.Pool{{Key: h100, Product: "H100", Unit: fleet.Card, Nodes: 8, PerNode: 8, CPUPerUnit: fleet.Count(8), MemoryPerUnit: fleet.MustQuantity("64Gi")}}})
		require.NoError(t, err)
		y.sims[id] = c
	}
	y.Portal = &portal.Portal{
		Store: y.store, Now: func() time.Time { return time.Now().UTC() }, NewID: uuid.NewString, BaseURL: "https://qm.example.org",
		Log: slog.New(slog.DiscardHandler), SettleFor: 5 * time.Second,
		Dial: func(_ context.Context, id string) (fleet.Cluster, error) {
			if c := y.sims[id]; c != nil {
				return c, nil
			}
			return nil, fault.New(fault.Unavailable, "There is no such cluster.")
		},
	}
	y.record = dbtest.KeepRecord(t, y.Portal, owner)
	o, err := portal.ParseOrganisation([]byte(yardOrg))
	require.NoError(t, err)
	_, err = y.ImportOrg(t.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(t, err)
	for _, id := range []string{"east", "west"} {
		for _, m := range []fleet.Mode{fleet.PlanOnly, fleet.Enforce} {
			_, err := y.ChangeClusterMode(t.Context(), y.as("cleo"), portal.ModeInput{ClusterID: id, Mode: m})
			require.NoError(t, err)
		}
	}
	return y
}

// runner starts the background work; it is stopped when the test ends.
func (y *yard) runner(with func(*jobs.Config)) *jobs.Runner {
	y.t.Helper()
	cfg := jobs.Config{DB: y.store.DB().DB, Listen: y.url, Portal: y.Portal, Every: time.Hour, UIPrefix: "/admin/jobs", Log: y.Log}
	if with != nil {
		with(&cfg)
	}
	r, err := jobs.New(cfg)
	require.NoError(y.t, err)
	require.NoError(y.t, r.Start(y.t.Context()))
	y.t.Cleanup(func() {
		stop, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(y.t, r.Stop(stop))
	})
	return r
}

func (y *yard) as(subject string) portal.Actor {
	y.t.Helper()
	p, err := y.store.PersonBySubject(y.t.Context(), issuer, subject)
	require.NoError(y.t, err)
	now := time.Now().UTC()
	return portal.Actor{Person: p, Via: "web", SessionID: "s-" + subject, AMR: []string{"pwd", "otp"}, AuthTime: now}
}

// proven answers the step-up that an act asks for.
func proven[T any](y *yard, who portal.Actor, do func() (T, error)) (T, error) {
	out, err := do()
	var need *portal.StepUpNeeded
	if !errors.As(err, &need) {
		return out, err
	}
	_, err = y.RecordStepUp(y.t.Context(), who, portal.StepUpInput{By: signin.ProofTOTP, Digests: need.Digests})
	require.NoError(y.t, err)
	return do()
}

func (y *yard) DecideRequest(ctx context.Context, a portal.Actor, in portal.DecideInput) (portal.DecideResult, error) {
	return proven(y, a, func() (portal.DecideResult, error) { return y.Portal.DecideRequest(ctx, a, in) })
}

func (y *yard) ChangeClusterMode(ctx context.Context, a portal.Actor, in portal.ModeInput) (portal.Cluster, error) {
	return proven(y, a, func() (portal.Cluster, error) { return y.Portal.ChangeClusterMode(ctx, a, in) })
}

// grant asks for n units in an environment and has them approved over every warning.
func (y *yard) grant(pool, environment string, n int64, start, end *time.Time) (portal.RequestRef, portal.DecideResult) {
	y.t.Helper()
	ctx := y.t.Context()
	ref, err := y.DraftRequest(ctx, y.as("ana"), portal.DraftInput{Content: request.Content{
		Kind: request.Quota, ProjectID: "street", Environment: environment, DataClass: "internal", WorkloadType: "training",
		Purpose: "Train", Justification: "The present limit is too low for it.", RuntimeHours: 4,
		Lines: []request.Line{{PoolID: pool, Asked: fleet.Count(n), Kind: request.Hard, Start: start, End: end}}}})
	require.NoError(y.t, err)
	ref, err = y.SubmitRequest(ctx, y.as("ana"), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
	require.NoError(y.t, err)
	var out portal.DecideResult
	for _, x := range [][2]string{{"ben", "team"}, {"cleo", "capacity"}} {
		out, err = y.DecideRequest(ctx, y.as(x[0]), portal.DecideInput{Number: ref.Number, Digest: ref.Digest, StageKey: x[1],
			Outcome: approval.Approve, Reason: "Fits.", Acknowledged: true})
		require.NoError(y.t, err)
	}
	return ref, out
}

func (y *yard) live(cluster, environment string) string {
	return y.sims[cluster].ObjectFields(fleet.ObjectRef{Kind: "ClusterQueue", Name: "vision-street-" + environment})["h100 nvidia.com/gpu nominalQuota"]
}

func (y *yard) state(number int64) request.State {
	r, err := y.store.RequestByNumber(y.t.Context(), number)
	require.NoError(y.t, err)
	return r.State
}

func (y *yard) eventually(what string, is func() bool) {
	y.t.Helper()
	require.Eventually(y.t, is, 60*time.Second, 20*time.Millisecond, what)
}

func (y *yard) count(query string, args ...any) (n int) {
	y.t.Helper()
	require.NoError(y.t, y.store.DB().Get(&n, query, args...), fmt.Sprint(query, args))
	return n
}
