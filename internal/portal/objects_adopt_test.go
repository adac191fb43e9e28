package portal_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

func found(name, namespace, manager string, limits ...fleet.Limit) sim.Queue {
	return sim.Queue{Name: name, Namespace: namespace, LocalQueue: "main", Manager: manager, Limits: limits}
}

// bare is a yard whose cluster is only read yet.
func lookedAt(t *testing.T, queues ...sim.Queue) *yard {
	t.Helper()
	y := newYard(t, queues...)
	y.mode(fleet.PlanOnly, fleet.Observe)
	return y
}

func TestManyQueuesAreAdoptedEachForItself(t *testing.T) {
	cpu := fleet.Limit{Pool: fleet.PoolKey{Flavor: "h100", Resource: "cpu"}, Nominal: fleet.Count(64)}
	y := lookedAt(t,
		found("street-production", "a", "kubectl-create", h100Limit(8)),
		found("q2", "vision-street-development", "kubectl-create", h100Limit(0)),
		found("kept", "asr-development", "argocd-controller", h100Limit(3)),
		found("cpu-only", "b", "kubectl-create", cpu),
		found("street", "street-production", "kubectl-create", h100Limit(1)),
		found("nobody", "c", "kubectl-create", h100Limit(2)))
	d, err := y.ViewAdopt(t.Context(), y.as("otto"), "east")
	require.NoError(t, err)
	require.False(t, d.MayAdopt)
	ready, why, reason := map[string]bool{}, map[string]string{}, map[string]string{}
	for _, r := range d.Rows {
		ready[r.Queue.Name], why[r.Queue.Name], reason[r.Queue.Name] = r.Ready(), r.WhyNot, r.Match.Reason
	}
	// Rules go first: the namespace street-production of the queue street comes before the name of the other.
	require.True(t, ready["q2"])
	require.Equal(t, "namespace vision-street-development (rule 2: namespace is {team}-{project}-{environment})", reason["q2"])
	require.True(t, ready["street"] != ready["street-production"], "one place, one queue")
	require.Contains(t, why["kept"], "Argo CD")
	require.Equal(t, "It limits no accelerators.", why["cpu-only"])
	require.Equal(t, "No rule fits.", reason["nobody"])
	_, err = y.ViewAdopt(t.Context(), y.as("ana"), "east")
	require.Equal(t, fault.Forbidden, fault.KindOf(err))

	before := y.sim.ObjectFields(fleet.ObjectRef{Kind: "ClusterQueue", Name: "street-production"})
	row := func(queue, project, environment string) portal.AdoptInput {
		return portal.AdoptInput{Queue: queue, ProjectID: project, Environment: environment, Key: "form"}
	}
	rows := []portal.AdoptInput{
		row("kept", "asr", "development"), row("street-production", "street", "production"), row("street", "street", "production"),
		row("gone", "street", "production"), row("cpu-only", "street", "staging"), row("q2", "street", "development"), row("nobody", "street", "moon"),
	}
	for _, who := range []string{"ana", "ben", "cleo", "otto"} {
		_, err = y.AdoptBindings(t.Context(), y.as(who), "east", rows)
		require.Equal(t, fault.Forbidden, fault.KindOf(err), who)
	}
	for range 2 { // a second click adopts none twice
		results, err := y.AdoptBindings(t.Context(), y.as("pia"), "east", rows)
		require.NoError(t, err)
		var said []string
		for _, r := range results {
			said = append(said, r.Input.Queue+": "+r.Problem)
		}
		require.Contains(t, said[0], "Argo CD")
		require.Equal(t, "street-production: ", said[1])
		require.Contains(t, said[2], "bound to street-production on this cluster already")
		require.Contains(t, said[3], "The cluster has no queue gone.")
		require.Contains(t, said[4], "no accelerators")
		require.Equal(t, "q2: ", said[5])
		require.Contains(t, said[6], "no environment moon")
		bindings, err := y.store.Bindings(t.Context(), portal.BindingQuery{ClusterID: "east"})
		require.NoError(t, err)
		require.Len(t, bindings, 2)
	}
	require.Equal(t, before, y.sim.ObjectFields(fleet.ObjectRef{Kind: "ClusterQueue", Name: "street-production"}))
	done, refused := 0, 0
	entries, err := y.store.Entries(t.Context(), portal.EntryQuery{Types: []ledger.Type{ledger.BindingAdopted}, Limit: 100})
	require.NoError(t, err)
	for _, e := range entries {
		if e.Entry.Outcome == ledger.Done {
			done++
			if e.Entry.Facts["queue"] == "q2" {
				require.Contains(t, e.Entry.Facts["matched"], "rule 2", "the record says by which rule")
			}
		} else {
			refused++
		}
	}
	require.Equal(t, 2, done)
	require.Positive(t, refused)
	y.intact()
}

