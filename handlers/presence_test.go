package handlers

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/go-chi/chi/v5"

	"quartermaster/handlers/signin"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
)

// testPresence signs in whom the cookie "as" names, without a provider. It keeps
// forms and sentences as the session does.
type testPresence struct {
	mu     sync.Mutex
	actors map[string]portal.Actor
	kept   map[string]url.Values // by person and path
	texts  map[string]string
}

type asKey struct{}

func newPresence() *testPresence {
	return &testPresence{actors: map[string]portal.Actor{}, kept: map[string]url.Values{}, texts: map[string]string{}}
}

func (p *testPresence) Load(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("as")
		if err != nil {
			next.ServeHTTP(w, r)
			return
		}
		p.mu.Lock()
		a, ok := p.actors[c.Value]
		p.mu.Unlock()
		ctx := context.WithValue(r.Context(), asKey{}, c.Value)
		if ok {
			ctx = withActor(ctx, a)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (p *testPresence) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if actorOf(r).Person.ID == "" {
			http.Redirect(w, r, paths.SignIn, http.StatusSeeOther)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *testPresence) Routes(r chi.Router) {
	ok := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	r.Post(paths.BackChannelLogout, ok)
	r.Get(paths.SignIn, ok)
	r.Get(paths.Callback, ok)
	r.Get(paths.SignedOut, ok)
	r.Post(paths.SignOut, ok)
	r.Method(http.MethodGet, paths.StepUp, p.Load(p.Require(http.HandlerFunc(ok))))
	r.Method(http.MethodPost, paths.StepUp, p.Load(p.Require(http.HandlerFunc(ok))))
}

func (p *testPresence) AskStepUp(w http.ResponseWriter, r *http.Request, a signin.Ask) {
	p.mu.Lock()
	p.kept[whoIn(r.Context())+a.Back] = a.Form
	p.mu.Unlock()
	http.Redirect(w, r, paths.With(paths.StepUp, "back", a.Back), http.StatusSeeOther)
}

func (p *testPresence) KeptForm(ctx context.Context, path string) (url.Values, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.kept[whoIn(ctx)+path]
	delete(p.kept, whoIn(ctx)+path)
	return v, ok
}

func (p *testPresence) Keep(ctx context.Context, name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.texts[whoIn(ctx)+name] = text
}

func (p *testPresence) Take(ctx context.Context, name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.texts[whoIn(ctx)+name]
	delete(p.texts, whoIn(ctx)+name)
	return text
}

func whoIn(ctx context.Context) string {
	who, _ := ctx.Value(asKey{}).(string)
	return who + "\x00"
}
