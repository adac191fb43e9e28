package portal_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/internal/soak"
)

// The main job on paper: 16 asked, the team manager approves, the capacity manager
// grants 12; a grant, a binding and one change follow, all on record.
func TestTwoStagesMakeAGrantAndOneChange(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	first := d.decide("ben", approve(ref, "team"))
	assert.Equal(t, request.InReview, first.State)
	assert.Empty(t, first.Changes)
	last := d.decide("cleo", approve(ref, "capacity", 12))
	assert.Equal(t, request.Applying, last.State)
	require.Len(t, last.Changes, 1)

	v := d.detail(ref.Number)
	require.Len(t, v.Lines, 1)
	assert.Equal(t, "16", v.Lines[0].Asked.String())
	assert.Equal(t, "12", v.Lines[0].Granted.String())
	require.NotNil(t, v.Lines[0].Grant)
	require.Len(t, v.Changes, 1)
	assert.Equal(t, portal.ChangePlanned, v.Changes[0].State)
	b := v.Changes[0].Binding
	assert.Equal(t, "vision-street-production", b.Namespace)
	assert.Equal(t, "vision-street-production", b.ClusterQueue)
	assert.Equal(t, []string{"vision", "east"}, []string{b.Cohort, b.RootCohort})
	require.Len(t, v.Decisions, 2)
	assert.Equal(t, []string{"Ben", "Cleo"}, []string{v.Decisions[0].PersonName, v.Decisions[1].PersonName})
	assert.Equal(t, []string{"pwd", "otp"}, v.Decisions[1].Factors)

	desired, err := d.DesiredFor(t.Context(), d.store, b.ID, d.clock())
	require.NoError(t, err)
	require.Len(t, desired.Limits, 1)
	assert.Equal(t, "12", desired.Limits[0].Nominal.String())
	assert.Equal(t, "0", desired.Limits[0].Borrowing.String())
	assert.Equal(t, fmt.Sprintf("https://qm.example.org/requests/%d", ref.Number), desired.RequestURL)
	require.Len(t, desired.Companions, 2)
	assert.Equal(t, "96", desired.Companions[0].Nominal.String(), "12 GPUs bring 8 cpu each")
	assert.Equal(t, "768Gi", desired.Companions[1].Nominal.String())
	assert.False(t, desired.Hold)

	require.Len(t, d.entries(ref.Number, ledger.RequestDecided, ledger.Done), 2)
	require.Len(t, d.entries(ref.Number, ledger.GrantMade, ledger.Done), 1)
	require.Len(t, d.entries(ref.Number, ledger.ChangePlanned, ledger.Done), 1)
	assert.Equal(t, "approved 12 of 16 h100", d.entries(ref.Number, ledger.RequestDecided, ledger.Done)[1].Entry.Words())
	d.intact()
}

