package oidc

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/markbates/goth"
	"golang.org/x/oauth2"
)

// AuthOptions is what one sign-in asks of the provider.
type AuthOptions struct {
	// MaxAge is the oldest authentication that will do; nil asks for none, zero
	// for a new one. The answer is checked against it.
	MaxAge *time.Duration
	// ACRValues are wanted authentication contexts, best first. A provider may
	// answer with less: whoever asked must look at Identity.ACR.
	ACRValues []string
	Prompt    string // "login" to be asked again, "select_account", …
	LoginHint string
}

// Session is one sign-in under way. Marshal it into server-side storage: whoever
// reads it can complete the sign-in.
type Session struct {
	AuthURL  string    `json:"auth_url"`
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE, RFC 7636
	Began    time.Time `json:"began"`
	// NotBefore is the oldest auth_time that will do; zero when none was asked for.
	NotBefore time.Time `json:"not_before,omitzero"`

	// Set by Authorize, used by FetchUser in the same request, never stored.
	idToken     string
	accessToken string
}

var _ goth.Session = (*Session)(nil)

// NewState returns a value that nobody can guess, for BeginAuthWith.
func NewState() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails, crypto/rand
	return base64.RawURLEncoding.EncodeToString(b)
}

// BeginAuth starts a plain sign-in.
func (p *Provider) BeginAuth(state string) (goth.Session, error) {
	return p.BeginAuthWith(context.Background(), state, AuthOptions{})
}

// BeginAuthWith starts a sign-in with a nonce and a PKCE verifier of its own.
// The error is a *Refusal, when the provider cannot be reached.
func (p *Provider) BeginAuthWith(ctx context.Context, state string, o AuthOptions) (*Session, error) {
	if state == "" {
		return nil, refuse(StateMismatch, "empty", nil)
	}
	e, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	s := &Session{State: state, Nonce: NewState(), Verifier: oauth2.GenerateVerifier(), Began: p.cfg.Now().UTC()}
	with := []oauth2.AuthCodeOption{gooidc.Nonce(s.Nonce), oauth2.S256ChallengeOption(s.Verifier)}
	add := func(name, value string) {
		if value != "" {
			with = append(with, oauth2.SetAuthURLParam(name, value))
		}
	}
	if o.MaxAge != nil {
		s.NotBefore = s.Began.Add(-*o.MaxAge)
		add("max_age", strconv.FormatInt(int64(*o.MaxAge/time.Second), 10))
	}
	add("acr_values", strings.Join(o.ACRValues, " "))
	add("prompt", o.Prompt)
	add("login_hint", o.LoginHint)
	s.AuthURL = e.oauth.AuthCodeURL(state, with...)
	return s, nil
}

// UnmarshalSession reads what Session.Marshal wrote.
func (p *Provider) UnmarshalSession(data string) (goth.Session, error) {
	s := &Session{}
	if err := json.Unmarshal([]byte(data), s); err != nil {
		return nil, fmt.Errorf("read a sign-in under way: %w", err)
	}
	return s, nil
}

// GetAuthURL is where the browser goes.
func (s *Session) GetAuthURL() (string, error) {
	if s.AuthURL == "" {
		return "", fmt.Errorf("%s", goth.NoAuthUrlErrorMessage)
	}
	return s.AuthURL, nil
}

// Marshal writes the session for storage on the server. Tokens are not in it.
func (s *Session) Marshal() string {
	b, err := json.Marshal(s)
	if err != nil { // strings and times always marshal
		return ""
	}
	return string(b)
}