func TestEnforcingReadsEveryBaselineBackAndSendsNothing(t *testing.T) {
	y := lookedAt(t, found("street-production", "a", "kubectl-create", h100Limit(8)), found("street-development", "b", "kubectl-create", h100Limit(4)))
	rows := []portal.AdoptInput{{Queue: "street-production", ProjectID: "street", Environment: "production"}, {Queue: "street-development", ProjectID: "street", Environment: "development"}}
	results, err := y.AdoptBindings(t.Context(), y.as("pia"), "east", rows)
	require.NoError(t, err)
	p, err := y.PlanCluster(t.Context(), y.as("cleo"), portal.PlanQuery{ClusterID: "east"})
	require.NoError(t, err)
	require.True(t, p.MayEnforce)
	require.Len(t, p.Rows, 2)
	for _, r := range p.Rows {
		require.NotNil(t, r.Plan, r.Problem)
		require.False(t, r.Plan.Changed())
	}
	p, err = y.PlanCluster(t.Context(), y.as("pia"), portal.PlanQuery{ClusterID: "east"})
	require.NoError(t, err)
	require.False(t, p.MayEnforce)
	require.True(t, p.MaySteer)
	require.Contains(t, p.WhyNot, "capacity manager")

	// Somebody edits one of them before the portal may write.
	six := "6"
	require.NoError(t, y.sim.Edit(fleet.ObjectRef{Kind: "ClusterQueue", Name: "street-development"}, "kubectl-edit", map[string]*string{"h100 nvidia.com/gpu nominalQuota": &six}))
	p, err = y.PlanCluster(t.Context(), y.as("cleo"), portal.PlanQuery{ClusterID: "east"})
	require.NoError(t, err)
	require.True(t, p.Rows[0].Plan.Changed(), "the page shows what enforcing would set back")
	y.mode(fleet.PlanOnly, fleet.Enforce)
	state := func(b fleet.Binding) portal.Change {
		changes, err := y.store.ChangesOfBinding(t.Context(), b.ID, 5)
		require.NoError(t, err)
		require.Len(t, changes, 1)
		y.apply(changes[0].ID)
		c, err := y.store.Change(t.Context(), changes[0].ID)
		require.NoError(t, err)
		return c
	}
	same := state(results[0].Binding)
	require.Equal(t, portal.ChangeVerified, same.State)
	require.Empty(t, same.Receipt.Written, "what is so already is not sent")
	require.Equal(t, portal.ChangeStopped, state(results[1].Binding).State, "an edit is a finding, it is not set back")
	y.mode(fleet.PlanOnly, fleet.Enforce)
	state(results[0].Binding) // still one change: read back once
	y.intact()
}

func dumped(text string, queues ...fleet.Queue) func([]byte, time.Time) (fleet.Dump, error) {
	return func(file []byte, at time.Time) (fleet.Dump, error) {
		if string(file) != text {
			return fleet.Dump{}, fault.New(fault.Invalid, "The file holds no object.")
		}
		return fleet.Dump{Discovery: fleet.Discovery{Kind: fleet.Kubernetes, Queues: queues, At: at},
			Documents: []fleet.Document{{Number: 1, Line: 1, State: fleet.DocumentRead}, {Number: 2, Line: 9, State: fleet.DocumentRefused, Reason: "It has no name."}}}, nil
	}
}

