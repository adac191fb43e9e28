package portal_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/finding"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

const nominalPath = "h100 nvidia.com/gpu nominalQuota"

var placeQueue = fleet.ObjectRef{Kind: "ClusterQueue", Name: place}

func (d *desk) PutBackFinding(ctx context.Context, a portal.Actor, in portal.PutBackInput) (portal.Change, error) {
	return proven(ctx, d.Portal, a, func() (portal.Change, error) { return d.Portal.PutBackFinding(ctx, a, in) })
}

func (d *desk) SetPutsBack(ctx context.Context, a portal.Actor, in portal.SetPutsBackInput) (portal.Cluster, error) {
	return proven(ctx, d.Portal, a, func() (portal.Cluster, error) { return d.Portal.SetPutsBack(ctx, a, in) })
}

// settled is a yard in which 12 H100 are granted, written and read back, with nothing found.
func settled(t *testing.T) *yard {
	y := newYard(t)
	_, out := y.granted(ask("h100", 12))
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	y.turn()
	require.Empty(t, y.findings(finding.Open))
	return y
}

// turn is the next poll of the schedule.
func (y *yard) turn() {
	y.t.Helper()
	y.pass(30 * time.Second)
	require.True(y.t, y.poll())
}

func (y *yard) edit(value string) {
	y.t.Helper()
	require.NoError(y.t, y.sim.Edit(placeQueue, "kubectl-edit", map[string]*string{nominalPath: &value}))
}

func (y *yard) findings(s finding.State) []portal.FindingRow {
	y.t.Helper()
	page, err := y.ListFindings(y.t.Context(), y.as("otto"), portal.FindingQuery{State: s}, false)
	require.NoError(y.t, err)
	return page.Rows
}

func (y *yard) only() portal.FindingRow {
	y.t.Helper()
	all := y.findings(finding.Open)
	require.Len(y.t, all, 1)
	return all[0]
}

func TestAnEditIsAFindingAtTheNextPollAndPutBackClosesIt(t *testing.T) {
	y := settled(t)
	y.edit("40")
	y.turn()
	f := y.only()
	require.Equal(t, []string{place, nominalPath, "12", "40", "kubectl-edit", "high", "street", "h100"},
		[]string{f.Object.Name, f.Field, *f.Granted, *f.Live, f.Manager, f.Severity.Word(), f.ProjectID, f.PoolID})
	y.turn()
	require.Equal(t, f.ID, y.only().ID, "the same at each poll")
	require.Equal(t, 1, y.of(ledger.FindingOpened, f.ID))
	require.Equal(t, 0, y.of(ledger.FindingChanged, f.ID), "seen again is no news")
	mine, err := y.CountOwnFindings(t.Context(), y.as("cleo"), 10)
	require.NoError(t, err)
	require.Equal(t, 1, mine)

	in := portal.PutBackInput{FindingID: f.ID, Evidence: portal.FindingDigest(f.Finding), Reason: "Nobody asked for this.", Key: "one form"}
	_, err = y.PutBackFinding(t.Context(), y.as("pia"), in)
	require.Equal(t, fault.Forbidden, fault.KindOf(err), "a platform admin decides nothing")
	stale := in
	stale.Evidence = "other"
	_, err = y.PutBackFinding(t.Context(), y.as("cleo"), stale)
	require.Equal(t, fault.Stale, fault.KindOf(err))
	c, err := y.PutBackFinding(t.Context(), y.as("cleo"), in)
	require.NoError(t, err)
	again, err := y.PutBackFinding(t.Context(), y.as("cleo"), in)
	require.NoError(t, err)
	require.Equal(t, c.ID, again.ID, "the same form does it once")
	y.turn()
	require.Equal(t, f.ID, y.only().ID, "a change under way closes nothing")
	require.Equal(t, portal.ChangeVerified, y.apply(c.ID).State)
	require.Equal(t, "12", y.live(place))
	require.Empty(t, y.findings(finding.Open))
	gone, err := y.ViewFinding(t.Context(), y.as("cleo"), f.ID)
	require.NoError(t, err)
	require.Equal(t, finding.PutBack, gone.Row.How)
	require.Equal(t, "Cleo", gone.ByName)
	require.Len(t, gone.Events, 3)
	y.turn()
	require.Empty(t, y.findings(finding.Open))
	y.intact()
}

func TestUnknownInFlightAndEqualAmountsAreNoDrift(t *testing.T) {
	y := settled(t)
	y.edit("12000m") // C045: the same number
	y.turn()
	for _, f := range y.findings(finding.Open) {
		require.Equal(t, finding.FieldManager, f.Field, "only who keeps it differs")
	}
	y.edit("40")
	y.turn()
	n := len(y.findings(finding.Open))
	require.Positive(t, n)
	y.pass(time.Minute)
	y.down()
	require.False(t, y.poll())
	require.Len(t, y.findings(finding.Open), n, "a failed poll closes nothing")
	y.sim.Intercept(nil)
	part := &fixed{observation: fleet.Observation{At: y.clock(), PoolsKnown: true}}
	y.Dial = func(context.Context, string) (fleet.Cluster, error) { return part, nil }
	y.turn()
	require.Len(t, y.findings(finding.Open), n, "queues that were not read close nothing")
}

