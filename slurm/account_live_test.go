package slurm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	harness "quartermaster/e2e/slurm"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

func limitOf(pool fleet.PoolKey, n int64) fleet.Limit {
	return fleet.Limit{Pool: pool, Nominal: fleet.Count(n), Borrowing: &fleet.Quantity{}}
}

func bound(name string, limits ...fleet.Limit) fleet.Desired {
	return fleet.Desired{Binding: fleet.Binding{ProjectID: "p", Environment: "development", Account: name}, Limits: limits}
}

// push plans, applies and waits until the controller enforces it.
func push(t *testing.T, c *Cluster, d fleet.Desired) fleet.Plan {
	t.Helper()
	p, err := c.Plan(t.Context(), d)
	require.NoError(t, err)
	_, err = c.Apply(t.Context(), p)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		rb, err := c.ReadBack(t.Context(), d)
		return err == nil && rb.Verified() && rb.Active
	}, 30*time.Second, 50*time.Millisecond)
	return p
}

func grpTRES(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(real.Admin(t, "sacctmgr", "-nP", "show", "assoc", "where", "account="+name, "user=", "format=grptres"))
}

func observed(t *testing.T, c *Cluster, name string) fleet.Queue {
	t.Helper()
	o, err := c.Observe(t.Context())
	require.NoError(t, err)
	require.Empty(t, o.Problems)
	i := slices.IndexFunc(o.Queues, func(q fleet.Queue) bool { return q.Name == name })
	require.GreaterOrEqual(t, i, 0, "account %s is listed", name)
	return o.Queues[i]
}

// Set, read back, 0 is zero, cleared; the typed limit is another one.
func TestAnAccountsLimitIsSetAndCleared(t *testing.T) {
	c := connect(t, real)
	p := push(t, c, bound("set-and-clear", limitOf(anyGPU, 6), limitOf(a100, 4)))
	require.True(t, p.Objects[0].Create)
	require.Equal(t, "gres/gpu:a100=4,gres/gpu=6", grpTRES(t, "set-and-clear"))
	push(t, c, bound("set-and-clear", limitOf(anyGPU, 0), limitOf(a100, 4)))
	require.Equal(t, "gres/gpu:a100=4,gres/gpu=0", grpTRES(t, "set-and-clear"))
	p = push(t, c, bound("set-and-clear", fleet.Limit{Pool: anyGPU}, limitOf(a100, 4)))
	require.Equal(t, "gres/gpu:a100=4", grpTRES(t, "set-and-clear"))
	require.Contains(t, fmt.Sprint(p.Warnings), "A job that asks for a GPU of no type passes by this limit")
	q := observed(t, c, "set-and-clear")
	require.True(t, q.Ours)
	require.Contains(t, fmt.Sprint(q.Notes), "a job that names no type passes by the limit")
	require.Nil(t, q.Flavors[1].Borrowing, "no limit on gres/gpu")
	push(t, c, bound("set-and-clear", fleet.Limit{Pool: anyGPU}, fleet.Limit{Pool: a100}))
	require.Empty(t, grpTRES(t, "set-and-clear"))
}

// Slurm folds names to lower case: the same account, no drift.
func TestNamesFoldToLowerCase(t *testing.T) {
	c := connect(t, real)
	real.Admin(t, "sacctmgr", "-i", "add", "account", "Team-Fold", "cluster="+harness.Name, "GrpTRES=gres/gpu=2")
	d := bound("TEAM-Fold", limitOf(anyGPU, 2))
	d.Binding.Adopted = true
	require.Eventually(t, func() bool {
		p, err := c.Plan(t.Context(), d)
		return err == nil && !p.Changed() && p.Objects[0].Object.Name == "team-fold"
	}, 30*time.Second, 50*time.Millisecond)
	require.Equal(t, "2", observed(t, c, "team-fold").Flavors[1].Nominal.String())
}

// An account that somebody made is not overwritten by a project of the same name.
func TestAnAccountOfSomebodyElseIsRefused(t *testing.T) {
	c := connect(t, real)
	real.Admin(t, "sacctmgr", "-i", "add", "account", "theirs", "cluster="+harness.Name, "GrpTRES=gres/gpu=2")
	d := bound("theirs", limitOf(anyGPU, 8))
	var p fleet.Plan
	require.Eventually(t, func() bool {
		var err error
		p, err = c.Plan(t.Context(), d)
		require.NoError(t, err)
		return len(p.Conflicts) == 1
	}, 30*time.Second, 50*time.Millisecond)
	_, err := c.Apply(t.Context(), p)
	require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
	require.Equal(t, "gres/gpu=2", grpTRES(t, "theirs"))
	p.Desired.Takeover = true
	_, err = c.Apply(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, "gres/gpu=8", grpTRES(t, "theirs"))
	require.True(t, observed(t, c, "theirs").Ours)

	gone := bound("never-was", limitOf(anyGPU, 1))
	gone.Binding.Adopted = true
	_, err = c.Plan(t.Context(), gone)
	require.Equal(t, fault.Conflict, fault.KindOf(err), "%v", err)
}

