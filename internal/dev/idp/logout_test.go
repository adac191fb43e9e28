package idp_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/idp"
)

func TestSigningOutEndsTheSessionAndTellsTheClient(t *testing.T) {
	told := make(chan string, 4)
	portal := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { told <- r.PostFormValue("logout_token") }))
	t.Cleanup(portal.Close)
	w := start(t, func(c *idp.Config) { c.Clients[0].BackChannel = portal.URL })
	b, elsewhere := w.browser(), w.browser()
	_, claims := w.redeem(w.signIn(b, "bob", "bob-password", "").portalCode(t))
	w.signIn(elsewhere, "bob", "bob-password", "").portalCode(t)

	end := func(pairs ...string) page {
		q := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return w.get(b, w.URL+"/end_session?"+q.Encode())
	}
	p := end()
	require.Contains(t, p.body, "still signed in", "without a hint the person is asked")
	require.Equal(t, 400, end("id_token_hint", "a.b.c").status)
	require.Equal(t, 400, end("id_token_hint", claims["raw"].(string), "post_logout_redirect_uri", "https://elsewhere.example").status)
	require.Empty(t, told)

	p = end("id_token_hint", claims["raw"].(string), "client_id", "portal", "post_logout_redirect_uri", "http://localhost:1/signed-out")
	require.Equal(t, "http://localhost:1/signed-out", p.location.String())
	raw := <-told
	body, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[1])
	require.NoError(t, err)
	token := map[string]any{}
	require.NoError(t, json.Unmarshal(body, &token))
	require.Equal(t, claims["sid"], token["sid"])
	require.Equal(t, "u2", token["sub"])
	require.NotContains(t, token, "nonce")
	require.Equal(t, 200, w.get(b, w.authorizeURL()).status, "this browser is asked again")
	w.get(elsewhere, w.authorizeURL()).portalCode(t)
	require.Empty(t, told, "the other browser's session goes on")

	p = w.read(elsewhere.PostForm(w.URL+"/signed-out", nil))
	require.Contains(t, p.body, "not signed in")
	<-told
	require.Equal(t, 200, w.get(elsewhere, w.authorizeURL()).status)
}

func TestAClientThatIsAwayDoesNotStopASignOut(t *testing.T) {
	away := httptest.NewServer(nil)
	away.Close()
	w := start(t, func(c *idp.Config) { c.Clients[0].BackChannel = away.URL })
	b := w.browser()
	_, claims := w.redeem(w.signIn(b, "bob", "bob-password", "").portalCode(t))
	p := w.get(b, w.URL+"/end_session?id_token_hint="+claims["raw"].(string))
	require.Contains(t, p.body, "not signed in")
}

func TestKeyAndStateAreKeptPrivately(t *testing.T) {
	w := start(t)
	keys := w.get(w.browser(), w.URL+"/keys").body
	w.signIn(w.browser(), "ada", "ada-password", w.code()).portalCode(t)
	for _, f := range []string{"identity-key.pem", "identity-state.json"} {
		info, err := os.Stat(filepath.Join(w.cfg.Dir, f))
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm(), f)
	}
	w.restart()
	require.Equal(t, keys, w.get(w.browser(), w.URL+"/keys").body, "tokens stay valid")
	require.NotContains(t, keys, `"d":`)

	require.NoError(t, os.WriteFile(filepath.Join(w.cfg.Dir, "identity-key.pem"), []byte("spoilt"), 0o600))
	_, err := idp.New(w.cfg)
	require.ErrorContains(t, err, "holds no key")
}