func TestAFlappingValueIsNoEndlessStream(t *testing.T) {
	y := settled(t)
	for i := range 30 {
		y.edit([]string{"40", "12"}[i%2])
		y.turn()
	}
	entries := 0
	for _, f := range append(y.findings(finding.Open), y.findings(finding.Resolved)...) {
		if f.Field == nominalPath {
			entries += y.of(ledger.FindingOpened, f.ID) + y.of(ledger.FindingReopened, f.ID) + y.of(ledger.FindingResolved, f.ID) + y.of(ledger.FindingChanged, f.ID)
		}
	}
	require.LessOrEqual(t, entries, 7)
	y.edit("12")
	for range 2 {
		y.pass(2 * time.Hour)
		y.turn()
	}
	for _, f := range y.findings(finding.Open) {
		require.NotEqual(t, nominalPath, f.Field, "quiet for long is over")
	}
}

func TestAcceptingIsARequestThatSomebodyElseDecides(t *testing.T) {
	y := settled(t)
	y.edit("14")
	y.turn()
	f := y.only()
	in := portal.AcceptFindingInput{FindingID: f.ID, Evidence: portal.FindingDigest(f.Finding), DataClass: "internal", WorkloadType: "training", Justification: "The cluster team agreed by phone."}
	_, err := y.AcceptFinding(t.Context(), y.as("otto"), in)
	require.Equal(t, fault.Forbidden, fault.KindOf(err))
	ref, err := y.AcceptFinding(t.Context(), y.as("cleo"), in)
	require.NoError(t, err)
	require.Equal(t, request.Submitted, ref.State)
	_, err = y.AcceptFinding(t.Context(), y.as("kofi"), in)
	require.Equal(t, fault.Conflict, fault.KindOf(err), "asked for once")
	y.decide("ben", acknowledged(approve(ref, "team")))
	y.refused(y.as("cleo"), acknowledged(approve(ref, "capacity")), fault.Forbidden)
	out := y.decide("kofi", acknowledged(approve(ref, "capacity")))
	require.Equal(t, portal.ChangeVerified, y.apply(out.Changes[0]).State)
	require.Equal(t, "14", y.live(place))
	y.turn()
	d, err := y.ViewFinding(t.Context(), y.as("cleo"), f.ID)
	require.NoError(t, err)
	require.Equal(t, finding.Accepted, d.Row.How)
	require.Equal(t, ref.Number, d.Row.RequestNumber)
	y.intact()
}

func TestThePolicyPutsBackOnlyWhereItSaysSo(t *testing.T) {
	y := settled(t)
	_, err := y.SetPutsBack(t.Context(), y.as("pia"), portal.SetPutsBackInput{ClusterID: "east", On: true, Reason: "x"})
	require.Equal(t, fault.Forbidden, fault.KindOf(err))
	_, err = y.SetPutsBack(t.Context(), y.as("cleo"), portal.SetPutsBackInput{ClusterID: "east", On: true, Reason: "Edits here are mistakes."})
	require.NoError(t, err)
	y.edit("40")
	y.turn()
	f := y.only()
	require.NotEmpty(t, f.ChangeID)
	require.Equal(t, "job:put_back_policy", f.By)
	require.Equal(t, portal.ChangeVerified, y.apply(f.ChangeID).State)
	require.Equal(t, "12", y.live(place))
	require.Empty(t, y.findings(finding.Open))

	// Switched off between plan and push: nothing is written.
	y.edit("41")
	y.turn()
	f = y.only()
	_, err = y.SetPutsBack(t.Context(), y.as("cleo"), portal.SetPutsBackInput{ClusterID: "east", Reason: "No longer."})
	require.NoError(t, err)
	require.Equal(t, portal.ChangeStopped, y.apply(f.ChangeID).State)
	require.Equal(t, "41", y.live(place))
	y.intact()
}

func TestAStoppedChangeIsAFindingAtOnce(t *testing.T) {
	y := settled(t)
	_, out := y.granted(ask("h100", 16))
	theirs := "argocd-controller"
	value := "12"
	require.NoError(t, y.sim.Edit(placeQueue, theirs, map[string]*string{nominalPath: &value}))
	require.Equal(t, portal.ChangeStopped, y.apply(out.Changes[0]).State)
	f := y.only()
	require.Equal(t, finding.Stopped, f.Kind)
	require.Contains(t, f.Note, theirs)
	y.turn()
	require.Equal(t, f.ID, y.only().ID)
}

func TestABypassIsAFinding(t *testing.T) {
	y := settled(t)
	o, err := y.sim.Observe(t.Context())
	require.NoError(t, err)
	o.Loose = []fleet.Loose{{Object: fleet.ObjectRef{Kind: "Job", Namespace: "home-of-tom", Name: "train"}, Name: "train-1", Node: "n1", Resource: "nvidia.com/gpu", Amount: fleet.Count(2), Pool: h100Key}}
	o.Queues = append(o.Queues, fleet.Queue{Name: "wild", LocalQueues: []string{place + "/side-door"}, Namespaces: []string{place}, StopPolicy: "None"})
	y.pass(time.Minute)
	o.At = y.clock()
	c := &fixed{observation: o}
	y.Dial = func(context.Context, string) (fleet.Cluster, error) { return c, nil }
	require.True(t, y.poll())
	all := y.findings(finding.Open)
	require.Len(t, all, 2)
	for _, f := range all {
		require.Equal(t, finding.Bypass, f.Kind)
	}
	c.observation.LooseKnown, c.observation.Loose, c.observation.Queues = false, nil, c.observation.Queues[:len(c.observation.Queues)-1]
	y.turn()
	require.Equal(t, "h100", y.only().PoolID, "pods that could not be listed close nothing")
}
