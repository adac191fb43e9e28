package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

func TestARequestFromFormToGrant(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n)
	view := text(s.page("ana", path))
	require.Contains(t, view, "R-1 submitted.", "what the last action did is said once")
	require.NotContains(t, text(s.page("ana", path)), "R-1 submitted.")
	require.Contains(t, view, "Ben Okafor")

	queue := s.page("ben", "/approvals")
	require.Contains(t, text(queue), "R-1")
	require.Contains(t, text(queue), "Ana Lindqvist")
	require.NotContains(t, text(s.page("cleo", "/approvals")), "R-1 ", "the capacity manager is asked second")

	form := s.page("ben", path+"/decide")
	require.Contains(t, text(form), "Approve 8 GPUs")
	require.Contains(t, text(form), "nominalQuota", "what would change on which object")
	a := s.post("ben", path+"/decide", with(hidden(form), "grant.0", "8", "action", "approve"))
	require.Equal(t, 303, a.Code, text(a.body))
	require.Equal(t, "/approvals?decided=1", a.Header().Get("Location"))
	require.Contains(t, text(s.page("ben", a.Header().Get("Location"))), "R-1 is decided")

	form = s.page("cleo", path+"/decide")
	preview := s.post("cleo", path+"/decide", with(hidden(form), "grant.0", "5", "action", "preview"))
	require.Equal(t, 200, preview.Code)
	require.Contains(t, text(preview.body), "Approve 5 GPUs")
	a = s.post("cleo", path+"/decide", with(hidden(form), "grant.0", "6", "reason", "Six are free.", "action", "approve"))
	require.Equal(t, 303, a.Code, text(a.body))

	view = text(s.page("ana", path))
	require.Contains(t, view, "approved less")
	require.Contains(t, view, "6 of 8 GPUs in H100 80 GB")
	require.Contains(t, view, "Six are free.")

	record := text(s.page("otto", "/history?project=street-scenes&kind=request.decided"))
	require.Contains(t, record, "2 entries")
	csv := s.post("otto", "/history/export?kind=request.decided", hidden(s.page("otto", "/history/export?kind=request.decided")))
	require.Equal(t, 200, csv.Code)
	require.Contains(t, csv.Header().Get("Content-Type"), "text/csv")
	require.Contains(t, csv.Header().Get("Content-Disposition"), `filename="quartermaster-history-20261202T140000Z.csv"`)
	require.Equal(t, 3, strings.Count(strings.TrimSpace(csv.body), "\n")+1, "a heading and both decisions:\n%s", csv.body)
	require.Contains(t, csv.body, "Ben Okafor")
	require.Contains(t, csv.body, "Cleo Haddad")
}

func TestADecisionWaitsForTheSecondFactorAndIsConfirmed(t *testing.T) {
	s := newSite(t)
	path := requestPath(s.submitted()) + "/decide"
	s.signIn("ben", false)
	filled := with(hidden(s.page("ben", path)), "grant.0", "7", "reason", "Seven & no more <b>", "action", "approve")
	a := s.post("ben", path, filled)
	require.Equal(t, 303, a.Code, text(a.body))
	require.Equal(t, "/step-up?back=%2Frequests%2F1%2Fdecide", a.Header().Get("Location"))

	s.stepUp("ben", path)
	confirm := s.page("ben", path)
	require.Contains(t, text(confirm), "Nothing is decided yet")
	require.Contains(t, text(confirm), "Approve 7 GPUs", "the form survived")
	require.Contains(t, text(confirm), "Seven & no more <b>")
	require.Contains(t, text(s.page("ana", "/requests/1")), "submitted", "a GET decides nothing")
	require.NotContains(t, text(s.page("ben", path)), "Nothing is decided yet", "the form is given back once")

	a = s.post("ben", path, with(hidden(confirm), "grant.0", "7", "reason", "Seven & no more <b>", "action", "approve"))
	require.Equal(t, 303, a.Code, text(a.body))
	require.Equal(t, filled.Get("idempotency_key"), hidden(confirm).Get("idempotency_key"), "one form, one key, whatever lies between")
}

func TestAFormThatWaitedIsNotConfirmedOnAnotherRevision(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n) + "/decide"
	s.signIn("ben", false)
	s.post("ben", path, with(hidden(s.page("ben", path)), "grant.0", "8", "action", "approve"))
	s.stepUp("ben", path)
	s.revise(n, "9")
	a := s.get("ben", path)
	require.Equal(t, 409, a.Code)
	require.Contains(t, text(a.body), "changed while you proved")
}