func TestAFileOfObjectsIsKeptOnRecordAndStandsForAClusterThatCannotBeAsked(t *testing.T) {
	y := newYard(t)
	queue := fleet.Queue{Name: "street-production", StopPolicy: "None", Namespaces: []string{"n"}, LocalQueues: []string{"n/main"},
		Flavors: []fleet.FlavorUse{{Pool: h100Key, Nominal: fleet.Known(fleet.MustQuantity("8000m")), Borrowing: new(fleet.Quantity), Lending: new(fleet.Quantity)}}}
	y.ReadDump = dumped("file", queue)
	in := portal.ImportInput{ClusterID: "east", FileName: `C:\dumps\queues.yaml`, File: []byte("file"), Key: "form"}
	r, err := y.PreviewImport(t.Context(), y.as("pia"), in)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0, 0, 1}, []int{r.Count(fleet.DifferenceNew), r.Count(fleet.DifferenceChanged), r.Count(fleet.DifferenceSame), r.Refused()})
	require.Equal(t, "queues.yaml", r.FileName)
	require.Empty(t, r.Held)
	kept, err := y.store.NewestImport(t.Context(), "east")
	require.NoError(t, err)
	require.Nil(t, kept, "a report keeps nothing")
	for _, who := range []string{"ana", "cleo", "otto"} {
		_, err = y.KeepImport(t.Context(), y.as(who), in)
		require.Equal(t, fault.Forbidden, fault.KindOf(err), who)
	}
	for range 2 {
		r, err = y.KeepImport(t.Context(), y.as("pia"), in)
		require.NoError(t, err)
		require.NotEmpty(t, r.Entry)
	}
	entries, err := y.store.Entries(t.Context(), portal.EntryQuery{Types: []ledger.Type{ledger.ObjectsImported}, Outcome: ledger.Done, Limit: 10})
	require.NoError(t, err)
	require.Len(t, entries, 1, "twice sent is kept once")
	queue.Flavors = []fleet.FlavorUse{{Pool: h100Key, Nominal: fleet.Known(fleet.Count(8)), Borrowing: new(fleet.Quantity), Lending: new(fleet.Quantity)}}
	y.ReadDump = dumped("again", queue)
	again := portal.ImportInput{ClusterID: "east", File: []byte("again")}
	r, err = y.PreviewImport(t.Context(), y.as("pia"), again)
	require.NoError(t, err)
	require.Equal(t, 1, r.Count(fleet.DifferenceSame), "8000m is 8")
	require.Equal(t, "file queues.yaml", r.Held)
	_, err = y.PreviewImport(t.Context(), y.as("pia"), portal.ImportInput{ClusterID: "east", File: []byte("other")})
	require.Equal(t, fault.Invalid, fault.KindOf(err))

	y.Dial = func(context.Context, string) (fleet.Cluster, error) {
		return nil, fault.New(fault.Unavailable, "It is not connected.")
	}
	d, err := y.ViewAdopt(t.Context(), y.as("pia"), "east")
	require.NoError(t, err)
	require.Equal(t, "file queues.yaml", d.Source)
	results, err := y.AdoptBindings(t.Context(), y.as("pia"), "east", []portal.AdoptInput{{Queue: "street-production", ProjectID: "street", Environment: "production"}})
	require.NoError(t, err)
	require.Empty(t, results[0].Problem)
	base, err := y.store.Baselines(t.Context(), results[0].Binding.ID)
	require.NoError(t, err)
	require.True(t, base["h100"].Nominal.Equal(fleet.Count(8)))
	y.intact()
}

func TestMatchingRulesComeFromTheOrganisationFile(t *testing.T) {
	d := newDesk(t)
	o, err := portal.ParseOrganisation([]byte(deskOrg + "matching:\n  - {by: label, name: corp.example/project}\n  - {by: queue, pattern: legacy, project: street, environment: production}\n"))
	require.NoError(t, err)
	diff, err := d.ImportOrg(t.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(t, err)
	require.Len(t, diff.Lines, 1)
	require.Contains(t, diff.Lines[0], "~ matching: rules none → 1: label corp.example/project is {project}; 2: queue is legacy, project street, environment production")
	rules, err := d.store.MatchRules(t.Context())
	require.NoError(t, err)
	require.Equal(t, o.Matching, rules)
	diff, err = d.ImportOrg(t.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(t, err)
	require.True(t, diff.Empty, "twice changes nothing")
	_, err = portal.ParseOrganisation([]byte(deskOrg + "matching:\n  - {by: colour}\n  - {by: queue, project: nowhere}\n"))
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	require.Len(t, fault.As(err).Fields, 2)
}

// C015: a count of nodes in the place of cores is questioned where clusters are looked at.
func TestAQuotaFarFromItsNodesIsQuestionedOnTheClustersPage(t *testing.T) {
	y := newYard(t)
	key := fleet.PoolKey{Flavor: "any", Resource: "cpu"}
	o := fleet.Observation{At: y.clock(), QueuesKnown: true, PoolsKnown: true, Capacities: []fleet.Amount{{Pool: key, Amount: fleet.Count(1024 * 32)}},
		Queues: []fleet.Queue{{Name: "q", Flavors: []fleet.FlavorUse{{Pool: key, Nominal: fleet.Known(fleet.Count(1000))}}}, {Name: "r", Flavors: []fleet.FlavorUse{{Pool: key, Nominal: fleet.Known(fleet.Count(24))}}}}}
	y.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.SavePoll(ctx, "east", o, nil, time.Millisecond)
	})
	d, err := y.ViewCluster(t.Context(), y.as("otto"), "east")
	require.NoError(t, err)
	require.Len(t, d.Sanity, 1)
	require.True(t, strings.HasPrefix(d.Sanity[0].Result.Message, "quota is 3.1 percent of capacity 32768"))
}
