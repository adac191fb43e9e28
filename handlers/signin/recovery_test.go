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

var (
	codesShown = regexp.MustCompile(`codes=([a-z2-7 -]+)\.`)
	proofShown = regexp.MustCompile(`proof=([0-9a-f-]{36})\.`)
)

func shownCodes(t *testing.T, page string) []string {
	t.Helper()
	m := codesShown.FindStringSubmatch(page)
	require.NotNil(t, m, page)
	return strings.Fields(m[1])
}

// proofs are the proofs kept, oldest first, as "how digests".
func (p *site) proofs() []string {
	p.t.Helper()
	all := []string{}
	require.NoError(p.t, p.people.db.Select(&all, `SELECT s.proven_by || ' ' || array_to_string(s.digests, ',') FROM step_up s ORDER BY s.at`))
	return all
}

// enrolled is bob with an authenticator of the portal, and his recovery codes.
func enrolled(t *testing.T) (p *site, b *oidcpeer.Browser, secret string, codes []string) {
	t.Helper()
	p = newPortal(t, byOthers(true))
	b = oidcpeer.NewBrowser(t)
	p.signIn(b, "alice")
	page := b.Post(p.URL+"/decide", url.Values{"answer": {"first"}})
	secret = shownSecret.FindStringSubmatch(page.Body)[1]
	page = b.Submit(page, "code", idp.Code(secret, p.now()))
	return p, b, secret, shownCodes(t, page.Body)
}

func TestARecoveryCodeStandsInForTheAuthenticator(t *testing.T) {
	p, b, _, codes := enrolled(t)
	page := b.Post(p.URL+"/decide", url.Values{"answer": {"second"}})
	require.Contains(t, page.Body, "or a recovery code")
	send := func(code string) oidcpeer.Page {
		return b.Post(p.URL+paths.StepUp, url.Values{"back": {"/decide"}, "recovery": {code}})
	}
	wrong := send("aaaa-bbbb-cccc-dddd")
	require.Equal(t, 422, wrong.Status)
	require.Contains(t, wrong.Body, "recovery code is not right")
	require.Contains(t, send(strings.ToUpper(codes[4])).Body, "confirm, kept true")
	require.Equal(t, "decided", b.Post(p.URL+"/decide", url.Values{"answer": {"second"}}).Body)
	require.Equal(t, "recovery digest-of-second", p.proofs()[1])

	b.Post(p.URL+"/decide", url.Values{"answer": {"third"}})
	require.Equal(t, 422, send(codes[4]).Status, "each counts once")
	require.Contains(t, b.Get(p.URL+paths.SecondFactor).Body, "enrolled=true left=9")
	record := strings.Join(p.people.recorded(), "\n")
	require.Contains(t, record, "person.recovery_code_used alice")
	require.Contains(t, record, "person.stepped_up alice by=recovery for=to approve R-1")
	require.Equal(t, 2, strings.Count(record, "reason=wrong_recovery_code"))
}

func TestWrongRecoveryCodesWaitLikeWrongCodes(t *testing.T) {
	p, b, secret, codes := enrolled(t)
	b.Post(p.URL+"/decide", url.Values{"answer": {"second"}})
	for range 5 {
		require.Equal(t, 422, b.Post(p.URL+paths.StepUp, url.Values{"back": {"/decide"}, "recovery": {"guess"}}).Status)
	}
	require.Equal(t, 429, b.Post(p.URL+paths.StepUp, url.Values{"back": {"/decide"}, "recovery": {codes[0]}}).Status)
	require.Equal(t, 429, b.Post(p.URL+paths.StepUp, url.Values{"back": {"/decide"}, "code": {idp.Code(secret, p.now().Add(30*time.Second))}}).Status)
	require.Contains(t, b.Get(p.URL+paths.SecondFactor).Body, "left=10", "a code that was not looked at is not used up")
}

func TestNewCodesAndANewAuthenticator(t *testing.T) {
	p, b, secret, codes := enrolled(t)
	proven := func(act string, code url.Values) string {
		page := b.Post(p.URL+act, url.Values{})
		require.Contains(t, page.Body, "code needed to", act)
		code.Set("back", paths.SecondFactor)
		page = b.Post(p.URL+paths.StepUp, code)
		require.NotContains(t, page.Body, "confirm= ", page.Body)
		return proofShown.FindStringSubmatch(page.Body)[1]
	}
	// New codes retire the old ones. Proven by a code of the authenticator.
	proof := proven(paths.RecoveryCodes, url.Values{"code": {idp.Code(secret, p.now().Add(30*time.Second))}})
	fresh := shownCodes(t, b.Post(p.URL+paths.RecoveryCodes, url.Values{"proof": {proof}}).Body)
	require.NotEqual(t, codes, fresh)

	// The authenticator is lost: a recovery code proves it is alice, and a new one is added.
	proof = proven(paths.FactorReplace, url.Values{"recovery": {fresh[0]}})
	page := b.Post(p.URL+paths.FactorReplace, url.Values{"proof": {proof}})
	next := shownSecret.FindStringSubmatch(page.Body)[1]
	require.NotEqual(t, secret, next)
	wrong := b.Post(p.URL+paths.FactorReplace, url.Values{"proof": {proof}, "code": {"000000"}})
	require.Equal(t, 422, wrong.Status)
	require.Contains(t, wrong.Body, next, "the same secret, to try again")
	page = b.Post(p.URL+paths.FactorReplace, url.Values{"proof": {proof}, "code": {idp.Code(next, p.now())}})
	require.Len(t, shownCodes(t, page.Body), 10)

	p.later(time.Minute)
	b.Post(p.URL+"/decide", url.Values{"answer": {"later"}})
	require.Equal(t, 422, b.Post(p.URL+paths.StepUp, url.Values{"back": {"/decide"}, "code": {idp.Code(secret, p.now())}}).Status, "the old one is void")
	require.Contains(t, b.Post(p.URL+paths.StepUp, url.Values{"back": {"/decide"}, "code": {idp.Code(next, p.now())}}).Body, "confirm")
	record := strings.Join(p.people.recorded(), "\n")
	for _, want := range []string{"person.recovery_codes_renewed alice", "person.recovery_code_used alice", "person.factor_replaced alice factor=totp"} {
		require.Contains(t, record, want)
	}
}
