// Package oidc owns sign-in with an OpenID Connect provider: a goth.Provider
// whose tokens are verified. goth's own OpenID Connect provider accepts unsigned
// ID tokens, has no nonce and no PKCE per request, and panics on answers without
// an ID token; this one refuses them with a reason that can be shown and
// recorded. The sign-in handlers call it. It must never store anything, never
// take a claim about factors from an unsigned source, never follow a redirect of
// the provider's back channel and never put a token into an error or a log.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/markbates/goth"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// Config is one identity provider as the operator describes it.
type Config struct {
	Name         string // shown to people, and goth's name for it
	Issuer       string // exactly as the provider spells it; https, or http on loopback
	ClientID     string
	ClientSecret string   // empty for a public client; PKCE is used either way
	CallbackURL  string   // where the provider sends the browser back
	Scopes       []string // besides openid; default profile, email, groups

	// GroupsClaim is the claim that carries group names; default "groups".
	GroupsClaim string
	// UserInfo lets name, email and groups come from the userinfo endpoint when
	// the ID token lacks them. Nothing else is ever taken from there.
	UserInfo bool

	// FirstLogout remembers logout tokens: it returns false for an id seen
	// before, and may forget after until. Default: a memory of this process,
	// enough for one replica.
	FirstLogout func(ctx context.Context, id string, until time.Time) (bool, error)

	Transport http.RoundTripper // default http.DefaultTransport
	Now       func() time.Time  // default time.Now
}

// Provider signs people in at one identity provider. It is safe for concurrent
// use and starts, and keeps trying, while the provider is down.
type Provider struct {
	cfg    Config
	client *http.Client

	flight singleflight.Group
	mu     sync.Mutex
	found  *endpoints // last good discovery; nil before the first
}

var _ goth.Provider = (*Provider)(nil)

// New checks the configuration. It does not talk to the provider: the portal
// must start while the provider is down. ctx is for the signature only.
func New(_ context.Context, cfg Config) (*Provider, error) {
	if err := checkURL(cfg.Issuer); err != nil {
		return nil, fmt.Errorf("issuer %q: %w", cfg.Issuer, err)
	}
	if err := checkURL(cfg.CallbackURL); err != nil {
		return nil, fmt.Errorf("callback URL %q: %w", cfg.CallbackURL, err)
	}
	if cfg.ClientID == "" {
		return nil, errors.New("client id is empty")
	}
	if cfg.Name == "" {
		cfg.Name = "openid-connect"
	}
	if cfg.GroupsClaim == "" {
		cfg.GroupsClaim = "groups"
	}
	if cfg.Scopes == nil {
		cfg.Scopes = []string{"profile", "email", "groups"}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.FirstLogout == nil {
		cfg.FirstLogout = newLogoutMemory(cfg.Now).first
	}
	return &Provider{cfg: cfg, client: newClient(cfg.Transport)}, nil
}

// checkURL demands https; http passes only to this machine, for development.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("not a URL")
	case u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("not an absolute URL without user and fragment")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return errors.New("must be https (http is for localhost only)")
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Issuer is the provider's identity, the first half of every person's.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// Name is goth's name of the provider.
func (p *Provider) Name() string { return p.cfg.Name }

// SetName belongs to goth.Provider; call it before the first sign-in only.
func (p *Provider) SetName(name string) { p.cfg.Name = name }

// Debug belongs to goth.Provider. There is no debug output: it would hold tokens.
func (p *Provider) Debug(bool) {}

// RefreshTokenAvailable is false: the portal keeps no token it could refresh.
func (p *Provider) RefreshTokenAvailable() bool { return false }

// RefreshToken always fails, see RefreshTokenAvailable.
func (p *Provider) RefreshToken(string) (*oauth2.Token, error) {
	return nil, errors.New("refresh tokens are not kept")
}
