package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"quartermaster/handlers/oidc"
)

func TestAnHonestTokenSignsIn(t *testing.T) {
	h := newHostile(t)
	p := h.provider()
	s := begin(t, p, oidc.AuthOptions{})
	claims := with(h.honest(s), "at_hash", tokenHash("at"))
	h.tokens(h.sign(claims))
	id, err := p.Finish(t.Context(), s, back(s))
	require.NoError(t, err)
	require.Equal(t, h.URL, id.Issuer)
	require.Equal(t, "ada", id.Subject)
	require.Equal(t, "Ada Byron", id.Name)
	require.Equal(t, []string{"managers"}, id.Groups)
	require.Equal(t, "one", id.ACR)
	require.Equal(t, []string{"pwd"}, id.AMR)
	require.Equal(t, "s1", id.SessionID)
	require.NotEmpty(t, id.IDToken)
	require.Len(t, h.verifier, 43, "the PKCE verifier travels")
	require.Equal(t, "basic", h.auth)
}

// Each lie, and the reason it is refused with. The token is signed with the
// right key unless the lie is about the signature.
func TestForgedAndSpoiltTokensAreRefused(t *testing.T) {
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	minutes := func(n int64) int64 { return time.Now().Unix() + 60*n }
	type lie struct {
		want  oidc.Reason
		token func(h *hostile, c map[string]any) string
	}
	claim := func(want oidc.Reason, name string, value any) lie {
		return lie{want, func(h *hostile, c map[string]any) string { return h.sign(with(c, name, value)) }}
	}
	raw := func(want oidc.Reason, text string) lie {
		return lie{want, func(*hostile, map[string]any) string { return text }}
	}
	for name, l := range map[string]lie{
		"signed by a stranger": {oidc.BadSignature, func(h *hostile, c map[string]any) string {
			return signWith(h.t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: stranger, KeyID: "k1"}}, c)
		}},
		"signed by a stranger with an unknown key id": {oidc.BadSignature, func(h *hostile, c map[string]any) string {
			return signWith(h.t, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: stranger, KeyID: "k2"}}, c)
		}},
		"a stranger's key inside the header": {oidc.BadSignature, func(h *hostile, c map[string]any) string {
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: stranger}, &jose.SignerOptions{EmbedJWK: true})
			require.NoError(h.t, err)
			body, _ := json.Marshal(c)
			signed, err := signer.Sign(body)
			require.NoError(h.t, err)
			out, _ := signed.CompactSerialize()
			return out
		}},
		"not signed": {oidc.BadSignature, func(_ *hostile, c map[string]any) string { return unsigned(c, `{"alg":"none"}`) }},
		"not signed, in another case": {oidc.BadSignature, func(_ *hostile, c map[string]any) string {
			return unsigned(c, `{"alg":"NoNe"}`)
		}},
		"HS256 with the public key as secret": {oidc.BadSignature, func(h *hostile, c map[string]any) string {
			return signWith(h.t, jose.SigningKey{Algorithm: jose.HS256, Key: h.publicPEM()}, c)
		}},
		"HS256 with the client secret": {oidc.BadSignature, func(h *hostile, c map[string]any) string {
			return signWith(h.t, jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("secret", 6))}, c)
		}},
		"RS512, which the provider did not announce": {oidc.BadSignature, func(h *hostile, c map[string]any) string {
			return signWith(h.t, jose.SigningKey{Algorithm: jose.RS512, Key: jose.JSONWebKey{Key: h.key, KeyID: "k1"}}, c)
		}},
		"a claim changed after signing": {oidc.BadSignature, func(h *hostile, c map[string]any) string {
			signed, other := strings.Split(h.sign(c), "."), strings.Split(h.sign(with(c, "sub", "eve")), ".")
			return signed[0] + "." + other[1] + "." + signed[2]
		}},

		"expired":                     claim(oidc.Expired, "exp", minutes(-2)),
		"expired long ago":            claim(oidc.Expired, "exp", 1),
		"issued in the future":        claim(oidc.NotYetValid, "iat", minutes(10)),
		"not valid yet":               claim(oidc.NotYetValid, "nbf", minutes(10)),
		"nbf is a word":               claim(oidc.MalformedToken, "nbf", "tomorrow"),
		"nonce of another sign-in":    claim(oidc.WrongNonce, "nonce", oidc.NewState()),
		"no nonce":                    claim(oidc.WrongNonce, "nonce", nil),
		"empty nonce":                 claim(oidc.WrongNonce, "nonce", ""),
		"for another client":          claim(oidc.WrongAudience, "aud", "another"),
		"audience of similar name":    claim(oidc.WrongAudience, "aud", "portal2"),
		"empty audience":              claim(oidc.MissingClaim, "aud", ""),
		"empty audience list":         claim(oidc.WrongAudience, "aud", []string{}),
		"two audiences, no azp":       claim(oidc.WrongAudience, "aud", []string{clientID, "another"}),
		"issued to another party":     claim(oidc.WrongAudience, "azp", "another"),
		"azp of another type":         claim(oidc.WrongAudience, "azp", 7),
		"from another issuer":         claim(oidc.WrongIssuer, "iss", "https://elsewhere.example"),
		"issuer with a slash more":    {oidc.WrongIssuer, func(h *hostile, c map[string]any) string { return h.sign(with(c, "iss", h.URL+"/")) }},
		"no issuer":                   claim(oidc.MissingClaim, "iss", nil),
		"no subject":                  claim(oidc.MissingClaim, "sub", nil),
		"empty subject":               claim(oidc.MissingClaim, "sub", ""),
		"endless subject":             claim(oidc.MalformedToken, "sub", strings.Repeat("a", 256)),
		"subject is a number":         claim(oidc.MalformedToken, "sub", 12),
		"no audience":                 claim(oidc.MissingClaim, "aud", nil),
		"no expiry":                   claim(oidc.MissingClaim, "exp", nil),
		"expiry is a word":            claim(oidc.MalformedToken, "exp", "soon"),
		"expiry beyond all calendars": claim(oidc.Expired, "exp", -math.MaxFloat64),
		"no issue time":               claim(oidc.MissingClaim, "iat", nil),
		"wrong at_hash":               claim(oidc.WrongTokenHash, "at_hash", tokenHash("another token")),
		"empty at_hash":               claim(oidc.WrongTokenHash, "at_hash", ""),
		"auth_time is a word":         claim(oidc.MalformedToken, "auth_time", "just now"),
		"auth_time in the future":     claim(oidc.NotYetValid, "auth_time", minutes(10)),

		"one dot":             raw(oidc.MalformedToken, "a.b"),
		"only dots":           raw(oidc.MalformedToken, ".."),
		"garbage":             raw(oidc.MalformedToken, "\x00\xff…"),
		"garbage of the form": raw(oidc.MalformedToken, "!!.??.##"),
		"encrypted":           raw(oidc.MalformedToken, "a.b.c.d.e"),
		"a JSON text":         raw(oidc.MalformedToken, `{"sub":"ada"}`),
		"claims are a list": {oidc.MalformedToken, func(h *hostile, _ map[string]any) string {
			signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: h.key, KeyID: "k1"}}, nil)
			require.NoError(h.t, err)
			signed, err := signer.Sign([]byte(`["ada"]`))
			require.NoError(h.t, err)
			out, _ := signed.CompactSerialize()
			return out
		}},
		"claims are null": {oidc.MissingClaim, func(h *hostile, _ map[string]any) string {
			return h.sign(nil)
		}},
		"empty": raw(oidc.NoIDToken, ""),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			p := h.provider()
			s := begin(t, p, oidc.AuthOptions{})
			h.tokens(l.token(h, h.honest(s)))
			id, err := p.Finish(t.Context(), s, back(s))
			requireRefused(t, err, l.want)
			require.Empty(t, id, "a refused sign-in says nothing about anybody")
		})
	}
}

