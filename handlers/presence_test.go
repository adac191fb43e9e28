package handlers

import (
	"context"
	"net/http"
	"sync"

	"quartermaster/handlers/signin"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
)

// testPresence signs in whom the cookie "as" names, without a provider. It keeps
// forms and sentences as the session does.
type testPresence struct {
	mu     sync.Mutex
	actors map[string]portal.Actor
	texts  map[string]string
	portal *portal.Portal // keeps proofs; nil where no test gives one
}

type asKey struct{}

type signedInAs struct {
	name  string
	actor portal.Actor
}

func isIn(p *testPresence, r *http.Request) bool {
	_, ok, _ := p.Actor(r)
	return ok
}

func newPresence() *testPresence {
	return &testPresence{actors: map[string]portal.Actor{}, texts: map[string]string{}}
}

func (p *testPresence) Load(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("as")
		if err != nil {
			next.ServeHTTP(w, r)
			return
		}
		p.mu.Lock()
		a := p.actors[c.Value]
		p.mu.Unlock()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), asKey{}, signedInAs{c.Value, a})))
	})
}

func (p *testPresence) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isIn(p, r) {
			http.Redirect(w, r, paths.SignIn, http.StatusSeeOther)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *testPresence) Actor(r *http.Request) (portal.Actor, bool, error) {
	a, ok := r.Context().Value(asKey{}).(signedInAs)
	return a.actor, ok && a.actor.Person.ID != "", nil
}

// Routes are those of the real sign-in, answered with 200 by nobody in particular.
func (p *testPresence) Routes() []signin.Route {
	var h signin.Handler
	all := h.Routes()
	for i := range all {
		all[i].Do = func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusOK)
			return nil
		}
	}
	return all
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
	who, _ := ctx.Value(asKey{}).(signedInAs)
	return who.name + "\x00"
}