// revise lets cleo's colleague return the request and ana submit another amount.
func (s *site) revise(n int64, amount string) {
	s.t.Helper()
	path := requestPath(n)
	manager := s.signIn("ben", true)
	d, err := s.portal.ViewRequest(s.t.Context(), manager, n)
	require.NoError(s.t, err)
	_, err = s.proving.DecideRequest(s.t.Context(), manager, portal.DecideInput{Number: n, Digest: d.Request.Revision.Digest, StageKey: "team", Outcome: "return", Reason: "Less?", Key: newKey()})
	require.NoError(s.t, err)
	edit := s.page("ana", path+"/edit")
	require.Contains(s.t, text(edit), "Less?")
	a := s.post("ana", path+"/edit", s.asked("idempotency_key", newKey(), "revision_digest", hidden(edit).Get("revision_digest"), "line.0.asked", amount))
	require.Equal(s.t, 303, a.Code, text(a.body))
}

func TestAStaleFormShowsWhatChanged(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n) + "/decide"
	old := hidden(s.page("ben", path))
	s.revise(n, "12")
	a := s.post("ben", path, with(old, "grant.0", "8", "reason", "As discussed.", "action", "approve"))
	require.Equal(t, 409, a.Code, text(a.body))
	page := text(a.body)
	require.Contains(t, page, "What changed")
	require.Contains(t, page, "12")
	require.Contains(t, page, "As discussed.", "what was entered is not lost")
	require.Contains(t, text(s.page("ana", requestPath(n))), "submitted")
}

func TestTwoSendsOfOneFormDoOneThing(t *testing.T) {
	s := newSite(t)
	form := s.asked()
	first, second := s.post("ana", "/requests", form), s.post("ana", "/requests", form)
	require.Equal(t, 303, first.Code, text(first.body))
	require.Equal(t, first.Header().Get("Location"), second.Header().Get("Location"))

	path := first.Header().Get("Location")
	decide := with(hidden(s.page("ben", path+"/decide")), "grant.0", "8", "action", "approve")
	first, second = s.post("ben", path+"/decide", decide), s.post("ben", path+"/decide", decide)
	require.Equal(t, 303, first.Code, text(first.body))
	require.Equal(t, 303, second.Code, text(second.body))

	comment := with(hidden(s.page("ana", path)), "text", "Thanks.")
	s.post("ana", path+"/comments", comment)
	s.post("ana", path+"/comments", comment)
	require.Equal(t, 1, s.count(ledger.RequestSubmitted))
	require.Equal(t, 1, s.count(ledger.RequestDecided))
	require.Equal(t, 1, s.count(ledger.RequestCommented))
}

// count is how many entries of a type are on record.
func (s *site) count(kind ledger.Type) int {
	s.t.Helper()
	n, err := s.store.CountEntries(s.t.Context(), portal.EntryQuery{Types: []ledger.Type{kind}}, 1000)
	require.NoError(s.t, err)
	return n
}

func TestWhoMayNotDecideIsRefusedOnRecord(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n) + "/decide"
	form := with(hidden(s.page("ben", path)), "grant.0", "8", "action", "approve")

	a := s.post("ana", path, form)
	require.Equal(t, 403, a.Code, "the requester posts the decision by hand")
	require.Contains(t, text(a.body), "team manager, capacity manager or compliance officer")
	require.Equal(t, 1, s.count(ledger.AccessRefused))
	rows, err := s.store.Entries(t.Context(), portal.EntryQuery{Types: []ledger.Type{ledger.AccessRefused}, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, ledger.Refused, rows[0].Entry.Outcome)
	require.Equal(t, "POST /requests/{request}/decide", rows[0].Entry.Facts["route"])
	require.Equal(t, n, rows[0].RequestNumber)

	require.Equal(t, 404, s.post("eli", path, form).Code, "the manager of another team does not even see it")
	require.Equal(t, 2, s.count(ledger.AccessRefused), "and the attempt is on record")
	require.Equal(t, 403, s.post("pia", path, form).Code, "a platform admin never approves")
	require.Equal(t, 403, s.post("cleo", path, form).Code, "the second stage does not decide the first")
	require.Equal(t, 303, s.post("", path, form).Code, "a stranger signs in first")
	require.Contains(t, text(s.page("ana", requestPath(n))), "tried", "the attempts stand on the request's own timeline")
	require.Zero(t, s.decisions(n))
}

func (s *site) decisions(n int64) int {
	s.t.Helper()
	r, err := s.store.RequestByNumber(s.t.Context(), n)
	require.NoError(s.t, err)
	return len(r.Decisions)
}

