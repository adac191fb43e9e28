package signin_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"quartermaster/assets"
	"quartermaster/e2e/oidcpeer"
	"quartermaster/handlers/oidc"
	"quartermaster/handlers/signin"
	"quartermaster/internal/dev/idp"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// site is a portal with one thing to decide, in front of a real database.
type site struct {
	*httptest.Server
	t       *testing.T
	people  *people
	handler *signin.Handler
	idp     string // address of the provider
	party   party

	mu      sync.Mutex
	shift   time.Duration
	decided []string
}

// party is how people sign in at one provider.
type party struct {
	clientID, secret string
	acr              []string
	alice, bob       string // passwords; alice has one-time codes
	silent           bool
	start            func(t *testing.T, site string) (issuer string)
}

func builtIn() party {
	return party{
		clientID: "portal", secret: "s", acr: []string{idp.ACRMultiFactor}, alice: "alice-password", bob: "bob-password",
		start: func(t *testing.T, site string) string {
			var handler http.Handler
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
			t.Cleanup(server.Close)
			var err error
			handler, err = idp.New(idp.Config{
				Issuer: server.URL, Dev: true, Log: slog.New(slog.DiscardHandler),
				Users: []idp.User{
					{Subject: "alice", Username: "alice", Name: "Alice", Email: "alice@example.org", Password: "alice-password", TOTPSecret: oidcpeer.AliceSecret, Groups: []string{"managers"}},
					{Subject: "bob", Username: "bob", Name: "Bob", Password: "bob-password"},
				},
				Clients: []idp.Client{{
					ID: "portal", Secret: "s", RedirectURIs: []string{site + paths.Callback}, PostLogout: []string{site + paths.SignedOut},
					BackChannel: site + paths.BackChannelLogout,
				}},
			})
			require.NoError(t, err)
			return server.URL
		},
	}
}

func byOthers(silent bool) party {
	p := party{
		clientID: oidcpeer.ClientID, secret: oidcpeer.ClientSecret, acr: []string{oidcpeer.MultiFactor},
		alice: oidcpeer.AlicePassword, bob: oidcpeer.BobPassword, silent: silent,
		start: func(t *testing.T, site string) string {
			return oidcpeer.Start(t, oidcpeer.Options{
				Redirect: site + paths.Callback, PostLogout: site + paths.SignedOut, BackChannel: site + paths.BackChannelLogout, Silent: silent,
			})
		},
	}
	if silent {
		p.acr = nil
	}
	return p
}

func newPortal(t *testing.T, op party, change ...func(*signin.Config)) *site {
	p := &site{t: t, party: op}
	var router http.Handler
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { router.ServeHTTP(w, r) }))
	t.Cleanup(p.Close)
	p.idp = op.start(t, p.URL)
	p.people = newPeople(t, p.now)
	provider, err := oidc.New(t.Context(), oidc.Config{
		Issuer: p.idp, ClientID: op.clientID, ClientSecret: op.secret, CallbackURL: p.URL + paths.Callback, FirstLogout: p.people.Portal.FirstLogout,
	})
	require.NoError(t, err)
	cfg := signin.Config{
		BaseURL: p.URL, Provider: provider, DB: p.people.db.DB, People: p.people, Factors: p.people, Pages: pages(),
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			t.Errorf("failed: %v", err)
			http.Error(w, "broken", http.StatusInternalServerError)
		},
		Trust: facts.Trust{MultiFactorACR: op.acr}, StepUpACR: op.acr, Now: p.now, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	p.handler, err = signin.New(cfg)
	require.NoError(t, err)
	t.Cleanup(p.handler.Close)
	router = p.routes()
	return p
}

