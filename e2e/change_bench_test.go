package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/e2e/cluster"
	"quartermaster/e2e/site"
	decided "quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/internal/signin"
	"quartermaster/jobs"
	"quartermaster/k8s"
	"quartermaster/k8s/deploy"
)

const benchOrg = `
units: [{id: research, name: Research}]
teams: [{id: vision, name: Vision, unit: research}]
people:
  - {issuer: "https://id.example.org", subject: ana, name: Ana, groups: [vision]}
  - {issuer: "https://id.example.org", subject: ben, name: Ben, groups: [leads]}
  - {issuer: "https://id.example.org", subject: cleo, name: Cleo, groups: [capacity]}
  - {issuer: "https://id.example.org", subject: pia, name: Pia, groups: [platform]}
roles:
  - {group: vision, role: requester, scope: {kind: team, id: vision}}
  - {group: leads, role: team_manager, scope: {kind: team, id: vision}}
  - {group: capacity, role: capacity_manager, scope: {kind: organisation}}
  - {group: platform, role: platform_admin, scope: {kind: organisation}}
clusters: [{id: bed, name: Bed, kind: kubernetes, root_cohort: bench-root}]
pools:
  - {id: bed-h100, cluster: bed, name: H100, flavor: h100, resource: nvidia.com/gpu, cpu_per_unit: 8, memory_per_unit: 64Gi}
route:
  - {key: team, name: Team manager, role: team_manager, scope: team, quorum: 1, respond_within: 48h}
  - {key: capacity, name: Capacity manager, role: capacity_manager, scope: pools, quorum: 1, respond_within: 48h}
`

// bench is the portal's use cases and background work in this process, on a real
// database and a real Kueue, for so many projects.
type bench struct {
	*portal.Portal
	b      *testing.B
	store  *db.Store
	app    string // the database's address
	c      *cluster.Cluster
	queues dynamic.ResourceInterface // as the administrator
	names  []string                  // of projects
	asked  int64
}

func newBench(b *testing.B, projects int) *bench {
	b.Helper()
	owner := dbtest.URL(b)
	x := &bench{b: b, store: dbtest.StoreAt(b, owner), app: dbtest.AppURL(b, owner), c: theCluster(b), asked: 7}
	admin := x.c.AdminConfig()
	admin.QPS = -1 // as the portal: only the server is slow
	objects, err := dynamic.NewForConfig(admin)
	require.NoError(b, err)
	x.queues = objects.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "clusterqueues"})
	k, err := k8s.New(k8s.Config{Server: x.c.Server(), CA: x.c.CA(), Token: x.c.Token(b, deploy.ServiceAccount)})
	require.NoError(b, err)
	b.Cleanup(k.Close)
	x.Portal = &portal.Portal{Store: x.store, Now: func() time.Time { return time.Now().UTC() }, NewID: uuid.NewString, BaseURL: "https://qm.example.org",
		Log: slog.New(slog.DiscardHandler), Dial: func(context.Context, string) (fleet.Cluster, error) { return k, nil }}
	o, err := portal.ParseOrganisation([]byte(benchOrg))
	require.NoError(b, err)
	for i := range projects {
		id := fmt.Sprintf("bench-%04d", i)
		x.names = append(x.names, id)
		o.Projects = append(o.Projects, org.Project{ID: id, Name: id, TeamID: "vision", Owner: "ana", Environments: []string{"production"}, DataClasses: []string{"internal"}})
	}
	_, err = x.ImportOrg(b.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(b, err)
	for _, m := range []fleet.Mode{fleet.PlanOnly, fleet.Enforce} {
		pia := x.as("pia")
		proven(x, pia, func() (portal.Cluster, error) {
			return x.ChangeClusterMode(b.Context(), pia, portal.ModeInput{ClusterID: "bed", Mode: m})
		})
	}
	return x
}

func (x *bench) as(subject string) portal.Actor {
	p, err := x.store.PersonBySubject(x.b.Context(), "https://id.example.org", subject)
	require.NoError(x.b, err)
	now := time.Now().UTC()
	return portal.Actor{Person: p, Via: "web", SessionID: "s-" + subject, AMR: []string{"pwd", "otp"}, AuthTime: now}
}

