package portal_test

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/signin"
)

func (d *desk) prove(a portal.Actor, digests ...string) string {
	d.t.Helper()
	id, err := d.RecordStepUp(d.t.Context(), a, portal.StepUpInput{By: signin.ProofTOTP, For: "a test", Digests: digests})
	require.NoError(d.t, err)
	return id
}

// shown names what the decide page of a request shows.
func (d *desk) shown(ref portal.RequestRef) string {
	d.t.Helper()
	return portal.DecisionDigest(d.detail(ref.Number).Request.ID, ref.Digest)
}

// needed is what an act asks a proof for.
func needed(t *testing.T, err error) *portal.StepUpNeeded {
	t.Helper()
	var n *portal.StepUpNeeded
	require.ErrorAs(t, err, &n)
	require.ErrorIs(t, err, portal.ErrStepUp)
	require.Equal(t, fault.Forbidden, fault.KindOf(err))
	return n
}

func TestADecisionNeedsAProofGivenForItsRevision(t *testing.T) {
	d := newDesk(t)
	one, two := d.submitted(quota(ask("h100", 16))), d.submitted(quota(ask("h100", 16)))
	require.Equal(t, one.Digest, two.Digest, "both ask for the same; a proof for one is none for the other")
	ben := d.tired("ben")

	err := d.refused(ben, approve(one, "team"), fault.Forbidden)
	require.Equal(t, []string{d.shown(one)}, needed(t, err).Digests)
	require.Empty(t, d.entries(one.Number, ledger.RequestDecided, ledger.Refused), "asking is no refusal")

	// Given for the one, it serves the other neither by itself nor when a form names it.
	proof := d.prove(ben, d.shown(one))
	require.Empty(t, needed(t, d.refused(ben, approve(two, "team"), fault.Forbidden)).Why)
	require.Empty(t, d.entries(two.Number, ledger.RequestDecided, ledger.Refused))
	replay := ben
	replay.Proof = proof
	err = d.refused(replay, approve(two, "team"), fault.Forbidden)
	require.NotErrorIs(t, err, portal.ErrStepUp, "a replay is not asked to try again")
	require.Len(t, d.entries(two.Number, ledger.RequestDecided, ledger.Refused), 1, "a replay is on record")

	// Nor does it serve another session, or another person.
	elsewhere := replay
	elsewhere.SessionID = "another"
	d.refused(elsewhere, approve(one, "team"), fault.Forbidden)
	all := d.tired("all")
	all.Proof = proof
	d.refused(all, approve(one, "team"), fault.Forbidden)
	unknown := ben
	unknown.Proof = "no id"
	d.refused(unknown, approve(one, "team"), fault.Forbidden)
	require.Len(t, d.entries(one.Number, ledger.RequestDecided, ledger.Refused), 3)

	_, err = d.Portal.DecideRequest(t.Context(), replay, approve(one, "team"))
	require.NoError(t, err)
	done := d.entries(one.Number, ledger.RequestDecided, ledger.Done)
	require.Equal(t, proof, done[0].Entry.Facts["step_up"])
	require.Equal(t, "totp", done[0].Entry.Facts["step_up_by"])
	d.intact()
}

// One proof serves all the decisions that its page showed, and no others.
func TestAProofServesWhatWasShownForItsWindow(t *testing.T) {
	d := newDesk(t)
	one, two, three := d.submitted(quota(ask("h100", 16))), d.submitted(quota(ask("a100", 4))), d.submitted(quota(ask("h100", 2)))
	ben := d.tired("ben")
	ben.Proof = d.prove(ben, d.shown(one), d.shown(two))
	_, err := d.Portal.DecideRequest(t.Context(), ben, approve(one, "team"))
	require.NoError(t, err)
	d.pass(portal.StepUpWindow)
	_, err = d.Portal.DecideRequest(t.Context(), ben, approve(two, "team"))
	require.NoError(t, err, "the last moment of the window")

	ben.Proof = d.prove(ben, d.shown(three))
	d.pass(portal.StepUpWindow + time.Second)
	require.Equal(t, "expired", needed(t, d.refused(ben, approve(three, "team"), fault.Forbidden)).Why)
	refused := d.entries(three.Number, ledger.RequestDecided, ledger.Refused)
	require.Len(t, refused, 1)
	require.Equal(t, "expired", refused[0].Entry.Facts["step_up"])
	ben.Proof = ""
	require.Empty(t, needed(t, d.refused(ben, approve(three, "team"), fault.Forbidden)).Why, "without naming it, it is simply gone")

	// A clock far ahead gives no longer proof.
	d.pass(time.Hour)
	d.prove(ben, d.shown(three))
	d.pass(-30 * time.Minute)
	needed(t, d.refused(ben, approve(three, "team"), fault.Forbidden))
}

