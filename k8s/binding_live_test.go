package k8s

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/cluster"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/k8s/deploy"
)

// control is one real control plane with Kueue for all tests of this package
// that do not stop it. Each test uses names of its own.
var control *cluster.Cluster

func TestMain(m *testing.M) {
	c, stop, err := cluster.StartShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	control = c
	code := m.Run()
	stop()
	os.Exit(code)
}

// connect returns the adapter as the portal has it: by the service account that
// k8s/deploy makes, with its rights and no others.
func connect(t *testing.T, c *cluster.Cluster) *Cluster {
	t.Helper()
	k, err := New(Config{Server: c.Server(), CA: c.CA(), Token: c.Token(t, deploy.ServiceAccount)})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k
}

// want is what a team's project should have: so many H100 and the cpu and memory
// with them.
func want(name, nominal, borrowing string) fleet.Desired {
	return fleet.Desired{
		Binding: fleet.Binding{
			Namespace: name, LocalQueue: "default", ClusterQueue: name, Cohort: name + "-team", RootCohort: "root", ResourceQuota: "quartermaster",
		},
		Limits:     []fleet.Limit{limit("h100", "nvidia.com/gpu", nominal, borrowing)},
		Companions: []fleet.Limit{limit("h100", "cpu", "256", "0"), limit("h100", "memory", "2Ti", "0")},
		RequestID:  "request-1", RequestURL: "https://portal.test/requests/1",
	}
}

// push plans, applies and reads back, and fails unless all is as desired.
func pushed(t *testing.T, k *Cluster, d fleet.Desired) (fleet.Plan, fleet.Receipt) {
	t.Helper()
	plan, err := k.Plan(t.Context(), d)
	require.NoError(t, err)
	require.Empty(t, plan.Conflicts)
	receipt, err := k.Apply(t.Context(), plan)
	require.NoError(t, err)
	back, err := k.ReadBack(t.Context(), d)
	require.NoError(t, err)
	require.Empty(t, back.Differences())
	require.True(t, back.Verified())
	return plan, receipt
}

// changed lists the fields a plan would change, as "path: before → after".
func changed(plan fleet.Plan) []string {
	var out []string
	show := func(s *string) string {
		if s == nil {
			return "none"
		}
		return *s
	}
	for _, o := range plan.Objects {
		for _, f := range o.Fields {
			if f.Changed() {
				out = append(out, fmt.Sprintf("%s %s: %s → %s", o.Object.Kind, f.Path, show(f.Before), show(f.After)))
			}
		}
	}
	return out
}

func TestNewBindingIsMadeChangedAndSentOnlyOnce(t *testing.T) {
	k := connect(t, control)
	d := want("vision", "8", "0")
	plan, receipt := pushed(t, k, d)
	require.Empty(t, plan.Warnings)
	var made []string
	for _, o := range plan.Objects {
		require.True(t, o.Create || o.Object.Name == "root", o.Object.String())
	}
	for _, w := range receipt.Written {
		made = append(made, w.Object.String())
	}
	require.Subset(t, made, []string{"Cohort vision-team", "Namespace vision", "ClusterQueue vision", "LocalQueue vision/default", "ResourceQuota vision/quartermaster"})

	back, err := k.ReadBack(t.Context(), d)
	require.NoError(t, err)
	require.True(t, back.Active, back.ActiveReason)

	again, err := k.Plan(t.Context(), d)
	require.NoError(t, err)
	require.False(t, again.Changed())
	receipt, err = k.Apply(t.Context(), again)
	require.NoError(t, err)
	require.Empty(t, receipt.Written, "what is already so is not sent")

	d = want("vision", "12", "4")
	d.RequestID = "request-2"
	plan, receipt = pushed(t, k, d)
	require.ElementsMatch(t, []string{
		"ClusterQueue h100 nvidia.com/gpu nominalQuota: 8 → 12",
		"ClusterQueue h100 nvidia.com/gpu borrowingLimit: 0 → 4",
		"ResourceQuota hard requests.nvidia.com/gpu: 8 → 16",
	}, changed(plan))
	require.Len(t, receipt.Written, 2)

	queue := &object{}
	_, err = k.get(t.Context(), "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/vision", queue)
	require.NoError(t, err)
	require.Equal(t, "request-2", queue.meta.Annotations[requestIDAnnotation])
	require.Equal(t, []string{LimitsManager}, queue.meta.managersOf("spec", "resourceGroups"))
	require.Equal(t, []string{ShapeManager}, queue.meta.managersOf("spec", "cohortName"))
}