func TestNothingIsDoneByOpeningAPage(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n)
	form := with(hidden(s.page("ben", path+"/decide")), "grant.0", "8", "action", "approve")
	before := s.entries()
	for _, target := range []string{path + "/decide?" + form.Encode(), path + "/withdraw?idempotency_key=" + newKey(), path, "/approvals", "/requests/new?from=1"} {
		for _, who := range []string{"ben", "ana"} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				if a := s.send(who, method, target, nil); a.Code == 403 {
					before++ // a refused attempt is an entry
				}
			}
		}
	}
	require.Equal(t, before, s.entries())
	require.Zero(t, s.decisions(n))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		require.Equal(t, 200, s.send("otto", method, "/history/export", nil).Code)
	}
	require.Zero(t, s.count(ledger.Exported), "only a form takes the record away")
}

func (s *site) entries() int {
	s.t.Helper()
	n, err := s.store.CountEntries(s.t.Context(), portal.EntryQuery{}, 1000)
	require.NoError(s.t, err)
	return n
}

func TestTextOfAnyKindIsKeptOrRefusedNeverBroken(t *testing.T) {
	s := newSite(t)
	for _, x := range []struct {
		name, field, value string
		status             int
	}{
		{"markup", "justification", `<script>alert(1)</script> & "quotes"`, 303},
		{"right to left, combining, emoji", "justification", "שלום \u202eevil e\u0301 👩‍🔬", 303},
		{"10,000 characters", "justification", strings.Repeat("ñ", 10_000), 422},
		{"a NUL byte", "purpose", "a\x00b", 422},
		{"invalid UTF-8", "purpose", "a\xff\xfeb", 422},
		{"a formula", "purpose", "=HYPERLINK(\"http://evil.test\")", 303},
		{"an amount in words", "line.0.asked", "eight", 422},
		{"a negative amount", "line.0.asked", "-8", 422},
		{"an amount that overflows", "line.0.asked", "99999999999999999999", 422},
		{"half a GPU", "line.0.asked", "0.5", 422},
		{"a pool that is none", "line.0.pool", "no-such-pool", 422},
		{"a project of others", "project", "chat-assist", 422},
		{"a kind that is none", "line.0.kind", "elastic", 422},
		{"a date that is none", "line.0.end", "31.12.2026", 422},
		{"a runtime that is none", "runtime_hours", "1e9", 422},
		{"a person who is none", "on_behalf_of", "'; DROP TABLE person", 422},
		{"a huge number of lines", "lines", "1000000", 422},
	} {
		t.Run(x.name, func(t *testing.T) {
			a := s.post("ana", "/requests", s.asked(x.field, x.value))
			require.Contains(t, []int{x.status, statusOfOthers(x.name)}, a.Code, text(a.body))
			if a.Code == 422 {
				require.Contains(t, a.body, `name="line.0.asked"`, "the form is shown again")
				return
			}
			if a.Code != 303 {
				return
			}
			page := s.page("ana", a.Header().Get("Location"))
			require.NotContains(t, page, "<script>alert")
			require.Contains(t, text(page), strings.Join(strings.Fields(x.value), " "))
		})
	}
}

// statusOfOthers: what is not the asker's to see may be forbidden rather than wrong.
func statusOfOthers(name string) int {
	if name == "a project of others" {
		return 403
	}
	return 422
}

func TestAWrongFieldKeepsEverythingTyped(t *testing.T) {
	s := newSite(t)
	a := s.post("ana", "/requests", s.asked("line.0.asked", "twelve", "purpose", "Train R&D models", "line.0.end", "2027-03-31"))
	require.Equal(t, 422, a.Code)
	for _, kept := range []string{`value="twelve"`, `value="Train R&amp;D models"`, `value="2027-03-31"`, "The season ends in March."} {
		require.Contains(t, a.body, kept)
	}
	require.Contains(t, a.body, "aria-invalid")
	require.Zero(t, s.count(ledger.RequestDrafted), "a form that cannot be submitted leaves no draft behind")
}

func TestAnAmpersandIsEscapedOnce(t *testing.T) {
	s := newSite(t)
	page := s.page("hugo", "/requests?tab=all&q=R%26D")
	require.Contains(t, page, `value="R&amp;D"`)
	require.NotContains(t, page, "&amp;amp;")
	require.Contains(t, page, "q=R%26D", "in an address it is percent-encoded")
	require.Contains(t, s.page("gia", "/requests/new"), "Climate &amp; Oceans")
}