// Whoever asked, is the beneficiary, or edited, cannot decide: not as themselves
// and not with a linked account that holds every role.
func TestNobodyDecidesOnTheirOwn(t *testing.T) {
	d := newDesk(t)
	c := quota(ask("h100", 16))
	c.BeneficiaryID = d.people["eve"].ID
	ref, err := d.DraftRequest(t.Context(), d.as("ana"), portal.DraftInput{Content: c})
	require.NoError(t, err)
	c.Purpose = "Train the other detector"
	ref, err = d.EditRequest(t.Context(), d.as("all"), portal.EditInput{Number: ref.Number, Digest: ref.Digest, Content: c})
	require.NoError(t, err)
	ref, err = d.SubmitRequest(t.Context(), d.as("ana"), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
	require.NoError(t, err)

	for subject, rule := range map[string]string{
		"ana":       "decided by the team manager", // no role at all
		"ana-admin": "You asked for this yourself", // linked to ana, with every role
		"eve":       "on your behalf",
		"all":       "You edited this request",
		"cleo":      "decided by the team manager",
		"otto":      "decided by the team manager",
		"pia":       "decided by the team manager",
	} {
		err := d.refused(d.as(subject), approve(ref, "team"), fault.Forbidden)
		assert.Contains(t, err.Error(), rule, subject)
		_, err = d.ViewDecision(t.Context(), d.as(subject), ref.Number, nil)
		assert.Equal(t, fault.Forbidden, fault.KindOf(err), "%s does not see the page either", subject)
	}
	d.refused(d.as("tom"), approve(ref, "team"), fault.NotFound)
	d.refused(portal.Actor{System: "cli", Via: "cli"}, approve(ref, "team"), fault.Forbidden)

	d.decide("ben", approve(ref, "team"))
	for _, subject := range []string{"ana-admin", "all"} {
		d.refused(d.as(subject), approve(ref, "capacity"), fault.Forbidden)
	}
	assert.Len(t, d.entries(ref.Number, ledger.RequestDecided, ledger.Refused), 7+1+1+2, "every refused attempt is on record")
	d.intact()
}

// One human being decides once on a revision, also by another account and in another stage.
func TestOneHumanBeingDecidesOnce(t *testing.T) {
	d := newDesk(t)
	ref, err := d.DraftRequest(t.Context(), d.as("bob"), portal.DraftInput{Content: quota(ask("h100", 4))})
	require.NoError(t, err)
	ref, err = d.SubmitRequest(t.Context(), d.as("bob"), portal.SubmitInput{Number: ref.Number, Digest: ref.Digest})
	require.NoError(t, err)
	d.decide("ana-admin", approve(ref, "team"))
	d.refused(d.as("ana-admin"), approve(ref, "capacity"), fault.Conflict)
	d.decide("cleo", approve(ref, "capacity"))
}

// A form filled from an older revision decides nothing and shows what changed.
func TestStaleFormShowsWhatChanged(t *testing.T) {
	d := newDesk(t)
	old := d.submitted(quota(ask("h100", 16)))
	ret := approve(old, "team")
	ret.Outcome, ret.Reason = approval.Return, "Which detector?"
	back := d.decide("ben", ret)
	assert.Equal(t, request.Returned, back.State)
	edited, err := d.EditRequest(t.Context(), d.as("ana"), portal.EditInput{Number: old.Number, Digest: old.Digest, Content: quota(ask("h100", 12))})
	require.NoError(t, err)
	assert.Equal(t, 2, edited.Revision)
	ref, err := d.SubmitRequest(t.Context(), d.as("ana"), portal.SubmitInput{Number: old.Number, Digest: edited.Digest})
	require.NoError(t, err)

	err = d.refused(d.as("eve"), approve(old, "team"), fault.Stale)
	var changed *portal.RequestChanged
	require.True(t, errors.As(err, &changed))
	assert.Equal(t, ref.Digest, changed.Digest)
	assert.Contains(t, changed.What, "Ana wrote revision 2")
	assert.Contains(t, changed.Rows, portal.ValueChange{Field: "h100", Then: "16 hard", Now: "12 hard"})

	d.decide("ben", approve(ref, "team")) // a new revision, so Ben decides again
	err = d.refused(d.as("eve"), approve(ref, "team"), fault.Stale)
	require.True(t, errors.As(err, &changed))
	assert.Contains(t, changed.What, "Ben decided this step")
}

// C075: nothing is decided after the end, and the attempt is on record.
func TestNothingIsDecidedAfterTheEnd(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	d.decide("ben", approve(ref, "team"))
	d.decide("cleo", approve(ref, "capacity"))
	deny := approve(ref, "capacity")
	deny.Outcome, deny.Reason = approval.Reject, "No."
	d.refused(d.as("kofi"), deny, fault.Stale)
	require.Len(t, d.entries(ref.Number, ledger.RequestDecided, ledger.Refused), 1)
	_, err := d.WithdrawRequest(t.Context(), d.as("ana"), portal.WithdrawInput{Number: ref.Number})
	assert.Equal(t, fault.Conflict, fault.KindOf(err))
}

func TestReasonsAndAcknowledgements(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	for _, o := range []approval.Outcome{approval.Return, approval.Reject} {
		in := approve(ref, "team")
		in.Outcome, in.Reason = o, " \t\u00a0\u200b "
		_, err := d.DecideRequest(t.Context(), d.as("ben"), in)
		require.Equal(t, fault.Invalid, fault.KindOf(err))
		assert.Equal(t, "reason", fault.As(err).Fields[0].Name)
	}
	d.poll(32, 30) // 30 of 32 committed: no room for 16
	_, err := d.DecideRequest(t.Context(), d.as("ben"), approve(ref, "team"))
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	assert.Contains(t, fault.As(err).Fields[0].Message, "Pool has room")
	in := approve(ref, "team")
	in.Reason = "Another team gives back 20 tomorrow."
	d.decide("ben", in)
	assert.Equal(t, in.Reason, d.detail(ref.Number).Decisions[0].Reason)

	d.poll(12, 0) // the pool shrank: 16 do not fit at all
	_, err = d.DecideRequest(t.Context(), d.as("cleo"), approve(ref, "capacity"))
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	assert.Equal(t, "checks", fault.As(err).Fields[0].Name, "a denying check cannot be reasoned away")
	d.decide("cleo", approve(ref, "capacity", 12))
	assert.Len(t, d.entries(ref.Number, ledger.RequestDecided, ledger.Refused), 1, "a denial is on record, a missing reason is not")
}

// used is what the binding of ref holds and uses.
func (d *desk) used(ref portal.RequestRef, nominal, inUse int64) portal.UsageRow {
	v := d.detail(ref.Number)
	none := fleet.Known(fleet.Count(0))
	zero := fleet.Count(0)
	return portal.UsageRow{Binding: v.Changes[0].Binding, PoolID: "h100", Nominal: fleet.Known(fleet.Count(nominal)), Borrowing: &zero, BorrowingKnown: true,
		Reserved: none, InUse: fleet.Known(fleet.Count(inUse)), Borrowed: none, Pending: none, PendingAmount: none, At: d.clock()}
}

func TestLoweringBelowUseIsAcknowledged(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	d.decide("ben", approve(ref, "team"))
	d.decide("cleo", approve(ref, "capacity"))
	d.poll(32, 16, d.used(ref, 16, 10))
	less := d.submitted(quota(ask("h100", 4)))
	in := approve(less, "team")
	in.Reason = "The project ends."
	_, err := d.DecideRequest(t.Context(), d.as("ben"), in)
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	assert.Equal(t, "acknowledge", fault.As(err).Fields[0].Name)
	v, err := d.ViewDecision(t.Context(), d.as("ben"), less.Number, nil)
	require.NoError(t, err)
	require.Len(t, v.Lowering, 1)
	assert.Equal(t, "10", v.Lowering[0].InUse.String())
	in.Acknowledged = true
	d.decide("ben", in)
	in.StageKey = "capacity"
	out := d.decide("cleo", in)
	assert.Equal(t, request.Applying, out.State)
	assert.Equal(t, request.Superseded, d.detail(ref.Number).Request.State, "the newer figure took over")
	d.intact()
}

// However often and however fast the button is pressed, one decision is taken and
// every click is answered the same.
func TestDoubleClickDecidesOnce(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	d.decide("ben", approve(ref, "team"))
	in := approve(ref, "capacity", 12)
	in.Key = "form-1"
	results := make([]portal.DecideResult, 8)
	errs := make([]error, len(results))
	var all sync.WaitGroup
	for i := range results {
		all.Add(1)
		go func() {
			defer all.Done()
			results[i], errs[i] = d.DecideRequest(t.Context(), d.as("cleo"), in)
		}()
	}
	all.Wait()
	for i := range results {
		require.NoError(t, errs[i])
		assert.Equal(t, results[0], results[i])
	}
	v := d.detail(ref.Number)
	assert.Len(t, v.Decisions, 2)
	assert.Len(t, v.Changes, 1)
	assert.Empty(t, d.entries(ref.Number, ledger.RequestDecided, ledger.Refused), "a second click is no attempt")
	d.intact()
}

// Many people decide at the same moment: the stage gets exactly one decision, the
// others get 409 and a refused entry.
func TestConcurrentDecisionsLeaveOne(t *testing.T) {
	d := newDesk(t)
	for range soak.Count(1, 20) {
		ref := d.submitted(quota(ask("h100", 16)))
		voters := []string{"ben", "eve", "ben", "eve", "ben", "eve", "ben", "eve", "ben", "eve", "ben", "eve", "ben", "eve", "ben", "eve", "ben", "eve", "ben", "eve"}
		errs := make([]error, len(voters))
		var all sync.WaitGroup
		for i, who := range voters {
			in := approve(ref, "team")
			if i%3 == 0 {
				in.Outcome, in.Reason = approval.Reject, "No."
			}
			actor := d.as(who)
			all.Add(1)
			go func() {
				defer all.Done()
				_, errs[i] = d.DecideRequest(t.Context(), actor, in)
			}()
		}
		all.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
				continue
			}
			assert.Contains(t, []fault.Kind{fault.Stale, fault.Conflict}, fault.KindOf(err), "%v", err)
		}
		assert.Equal(t, 1, won)
		v := d.detail(ref.Number)
		assert.Len(t, v.Decisions, 1)
		assert.Len(t, d.entries(ref.Number, ledger.RequestDecided, ledger.Done), 1)
		assert.Len(t, d.entries(ref.Number, ledger.RequestDecided, ledger.Refused), len(voters)-1)
	}
	d.intact()
}

