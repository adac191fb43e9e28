package signin_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/oidcpeer"
	"quartermaster/handlers/oidc"
	"quartermaster/handlers/signin"
	"quartermaster/internal/paths"
)

func TestSessionsEndByIdlenessAndAge(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "bob")
	for range 4 { // used every 25 minutes
		p.later(25 * time.Minute)
		require.Contains(t, b.Get(p.URL+"/").Body, "hello bob")
	}
	p.later(30 * time.Minute)
	page := b.Get(p.URL + "/")
	require.Contains(t, page.Body, "30 minutes without use")
	require.Contains(t, page.Body, "next /")
	require.Contains(t, p.people.recorded(), "person.signed_out bob cause=idle")

	p.signIn(b, "bob")
	for range 28 {
		p.later(25 * time.Minute)
		require.Contains(t, b.Get(p.URL+"/").Body, "hello bob")
	}
	p.later(25 * time.Minute)
	require.Contains(t, b.Get(p.URL+"/").Body, "ends after 12 hours")
	require.Contains(t, p.people.recorded(), "person.signed_out bob cause=absolute")
}

func TestAFormPostedTooLateIsNotCarriedOut(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	page := b.Post(p.URL+"/decide", url.Values{"answer": {"x"}})
	require.Contains(t, page.Body, "not carried out")
	require.Empty(t, p.decisions())
}

func TestTheProviderEndsSessionsOverTheBackChannel(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "alice")
	elsewhere := oidcpeer.NewBrowser(t)
	page := elsewhere.Get(p.URL + "/")
	elsewhere.Submit(page, "username", "alice", "password", p.party.alice, "code", code(0))

	// Signing out at the provider itself, without a word to the portal's own page.
	b.Submit(b.Get(p.idp + "/signed-out"))
	page = b.Get(p.URL + "/")
	require.Contains(t, page.Body, "ended at the identity provider")
	require.Contains(t, p.people.recorded(), "person.signed_out alice cause=provider")
	require.Contains(t, elsewhere.Get(p.URL+"/").Body, "hello alice", "only the session that ended")
}

func TestForgedLogoutsEndNothing(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "bob")
	for _, token := range []string{"", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", strings.Repeat("x", 100<<10)} {
		page := oidcpeer.NewBrowser(t).Post(p.URL+paths.BackChannelLogout, url.Values{"logout_token": {token}})
		require.Equal(t, 400, page.Status)
		require.Equal(t, "no-store", page.Header.Get("Cache-Control"))
	}
	require.Contains(t, b.Get(p.URL+"/").Body, "hello bob")
}

func TestARequestUnderWayDoesNotBringASessionBack(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "alice")
	require.Equal(t, 200, b.Get(p.URL+"/slow").Status)
	require.Contains(t, b.Get(p.URL+"/").Body, "ended at the identity provider")

	// Nor when the row itself is gone: signed out or rotated in another tab.
	p.signIn(b, "alice")
	token := p.token(b)
	require.Equal(t, 200, b.Get(p.URL+"/gone").Status)
	require.True(t, strings.HasPrefix(p.withToken(token).Get(p.URL+"/").URL.String(), p.idp))
	var kept int
	require.NoError(t, p.people.db.Get(&kept, `SELECT count(*) FROM sessions WHERE position('"Subject":"alice"'::bytea IN data) > 0`))
	require.Zero(t, kept)
}

func TestAPlantedTokenOpensNothing(t *testing.T) {
	p := newPortal(t, builtIn())
	attacker := oidcpeer.NewBrowser(t)
	attacker.Get(p.URL + "/") // has a token and a sign-in under way
	victim := p.withToken(p.token(attacker))
	p.signIn(victim, "bob")
	require.Contains(t, victim.Get(p.URL+"/").Body, "hello bob")
	require.NotEqual(t, p.token(attacker), p.token(victim))
	require.True(t, strings.HasPrefix(attacker.Get(p.URL+"/").URL.String(), p.idp), "the planted token is not signed in")
}