// What a person reads of a job: who, where, why it waits; and use as limit(used).
func TestJobsAreSeenWithSlurmsOwnReason(t *testing.T) {
	c := connect(t, real)
	push(t, c, bound("seen", limitOf(anyGPU, 4)))
	user := real.Submitters()[0]
	real.AddUser(t, user, "seen")
	running := real.Submit(t, user, "seen", "gpu:a100:3")
	waiting := real.Submit(t, user, "seen", "gpu:1", "--array=1-3")
	untyped := real.Submit(t, user, "seen", "gpu:2", "--job-name=over it")
	t.Cleanup(func() { real.Cancel(t, waiting, untyped, running) })
	var o fleet.Observation
	job := func(id int) fleet.Workload {
		for _, w := range o.Workloads {
			if strings.HasPrefix(w.UID, fmt.Sprintf("%d.", id)) {
				return w
			}
		}
		return fleet.Workload{}
	}
	require.Eventually(t, func() bool {
		var err error
		o, err = c.Observe(t.Context())
		require.NoError(t, err)
		return job(untyped).Reason == "AssocGrpGRES" && job(running).State == fleet.Admitted
	}, time.Minute, 100*time.Millisecond)
	w := job(untyped)
	require.Equal(t, fleet.Pending, w.State)
	require.Equal(t, fmt.Sprintf("job %d over it", untyped), w.Job)
	require.Equal(t, []string{"seen", "gpu", "seen", user}, []string{w.Namespace, w.LocalQueue, w.Queue, w.Submitter})
	require.Equal(t, []fleet.Amount{{Pool: anyGPU, Amount: fleet.Count(2)}}, w.Amounts)
	require.Equal(t, "AssocGrpGRES: the account's GPU limit is in use", w.Why())
	w = job(running)
	require.Equal(t, "gpu1", w.Node)
	require.NotNil(t, w.AdmittedAt)
	require.Equal(t, []fleet.Amount{{Pool: a100, Amount: fleet.Count(3)}}, w.Amounts, "each GPU once")
	q := observed(t, c, "seen")
	for _, f := range q.Flavors {
		if f.Pool == anyGPU {
			require.Contains(t, []string{"3", "4"}, f.InUse.String(), "limit(used)")
		}
	}
	require.Positive(t, q.Pending.Amount.Sign())

	// slurmrestd says the same in the same words.
	jobs, problems, err := readJobs(ask(t, "jobs"))
	require.NoError(t, err)
	require.Empty(t, problems)
	i := slices.IndexFunc(jobs, func(x fleet.Workload) bool { return x.UID == job(untyped).UID })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, job(untyped), jobs[i])
	nodes, problems, err := readNodes(ask(t, "nodes"))
	require.NoError(t, err)
	require.Empty(t, problems)
	pools, _ := poolsOf(nodes, func(string) bool { return true })
	require.Equal(t, o.Pools, pools)
}

// ask reads a list from slurmrestd.
func ask(t *testing.T, what string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, real.REST()+"/slurm/v0.0.38/"+what, nil)
	require.NoError(t, err)
	r.Header.Set("X-SLURM-USER-NAME", real.Portal())
	r.Header.Set("X-SLURM-USER-TOKEN", real.Token(t, real.Portal(), time.Hour))
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.True(t, json.Valid(text), "%s", text)
	return text
}

func TestDiscoveryNamesPoolsAndPartitions(t *testing.T) {
	c := connect(t, real)
	d, err := c.Discover(t.Context())
	require.NoError(t, err)
	require.Equal(t, fleet.Slurm, d.Kind)
	require.Regexp(t, `^\d+\.\d+\.\d+`, d.Version)
	require.Equal(t, 2, d.Nodes)
	var pools []string
	for _, p := range d.Pools {
		pools = append(pools, fmt.Sprintf("%s: %s %s on %d nodes, %s", p.Key, p.Capacity, p.Unit, p.Nodes, p.Labels["partition"]))
	}
	require.Equal(t, []string{"gpu gres/gpu: 16 card on 2 nodes, big,gpu", "a100 gres/gpu:a100: 8 card on 1 nodes, gpu", "h100 gres/gpu:h100: 8 card on 1 nodes, big,gpu"}, pools)
	require.Len(t, d.Problems, 1)
	require.Contains(t, d.Problems[0], "The token of Slurm user "+real.Portal()+" ends on")
}