// requireRefused demands the reason, a sentence for the page, and that no text
// for the log holds what the provider sent.
func requireRefused(t *testing.T, err error, want oidc.Reason) {
	t.Helper()
	var r *oidc.Refusal
	require.ErrorAs(t, err, &r)
	require.Equal(t, want, r.Reason, "detail %q, cause %v", r.Detail, errors.Unwrap(r))
	require.NotEmpty(t, r.Public())
	require.NotContains(t, err.Error(), "ada")
	require.NotContains(t, err.Error(), "eyJ")
}

// goth issues 530, 551 and 565: a token answer without id_token ended in a panic.
func TestTokenAnswersWithoutAnIDTokenAreRefused(t *testing.T) {
	for name, answer := range map[string]map[string]any{
		"missing":     {"access_token": "at", "token_type": "Bearer"},
		"null":        {"access_token": "at", "id_token": nil},
		"a number":    {"access_token": "at", "id_token": 7},
		"an object":   {"access_token": "at", "id_token": map[string]any{"sub": "ada"}},
		"empty":       {"access_token": "at", "id_token": ""},
		"a list":      {"access_token": "at", "id_token": []string{"a.b.c"}},
		"only a type": {"access_token": "at", "token_type": "id_token"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			p := h.provider()
			s := begin(t, p, oidc.AuthOptions{})
			h.respond(answer)
			// Through goth's own interface, as its callers would.
			_, err := s.Authorize(p, back(s))
			requireRefused(t, err, oidc.NoIDToken)
			_, err = p.FetchUser(s)
			requireRefused(t, err, oidc.NoIDToken)
		})
	}
}

