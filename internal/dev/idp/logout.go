package idp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// TerminateSessionFromRequest ends the session that the id_token_hint names and
// tells every client that took part. Without a hint nobody is signed out: the
// person is asked instead, for anybody can make a browser open an address.
func (s storage) TerminateSessionFromRequest(ctx context.Context, r *op.EndSessionRequest) (string, error) {
	if r.IDTokenHintClaims == nil {
		return "/signed-out", nil
	}
	sid, _ := r.IDTokenHintClaims.Claims["sid"].(string)
	if r.IDTokenHintClaims.SessionID != "" {
		sid = r.IDTokenHintClaims.SessionID
	}
	s.mu.Lock()
	var key string
	for k, e := range s.sessions {
		if e.ID == sid && e.Subject == r.UserID {
			key = k
		}
	}
	s.mu.Unlock()
	s.end(ctx, key)
	return r.RedirectURI, nil
}

// end closes a session and sends logout tokens.
func (s *state) end(ctx context.Context, key string) {
	s.mu.Lock()
	e, ok := s.sessions[key]
	if ok {
		delete(s.sessions, key)
		if err := s.save(); err != nil {
			s.cfg.Log.Error("a session ended but is still on file", "error", err)
		}
	}
	s.mu.Unlock()
	if !ok {
		return
	}
	s.cfg.Log.Info("signed out at the built-in identity provider", "subject", e.Subject)
	for _, id := range e.Clients {
		c, ok := s.clients[id]
		if !ok || c.BackChannel == "" {
			continue
		}
		if err := s.tell(ctx, c, e); err != nil {
			s.cfg.Log.Warn("a client was not told of a sign-out", "client", id, "error", err)
		}
	}
}

// tell posts a logout token (OpenID Connect Back-Channel Logout 1.0).
func (s *state) tell(ctx context.Context, c Client, e session) error {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: s.key, KeyID: s.keyID}},
		(&jose.SignerOptions{}).WithType("logout+jwt"))
	if err != nil {
		return fmt.Errorf("sign a logout token: %w", err)
	}
	claims, err := oidc.NewLogoutTokenClaims(s.cfg.Issuer, e.Subject, oidc.Audience{c.ID}, time.Now().Add(2*time.Minute), random(), e.ID, 0).MarshalJSON()
	if err != nil {
		return fmt.Errorf("write a logout token: %w", err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return fmt.Errorf("sign a logout token: %w", err)
	}
	raw, err := signed.CompactSerialize()
	if err != nil {
		return fmt.Errorf("write a logout token: %w", err)
	}
	// The client must hear of it even if the browser that asked is gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.BackChannel, strings.NewReader(url.Values{"logout_token": {raw}}.Encode()))
	if err != nil {
		return fmt.Errorf("post a logout token: %w", err)
	}
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(post)
	if err != nil {
		return fmt.Errorf("post a logout token: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("post a logout token: %s", answer.Status)
	}
	return nil
}

// showSignedOut is where people land who were sent here without a way back.
func (s *state) showSignedOut(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	_, signedIn := s.sessions[browserOf(r.Context()).session]
	s.mu.Unlock()
	s.render(w, http.StatusOK, "signed-out.html", map[string]any{"SignedIn": signedIn})
}

func (s *state) takeSignOut(w http.ResponseWriter, r *http.Request) {
	s.end(r.Context(), browserOf(r.Context()).session)
	s.setCookie(w, "-session", "", -1)
	http.Redirect(w, r, "/signed-out", http.StatusSeeOther)
}