func TestTheWatchReportsJobsAsTheyChange(t *testing.T) {
	c := connect(t, real)
	push(t, c, bound("watched", limitOf(anyGPU, 1)))
	user := real.Submitters()[0]
	real.AddUser(t, user, "watched")
	ctx, stop := context.WithCancel(t.Context())
	events := make(chan fleet.WorkloadEvent, 1000)
	ended := make(chan error, 1)
	go func() { ended <- c.Watch(ctx, func(e fleet.WorkloadEvent) { events <- e }) }()
	until := func(what string, ok func(fleet.WorkloadEvent) bool) {
		t.Helper()
		late := time.NewTimer(time.Minute)
		defer late.Stop()
		for {
			select {
			case e := <-events:
				if ok(e) {
					return
				}
			case <-late.C:
				t.Fatal("not seen: " + what)
			}
		}
	}
	until("synced", func(e fleet.WorkloadEvent) bool { return e.Synced })
	id := real.Submit(t, user, "watched", "gpu:1")
	is := func(state fleet.WorkloadState) func(fleet.WorkloadEvent) bool {
		return func(e fleet.WorkloadEvent) bool {
			return strings.HasPrefix(e.Workload.UID, fmt.Sprintf("%d.", id)) && e.Workload.State == state
		}
	}
	until("running", is(fleet.Admitted))
	real.Cancel(t, id)
	until("ended", is(fleet.Finished))
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// Every way in which a connection can fail says what to do, and is never an empty answer.
func TestErrorsSayWhatToDo(t *testing.T) {
	refusal := func(c *Cluster) *fault.Error {
		t.Helper()
		o, err := c.Observe(t.Context())
		require.Error(t, err)
		require.Empty(t, o.Queues)
		f := fault.As(err)
		require.NotNil(t, f, "%v", err)
		require.NotContains(t, err.Error(), c.token.text)
		return f
	}
	open := func(server, token string) *Cluster {
		c, err := New(Config{Server: server, Token: token})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, c.Close()) })
		return c
	}
	good := real.Token(t, real.Portal(), time.Hour)
	f := refusal(open(real.Controller(), real.Token(t, real.Portal(), -time.Minute)))
	require.Equal(t, fault.Unavailable, f.Kind)
	require.Contains(t, f.Public, "ended on")
	f = refusal(open(real.Controller(), good[:len(good)-6]+"AAAAAA"))
	require.Equal(t, fault.Unavailable, f.Kind)
	require.Contains(t, f.Public, "does not accept the token")
	f = refusal(open("127.0.0.1:1", good))
	require.Equal(t, fault.Unavailable, f.Kind)
	require.Contains(t, f.Public, "Nothing answers at 127.0.0.1:1")

	// The accounting daemon is elsewhere: figures are read, who made the accounts is unknown.
	half := open(real.Controller()+",127.0.0.1:1", good)
	o, err := half.Observe(t.Context())
	require.NoError(t, err)
	require.False(t, o.QueuesKnown)
	require.True(t, o.PoolsKnown)
	require.Contains(t, fmt.Sprint(o.Problems), "Slurm does not answer")
	_, err = half.Discover(t.Context())
	require.Equal(t, fault.Unavailable, fault.KindOf(err))

	// A user without rights may look and not write.
	user := real.Submitters()[0]
	c := connect(t, real)
	push(t, c, bound("no-rights", limitOf(anyGPU, 1)))
	real.AddUser(t, user, "no-rights")
	weak := open(real.Controller(), real.Token(t, user, time.Hour))
	p, err := weak.Plan(t.Context(), bound("no-rights", limitOf(anyGPU, 8)))
	require.NoError(t, err)
	_, err = weak.Apply(t.Context(), p)
	if os.Geteuid() == 0 { // otherwise all users of the test are one
		require.Equal(t, fault.Forbidden, fault.KindOf(err), "%v", err)
		require.Equal(t, "gres/gpu=1", grpTRES(t, "no-rights"))
	}
	_, err = c.Plan(t.Context(), bound("untracked", limitOf(fleet.PoolKey{Flavor: "v100", Resource: "gres/gpu:v100"}, 1)))
	require.Equal(t, fault.Invalid, fault.KindOf(err), "%v", err)

	t.Setenv("PATH", t.TempDir())
	f = refusal(open(real.Controller(), good))
	require.Contains(t, f.Public, "The command scontrol is not on the portal's machine")
}

// Nothing that an account may be called becomes an option or a condition of a command.
func TestAccountNamesCannotInject(t *testing.T) {
	c := connect(t, real)
	for _, name := range []string{"", "-i", "a b", "a,b", "a=b", "a'b", `a"b`, "a;b", "$(id)", "a\nb", "root", "ROOT", "a|b", "ä", strings.Repeat("a", 101), "a:b"} {
		_, err := c.Plan(t.Context(), bound(name, limitOf(anyGPU, 1)))
		require.Equal(t, fault.Invalid, fault.KindOf(err), "%q: %v", name, err)
	}
	for _, resource := range []string{"cpu", "gres/gpu:a b", "gres/gpu,cpu", "gres/gpu=1", "nvidia.com/gpu", "gres/gpu:a100;x"} {
		_, err := c.Plan(t.Context(), bound("injected", limitOf(fleet.PoolKey{Flavor: "x", Resource: resource}, 1)))
		require.Equal(t, fault.Invalid, fault.KindOf(err), "%q: %v", resource, err)
	}
}

// The controller goes away and comes back; what is asked meanwhile says so.
func TestTheControllerMayGoAndComeBack(t *testing.T) {
	s := harness.Start(t)
	c := connect(t, s)
	_, err := c.Observe(t.Context())
	require.NoError(t, err)
	s.StopController()
	_, err = c.Observe(t.Context())
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.NoError(t, s.StartController())
	require.Eventually(t, func() bool {
		_, err := c.Observe(t.Context())
		return err == nil
	}, time.Minute, 100*time.Millisecond)
}