// proven answers the step-up that an act asks for.
func proven[T any](x *bench, who portal.Actor, do func() (T, error)) T {
	out, err := do()
	var need *portal.StepUpNeeded
	if errors.As(err, &need) {
		_, err = x.RecordStepUp(x.b.Context(), who, portal.StepUpInput{By: signin.ProofTOTP, Digests: need.Digests})
		require.NoError(x.b, err)
		out, err = do()
	}
	require.NoError(x.b, err)
	return out
}

// granted has somebody ask for another figure for a project and both stages approve;
// it returns when the last decision is committed.
func (x *bench) granted(project string, n int64) []string {
	ctx := x.b.Context()
	ref, err := x.DraftRequest(ctx, x.as("ana"), portal.DraftInput{Content: request.Content{Kind: request.Quota, ProjectID: project, Environment: "production", DataClass: "internal",
		WorkloadType: "training", Purpose: "Train", Justification: "The present limit is too low for it.", RuntimeHours: 4,
		Lines: []request.Line{{PoolID: "bed-h100", Asked: fleet.Count(n), Kind: request.Hard}}}})
	require.NoError(x.b, err)
	ref, err = x.SubmitRequest(ctx, x.as("ana"), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
	require.NoError(x.b, err)
	var out portal.DecideResult
	for _, s := range [][2]string{{"ben", "team"}, {"cleo", "capacity"}} {
		who := x.as(s[0])
		out = proven(x, who, func() (portal.DecideResult, error) {
			return x.DecideRequest(ctx, who, portal.DecideInput{Number: ref.Number, Digest: ref.Digest, StageKey: s[1], Outcome: decided.Approve, Reason: "Fits.", Acknowledged: true})
		})
	}
	require.NotEmpty(x.b, out.Changes)
	return out.Changes
}

// everybody's limit changes to another figure: n committed decisions.
func (x *bench) round(projects []string) {
	x.asked++
	var all sync.WaitGroup
	todo := make(chan string)
	for range 4 {
		all.Go(func() {
			for p := range todo {
				x.granted(p, x.asked)
			}
		})
	}
	for _, p := range projects {
		todo <- p
	}
	close(todo)
	all.Wait()
}

func (x *bench) start() (stop func()) {
	r, err := jobs.New(jobs.Config{DB: x.store.DB().DB, Listen: x.app, Portal: x.Portal, Every: time.Hour, UIPrefix: "/admin/jobs", Log: x.Log})
	require.NoError(x.b, err)
	require.NoError(x.b, r.Start(x.b.Context()))
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		require.NoError(x.b, r.Stop(ctx))
	}
}

// until waits for as many changes in a state.
func (x *bench) until(n int, query string, args ...any) {
	require.Eventually(x.b, func() bool {
		var have int
		require.NoError(x.b, x.store.DB().Get(&have, query, args...))
		return have >= n
	}, 10*time.Minute, 2*time.Millisecond)
}

// queue is the ClusterQueue that a bare writer would apply: as large as the portal's.
func queue(name string, n int64) *unstructured.Unstructured {
	quota := func(resource, amount string) map[string]any {
		return map[string]any{"name": resource, "nominalQuota": amount}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"cohortName": "bare", "namespaceSelector": map[string]any{}, "resourceGroups": []any{map[string]any{
			"coveredResources": []any{"cpu", "memory", "nvidia.com/gpu"},
			"flavors": []any{map[string]any{"name": "h100", "resources": []any{
				quota("cpu", fmt.Sprint(8*n)), quota("memory", fmt.Sprintf("%dGi", 64*n)), quota("nvidia.com/gpu", fmt.Sprint(n)),
			}}}}},
		}}}
}

func (x *bench) bare(name string, n int64) time.Duration {
	began := time.Now()
	_, err := x.queues.Apply(x.b.Context(), name, queue(name, n), metav1.ApplyOptions{FieldManager: "bench"})
	require.NoError(x.b, err)
	return time.Since(began)
}

