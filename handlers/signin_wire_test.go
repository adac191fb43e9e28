package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/handlers/oidc"
	"quartermaster/internal/ledger"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
)

// TestAnAnswerWithoutAnIDTokenIsRefusedNotAPanic puts the whole router in front of
// a provider whose token endpoint leaves the ID token out.
func TestAnAnswerWithoutAnIDTokenIsRefusedNotAPanic(t *testing.T) {
	s := newSite(t)
	provider := http.NewServeMux()
	idp := httptest.NewServer(provider)
	t.Cleanup(idp.Close)
	provider.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": idp.URL, "authorization_endpoint": idp.URL + "/auth", "token_endpoint": idp.URL + "/token", "jwks_uri": idp.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		})
	})
	provider.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"a","token_type":"Bearer"}`))
	})

	var h http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	p, err := oidc.New(t.Context(), oidc.Config{Issuer: idp.URL, ClientID: "portal", ClientSecret: "s", CallbackURL: web.URL + paths.Callback, FirstLogout: s.portal.FirstLogout})
	require.NoError(t, err)
	real, err := New(Config{
		Portal: s.portal, Log: discard, BaseURL: web.URL, Assets: http.NotFoundHandler(), Ready: ready,
		SignIn: SignIn{Use: s.portal, Provider: p, DB: s.store.DB().DB},
	})
	require.NoError(t, err)
	t.Cleanup(real.Close)
	h = real

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	follow := func(target string, status int) *http.Response {
		t.Helper()
		resp, err := browser.Get(target)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode, target)
		return resp
	}
	to := follow(web.URL+paths.Requests, 303).Header.Get("Location")
	require.Equal(t, "/sign-in?back=%2Frequests", to)
	there, err := url.Parse(follow(web.URL+to, 303).Header.Get("Location"))
	require.NoError(t, err)
	back := web.URL + paths.Callback + "?" + url.Values{"code": {"c"}, "state": {there.Query().Get("state")}}.Encode()
	follow(back, http.StatusForbidden)
	follow(back, http.StatusBadRequest) // an answer counts once
	rows, err := s.store.Entries(t.Context(), portal.EntryQuery{Types: []ledger.Type{ledger.SignInRefused}, Limit: 10})
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Equal(t, "no_id_token", rows[1].Entry.Facts["reason"])
	follow(web.URL+paths.Requests, 303) // nobody is signed in
}
