package signin_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/oidcpeer"
	"quartermaster/internal/dev/idp"
	"quartermaster/internal/paths"
)

func TestSignInDecideAndSignOut(t *testing.T) {
	for name, op := range map[string]party{"built-in": builtIn(), "written by others": byOthers(false)} {
		t.Run(name, func(t *testing.T) {
			p := newPortal(t, op)
			b := oidcpeer.NewBrowser(t)
			page := p.signIn(b, "alice")
			require.Equal(t, p.URL+"/", page.URL.String())
			require.Contains(t, page.Body, "hello alice")
			require.Empty(t, p.proofs(), "a sign-in is no step-up: it shows nothing that could be decided")
			before := p.token(b)
			require.NotEmpty(t, before)
			var stored int
			require.NoError(t, p.people.db.Get(&stored, `SELECT count(*) FROM sessions WHERE token = $1`, before))
			require.Zero(t, stored, "the store holds digests of tokens")
			var data []byte
			require.NoError(t, p.people.db.Get(&data, `SELECT data FROM sessions`))
			require.NotContains(t, string(data), "access_token")

			// A decision asks for a second factor; the form waits on the server.
			page = b.Post(p.URL+"/decide", url.Values{"answer": {"approve 12"}})
			require.True(t, strings.HasPrefix(page.URL.String(), p.idp), "asked at the provider, which proves two factors: %s", page.URL)
			page = b.Submit(page, "username", "alice", "password", op.alice, "code", code(0))
			require.Equal(t, p.URL+"/decide", page.URL.String())
			require.Contains(t, page.Body, "confirm, kept true")
			require.Contains(t, page.Body, `value="approve 12"`)
			require.Empty(t, p.decisions(), "coming back decides nothing")
			require.NotEqual(t, before, p.token(b), "the token is new after a step-up")
			require.Contains(t, p.withToken(before).Get(p.URL+"/").URL.String(), p.idp, "the old one leads nowhere")

			page = b.Submit(page)
			require.Equal(t, "decided", page.Body)
			require.Equal(t, []string{"approve 12"}, p.decisions())
			require.Contains(t, b.Get(p.URL+"/decide").Body, "kept false", "the form is given back once")

			// Good for ten minutes and for what was shown, not longer and not for more.
			require.Equal(t, "decided", b.Post(p.URL+"/decide", url.Values{"answer": {"approve 12"}}).Body)
			require.NotEqual(t, "decided", b.Post(p.URL+"/decide", url.Values{"answer": {"approve 13"}}).Body)
			p.later(10*time.Minute + time.Second)
			page = b.Post(p.URL+"/decide", url.Values{"answer": {"approve 12"}})
			require.NotEqual(t, "decided", page.Body)
			require.Len(t, p.decisions(), 2)

			token := p.token(b)
			page = b.Post(p.URL+paths.SignOut, nil)
			if strings.HasPrefix(page.URL.String(), p.idp) { // some providers ask
				page = b.Submit(page, "logout", "yes")
			}
			require.Contains(t, page.Body, "signed out")
			require.True(t, strings.HasPrefix(page.URL.String(), p.URL+paths.SignedOut))
			require.Contains(t, p.withToken(token).Get(p.URL+"/").URL.String(), p.idp)
			require.Contains(t, b.Get(p.URL+"/").URL.String(), p.idp)
			require.Contains(t, strings.Join(p.people.recorded(), "\n"), "person.stepped_up alice by=provider for=to approve R-1")
		})
	}
}

var shownSecret = regexp.MustCompile(`secret=([A-Z2-7]{32})\.`)

