package handlers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"quartermaster/handlers/signin"
	"quartermaster/internal/portal"
)

// presence is what handlers needs of the sign-in: *signin.Handler is it, and the
// tests have one that signs in whom they name.
type presence interface {
	// Load finds the session of the browser and puts who acts into the context.
	Load(next http.Handler) http.Handler
	// Require sends strangers to sign in.
	Require(next http.Handler) http.Handler
	// Routes mounts the paths of sign-in, step-up and sign-out.
	Routes(r chi.Router)
	// AskStepUp keeps a form in the session and asks for a second factor.
	AskStepUp(w http.ResponseWriter, r *http.Request, a signin.Ask)
	// KeptForm gives that form back to the page it belongs to, once.
	KeptForm(ctx context.Context, path string) (url.Values, bool)
	// Keep remembers a text in the session until Take removes it.
	Keep(ctx context.Context, name, text string)
	Take(ctx context.Context, name string) string
}

type actorKey struct{}

// actorOf is who is signed in. The zero Actor is nobody.
func actorOf(r *http.Request) portal.Actor {
	a, _ := r.Context().Value(actorKey{}).(portal.Actor)
	return a
}

func withActor(ctx context.Context, a portal.Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}