func TestAStepUpIsForOneToAHundredThings(t *testing.T) {
	d := newDesk(t)
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, digests := range [][]string{nil, {}, many} {
		_, err := d.RecordStepUp(t.Context(), d.as("ben"), portal.StepUpInput{By: signin.ProofTOTP, Digests: digests})
		require.Error(t, err)
	}
	d.prove(d.as("ben"), many[:100]...)
	_, err := d.RecordStepUp(t.Context(), portal.Actor{System: "job"}, portal.StepUpInput{By: signin.ProofTOTP, Digests: []string{"x"}})
	require.Error(t, err, "only a person in a session proves anything")
}

// One proof, one act: every act that changes a cluster or takes the record away.
func TestAProofForAClusterIsUsedUp(t *testing.T) {
	y := newYard(t)
	pia := y.tired("pia")
	mode := func(m fleet.Mode) error {
		_, err := y.Portal.ChangeClusterMode(t.Context(), pia, portal.ModeInput{ClusterID: "east", Mode: m, Reason: "a test"})
		return err
	}
	pause := func(on bool) error {
		_, err := y.Portal.PauseCluster(t.Context(), pia, portal.PauseInput{ClusterID: "east", Paused: on})
		return err
	}
	plan := needed(t, mode(fleet.PlanOnly)).Digests
	require.NotEqual(t, plan, needed(t, pause(true)).Digests)
	require.Zero(t, y.count(ledger.ClusterMode, ledger.Refused), "asking is no refusal")

	pia.Proof = y.prove(pia, plan...)
	err := pause(true)
	require.Equal(t, fault.Forbidden, fault.KindOf(err))
	require.NotErrorIs(t, err, portal.ErrStepUp, "given for the mode, it does not pause")
	require.NoError(t, mode(fleet.PlanOnly))
	require.NoError(t, mode(fleet.PlanOnly), "it is so already: nothing to do, nothing to prove")
	other := y.tired("pia")
	back := needed(t, func() error {
		_, err := y.Portal.ChangeClusterMode(t.Context(), other, portal.ModeInput{ClusterID: "east", Mode: fleet.Observe})
		return err
	}()).Digests
	pia.Proof = ""
	y.prove(pia, append(back, plan...)...)
	require.NoError(t, mode(fleet.Observe))
	needed(t, mode(fleet.PlanOnly)) // the same proof covers it, but it is used up
	y.intact()
}

func TestAnExportUsesItsProofUp(t *testing.T) {
	d := newDesk(t)
	otto := d.tired("otto")
	export := func(q portal.EntryQuery) error { return d.Portal.ExportHistory(t.Context(), otto, q, io.Discard, nil) }
	before := d.count(ledger.Exported)
	all := needed(t, export(portal.EntryQuery{})).Digests
	narrow := portal.EntryQuery{Outcome: ledger.Refused, Search: "R-1"}
	require.NotEqual(t, all, needed(t, export(narrow)).Digests, "another filter is another export")
	require.Equal(t, before, d.count(ledger.Exported))
	otto.Proof = d.prove(otto, all...)
	require.NoError(t, export(portal.EntryQuery{}))
	require.Equal(t, "spent", needed(t, export(portal.EntryQuery{})).Why)
	require.Equal(t, before+2, d.count(ledger.Exported), "one export, one refusal")
	d.intact()
}

// Of acts at the same time with one proof, one is carried out.
func TestOneProofServesOneOfManyAtOnce(t *testing.T) {
	d := newDesk(t)
	otto := d.tired("otto")
	otto.Proof = d.prove(otto, needed(t, d.Portal.ExportHistory(t.Context(), otto, portal.EntryQuery{}, io.Discard, nil)).Digests...)
	var all sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		all.Go(func() { errs[i] = d.Portal.ExportHistory(t.Context(), otto, portal.EntryQuery{}, io.Discard, nil) })
	}
	all.Wait()
	went := 0
	for _, err := range errs {
		if err == nil {
			went++
			continue
		}
		assert.Equal(t, "spent", needed(t, err).Why)
	}
	assert.Equal(t, 1, went)
}

func TestTheDecidePageSaysHowTheFactorIsProven(t *testing.T) {
	d := newDesk(t)
	plain := func(text []byte, _ string) ([]byte, error) { return text, nil }
	d.Seal, d.Open = plain, plain
	ref := d.submitted(quota(ask("h100", 16)))
	see := func() portal.DecisionDetail {
		v, err := d.ViewDecision(t.Context(), d.tired("ben"), ref.Number, nil)
		require.NoError(t, err)
		return v
	}
	require.False(t, see().OwnFactor)
	s := signin.Session{ID: "tired", PersonID: d.people["ben"].ID}
	_, err := d.ProposeTOTP(t.Context(), s.PersonID, "GEZDGNBVGY3TQOJQ")
	require.NoError(t, err)
	_, done, err := d.ConfirmTOTP(t.Context(), s, 7)
	require.NoError(t, err)
	require.True(t, done)
	require.True(t, see().OwnFactor, "a code is asked for on the page")
	d.prove(d.tired("ben"), d.shown(ref))
	require.False(t, see().OwnFactor)
	require.WithinDuration(t, d.clock().Add(portal.StepUpWindow), *see().FreshUntil, time.Second)
}
