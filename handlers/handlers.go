// Package handlers owns what happens between a browser and a use case: the
// router, the middleware, sign-in and one file a route family. A handler parses a
// form, calls one use case of internal/portal and fills a view model of web. It
// holds no rule and no SQL: the role in the route table is only the first gate,
// authority is decided, and recorded, in the use cases. cmd builds it and serves it.
//
// Handlers return an error; error.go alone turns it into a status and a page.
package handlers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"quartermaster/handlers/oidc"
	"quartermaster/handlers/signin"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// Config is what the router is wired from. Fields are required unless they say otherwise.
type Config struct {
	Portal UseCases
	SignIn SignIn
	Log    *slog.Logger
	// BaseURL is the address people use, without a trailing slash. https turns on HSTS.
	BaseURL string
	// SignInOrigins are where forms may lead besides the portal: sign-out and
	// step-up redirect to the identity provider ("https://id.example.org").
	SignInOrigins []string
	// Assets serves under /assets/.
	Assets http.Handler
	// JobsUI serves under /admin/jobs, read only; nil answers that it is not there.
	JobsUI http.Handler
	// Metrics collects and is shown at /metrics; nil makes a new registry.
	Metrics *prometheus.Registry
	// JobsWaiting counts unfinished jobs by state and queue for the metrics; nil leaves them out.
	JobsWaiting func(ctx context.Context) (map[[2]string]int64, error)
	// Ready says whether requests can be served now: the database answers, migrations fit.
	Ready func(ctx context.Context) error
	// TrustedProxies may say in X-Forwarded-For whom they speak for; nobody else may.
	TrustedProxies []netip.Prefix
	// Version is shown in the footer.
	Version string
	// PollEvery is how often clusters are read, for sentences about age; 0 = 30 s.
	PollEvery time.Duration
	// Now is the clock, UTC; nil is the real one.
	Now func() time.Time
	// Timeout of one page; 0 = 20 s. Downloads have none: they end with the reader.
	Timeout time.Duration
}

// SignIn is how people sign in.
type SignIn struct {
	Use      *portal.Portal
	Provider *oidc.Provider
	DB       *sql.DB // for the sessions table
	Trust    facts.Trust
	// StepUpACR is asked of the provider for a step-up; empty: the portal's own second factor is.
	StepUpACR []string
	Rules     facts.Rules // zero = facts.DefaultRules()
	// Demo says that the built-in identity provider is used; Codes is the address
	// of its page of one-time codes, "" where there is none.
	Demo  bool
	Codes string
}

// Site is the portal's handler. Close ends what it does in the background.
type Site struct {
	http.Handler
	close func()
}

// Close ends the cleaning of old sessions.
func (s *Site) Close() { s.close() }

// server holds what handlers share. Safe for concurrent use.
type server struct {
	Config
	origin  string // scheme://host of BaseURL
	https   bool
	session presence
	count   *counters
	entries []route // the route table, for the navigation
}

// page is a handler that reports what went wrong instead of answering it.
type page func(w http.ResponseWriter, r *http.Request) error

// New returns the portal's handler. It refuses a configuration that would answer wrongly.
func New(cfg Config) (*Site, error) {
	s, err := newServer(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.SignIn.Use == nil {
		return nil, errors.New("handlers: SignIn is required")
	}
	h, err := signin.New(signin.Config{
		BaseURL: s.BaseURL, Provider: cfg.SignIn.Provider, DB: cfg.SignIn.DB, People: signin.PortalPeople{Portal: cfg.SignIn.Use}, Factors: signin.PortalPeople{Portal: cfg.SignIn.Use},
		Pages: signin.WebPages(signin.Door{Demo: cfg.SignIn.Demo, Codes: cfg.SignIn.Codes, Version: cfg.Version, Now: s.Now}), Fail: s.showError, Trust: cfg.SignIn.Trust, StepUpACR: cfg.SignIn.StepUpACR,
		Rules: cfg.SignIn.Rules, Now: s.Now, Log: cfg.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("handlers: %w", err)
	}
	s.session = h
	return &Site{Handler: s.router(), close: h.Close}, nil
}

// newServer checks everything but the sign-in, which is set before router is called.
func newServer(cfg Config) (*server, error) {
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case cfg.Portal == nil, cfg.Log == nil, cfg.Assets == nil, cfg.Ready == nil:
		return nil, errors.New("handlers: Portal, Log, Assets and Ready are required")
	case err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https"):
		return nil, fmt.Errorf("handlers: base URL %q is not an http(s) address", cfg.BaseURL)
	case base.Path != "":
		return nil, fmt.Errorf("handlers: base URL %q has a path; the portal lives at the root of its host", cfg.BaseURL)
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return time.Now().UTC() }
	}
	if cfg.PollEvery == 0 {
		cfg.PollEvery = 30 * time.Second
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 20 * time.Second
	}
	s := &server{Config: cfg, origin: base.Scheme + "://" + base.Host, https: base.Scheme == "https"}
	s.count = newCounters(cfg.Metrics)
	if err := cfg.Metrics.Register(fleetGauges{cfg.Portal, cfg.JobsWaiting}); err != nil {
		return nil, fmt.Errorf("handlers: %w", err)
	}
	return s, nil
}

// NewServer wraps the portal's handler with the limits of a server that faces
// people: slow or endless requests end, long downloads do not.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// router puts the middleware around the route table. Order matters: the id of
// the request comes first so that every later answer and line can name it.
func (s *server) router() http.Handler {
	s.entries = append(s.routes(), signInRoutes(s.session.Routes())...)
	m := chi.NewRouter()
	m.Use(withRequestID, s.withClient(), s.logged, s.recovered, s.secured, middleware.GetHead, s.sameSite, s.limited)
	m.NotFound(s.outside(s.notFound))
	m.MethodNotAllowed(s.outside(s.methodNotAllowed))
	for _, e := range s.entries {
		s.mount(m, e)
	}
	return m
}
