// Package signin owns the way in and out of the portal over HTTP: sign-in at the
// identity provider, the session of a browser, step-up and sign-out, also over
// the provider's back channel. The router mounts it; web's pages come in as
// functions, the people and the record through an interface. It must never decide
// what somebody may do, and never let a GET decide anything: a step-up only leads
// back to the page that asks for confirmation.
package signin

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"
	"golang.org/x/time/rate"

	"quartermaster/handlers/oidc"
	"quartermaster/internal/paths"
	facts "quartermaster/internal/signin"
)

// Config is what the router gives. All fields but those with a default are needed.
type Config struct {
	BaseURL  string // of the portal, without a trailing slash; decides the cookie
	Provider *oidc.Provider
	DB       *sql.DB // for the sessions table
	People   People
	Factors  Factors
	Pages    Pages
	// Fail answers when the session itself cannot be read or kept. Default: a plain 503.
	Fail func(http.ResponseWriter, *http.Request, error)

	Trust facts.Trust
	// StepUpACR is asked of the provider for a step-up. Empty: the provider cannot
	// prove two factors, and the portal's own second factor is asked for.
	StepUpACR []string

	Rules facts.Rules      // default facts.DefaultRules()
	Now   func() time.Time // default time.Now
	Log   *slog.Logger     // default slog.Default()
}

// Handler is the way in and out.
type Handler struct {
	cfg       Config
	sessions  *scs.SessionManager
	store     *sessionStore
	strangers *rate.Limiter // refusals of browsers without a session that are put on record

	mu       sync.Mutex
	attempts map[string]facts.Attempts // by person: wrong one-time codes
}

// New checks the configuration and starts the cleaning of old sessions, which
// Close ends.
func New(cfg Config) (*Handler, error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || strings.HasSuffix(cfg.BaseURL, "/") {
		return nil, errors.New("base URL of the portal must be scheme://host[:port]")
	}
	if cfg.Provider == nil || cfg.DB == nil || cfg.People == nil || cfg.Factors == nil || !cfg.Pages.complete() {
		return nil, errors.New("sign-in is not wired: provider, database, people, factors and pages are needed")
	}
	if cfg.Fail == nil {
		cfg.Fail = func(w http.ResponseWriter, r *http.Request, err error) {
			cfg.Log.ErrorContext(r.Context(), "session", "error", err)
			http.Error(w, "Who you are could not be looked up. Try again in a minute.", http.StatusServiceUnavailable)
		}
	}
	if cfg.Rules == (facts.Rules{}) {
		cfg.Rules = facts.DefaultRules()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	h := &Handler{
		cfg: cfg, store: newSessionStore(cfg.DB), attempts: map[string]facts.Attempts{},
		strangers: rate.NewLimiter(rate.Every(2*time.Second), 30),
	}
	h.sessions = scs.New()
	h.sessions.Store = h.store
	h.sessions.HashTokenInStore = true
	h.sessions.Lifetime = cfg.Rules.Absolute
	h.sessions.ErrorFunc = cfg.Fail
	h.sessions.Cookie = cookieFor(base)
	return h, nil
}

// Close ends the background cleaning.
func (h *Handler) Close() { h.store.StopCleanup() }

// cookieFor: __Host- binds the cookie to this host, https and the root path. A
// browser refuses the prefix on http://localhost, so there it is left out, and
// the port put in: cookies do not know ports.
func cookieFor(base *url.URL) scs.SessionCookie {
	c := scs.SessionCookie{Name: "__Host-qm", Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}
	if base.Scheme != "https" {
		c.Name, c.Secure = "qm"+base.Port(), false
	}
	return c
}

// Route is one address of this package. Do returns what went wrong instead of
// answering it.
type Route struct {
	Method, Pattern string
	// Session: the address belongs behind Load. Without it no cookie is looked at.
	Session bool
	// SignedIn: nobody else gets there; see Require.
	SignedIn bool
	Do       func(http.ResponseWriter, *http.Request) error
}

// Routes lists every address of this package, for the router's own table.
func (h *Handler) Routes() []Route {
	return []Route{
		{http.MethodGet, paths.SignIn, true, false, private(h.startSignIn)},
		{http.MethodGet, paths.Callback, true, false, private(h.takeReturn)},
		{http.MethodGet, paths.SignedOut, true, false, private(h.showSignedOut)},
		{http.MethodPost, paths.SignOut, true, false, private(h.takeSignOut)},
		{http.MethodPost, paths.BackChannelLogout, false, false, private(h.takeBackChannel)},
		{http.MethodGet, paths.StepUp, true, true, private(h.showStepUp)},
		{http.MethodPost, paths.StepUp, true, true, private(h.takeStepUp)},
		{http.MethodGet, paths.SecondFactor, true, true, private(h.showFactor)},
		{http.MethodPost, paths.RecoveryCodes, true, true, private(h.renewCodes)},
		{http.MethodPost, paths.FactorReplace, true, true, private(h.replaceFactor)},
	}
}

// private closes a page to caches.
func private(do func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", "no-store")
		return do(w, r)
	}
}

// refuse shows why somebody was not let in and puts it on record. Strangers can
// make refusals as fast as they like, and the record is for ever; past a rate
// theirs are only logged.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, attempt Refused, sentence string, status int) error {
	attempt.Issuer = h.cfg.Provider.Issuer()
	attempt.At = h.cfg.Now()
	h.cfg.Log.WarnContext(r.Context(), "sign-in refused", "reason", attempt.Reason, "detail", attempt.Detail)
	record := ""
	if attempt.Session.PersonID != "" || h.strangers.Allow() {
		var err error
		if record, err = h.cfg.People.Refuse(context.WithoutCancel(r.Context()), attempt); err != nil {
			return err
		}
	}
	h.cfg.Pages.Refused(w, r, status, RefusedPage{Reason: attempt.Reason, Text: sentence, Record: record, Next: attempt.Next, StepUp: attempt.StepUp && attempt.Session.PersonID != ""})
	return nil
}

// refuseToken is refuse for what the provider package did not accept.
func (h *Handler) refuseToken(w http.ResponseWriter, r *http.Request, attempt Refused, err error) error {
	var refusal *oidc.Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	attempt.Reason, attempt.Detail = string(refusal.Reason), refusal.Detail
	status := http.StatusForbidden
	switch refusal.Reason {
	case oidc.ProviderUnreachable:
		status = http.StatusServiceUnavailable
	case oidc.StateMismatch, oidc.NoCode:
		status = http.StatusBadRequest
	}
	return h.refuse(w, r, attempt, refusal.Public(), status)
}