func TestGrantedQuotaAdmitsAndTheRestWaits(t *testing.T) {
	k := connect(t, control)
	pushed(t, k, want("speech", "12", "0"))
	control.SubmitJob(t, "speech", "default", "eight", 8)
	control.Eventually(t, "the first is admitted", func() (bool, error) {
		o, err := k.Observe(t.Context())
		return err == nil && queueNamed(o, "speech").Admitted.String() == "1", err
	})
	control.SubmitJob(t, "speech", "default", "more", 8)
	var seen fleet.Observation
	control.Eventually(t, "one workload is admitted, one waits, and the counters say so", func() (bool, error) {
		var err error
		if seen, err = k.Observe(t.Context()); err != nil {
			return false, err
		}
		q := queueNamed(seen, "speech")
		return q.Pending.Known && q.Pending.String() == "1" && q.Admitted.String() == "1" && use(t, q, "h100", "nvidia.com/gpu").InUse.String() == "8", nil
	})
	require.Empty(t, seen.Problems)
	q := queueNamed(seen, "speech")
	require.Equal(t, []string{"speech/default"}, q.LocalQueues)
	require.Equal(t, "speech-team", q.Cohort)
	require.True(t, q.Ours)
	require.True(t, q.Active)
	require.Equal(t, "0", use(t, q, "h100", "nvidia.com/gpu").Borrowed.String())
	for _, w := range seen.Workloads {
		switch w.Job {
		case "Job eight":
			require.Equal(t, fleet.Admitted, w.State)
			require.NotNil(t, w.AdmittedAt)
			require.Contains(t, w.Amounts, fleet.Amount{Pool: fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}, Amount: amountIn(w, "h100")})
			require.Equal(t, "8", amountIn(w, "h100").String())
		case "Job more":
			require.Equal(t, fleet.Pending, w.State)
			require.Contains(t, w.Message, "insufficient unused quota for nvidia.com/gpu in flavor h100")
			require.Equal(t, "8", amountIn(w, "").String())
			require.Equal(t, "speech", w.Queue)
		}
	}
	quota := quotaNamed(seen, "speech")
	require.Equal(t, "12", quota.Hard.String())

	plan, err := k.Plan(t.Context(), want("speech", "4", "0"))
	require.NoError(t, err)
	require.Contains(t, strings.Join(plan.Warnings, "\n"), "8 of h100 nvidia.com/gpu are reserved now, the new limit is 4: what runs keeps running")
}

func queueNamed(o fleet.Observation, name string) fleet.Queue {
	for _, q := range o.Queues {
		if q.Name == name {
			return q
		}
	}
	return fleet.Queue{}
}

func quotaNamed(o fleet.Observation, namespace string) fleet.Quota {
	for _, q := range o.Quotas {
		if q.Namespace == namespace && q.Key == "requests.nvidia.com/gpu" {
			return q
		}
	}
	return fleet.Quota{}
}

func amountIn(w fleet.Workload, flavor string) fleet.Quantity {
	for _, a := range w.Amounts {
		if a.Pool == (fleet.PoolKey{Flavor: flavor, Resource: "nvidia.com/gpu"}) {
			return a.Amount
		}
	}
	return fleet.Quantity{}
}

func TestOlderPlanDoesNotLandAfterANewerOne(t *testing.T) {
	k := connect(t, control)
	pushed(t, k, want("stale", "8", "0"))
	older, err := k.Plan(t.Context(), want("stale", "10", "0"))
	require.NoError(t, err)
	pushed(t, k, want("stale", "16", "0"))
	_, err = k.Apply(t.Context(), older)
	require.Equal(t, fault.Stale, fault.KindOf(err), "%v", err)
	// Not even when the numbers are back where the older plan saw them.
	pushed(t, k, want("stale", "8", "0"))
	_, err = k.Apply(t.Context(), older)
	require.Equal(t, fault.Stale, fault.KindOf(err), "%v", err)
	pushed(t, k, want("stale", "8", "0"))
}

func TestHoldIsDoneWhenReadBackSaysSo(t *testing.T) {
	k := connect(t, control)
	pushed(t, k, want("held", "8", "0"))
	hold := want("held", "0", "0")
	hold.Hold = true
	before, err := k.ReadBack(t.Context(), hold)
	require.NoError(t, err)
	require.False(t, before.Verified(), "not done before it is applied")
	plan, _ := pushed(t, k, hold)
	require.Contains(t, changed(plan), "ClusterQueue stopPolicy: None → Hold")
	back, err := k.ReadBack(t.Context(), hold)
	require.NoError(t, err)
	require.False(t, back.Active)
	require.Contains(t, back.ActiveReason, "Stopped")

	plan, _ = pushed(t, k, want("held", "8", "0"))
	require.Contains(t, changed(plan), "ClusterQueue stopPolicy: Hold → None")
	back, err = k.ReadBack(t.Context(), want("held", "8", "0"))
	require.NoError(t, err)
	require.True(t, back.Active, back.ActiveReason)
}