// What starts later is scheduled: nothing is pushed now, and the limit of a time
// follows from the grants.
func TestGrantThatStartsLaterIsScheduled(t *testing.T) {
	d := newDesk(t)
	start, end := noon.AddDate(0, 0, 7), noon.AddDate(0, 0, 14)
	line := ask("h100", 16)
	line.Start, line.End = &start, &end
	ref := d.submitted(quota(line))
	d.decide("ben", approve(ref, "team"))
	out := d.decide("cleo", approve(ref, "capacity"))
	assert.Equal(t, request.Scheduled, out.State)
	assert.Empty(t, out.Changes)
	b, err := d.store.BindingAt(t.Context(), "street", "production", "east")
	require.NoError(t, err)
	for at, want := range map[time.Time]string{noon: "0", start.Add(-time.Second): "0", start: "16", end.Add(-time.Second): "16", end: "0"} {
		desired, err := d.DesiredFor(t.Context(), d.store, b.ID, at)
		require.NoError(t, err)
		assert.Equal(t, want, desired.Limits[0].Nominal.String(), at)
		assert.Equal(t, want == "0", desired.Hold, at)
	}
}

// A grant with an end does not take over one without: after it, the former counts again.
func TestTemporaryGrantGivesWayToTheFormerOne(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 8)))
	d.decide("ben", approve(ref, "team"))
	d.decide("cleo", approve(ref, "capacity"))
	d.poll(32, 8, d.used(ref, 8, 8))
	end := noon.AddDate(0, 0, 3)
	line := ask("h100", 16)
	line.End = &end
	more := d.submitted(quota(line))
	d.decide("ben", approve(more, "team"))
	d.decide("cleo", approve(more, "capacity"))
	assert.Equal(t, request.Applying, d.detail(ref.Number).Request.State)
	b := d.detail(ref.Number).Changes[0].Binding
	for at, want := range map[time.Time]string{d.clock(): "16", end: "8"} {
		desired, err := d.DesiredFor(t.Context(), d.store, b.ID, at)
		require.NoError(t, err)
		assert.Equal(t, want, desired.Limits[0].Nominal.String(), at)
	}
}