func TestTheFormWorksWithoutScripts(t *testing.T) {
	s := newSite(t)
	form := s.asked("action", "add_line")
	a := s.post("ana", "/requests", form)
	require.Equal(t, 200, a.Code)
	require.Contains(t, a.body, `name="line.1.pool"`)
	require.Contains(t, text(a.body), "Cost a month")
	two := with(hidden(a.body), "line.0.pool", "aurora-h100", "line.0.asked", "8", "line.0.kind", "hard", "line.1.pool", "aurora-a100", "line.1.asked", "4", "line.1.kind", "soft", "action", "remove_line.0")
	a = s.post("ana", "/requests", two)
	require.Equal(t, 200, a.Code)
	require.NotContains(t, a.body, `name="line.1.pool"`)
	require.Contains(t, a.body, `value="4"`, "the second line moved up")

	draft := s.post("ana", "/requests", s.asked("action", "save_draft", "justification", ""))
	require.Equal(t, 303, draft.Code, text(draft.body))
	require.Contains(t, text(s.page("ana", draft.Header().Get("Location"))), "draft")

	fragment := s.post("ana", "/requests/checks", s.asked())
	require.Equal(t, 200, fragment.Code)
	require.NotContains(t, fragment.body, "<html")
	require.Contains(t, fragment.body, "hx-swap-oob")
	require.Contains(t, text(fragment.body), "Who decides")
}

func TestAWithdrawnRequestStays(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	path := requestPath(n)
	ask := s.page("ana", path+"/withdraw")
	require.Contains(t, text(ask), "Withdraw R-1")
	require.Equal(t, 303, s.post("ana", path+"/withdraw", with(hidden(ask), "reason", "Not needed.")).Code)
	require.Contains(t, text(s.page("ana", path)), "withdrawn")
	require.Contains(t, text(s.page("ana", "/requests")), "R-1")
	require.Equal(t, 409, s.get("ana", path+"/withdraw").Code)
	again := s.page("ana", "/requests/new?from=R-1")
	require.Contains(t, again, "Train the street model")
	require.Equal(t, 404, s.get("dev", path).Code, "another team's request is not there")
}

func TestListsArePagedByKey(t *testing.T) {
	s := newSite(t)
	ana := s.signIn("ana", true)
	for range pageSize + 3 {
		_, err := s.portal.DraftRequest(t.Context(), ana, portal.DraftInput{Key: newKey(), Content: request.Content{Kind: request.Quota, ProjectID: "street-scenes", Environment: "production"}})
		require.NoError(t, err)
	}
	first := s.page("ana", "/requests?state=draft")
	require.Equal(t, pageSize, strings.Count(first, "rowlink"))
	older := href(first, `rel="next"`)
	require.Contains(t, older, "state=draft", "the filter stays in the address")
	require.Equal(t, 3, strings.Count(s.page("ana", older), "rowlink"))
}

// href is the address of the first link with a mark.
func href(page, mark string) string {
	_, rest, _ := strings.Cut(page, mark)
	_, rest, _ = strings.Cut(rest, `href="`)
	link, _, _ := strings.Cut(rest, `"`)
	return unescape(link)
}

func TestSearchFindsByNumberAndByName(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	for _, q := range []string{"R-1", "r-1", "1", " 1 "} {
		require.Equal(t, requestPath(n), s.get("ana", "/search?q="+url.QueryEscape(q)).Header().Get("Location"), q)
	}
	found := text(s.page("ana", "/search?q=street"))
	require.Contains(t, found, "Street Scenes")
	require.Contains(t, found, "R-1")
	require.Contains(t, text(s.page("otto", "/search?q=lindqvist")), "Ana Lindqvist")
	require.NotContains(t, text(s.page("dev", "/search?q=street")), "R-1", "another team's request is not found")
}

func TestHistoryRefusesAFilterItCannotRead(t *testing.T) {
	s := newSite(t)
	for _, q := range []string{"from=yesterday", "kind=nothing", "outcome=maybe", "before=x", "from=2026-12-02&to=2026-12-01", "person=Nobody+Known"} {
		a := s.get("otto", "/history?"+q)
		require.Equal(t, 422, a.Code, q)
		require.Equal(t, 422, s.post("otto", "/history/export?"+q, nil).Code, "%s: the CSV never holds more than was asked for", q)
	}
	n := s.submitted()
	require.Contains(t, text(s.page("otto", "/history?person=lindqvist&from=2026-12-02&to=2026-12-02")), "2 entries")
	r, err := s.store.RequestByNumber(t.Context(), n)
	require.NoError(t, err)
	rows, err := s.store.EntriesOfRequest(t.Context(), r.ID)
	require.NoError(t, err)
	entry := s.page("otto", "/history/"+rows[0].Entry.ID)
	require.Contains(t, text(entry), "links hold")
	require.Contains(t, text(entry), rows[0].Digest)
}

func TestADatabaseThatDoesNotAnswerIsSaidSo(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://portal.test/requests", nil)
	require.NoError(t, err)
	r.Header.Set("Cookie", "as=ana")
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	require.Equal(t, 503, w.Code, text(w.Body.String()))
	require.Equal(t, "10", w.Header().Get("Retry-After"))
}