func TestBorrowingWithoutLimitWritesNoQuotaKey(t *testing.T) {
	k := connect(t, control)
	pushed(t, k, want("open", "8", "0"))
	d := want("open", "8", "0")
	d.Limits = []fleet.Limit{limit("h100", "nvidia.com/gpu", "8")}
	plan, _ := pushed(t, k, d)
	require.Contains(t, changed(plan), "ClusterQueue h100 nvidia.com/gpu borrowingLimit: 0 → none")
	require.Contains(t, changed(plan), "ResourceQuota hard requests.nvidia.com/gpu: 8 → none")
	require.Len(t, plan.Warnings, 1)
	require.Contains(t, plan.Warnings[0], "gets no key")
}

const foreign = `
apiVersion: v1
kind: Namespace
metadata: {name: NAME}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: NAME MARK}
spec:
  cohortName: theirs
  queueingStrategy: StrictFIFO
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [memory, cpu]
    flavors: [{name: plain, resources: [{name: memory, nominalQuota: 3072Mi}, {name: cpu, nominalQuota: 12000m, borrowingLimit: 3}]}]
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}
    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8, lendingLimit: 8}]}
`

func adopted(name, nominal string) fleet.Desired {
	return fleet.Desired{
		Binding:   fleet.Binding{Namespace: name, ClusterQueue: name, Adopted: true},
		Limits:    []fleet.Limit{limit("h100", "nvidia.com/gpu", nominal, "2", "1")},
		RequestID: "request-3", RequestURL: "https://portal.test/requests/3",
	}
}

func TestAdoptedQueueIsTakenOverOnceAndKeepsItsShape(t *testing.T) {
	control.Create(t, strings.NewReplacer("NAME", "odd", "MARK", "").Replace(foreign))
	k := connect(t, control)
	d := adopted("odd", "6")
	plan, err := k.Plan(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, []fleet.Conflict{{Object: queueRef(d.Binding), Field: "spec.resourceGroups", Manager: "kubectl-create"}}, plan.Conflicts)
	require.ElementsMatch(t, []string{
		"ClusterQueue h100 nvidia.com/gpu nominalQuota: 8 → 6",
		"ClusterQueue h100 nvidia.com/gpu borrowingLimit: none → 2",
		"ClusterQueue h100 nvidia.com/gpu lendingLimit: 8 → 1",
	}, changed(plan))

	_, err = k.Apply(t.Context(), plan)
	var conflict *ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, plan.Conflicts, conflict.Conflicts)
	require.Equal(t, fault.Conflict, fault.KindOf(err))

	d.Takeover = true
	plan, err = k.Plan(t.Context(), d)
	require.NoError(t, err)
	unshown := plan
	unshown.Conflicts = nil
	_, err = k.Apply(t.Context(), unshown)
	require.ErrorAs(t, err, &conflict, "nothing is taken over that the plan did not show")

	_, err = k.Apply(t.Context(), plan)
	require.NoError(t, err)
	back, err := k.ReadBack(t.Context(), d)
	require.NoError(t, err)
	require.True(t, back.Verified())

	queue := &object{}
	_, err = k.get(t.Context(), "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/odd", queue)
	require.NoError(t, err)
	require.Equal(t, "StrictFIFO", nested(queue.raw, "spec", "queueingStrategy"))
	require.Equal(t, "theirs", nested(queue.raw, "spec", "cohortName"))
	require.Equal(t, "12", *quantity(maps(entriesOf(queue, 0, 0))[1]["nominalQuota"]))
	require.Equal(t, []string{LimitsManager}, queue.meta.managersOf("spec", "resourceGroups"))

	d = adopted("odd", "7") // from here on nobody has to be asked
	pushed(t, k, d)
}

func entriesOf(o *object, group, flavor int) []any {
	g := maps(listAt(o.raw, "spec", "resourceGroups"))[group]
	l, _ := flavors(g)[flavor]["resources"].([]any)
	return l
}

func TestQueueKeptByArgoCDIsRefusedAndNamed(t *testing.T) {
	control.Create(t, strings.NewReplacer("NAME", "argo", "MARK", ", annotations: {argocd.argoproj.io/tracking-id: 'gpu:kueue.x-k8s.io/ClusterQueue:/argo'}").Replace(foreign))
	k := connect(t, control)
	d := adopted("argo", "6")
	d.Takeover = true
	plan, err := k.Plan(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, "Argo CD application gpu", plan.Conflicts[0].Manager)
	_, err = k.Apply(t.Context(), plan)
	require.Equal(t, fault.Conflict, fault.KindOf(err))
	found, err := k.Discover(t.Context())
	require.NoError(t, err)
	for _, q := range found.Queues {
		if q.Name == "argo" {
			require.Equal(t, "Argo CD application gpu", q.Owner)
		}
	}
}

