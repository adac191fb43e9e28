package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/markbates/goth"
	"github.com/stretchr/testify/require"

	"quartermaster/handlers/oidc"
)

func TestTheAddressCarriesStateNoncePKCEAndWishes(t *testing.T) {
	h := newHostile(t)
	p := h.provider()
	s := begin(t, p, oidc.AuthOptions{MaxAge: new(5 * time.Minute), ACRValues: []string{"urn:mfa", "urn:pwd"}, Prompt: "login", LoginHint: "ada"})
	q := query(t, s)
	require.Equal(t, "code", q.Get("response_type"))
	require.Equal(t, "S256", q.Get("code_challenge_method"))
	require.Len(t, q.Get("code_challenge"), 43)
	require.NotContains(t, s.AuthURL, s.Verifier)
	require.Equal(t, s.State, q.Get("state"))
	require.Equal(t, s.Nonce, q.Get("nonce"))
	require.Equal(t, "300", q.Get("max_age"))
	require.Equal(t, "urn:mfa urn:pwd", q.Get("acr_values"))
	require.Equal(t, "login", q.Get("prompt"))
	require.Equal(t, "ada", q.Get("login_hint"))
	require.Equal(t, "openid profile email groups", q.Get("scope"))
	require.Equal(t, callback, q.Get("redirect_uri"))

	other := begin(t, p, oidc.AuthOptions{MaxAge: new(time.Duration(0))})
	require.Equal(t, "0", query(t, other).Get("max_age"), "zero is asked for, not left out")
	require.NotEqual(t, s.Nonce, other.Nonce)
	require.NotEqual(t, s.Verifier, other.Verifier)
	require.False(t, query(t, begin(t, p, oidc.AuthOptions{})).Has("max_age"))

	_, err := p.BeginAuthWith(t.Context(), "", oidc.AuthOptions{})
	requireRefused(t, err, oidc.StateMismatch)
}

func query(t *testing.T, s *oidc.Session) url.Values {
	u, err := url.Parse(s.AuthURL)
	require.NoError(t, err)
	return u.Query()
}

func TestGothSeesAnOrdinaryProvider(t *testing.T) {
	h := newHostile(t)
	var p goth.Provider = h.provider()
	session, err := p.BeginAuth(oidc.NewState())
	require.NoError(t, err)
	stored := session.Marshal()
	session, err = p.UnmarshalSession(stored)
	require.NoError(t, err)
	s := session.(*oidc.Session)
	h.tokens(h.sign(h.honest(s)))
	_, err = session.Authorize(p, back(s))
	require.NoError(t, err)
	require.NotContains(t, session.Marshal(), "id_token", "tokens are not stored")
	user, err := p.FetchUser(session)
	require.NoError(t, err)
	require.Equal(t, "ada", user.UserID)
	require.Equal(t, "one", user.RawData["acr"])
	_, err = p.UnmarshalSession("{")
	require.Error(t, err)
	require.False(t, p.RefreshTokenAvailable())
}

func TestAnswersThatWereNotAskedForAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(url.Values)
		want   oidc.Reason
	}{
		"no state":                      {func(q url.Values) { q.Del("state") }, oidc.StateMismatch},
		"another state":                 {func(q url.Values) { q.Set("state", oidc.NewState()) }, oidc.StateMismatch},
		"an error with another state":   {func(q url.Values) { q.Set("state", "x"); q.Set("error", "access_denied") }, oidc.StateMismatch},
		"no code":                       {func(q url.Values) { q.Del("code") }, oidc.NoCode},
		"denied":                        {func(q url.Values) { q.Set("error", "access_denied") }, oidc.ProviderError},
		"a sermon instead of an error":  {func(q url.Values) { q.Set("error", "<b>Call 555-0100</b>") }, oidc.ProviderError},
		"an answer of another provider": {func(q url.Values) { q.Set("iss", "https://elsewhere.example") }, oidc.WrongIssuer},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			p := h.provider()
			s := begin(t, p, oidc.AuthOptions{})
			h.tokens(h.sign(h.honest(s)))
			q := back(s)
			c.change(q)
			_, err := p.Finish(t.Context(), s, q)
			requireRefused(t, err, c.want)
			require.NotContains(t, err.Error(), "555")
		})
	}
	t.Run("an empty state never matches", func(t *testing.T) {
		h := newHostile(t)
		_, err := h.provider().Finish(t.Context(), &oidc.Session{}, url.Values{"code": {"x"}})
		requireRefused(t, err, oidc.StateMismatch)
	})
	t.Run("iss is missing although announced", func(t *testing.T) {
		h := newHostile(t)
		h.doc["authorization_response_iss_parameter_supported"] = true
		p := h.provider()
		s := begin(t, p, oidc.AuthOptions{})
		h.tokens(h.sign(h.honest(s)))
		_, err := p.Finish(t.Context(), s, back(s))
		requireRefused(t, err, oidc.WrongIssuer)
	})
}

func TestBrokenTokenEndpointsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		want   oidc.Reason
	}{
		"code spent": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			writeJSON(w, map[string]any{"error": "invalid_grant", "error_description": "ada's code"})
		}, oidc.ProviderError},
		"a page":  {func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>hello ada")) }, oidc.ProviderUnreachable},
		"500":     {func(w http.ResponseWriter) { http.Error(w, "ada", http.StatusInternalServerError) }, oidc.ProviderUnreachable},
		"nothing": {func(http.ResponseWriter) {}, oidc.ProviderUnreachable},
		"a redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://elsewhere.example/token")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, oidc.ProviderUnreachable},
		"no access token": {func(w http.ResponseWriter) { writeJSON(w, map[string]any{"id_token": "a.b.c"}) }, oidc.ProviderUnreachable},
		"endless": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"`))
			for range 3 << 10 {
				if _, err := w.Write([]byte(strings.Repeat("a", 1<<10))); err != nil {
					return
				}
			}
		}, oidc.ProviderUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			p := h.provider()
			s := begin(t, p, oidc.AuthOptions{})
			h.answer = c.answer
			_, err := p.Finish(t.Context(), s, back(s))
			requireRefused(t, err, c.want)
		})
	}
}

func TestThePortalOutlivesItsProvider(t *testing.T) {
	h := newHostile(t)
	h.down = true
	now := time.Now()
	p := h.provider(func(c *oidc.Config) { c.Now = func() time.Time { return now } })
	_, err := p.BeginAuthWith(t.Context(), "state", oidc.AuthOptions{})
	requireRefused(t, err, oidc.ProviderUnreachable)

	h.down = false
	s := begin(t, p, oidc.AuthOptions{})
	h.keysDown = true
	h.tokens(h.sign(h.honest(s)))
	_, err = p.Finish(t.Context(), s, back(s))
	requireRefused(t, err, oidc.ProviderUnreachable)

	h.keysDown = false
	s = begin(t, p, oidc.AuthOptions{})
	h.tokens(h.sign(h.honest(s)))
	_, err = p.Finish(t.Context(), s, back(s))
	require.NoError(t, err)

	h.down = true
	now = now.Add(2 * time.Hour)
	_, err = p.BeginAuthWith(t.Context(), "state", oidc.AuthOptions{})
	require.NoError(t, err, "the last good discovery goes on serving")
}

func TestDiscoveryIsNotBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		field string
		value any
		want  oidc.Reason
	}{
		"another issuer":               {"issuer", "https://elsewhere.example", oidc.WrongIssuer},
		"token endpoint without TLS":   {"token_endpoint", "http://idp.example/token", oidc.ProviderUnreachable},
		"keys without TLS":             {"jwks_uri", "http://idp.example/keys", oidc.ProviderUnreachable},
		"no keys":                      {"jwks_uri", nil, oidc.ProviderUnreachable},
		"authorization is a script":    {"authorization_endpoint", "javascript:alert(1)", oidc.ProviderUnreachable},
		"sign-out is a script":         {"end_session_endpoint", "javascript:alert(1)", oidc.ProviderUnreachable},
		"endpoints of the wrong type":  {"token_endpoint", 7, oidc.ProviderUnreachable},
		"a document larger than 1 MiB": {"padding", strings.Repeat("x", 2<<20), oidc.ProviderUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			h.doc = with(h.doc, c.field, c.value)
			_, err := h.provider().BeginAuthWith(t.Context(), "state", oidc.AuthOptions{})
			requireRefused(t, err, c.want)
		})
	}
}

func TestTheClientNamesItselfAsTheProviderWants(t *testing.T) {
	h := newHostile(t)
	h.doc["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	p := h.provider()
	s := begin(t, p, oidc.AuthOptions{})
	h.tokens(h.sign(h.honest(s)))
	_, err := p.Finish(t.Context(), s, back(s))
	require.NoError(t, err)
	require.Equal(t, "body", h.auth)
}

func TestConfigurationIsChecked(t *testing.T) {
	good := oidc.Config{Issuer: "https://idp.example", ClientID: "portal", CallbackURL: "https://portal.example/cb"}
	for name, change := range map[string]func(*oidc.Config){
		"issuer without TLS":   func(c *oidc.Config) { c.Issuer = "http://idp.example" },
		"issuer is a word":     func(c *oidc.Config) { c.Issuer = "idp" },
		"issuer with a user":   func(c *oidc.Config) { c.Issuer = "https://a:b@idp.example" },
		"no client":            func(c *oidc.Config) { c.ClientID = "" },
		"callback without TLS": func(c *oidc.Config) { c.CallbackURL = "http://portal.example/cb" },
		"no callback":          func(c *oidc.Config) { c.CallbackURL = "" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			change(&cfg)
			_, err := oidc.New(t.Context(), cfg)
			require.Error(t, err)
		})
	}
	p, err := oidc.New(t.Context(), good)
	require.NoError(t, err)
	require.Equal(t, good.Issuer, p.Issuer())
}
