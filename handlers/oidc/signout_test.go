package oidc_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"quartermaster/handlers/oidc"
)

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

func (h *hostile) logout() map[string]any {
	now := time.Now().Unix()
	return map[string]any{
		"iss": h.URL, "aud": clientID, "iat": now, "exp": now + 120, "jti": oidc.NewState(), "sub": "ada", "sid": "s1",
		"events": map[string]any{logoutEvent: map[string]any{}},
	}
}

func TestALogoutTokenCountsOnce(t *testing.T) {
	h := newHostile(t)
	p := h.provider()
	raw := h.sign(h.logout())
	out, err := p.VerifyLogoutToken(t.Context(), raw)
	require.NoError(t, err)
	require.Equal(t, "ada", out.Subject)
	require.Equal(t, "s1", out.SessionID)
	require.Equal(t, h.URL, out.Issuer)
	_, err = p.VerifyLogoutToken(t.Context(), raw)
	requireRefused(t, err, oidc.Replayed)

	_, err = p.VerifyLogoutToken(t.Context(), h.sign(with(h.logout(), "sub", nil)))
	require.NoError(t, err, "sid alone will do")
	_, err = p.VerifyLogoutToken(t.Context(), h.sign(with(h.logout(), "sid", nil)))
	require.NoError(t, err, "sub alone will do")
}

func TestSpoiltLogoutTokensAreRefused(t *testing.T) {
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		field string
		value any
		want  oidc.Reason
	}{
		"an ID token":         {"nonce", "n", oidc.NotALogoutToken},
		"a null nonce":        {"nonce", json.RawMessage("null"), oidc.NotALogoutToken},
		"no event":            {"events", nil, oidc.NotALogoutToken},
		"another event":       {"events", map[string]any{"http://example.org/other": map[string]any{}}, oidc.NotALogoutToken},
		"no id":               {"jti", nil, oidc.NotALogoutToken},
		"no end":              {"exp", nil, oidc.NotALogoutToken},
		"no beginning":        {"iat", nil, oidc.MissingClaim},
		"expired":             {"exp", now - 120, oidc.Expired},
		"an hour old":         {"iat", now - 3600, oidc.Expired},
		"from the future":     {"iat", now + 3600, oidc.NotYetValid},
		"for another client":  {"aud", "another", oidc.WrongAudience},
		"from another issuer": {"iss", "https://elsewhere.example", oidc.WrongIssuer},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHostile(t)
			_, err := h.provider().VerifyLogoutToken(t.Context(), h.sign(with(h.logout(), c.field, c.value)))
			requireRefused(t, err, c.want)
		})
	}
	t.Run("about nobody", func(t *testing.T) {
		h := newHostile(t)
		_, err := h.provider().VerifyLogoutToken(t.Context(), h.sign(with(with(h.logout(), "sub", nil), "sid", nil)))
		requireRefused(t, err, oidc.NotALogoutToken)
	})
	t.Run("not signed", func(t *testing.T) {
		h := newHostile(t)
		_, err := h.provider().VerifyLogoutToken(t.Context(), unsigned(h.logout(), `{"alg":"none"}`))
		requireRefused(t, err, oidc.BadSignature)
	})
	t.Run("signed with the client secret", func(t *testing.T) {
		h := newHostile(t)
		_, err := h.provider().VerifyLogoutToken(t.Context(), signWith(t, jose.SigningKey{Algorithm: jose.HS256, Key: h.publicPEM()}, h.logout()))
		requireRefused(t, err, oidc.BadSignature)
	})
	t.Run("when the memory fails", func(t *testing.T) {
		h := newHostile(t)
		p := h.provider(func(c *oidc.Config) {
			c.FirstLogout = func(context.Context, string, time.Time) (bool, error) { return false, errors.New("database is gone") }
		})
		_, err := p.VerifyLogoutToken(t.Context(), h.sign(h.logout()))
		requireRefused(t, err, oidc.ProviderUnreachable)
	})
}

func TestEndSessionURL(t *testing.T) {
	h := newHostile(t)
	target, ok := h.provider().EndSessionURL(t.Context(), "hint", "https://portal.example/signed-out")
	require.True(t, ok)
	u, err := url.Parse(target)
	require.NoError(t, err)
	require.Equal(t, url.Values{
		"tenant": {"1"}, "client_id": {clientID}, "id_token_hint": {"hint"}, "post_logout_redirect_uri": {"https://portal.example/signed-out"},
	}, u.Query())

	h = newHostile(t)
	h.doc = with(h.doc, "end_session_endpoint", nil)
	_, ok = h.provider().EndSessionURL(t.Context(), "", "")
	require.False(t, ok, "a provider without sign-out")

	h = newHostile(t)
	h.down = true
	_, ok = h.provider().EndSessionURL(t.Context(), "", "")
	require.False(t, ok, "a provider that is down")
}