func TestDiscoverFindsVersionsPoolsAndOwners(t *testing.T) {
	k := connect(t, control)
	d, err := k.Discover(t.Context())
	require.NoError(t, err)
	require.Empty(t, d.Problems)
	require.Regexp(t, `^v1\.\d+\.\d+`, d.Version)
	require.Regexp(t, `^v0\.\d+\.\d+$`, d.KueueVersion)
	require.Equal(t, "v1beta2", d.KueueAPI)
	require.Equal(t, []string{"resourcequota", "kueue", "cohort"}, d.Capabilities)
	require.Equal(t, 6, d.Nodes)
	require.Len(t, d.Pools, 2)
	h := d.Pools[1]
	require.Equal(t, fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}, h.Key)
	require.Equal(t, []any{"32", "32", fleet.Card, 4, "384"}, []any{h.Capacity.String(), h.Cards.String(), h.Unit, h.Nodes, h.CPU.String()})
}

func TestReadBackOfLimitsAloneIsSilentAboutTheRest(t *testing.T) {
	k := connect(t, control)
	d := want("partial", "8", "0")
	pushed(t, k, d)
	d.Companions = nil
	back, err := k.ReadBack(t.Context(), d)
	require.NoError(t, err)
	require.Empty(t, back.Differences())
}

func TestUnknownFlavorIsSaidBeforeItIsPushed(t *testing.T) {
	k := connect(t, control)
	d := want("future", "8", "0")
	d.Limits = []fleet.Limit{limit("h300", "nvidia.com/gpu", "8", "0")}
	d.Companions = nil
	plan, err := k.Plan(t.Context(), d)
	require.NoError(t, err)
	require.Contains(t, strings.Join(plan.Warnings, "\n"), "The cluster has no flavor h300")
}

func TestStrayQuotaKeyOfAnotherManagerIsNeverDone(t *testing.T) {
	k := connect(t, control)
	d := want("stray", "8", "0")
	pushed(t, k, d)
	body := map[string]any{
		"apiVersion": "v1", "kind": "ResourceQuota", "metadata": map[string]any{"name": "quartermaster", "namespace": "stray"},
		"spec": map[string]any{"hard": map[string]any{"pods": "5"}},
	}
	require.NoError(t, k.apply(t.Context(), "/api/v1/namespaces/stray/resourcequotas/quartermaster", body, applyOptions{manager: "kubectl-edit"}, &object{}))
	back, err := k.ReadBack(t.Context(), d)
	require.NoError(t, err)
	require.False(t, back.Verified())
	require.Equal(t, "hard pods", back.Differences()[0].Fields[len(back.Differences()[0].Fields)-1].Path)
}

func TestWatchReportsWorkloadsUntilTheyAreGone(t *testing.T) {
	k := connect(t, control)
	pushed(t, k, want("seen", "8", "0"))
	events := make(chan fleet.WorkloadEvent, 100)
	watching := make(chan error, 1)
	go func() { watching <- k.Watch(t.Context(), func(e fleet.WorkloadEvent) { events <- e }) }()
	next := func(what string, is func(fleet.WorkloadEvent) bool) {
		t.Helper()
		for end := time.After(time.Minute); ; {
			select {
			case e := <-events:
				if is(e) {
					return
				}
			case err := <-watching:
				t.Fatalf("the watch ended before %s: %v", what, err)
			case <-end:
				t.Fatalf("never reported: %s", what)
			}
		}
	}
	next("the end of the list", func(e fleet.WorkloadEvent) bool { return e.Synced })
	control.SubmitJob(t, "seen", "default", "short", 2)
	mine := func(e fleet.WorkloadEvent) bool { return e.Workload.Job == "Job short" }
	next("admitted", func(e fleet.WorkloadEvent) bool {
		return mine(e) && e.Workload.State == fleet.Admitted && e.Workload.Queue == "seen" && amountIn(e.Workload, "h100").String() == "2"
	})
	control.FinishJob(t, "seen", "short")
	next("finished", func(e fleet.WorkloadEvent) bool { return mine(e) && e.Workload.State == fleet.Finished })
	control.DeleteJob(t, "seen", "short")
	next("gone", func(e fleet.WorkloadEvent) bool { return mine(e) && e.Gone })
}