// The decide page carries the limits that it showed; the change expects just those.
func TestChangeExpectsWhatTheDeciderSaw(t *testing.T) {
	d := newDesk(t)
	h100 := fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}
	d.remote.live = map[fleet.PoolKey]string{h100: "3"}
	ref := d.submitted(quota(ask("h100", 16)))
	d.decide("ben", approve(ref, "team"))
	entered := []approval.Granted{{PoolID: "h100", Amount: fleet.Count(12)}}
	v, err := d.ViewDecision(t.Context(), d.as("cleo"), ref.Number, entered)
	require.NoError(t, err)
	require.Len(t, v.Plans, 1)
	require.NotNil(t, v.Plans[0].Plan)
	assert.True(t, v.Plans[0].NewBinding)
	assert.Equal(t, "12", *v.Plans[0].Plan.Objects[0].Fields[0].After)
	assert.NotEmpty(t, v.Base)
	in := approve(ref, "capacity", 12)
	in.Base = v.Base
	d.decide("cleo", in)
	c := d.detail(ref.Number).Changes[0]
	require.Len(t, c.Expected, 1)
	assert.Equal(t, "3", c.Expected[0].Nominal.String())

	bad := approve(ref, "capacity")
	bad.Base = "{"
	_, err = d.DecideRequest(t.Context(), d.as("kofi"), bad)
	assert.Equal(t, fault.Invalid, fault.KindOf(err))
}

func TestUnreachableClusterIsShownAndDoesNotBlock(t *testing.T) {
	d := newDesk(t)
	d.remote.hang = true
	ref := d.submitted(quota(ask("h100", 16)))
	v, err := d.ViewDecision(t.Context(), d.as("ben"), ref.Number, nil)
	require.NoError(t, err)
	require.Len(t, v.Plans, 1)
	assert.Nil(t, v.Plans[0].Plan)
	assert.NotEmpty(t, v.Plans[0].Problem)
	assert.Empty(t, v.Base)
	d.decide("ben", approve(ref, "team"))
}

// What was approved and did not reach the cluster yet counts as committed: two
// requests do not get the same room while a cluster is slow or down.
func TestGrantsOnTheirWayCount(t *testing.T) {
	d := newDesk(t)
	d.poll(32, 8)
	first := d.submitted(quota(ask("h100", 20)))
	d.decide("ben", approve(first, "team"))
	d.decide("cleo", approve(first, "capacity"))
	c := quota(ask("h100", 8))
	c.Environment = "development"
	v, err := d.PreviewRequest(t.Context(), d.as("ana"), c)
	require.NoError(t, err)
	require.Len(t, v.Pools, 1)
	assert.Equal(t, []string{"28", "20", "36"}, []string{v.Pools[0].Committed.String(), v.Pools[0].Coming.String(), v.Pools[0].After.String()})
	says := ""
	for _, r := range v.Checks {
		if r.ID == "headroom" {
			says = r.Message
		}
	}
	assert.Contains(t, says, "4 short")

	d.poll(32, 28, d.used(first, 20, 0)) // now it is enforced and counted once
	v, err = d.PreviewRequest(t.Context(), d.as("ana"), c)
	require.NoError(t, err)
	assert.Equal(t, []string{"28", "0"}, []string{v.Pools[0].Committed.String(), v.Pools[0].Coming.String()})
}