func TestMaxAgeIsCheckedInTheAnswer(t *testing.T) {
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		maxAge   time.Duration
		authTime any
		want     oidc.Reason
	}{
		"new when new was asked":            {0, now, ""},
		"ten minutes old when new asked":    {0, now - 600, oidc.StaleAuthTime},
		"five minutes old when ten will do": {10 * time.Minute, now - 300, ""},
		"an hour old when ten will do":      {10 * time.Minute, now - 3600, oidc.StaleAuthTime},
		"silent":                            {10 * time.Minute, nil, oidc.MissingClaim},
		"zero":                              {10 * time.Minute, 0, oidc.StaleAuthTime},
		"negative":                          {10 * time.Minute, -5, oidc.MalformedToken},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			p := h.provider()
			s := begin(t, p, oidc.AuthOptions{MaxAge: &c.maxAge})
			stored, err := p.UnmarshalSession(s.Marshal())
			require.NoError(t, err)
			s = stored.(*oidc.Session)
			h.tokens(h.sign(with(h.honest(s), "auth_time", c.authTime)))
			_, err = p.Finish(t.Context(), s, back(s))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			requireRefused(t, err, c.want)
		})
	}
}

func TestUserinfoNeverSpeaksForTheSignedToken(t *testing.T) {
	h := newHostile(t)
	p := h.provider(func(c *oidc.Config) { c.UserInfo = true })
	h.userinfo = map[string]any{
		"sub": "ada", "name": "Somebody Else", "email": "else@example.org", "groups": []string{"admins"},
		"acr": "urn:mfa", "amr": []string{"mfa"}, "auth_time": time.Now().Unix(), "iss": "https://elsewhere.example",
	}
	s := begin(t, p, oidc.AuthOptions{})
	h.tokens(h.sign(with(h.honest(s), "email", nil)))
	id, err := p.Finish(t.Context(), s, back(s))
	require.NoError(t, err)
	require.Equal(t, "else@example.org", id.Email, "what the token lacks may come from userinfo")
	require.Equal(t, "Ada Byron", id.Name)
	require.Equal(t, []string{"managers"}, id.Groups)
	require.Equal(t, "one", id.ACR)
	require.Equal(t, []string{"pwd"}, id.AMR)
	require.True(t, id.AuthTime.IsZero())

	s = begin(t, p, oidc.AuthOptions{})
	h.tokens(h.sign(with(with(h.honest(s), "groups", nil), "acr", nil)))
	id, err = p.Finish(t.Context(), s, back(s))
	require.NoError(t, err)
	require.Equal(t, []string{"admins"}, id.Groups)
	require.Empty(t, id.ACR, "a factor is proven in the signed token or not at all")

	h.userinfo["sub"] = "eve"
	s = begin(t, p, oidc.AuthOptions{})
	h.tokens(h.sign(with(h.honest(s), "groups", nil)))
	_, err = p.Finish(t.Context(), s, back(s))
	requireRefused(t, err, oidc.WrongSubject)

	// Without the option, userinfo is not even asked.
	p = h.provider()
	s = begin(t, p, oidc.AuthOptions{})
	h.tokens(h.sign(with(h.honest(s), "groups", nil)))
	id, err = p.Finish(t.Context(), s, back(s))
	require.NoError(t, err)
	require.Empty(t, id.Groups)
}