func TestReturnsThatWereNotAskedForAreRefusedAndRecorded(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	page := b.Get(p.URL + paths.Callback + "?state=guess&code=x")
	require.Equal(t, 400, page.Status)
	require.Contains(t, page.Body, "refused: state_mismatch")
	require.Contains(t, p.people.recorded(), "person.sign_in_refused stranger reason=state_mismatch")

	// The provider's answer in another browser.
	var answer string
	mine := oidcpeer.NewBrowser(t)
	page = mine.Get(p.URL + "/")
	require.True(t, strings.HasPrefix(page.URL.String(), p.idp))
	page = mine.Submit(page, "username", "bob", "password", p.party.bob)
	require.Contains(t, page.Body, "hello bob")
	answer = p.URL + paths.Callback + "?state=" + oidc.NewState() + "&code=x"
	require.Equal(t, 400, oidcpeer.NewBrowser(t).Get(answer).Status)

	// What the provider itself refuses.
	stranger := oidcpeer.NewBrowser(t)
	page = stranger.Get(p.URL + "/")
	require.Equal(t, 200, page.Status)
	require.Equal(t, 400, stranger.Get(p.URL+paths.Callback+"?error=access_denied&state=other").Status)

	// Somebody makes a great many: the record does not grow with them.
	for range 60 {
		oidcpeer.NewBrowser(t).Get(p.URL + paths.Callback)
	}
	require.Less(t, len(p.people.recorded()), 50)
}

func TestThePortalStandsWhileTheProviderIsDown(t *testing.T) {
	away := httptest.NewServer(nil)
	away.Close()
	op := builtIn()
	op.start = func(*testing.T, string) string { return away.URL }
	p := newPortal(t, op)
	page := oidcpeer.NewBrowser(t).Get(p.URL + "/")
	require.Equal(t, 503, page.Status)
	require.Contains(t, page.Body, "does not answer")
}

func TestDeactivatedPeopleStayOut(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "bob")
	p.people.db.MustExec(`UPDATE person SET active = false`)
	require.Contains(t, b.Get(p.URL+"/").Body, "switched off")
	page := b.Get(p.URL + "/")
	require.Equal(t, 403, page.Status, "nor does signing in again help: %s", page.Body)
	require.Contains(t, page.Body, "refused: inactive")
}

func TestTheCookieBelongsToThisHostAlone(t *testing.T) {
	p := newPortal(t, builtIn())
	provider, err := oidc.New(t.Context(), oidc.Config{Issuer: p.idp, ClientID: "portal", CallbackURL: "https://portal.example" + paths.Callback})
	require.NoError(t, err)
	h, err := signin.New(signin.Config{
		BaseURL: "https://portal.example", Provider: provider, DB: p.people.db.DB, People: p.people, Factors: p.people, Pages: pages(),
		Fail: func(_ http.ResponseWriter, _ *http.Request, err error) { t.Error(err) },
	})
	require.NoError(t, err)
	t.Cleanup(h.Close)
	w := httptest.NewRecorder()
	for _, e := range h.Routes() {
		if e.Pattern == paths.SignIn {
			h.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { require.NoError(t, e.Do(w, r)) })).
				ServeHTTP(w, httptest.NewRequest(http.MethodGet, paths.SignIn, nil))
		}
	}
	require.Equal(t, http.StatusSeeOther, w.Code)
	cookies := w.Result().Cookies()
	require.Len(t, cookies, 1)
	c := cookies[0]
	require.Equal(t, "__Host-qm", c.Name)
	require.True(t, c.Secure && c.HttpOnly && c.Path == "/" && c.Domain == "" && c.SameSite == http.SameSiteLaxMode, c.String())
	require.Equal(t, "no-store", w.Header().Values("Cache-Control")[0])
}

func TestWithoutAnyPartNothingStarts(t *testing.T) {
	_, err := signin.New(signin.Config{BaseURL: "https://portal.example"})
	require.ErrorContains(t, err, "not wired")
	_, err = signin.New(signin.Config{BaseURL: "portal"})
	require.ErrorContains(t, err, "base URL")
}

func TestTheSessionRemembersTextsWithinBounds(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "bob")
	keep := func(name, text string) { b.Post(p.URL+"/keep", url.Values{"name": {name}, "text": {text}}) }
	keep("said", "Request R-1 submitted")
	require.Equal(t, `took "Request R-1 submitted"`, b.Get(p.URL+"/take?name=said").Body)
	require.Equal(t, `took ""`, b.Get(p.URL+"/take?name=said").Body, "once")
	keep("long", strings.Repeat("x", 40<<10))
	require.Equal(t, `took ""`, b.Get(p.URL+"/take?name=long").Body)
	for i := range 30 {
		keep(strings.Repeat("n", i+1), "x")
	}
	took := 0
	for i := range 30 {
		if b.Get(p.URL+"/take?name="+strings.Repeat("n", i+1)).Body == `took "x"` {
			took++
		}
	}
	require.Equal(t, 20, took)
	require.Contains(t, b.Get(p.URL+"/").Body, "hello bob", "the session itself is untouched")
}