// routes is a portal of two pages: home, and one that asks to confirm a decision.
func (p *site) routes() http.Handler {
	r := chi.NewRouter()
	r.Use(http.NewCrossOriginProtection().Handler, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'self'; form-action 'self' "+p.idp)
			next.ServeHTTP(w, r)
		})
	})
	r.Handle(assets.Prefix+"*", assets.Handler())
	for _, e := range p.handler.Routes() {
		var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := e.Do(w, r); err != nil {
				p.t.Errorf("%s %s: %v", e.Method, e.Pattern, err)
				http.Error(w, "broken", http.StatusInternalServerError)
			}
		})
		if e.SignedIn {
			handler = p.handler.Require(handler)
		}
		if e.Session {
			handler = p.handler.Load(handler)
		}
		r.Method(e.Method, e.Pattern, handler)
	}
	r.Group(func(r chi.Router) {
		r.Use(p.handler.Load, p.handler.Require)
		r.Get("/", func(w http.ResponseWriter, r *http.Request) {
			s, _ := signin.FromContext(r.Context())
			fmt.Fprintf(w, "hello %s, in context %v", s.Subject, actorName(p.handler, r))
		})
		form := func(action, fields, button string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<!doctype html><form method="post" action="%s">%s<button>%s</button></form>`, action, fields, button)
			}
		}
		r.Get("/ask", form("/decide", `<input type="hidden" name="answer" value="approve">`, "Approve 12 GPUs"))
		r.Get("/leave", form(paths.SignOut, "", "Sign out"))
		r.Get("/slow", func(w http.ResponseWriter, r *http.Request) {
			// Ends the session behind this request's back, then saves it.
			_, err := p.people.EndSessions(r.Context(), oidc.Logout{Issuer: p.idp, Subject: "alice"})
			require.NoError(p.t, err)
			p.handler.Keep(r.Context(), "said", "late")
		})
		r.Post("/keep", func(_ http.ResponseWriter, r *http.Request) {
			p.handler.Keep(r.Context(), r.PostFormValue("name"), r.PostFormValue("text"))
		})
		r.Get("/take", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "took %q", p.handler.Take(r.Context(), r.URL.Query().Get("name")))
		})
		r.Get("/gone", func(_ http.ResponseWriter, r *http.Request) {
			p.people.db.MustExec(`DELETE FROM sessions`)
			p.handler.Keep(r.Context(), "said", "late")
		})
		r.Get("/decide", func(w http.ResponseWriter, r *http.Request) {
			form, _ := url.ParseQuery(p.handler.Take(r.Context(), "form:/decide"))
			proof := p.handler.Take(r.Context(), signin.KeptProof("/decide"))
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `confirm, kept %v: <form method="post" action="/decide"><input name="answer" value="%s"><input type="hidden" name="proof" value="%s"><button>Confirm</button></form>`, len(form) > 0, form.Get("answer"), proof)
		})
		r.Post("/decide", func(w http.ResponseWriter, r *http.Request) {
			s, _ := signin.FromContext(r.Context())
			shown := "digest-of-" + strings.ReplaceAll(r.PostFormValue("answer"), " ", "-")
			given, err := p.people.store.StepUpsOf(r.Context(), s.PersonID, s.ID, p.now().Add(-portal.StepUpWindow))
			require.NoError(p.t, err)
			if !slices.ContainsFunc(given, func(g portal.StepUp) bool { return g.Covers(shown) && g.Live(p.now()) }) {
				p.handler.Keep(r.Context(), "form:/decide", r.PostForm.Encode())
				p.handler.Keep(r.Context(), signin.KeptAsk("/decide"), signin.Ask{What: "to approve R-1", Digests: []string{shown}}.Text())
				http.Redirect(w, r, paths.With(paths.StepUp, "back", "/decide", "what", "planted words"), http.StatusSeeOther)
				return
			}
			p.mu.Lock()
			p.decided = append(p.decided, r.PostFormValue("answer"))
			p.mu.Unlock()
			fmt.Fprint(w, "decided")
		})
	})
	return r
}

func actorName(h *signin.Handler, r *http.Request) string {
	a, _, _ := h.Actor(r)
	return a.Person.Name
}

func (p *site) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Add(p.shift)
}

func (p *site) later(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shift += d
}

func (p *site) decisions() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.decided...)
}

func pages() signin.Pages {
	return signin.Pages{
		SignedOut: func(w http.ResponseWriter, _ *http.Request, v signin.SignedOutPage) {
			fmt.Fprintf(w, "signed out: %s next %s", v.Why, v.Next)
		},
		Refused: func(w http.ResponseWriter, _ *http.Request, status int, v signin.RefusedPage) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "refused: %s. %s record %s", v.Reason, v.Text, v.Record)
		},
		StepUp: func(w http.ResponseWriter, _ *http.Request, status int, v signin.StepUpPage) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `code needed %s: %s <form method="post" action="/step-up"><input name="back" value="%s"><input name="code" value=""></form> secret=%s.`,
				v.What, v.Error, v.Back, v.Secret)
			if v.HasRecovery {
				fmt.Fprint(w, " or a recovery code")
			}
		},
		Codes: func(w http.ResponseWriter, _ *http.Request, v signin.CodesPage) {
			fmt.Fprintf(w, "codes=%s. next %s", strings.Join(v.Codes, " "), v.Back)
		},
		Factor: func(w http.ResponseWriter, _ *http.Request, status int, v signin.FactorPage) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "enrolled=%v left=%d confirm=%s error=%s proof=%s. secret=%s.", v.Enrolled, v.Recovery.Left, v.Confirm, v.Error, v.Proof, v.Secret)
		},
	}
}

// code is alice's one-time code, periods later (or earlier) than now.
func code(periods int) string {
	return idp.Code(oidcpeer.AliceSecret, time.Now().Add(time.Duration(periods)*30*time.Second))
}

// signIn signs somebody in and returns where they landed.
func (p *site) signIn(b *oidcpeer.Browser, who string) oidcpeer.Page {
	page := b.Get(p.URL + "/")
	if strings.HasPrefix(page.URL.String(), p.URL) {
		return page // the provider still knew the browser
	}
	if who == "bob" {
		return b.Submit(page, "username", "bob", "password", p.party.bob)
	}
	return b.Submit(page, "username", "alice", "password", p.party.alice, "code", code(-1))
}

// token is the value of the portal's cookie.
func (p *site) token(b *oidcpeer.Browser) string {
	u, err := url.Parse(p.URL)
	require.NoError(p.t, err)
	for _, c := range b.Cookies(p.URL) {
		if c.Name == "qm"+u.Port() {
			return c.Value
		}
	}
	return ""
}

func (p *site) withToken(token string) *oidcpeer.Browser {
	u, err := url.Parse(p.URL)
	require.NoError(p.t, err)
	b := oidcpeer.NewBrowser(p.t)
	b.SetCookie(p.URL, &http.Cookie{Name: "qm" + u.Port(), Value: token, Path: "/"})
	return b
}
