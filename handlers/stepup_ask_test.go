package handlers

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// refusals is how many entries of a type say refused.
func (s *site) refusals(t ledger.Type) int {
	s.t.Helper()
	n, err := s.store.CountEntries(s.t.Context(), portal.EntryQuery{Types: []ledger.Type{t}, Outcome: ledger.Refused}, 100)
	require.NoError(s.t, err)
	return n
}

// enrol gives somebody the portal's own second factor.
func (s *site) enrol(subject string) {
	s.t.Helper()
	id := s.presence.actors[subject].Person.ID
	_, err := s.portal.ProposeTOTP(s.t.Context(), id, "GEZDGNBVGY3TQOJQ")
	require.NoError(s.t, err)
	_, done, err := s.portal.ConfirmTOTP(s.t.Context(), facts.Session{ID: "s", PersonID: id}, 1)
	require.NoError(s.t, err)
	require.True(s.t, done)
}

func TestAskingForASecondFactorIsNoRefusedDecision(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n) + "/decide"
	s.signIn("ben", false)
	filled := with(hidden(s.page("ben", path)), "grant.0", "8", "action", "approve")
	for range 3 {
		require.Equal(t, "/step-up?back=%2Frequests%2F1%2Fdecide", s.post("ben", path, filled).Header().Get("Location"))
	}
	require.Zero(t, s.refusals(ledger.RequestDecided))

	s.stepUp("ben", path)
	confirm := hidden(s.page("ben", path))
	require.NotEmpty(t, confirm.Get("proof"))
	confirm.Set("proof", newKey()) // none of theirs
	a := s.post("ben", path, with(confirm, "grant.0", "8", "action", "approve"))
	require.Equal(t, 403, a.Code)
	require.Contains(t, text(a.body), "proven for something else")
	require.Equal(t, 1, s.refusals(ledger.RequestDecided))
	require.Zero(t, s.decisions(n))
}

func TestAProofOfOneRequestIsNotReplayedOnAnother(t *testing.T) {
	s := newSite(t)
	one, two := s.submitted(), s.submitted()
	path, other := requestPath(one)+"/decide", requestPath(two)+"/decide"
	s.signIn("ben", false)
	s.post("ben", path, with(hidden(s.page("ben", path)), "grant.0", "8", "action", "approve"))
	s.stepUp("ben", path)
	proof := hidden(s.page("ben", path)).Get("proof")
	a := s.post("ben", other, with(hidden(s.page("ben", other)), "grant.0", "8", "action", "approve", "proof", proof))
	require.Equal(t, 403, a.Code, text(a.body))
	require.Zero(t, s.decisions(two))
	require.Equal(t, 1, s.refusals(ledger.RequestDecided))
}

func TestACodeOnTheDecidePageItself(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n) + "/decide"
	s.signIn("ben", false)
	require.NotContains(t, s.page("ben", path), `name="code"`, "who has no authenticator is sent to where one is asked for")
	s.enrol("ben")
	page := s.page("ben", path)
	require.Contains(t, page, `name="code"`)
	require.Contains(t, page, `autocomplete="one-time-code"`)
	form := with(hidden(page), "grant.0", "7", "reason", "Seven will do.", "action", "approve")

	a := s.post("ben", path, with(form, "code", "000000"))
	require.Equal(t, 422, a.Code)
	require.Contains(t, text(a.body), "This code is not right.")
	require.Contains(t, a.body, "Seven will do.", "nothing typed is lost")
	require.NotContains(t, a.body, "000000", "but a code is not sent back")
	require.Zero(t, s.decisions(n))

	a = s.post("ben", path, with(form, "code", rightCode))
	require.Equal(t, 303, a.Code, text(a.body))
	require.Equal(t, 1, s.decisions(n))
	require.Zero(t, s.refusals(ledger.RequestDecided))
}

// A code is looked at only when it is all that is missing: it counts once.
func TestACodeIsNotUsedUpByAFormToBeMended(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n) + "/decide"
	s.signIn("ben", false)
	s.enrol("ben")
	form := with(hidden(s.page("ben", path)), "grant.0", "8", "action", "reject", "code", rightCode)
	a := s.post("ben", path, form) // without a reason
	require.Equal(t, 422, a.Code, text(a.body))
	require.Contains(t, a.body, `name="code"`, "it was not used")
	require.Zero(t, s.count(ledger.SteppedUp))
	a = s.post("ben", path, with(hidden(a.body), "grant.0", "8", "reason", "Too much.", "action", "reject", "code", rightCode))
	require.Equal(t, 303, a.Code, text(a.body))
	require.Equal(t, 1, s.decisions(n))
}

func TestAProofForAClusterServesOneChange(t *testing.T) {
	s := newSite(t)
	s.signIn("pia", false)
	path := "/clusters/aurora/pause"
	send := func(form url.Values) answer { return s.post("pia", path, form) }
	first := with(hidden(s.page("pia", "/clusters/aurora")), "paused", "true", "reason", "Maintenance.")
	require.Equal(t, 303, send(first).Code)
	s.stepUp("pia", path)
	confirm := with(hidden(s.page("pia", path)), "reason", "Maintenance.")
	require.Equal(t, "/clusters/aurora", send(confirm).Header().Get("Location"))
	require.Equal(t, "/clusters/aurora", send(confirm).Header().Get("Location"), "a second click does nothing more")

	again := with(confirm, "paused", "false", "idempotency_key", newKey())
	require.Equal(t, 403, send(again).Code, "given for the pause, it does not resume")
	paused, err := s.store.Cluster(t.Context(), "aurora")
	require.NoError(t, err)
	require.True(t, paused.Paused)
	require.Equal(t, fleet.Observe, paused.Mode)
}

func TestTheRecordIsTakenAwayWithAProofOfItsOwn(t *testing.T) {
	s := newSite(t)
	s.submitted()
	s.signIn("otto", false)
	const filtered = "/history/export?kind=request.submitted"
	require.Contains(t, s.page("otto", "/history?kind=request.submitted"), `href="`+filtered+`"`)
	require.Equal(t, filtered, s.get("otto", "/history.csv?kind=request.submitted").Header().Get("Location"), "links that people kept")
	page := s.page("otto", filtered)
	require.Contains(t, text(page), "1 entry")
	require.NotContains(t, page, "data-once", "the page stays when the download starts")

	a := s.post("otto", filtered, hidden(page))
	require.Equal(t, "/step-up?back=%2Fhistory%2Fexport%3Fkind%3Drequest.submitted", a.Header().Get("Location"))
	require.Zero(t, s.count(ledger.Exported), "asked for, neither exported nor refused")
	s.stepUp("otto", filtered)
	proven := hidden(s.page("otto", filtered))
	require.Zero(t, s.count(ledger.Exported), "a GET takes nothing away")
	require.Equal(t, 403, s.post("otto", "/history/export", proven).Code, "a wider list is another export")
	a = s.post("otto", filtered, proven)
	require.Equal(t, 200, a.Code)
	require.Contains(t, a.Header().Get("Content-Disposition"), "attachment")
	require.Contains(t, a.body, "Ana Lindqvist")
	require.Equal(t, 303, s.post("otto", filtered, proven).Code, "one proof, one download")
	require.Equal(t, 2, s.refusals(ledger.Exported))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		s.send("otto", method, filtered, nil)
	}
	require.Equal(t, 3, s.count(ledger.Exported))
}