func at50and99(all []time.Duration) (p50, p99 float64) {
	slices.Sort(all)
	return all[len(all)/2].Seconds() * 1000, all[len(all)*99/100].Seconds() * 1000
}

// changesOf is how many changes are made at once; QM_BENCH_CHANGES asks for fewer.
func changesOf(b *testing.B) int {
	if text := os.Getenv("QM_BENCH_CHANGES"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		return n
	}
	return 1000
}

const (
	verified = `SELECT count(*) FROM change WHERE state = 'verified'`
	single   = 60 // changes one by one
)

// BenchmarkKueue puts changes and polls on a real Kueue beside bare calls of
// client-go on the same API server, in one run.
func BenchmarkKueue(b *testing.B) {
	n := changesOf(b)
	x := newBench(b, n)
	stop := x.start()
	x.round(x.names)
	x.until(n, verified)
	for i := range n {
		x.bare(fmt.Sprintf("bare-%04d", i), 7)
	}
	fmt.Printf("\n%-52s %12s %12s %7s\n", "what, on a real Kueue", "portal", "floor", "ratio")
	var ours, floor []time.Duration
	x.asked++
	for i := range min(single, n) {
		ids := x.granted(x.names[i%n], x.asked)
		began := time.Now()
		x.until(len(ids), `SELECT count(*) FROM change WHERE state = 'verified' AND id = ANY($1::uuid[])`, "{"+strings.Join(ids, ",")+"}")
		ours = append(ours, time.Since(began))
		floor = append(floor, x.bare(fmt.Sprintf("bare-%04d", i%n), x.asked))
	}
	stop()
	p50, p99 := at50and99(ours)
	f50, f99 := at50and99(floor)
	line := func(what string, ours, floor float64) {
		fmt.Printf("%-52s %12.1f %12.1f %7.2f\n", what, ours, floor, ours/floor)
	}
	line("approval committed to verified beside an apply, p50 ms", p50, f50)
	line("the same, p99 ms", p99, f99)

	var before int
	require.NoError(b, x.store.DB().Get(&before, verified))
	x.round(x.names) // nothing works on them yet
	began := time.Now()
	stop = x.start()
	x.until(before+n, verified)
	took := time.Since(began)
	stop()
	began = time.Now()
	var all sync.WaitGroup
	todo := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range todo {
				x.bare(fmt.Sprintf("bare-%04d", i), x.asked)
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	all.Wait()
	line(fmt.Sprintf("%d changes to verified beside applies, 8 at once, s", n), took.Seconds(), time.Since(began).Seconds())
	x.poll(line)
}

// poll reads all queues, workloads and quotas, sums them up and stores them, beside a
// list of the ClusterQueues decoded as far as the limits.
func (x *bench) poll(line func(string, float64, float64)) {
	var ours, floor []time.Duration
	for range 5 {
		began := time.Now()
		ok, err := x.PollCluster(x.b.Context(), "bed")
		require.NoError(x.b, err)
		require.True(x.b, ok)
		ours = append(ours, time.Since(began))
		began = time.Now()
		list, err := x.queues.List(x.b.Context(), metav1.ListOptions{})
		require.NoError(x.b, err)
		raw, err := json.Marshal(list.Items[0].Object["spec"])
		require.NoError(x.b, err)
		require.NotEmpty(x.b, raw)
		floor = append(floor, time.Since(began))
	}
	p50, _ := at50and99(ours)
	f50, _ := at50and99(floor)
	line(fmt.Sprintf("poll of %d ClusterQueues beside list + decode, ms", 2*len(x.names)), p50, f50)
}

// BenchmarkIdle says how much memory the program holds when nobody asks for anything.
func BenchmarkIdle(b *testing.B) {
	s, err := site.Start()
	require.NoError(b, err)
	defer s.Remove()
	<-time.After(10 * time.Second)
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	require.NoError(b, err)
	for text := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(text, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(b, err)
			fmt.Printf("\nidle dev (serve, identity provider and simulated cluster in one process): %d MiB\n", kib>>10)
		}
	}
}