func TestThePortalsOwnSecondFactorWhereTheProviderProvesNone(t *testing.T) {
	for name, c := range map[string]struct {
		op  party
		who string
		// asked: the provider is tried first, and proves one factor.
		asked bool
	}{
		"a provider that sends neither acr nor amr": {byOthers(true), "alice", false},
		"a person with one factor at the provider":  {builtIn(), "bob", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPortal(t, c.op)
			b := oidcpeer.NewBrowser(t)
			require.Contains(t, p.signIn(b, c.who).Body, "hello "+c.who)
			page := b.Post(p.URL+"/decide", url.Values{"answer": {"approve"}})
			if c.asked {
				require.True(t, strings.HasPrefix(page.URL.String(), p.idp))
				page = b.Submit(page, "username", "bob", "password", c.op.bob)
			}
			require.Contains(t, page.Body, "code needed to approve R-1")
			m := shownSecret.FindStringSubmatch(page.Body)
			require.NotNil(t, m, page.Body)
			mine := func(periods int) string { return idp.Code(m[1], p.now().Add(time.Duration(periods)*30*time.Second)) }
			require.Contains(t, b.Get(page.URL.String()).Body, m[1], "the same secret while it is not confirmed")

			wrong := b.Submit(page, "code", "000000")
			require.Equal(t, 422, wrong.Status)
			require.Contains(t, wrong.Body, "not right")
			require.Contains(t, wrong.Body, m[1])

			page = b.Submit(wrong, "code", mine(-1))
			require.Len(t, shownCodes(t, page.Body), 10, "enrolling shows the recovery codes, once")
			require.Contains(t, page.Body, "next /decide")
			page = b.Get(p.URL + "/decide")
			require.Contains(t, page.Body, "confirm, kept true", page.Body)
			require.Equal(t, "decided", b.Submit(page).Body)
			require.Equal(t, []string{"totp digest-of-approve"}, p.proofs())

			// Later the code alone is asked for, and each counts once.
			p.later(11 * time.Minute)
			page = b.Post(p.URL+"/decide", url.Values{"answer": {"second"}})
			require.Contains(t, page.Body, "code needed to approve R-1")
			require.NotContains(t, page.Body, m[1], "the secret is never shown again")
			used := mine(0)
			page = b.Submit(page, "code", used)
			require.Contains(t, page.Body, "confirm, kept true")
			b.Post(p.URL+"/decide", url.Values{"answer": {"third"}})
			again := b.Post(p.URL+paths.StepUp, url.Values{"back": {"/decide"}, "code": {used}})
			require.Equal(t, 422, again.Status, "a code counts once")
			require.Equal(t, []string{"approve"}, p.decisions())
		})
	}
}

func TestWrongCodesWait(t *testing.T) {
	p := newPortal(t, byOthers(true))
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "alice")
	page := b.Post(p.URL+"/decide", url.Values{"answer": {"x"}})
	secret := shownSecret.FindStringSubmatch(page.Body)[1]
	for range 5 {
		require.Equal(t, 422, b.Submit(page, "code", "000000").Status)
	}
	require.Equal(t, 429, b.Submit(page, "code", idp.Code(secret, p.now())).Status)
	p.later(61 * time.Second)
	require.Contains(t, b.Submit(page, "code", idp.Code(secret, p.now())).Body, "next /decide")
	refused := 0
	for _, r := range p.people.recorded() {
		if r == "person.sign_in_refused alice reason=wrong_code" {
			refused++
		}
	}
	require.Equal(t, 5, refused, "each wrong code is on record")
}

func TestASecondFactorIsNotEnrolledInASessionLeftOpen(t *testing.T) {
	p := newPortal(t, byOthers(true))
	b := oidcpeer.NewBrowser(t)
	p.later(-15 * time.Minute)
	p.signIn(b, "alice")
	p.later(15 * time.Minute)
	page := b.Post(p.URL+"/decide", url.Values{"answer": {"x"}})
	require.True(t, strings.HasPrefix(page.URL.String(), p.idp), "the first factor is asked for again: %s", page.URL)
	page = b.Submit(page, "username", "alice", "password", p.party.alice, "code", code(0))
	require.Regexp(t, shownSecret, page.Body)
}

func TestSomebodyElseDoesNotStepUpForMe(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "bob")
	page := b.Post(p.URL+"/decide", url.Values{"answer": {"x"}})
	page = b.Submit(page, "username", "alice", "password", p.party.alice, "code", code(-1))
	require.Equal(t, 403, page.Status, "%s %s", page.URL, page.Body)
	require.Contains(t, page.Body, "refused: other_person")
	require.Contains(t, b.Get(p.URL+"/").Body, `hello bob`)
	require.Empty(t, p.proofs())
	require.Contains(t, p.people.recorded(), "person.sign_in_refused bob reason=other_person")
	require.Empty(t, p.decisions())
}

// Without anything to prove it for, the address of the step-up leads back: a proof is
// never given ahead.
func TestNothingIsProvenAhead(t *testing.T) {
	p := newPortal(t, builtIn())
	b := oidcpeer.NewBrowser(t)
	p.signIn(b, "alice")
	require.Equal(t, p.URL+"/ask", b.Get(p.URL+paths.StepUp+"?back=/ask").URL.String())
	require.Equal(t, p.URL+"/ask", b.Post(p.URL+paths.StepUp, url.Values{"back": {"/ask"}, "code": {code(0)}}).URL.String())
	require.Empty(t, p.proofs())
}
