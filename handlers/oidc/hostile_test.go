package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"quartermaster/handlers/oidc"
)

const (
	clientID = "portal"
	callback = "http://localhost:8080/sign-in/callback"
)

var theKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

// hostile is a provider that can be told to lie in any part of its answers.
type hostile struct {
	*httptest.Server
	t   testing.TB
	key *rsa.PrivateKey

	mu       sync.Mutex
	down     bool
	keysDown bool
	doc      map[string]any              // what discovery says
	verifier string                      // last code_verifier seen
	auth     string                      // how the client named itself last
	answer   func(w http.ResponseWriter) // of the token endpoint
	userinfo map[string]any
}

func newHostile(t testing.TB) *hostile {
	h := &hostile{t: t, key: theKey()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.down {
			http.Error(w, "down for repairs", http.StatusBadGateway)
			return
		}
		writeJSON(w, h.doc)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.keysDown {
			http.Error(w, "no keys today", http.StatusInternalServerError)
			return
		}
		writeJSON(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &h.key.PublicKey, KeyID: "k1", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.verifier = r.PostFormValue("code_verifier")
		h.auth = "body"
		if _, _, ok := r.BasicAuth(); ok {
			h.auth = "basic"
		}
		h.answer(w)
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, h.userinfo) })
	h.Server = httptest.NewServer(mux)
	t.Cleanup(h.Close)
	h.doc = map[string]any{
		"issuer": h.URL, "authorization_endpoint": h.URL + "/authorize", "token_endpoint": h.URL + "/token",
		"jwks_uri": h.URL + "/keys", "userinfo_endpoint": h.URL + "/userinfo", "end_session_endpoint": h.URL + "/end?tenant=1",
		"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
	}
	return h
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (h *hostile) provider(change ...func(*oidc.Config)) *oidc.Provider {
	cfg := oidc.Config{Name: "Hostile", Issuer: h.URL, ClientID: clientID, ClientSecret: "secret", CallbackURL: callback}
	for _, c := range change {
		c(&cfg)
	}
	p, err := oidc.New(context.Background(), cfg)
	require.NoError(h.t, err)
	return p
}

// honest is what an honest provider would put into a token for this sign-in.
func (h *hostile) honest(s *oidc.Session) map[string]any {
	now := time.Now().Unix()
	return map[string]any{
		"iss": h.URL, "sub": "ada", "aud": clientID, "exp": now + 300, "iat": now, "nonce": s.Nonce,
		"name": "Ada Byron", "email": "ada@example.org", "groups": []string{"managers"},
		"acr": "one", "amr": []string{"pwd"}, "sid": "s1",
	}
}

// tokens makes the token endpoint answer with an ID token and access token "at".
func (h *hostile) tokens(idToken string) {
	h.respond(map[string]any{"access_token": "at", "token_type": "Bearer", "expires_in": 300, "id_token": idToken})
}

func (h *hostile) respond(answer map[string]any) {
	h.answer = func(w http.ResponseWriter) { writeJSON(w, answer) }
}

func (h *hostile) sign(claims map[string]any) string {
	return signWith(h.t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: h.key, KeyID: "k1"}}, claims)
}

func signWith(t testing.TB, key jose.SigningKey, claims map[string]any) string {
	signer, err := jose.NewSigner(key, nil)
	require.NoError(t, err)
	body, err := json.Marshal(claims)
	require.NoError(t, err)
	signed, err := signer.Sign(body)
	require.NoError(t, err)
	raw, err := signed.CompactSerialize()
	require.NoError(t, err)
	return raw
}

func unsigned(claims map[string]any, header string) string {
	body, _ := json.Marshal(claims)
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(body) + "."
}

func begin(t *testing.T, p *oidc.Provider, o oidc.AuthOptions) *oidc.Session {
	s, err := p.BeginAuthWith(t.Context(), oidc.NewState(), o)
	require.NoError(t, err)
	return s
}

func back(s *oidc.Session) url.Values { return url.Values{"state": {s.State}, "code": {"c0de"}} }

// with returns a copy of claims with one changed; a nil value removes it.
func with(claims map[string]any, name string, value any) map[string]any {
	out := maps.Clone(claims)
	if value == nil {
		delete(out, name)
	} else {
		out[name] = value
	}
	return out
}

func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// publicPEM is the public key as text, which a careless library takes for a
// shared secret.
func (h *hostile) publicPEM() []byte {
	der, err := x509.MarshalPKIXPublicKey(&h.key.PublicKey)
	require.NoError(h.t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}
