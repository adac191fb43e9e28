// Package idp is the built-in identity provider: OpenID Connect over
// zitadel/oidc with users from a list, passwords and single-use one-time codes.
// It is for demonstration and small labs, and says so on its pages.
// "quartermaster dev" and the tests start it. It must never learn anything from
// the portal: the two speak OpenID Connect over HTTP and nothing else.
package idp

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"quartermaster/internal/signin"
)

// Authentication contexts the provider can be asked for and answers with.
const (
	ACRPassword    = "urn:quartermaster:acr:password"
	ACRMultiFactor = "urn:quartermaster:acr:mfa"
)

// Config is one provider.
type Config struct {
	Issuer  string // https, or http://localhost:PORT in development
	Users   []User
	Clients []Client
	// Dir keeps the signing key, the spent codes and the sessions, so that a
	// restart signs nobody out and lets no code be used twice. Empty: memory only.
	Dir string
	// Dev takes plain passwords and shows everybody's password and current code
	// on /people. Never set it where others can reach the address.
	Dev bool
	Log *slog.Logger     // default slog.Default()
	Now func() time.Time // default time.Now
}

// User is a person who can sign in.
type User struct {
	Subject      string // never changes and is never given to another person
	Username     string // case does not matter
	Name         string
	Email        string
	Password     string // plain text, with Config.Dev only
	PasswordHash string // bcrypt
	TOTPSecret   string // base32; empty: password only
	Groups       []string
	Title        string // what the person does, shown on /people
}

// Client is a site that people sign in to.
type Client struct {
	ID           string
	Secret       string
	RedirectURIs []string
	PostLogout   []string // where the browser may go after signing out
	BackChannel  string   // told when a session ends; may be empty
}

// Code is the one-time code of secret at now, for tests and scripts.
func Code(secret string, now time.Time) string {
	code, err := signin.CodeAt(secret, signin.Step(now))
	if err != nil {
		return ""
	}
	return code
}

// New returns the provider's handler, to be served at the root of Config.Issuer.
func New(cfg Config) (http.Handler, error) {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	issuer, err := url.Parse(cfg.Issuer)
	if err != nil || issuer.Host == "" || (issuer.Path != "" && issuer.Path != "/") {
		return nil, fmt.Errorf("issuer %q must be scheme://host[:port]", cfg.Issuer)
	}
	if ip := net.ParseIP(issuer.Hostname()); issuer.Scheme != "https" &&
		(issuer.Scheme != "http" || (issuer.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()))) {
		return nil, fmt.Errorf("issuer %q must be https (http is for localhost only)", cfg.Issuer)
	}
	s := newState(cfg)
	if err := s.takeUsers(cfg.Users); err != nil {
		return nil, err
	}
	for _, c := range cfg.Clients {
		if c.ID == "" || c.Secret == "" || len(c.RedirectURIs) == 0 {
			return nil, errors.New("a client needs id, secret and redirect URI")
		}
		s.clients[c.ID] = c
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	provider, err := op.NewProvider(&op.Config{
		CryptoKey: s.cryptoKey, CodeMethodS256: true, DefaultLogoutRedirectURI: "/signed-out",
		BackChannelLogoutSupported: true, BackChannelLogoutSessionSupported: true,
		SupportedClaims: []string{"sub", "name", "preferred_username", "email", "groups", "acr", "amr", "auth_time", "sid"},
		SupportedScopes: []string{oidc.ScopeOpenID, oidc.ScopeProfile, oidc.ScopeEmail, scopeGroups},
	}, storage{s}, op.StaticIssuer(cfg.Issuer), op.WithAllowInsecure(), op.WithCORSOptions(nil))
	if err != nil {
		return nil, fmt.Errorf("set up the built-in identity provider: %w", err)
	}
	return s.routes(provider), nil
}

// routes puts our pages before the protocol's endpoints. The login of one
// browser must not be finished in another, so authorize, login and callback all
// pass through bind.
func (s *state) routes(provider http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/authorize", s.bind(provider))
	mux.Handle("/authorize/callback", s.bind(s.onlySameBrowser(provider)))
	mux.Handle("GET /login", s.bind(http.HandlerFunc(s.showLogin)))
	mux.Handle("POST /login", s.bind(http.HandlerFunc(s.takeLogin)))
	mux.Handle("/end_session", s.bind(provider))
	mux.Handle("GET /signed-out", s.bind(http.HandlerFunc(s.showSignedOut)))
	mux.Handle("POST /signed-out", s.bind(http.HandlerFunc(s.takeSignOut)))
	mux.Handle("GET /style.css", serveFile("style.css"))
	mux.HandleFunc("GET /{$}", s.showRoot)
	if s.cfg.Dev {
		mux.HandleFunc("GET /people", s.showPeople)
		mux.Handle("GET /people.js", serveFile("people.js"))
	}
	mux.Handle("/", provider)
	return s.headers(http.NewCrossOriginProtection().Handler(http.MaxBytesHandler(mux, 64<<10)))
}