func TestOddGroupsGiveNoGroup(t *testing.T) {
	many := make([]string, 2001)
	for i := range many {
		many[i] = strings.Repeat("g", i%200+1)
	}
	for name, c := range map[string]struct {
		value any
		want  []string
	}{
		"a list":               {[]string{"a", "b", "a"}, []string{"a", "b"}},
		"an empty list":        {[]string{}, []string{}},
		"absent":               {nil, nil},
		"a word":               {"admins", nil},
		"a list with a number": {[]any{"admins", 7}, nil},
		"a list with nothing":  {[]any{"admins", nil}, nil},
		"a list with an empty": {[]any{"admins", ""}, nil},
		"a list in a list":     {[]any{[]string{"admins"}}, nil},
		"an object":            {map[string]any{"admins": true}, nil},
		"true":                 {true, nil},
		"too many":             {many, nil},
		"one too long":         {[]string{strings.Repeat("g", 257)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			p := h.provider()
			s := begin(t, p, oidc.AuthOptions{})
			h.tokens(h.sign(with(h.honest(s), "groups", c.value)))
			id, err := p.Finish(t.Context(), s, back(s))
			require.NoError(t, err)
			require.Equal(t, c.want, id.Groups)
			require.Equal(t, c.want == nil, id.GroupsNote != "", "no groups without a note: %q", id.GroupsNote)
		})
	}
}

func TestLabelsAreFitToBeShown(t *testing.T) {
	h := newHostile(t)
	p := h.provider()
	s := begin(t, p, oidc.AuthOptions{})
	claims := with(h.honest(s), "name", "Ada\x00\u202e\n Byron"+strings.Repeat("é", 500))
	claims = with(with(with(claims, "acr", 4), "amr", "pwd"), "sid", []string{"x"})
	claims = with(claims, "email", map[string]any{"a": 1})
	h.tokens(h.sign(claims))
	id, err := p.Finish(t.Context(), s, back(s))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(id.Name, "Ada Byroné"), id.Name)
	require.Len(t, []rune(id.Name), 200)
	require.Empty(t, id.Email)
	require.Empty(t, id.ACR)
	require.Empty(t, id.AMR)
	require.Empty(t, id.SessionID)
}

func FuzzIDTokens(f *testing.F) {
	for _, seed := range []string{"", "..", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", `{"payload":"","signatures":[]}`, strings.Repeat(".", 5000)} {
		f.Add(seed)
	}
	h := newHostile(f)
	p := h.provider()
	f.Fuzz(func(t *testing.T, token string) {
		s := begin(t, p, oidc.AuthOptions{})
		h.tokens(token)
		_, err := p.Finish(t.Context(), s, back(s))
		if oidc.ReasonOf(err) == "" {
			t.Fatalf("%q was not refused: %v", token, err)
		}
		_, err = p.VerifyLogoutToken(t.Context(), token)
		if oidc.ReasonOf(err) == "" {
			t.Fatalf("%q was taken for a logout: %v", token, err)
		}
	})
}
