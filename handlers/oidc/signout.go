package oidc

import (
	"context"
	"net/url"
	"sync"
	"time"
)

// EndSessionURL is where the browser ends its session at the provider
// (OpenID Connect RP-Initiated Logout). ok is false when the provider offers
// none or cannot be asked; the person is then signed out of the portal alone.
func (p *Provider) EndSessionURL(ctx context.Context, idToken, back string) (target string, ok bool) {
	e, err := p.discover(ctx)
	if err != nil || e.endSession == "" {
		return "", false
	}
	u, err := url.Parse(e.endSession)
	if err != nil {
		return "", false
	}
	q := u.Query()
	q.Set("client_id", p.cfg.ClientID)
	q.Set("post_logout_redirect_uri", back)
	if idToken != "" {
		q.Set("id_token_hint", idToken)
	}
	u.RawQuery = q.Encode()
	return u.String(), true
}

// Logout is a verified back-channel logout: the sessions of Subject, or only the
// one called SessionID, are over. One of the two may be empty.
type Logout struct {
	ID        string // jti
	Issuer    string
	Subject   string
	SessionID string
}

// logoutMaxAge bounds how old a logout token may be, whatever its exp says, and
// so how long ids have to be remembered.
const logoutMaxAge = 10 * time.Minute

// VerifyLogoutToken checks a logout token (OpenID Connect Back-Channel Logout
// section 2.6) and that it was not used before. Every error is a *Refusal.
func (p *Provider) VerifyLogoutToken(ctx context.Context, raw string) (Logout, error) {
	e, err := p.discover(ctx)
	if err != nil {
		return Logout{}, err
	}
	if _, err := e.verify(ctx, raw); err != nil {
		return Logout{}, err
	}
	t, err := e.verifier.VerifyLogout(ctx, raw)
	if err != nil { // the signature passed above, so it is the content
		return Logout{}, refuse(NotALogoutToken, "", err)
	}
	claims := map[string]any{}
	if err := t.Claims(&claims); err != nil {
		return Logout{}, refuse(MalformedToken, "claims", err)
	}
	now := p.cfg.Now()
	switch {
	case t.Issuer != p.cfg.Issuer:
		return Logout{}, refuse(WrongIssuer, "", nil)
	case checkAudience(t.Audience, claims, p.cfg.ClientID) != nil:
		return Logout{}, refuse(WrongAudience, "", nil)
	case !now.Before(t.Expiry.Add(slack)):
		return Logout{}, refuse(Expired, "", nil)
	case claims["iat"] == nil:
		return Logout{}, refuse(MissingClaim, "iat", nil)
	case t.IssuedAt.After(now.Add(slack)):
		return Logout{}, refuse(NotYetValid, "iat", nil)
	case t.IssuedAt.Before(now.Add(-logoutMaxAge)):
		return Logout{}, refuse(Expired, "iat", nil)
	case len(t.TokenID) > maxSubject || len(t.Subject) > maxSubject || len(t.SessionID) > maxSubject:
		return Logout{}, refuse(MalformedToken, "", nil)
	}
	first, err := p.cfg.FirstLogout(ctx, t.TokenID, t.IssuedAt.Add(logoutMaxAge+slack))
	if err != nil {
		return Logout{}, refuse(ProviderUnreachable, "logout memory", err)
	}
	if !first {
		return Logout{}, refuse(Replayed, "", nil)
	}
	return Logout{ID: t.TokenID, Issuer: t.Issuer, Subject: t.Subject, SessionID: t.SessionID}, nil
}

// logoutMemory remembers ids of logout tokens until they expire. Only verified
// tokens get in, so the provider bounds its size.
type logoutMemory struct {
	mu   sync.Mutex
	seen map[string]time.Time
	now  func() time.Time
}

func newLogoutMemory(now func() time.Time) *logoutMemory {
	return &logoutMemory{seen: map[string]time.Time{}, now: now}
}

func (m *logoutMemory) first(_ context.Context, id string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for old, end := range m.seen {
		if now.After(end) {
			delete(m.seen, old)
		}
	}
	if _, known := m.seen[id]; known {
		return false, nil
	}
	m.seen[id] = until
	return true, nil
}
