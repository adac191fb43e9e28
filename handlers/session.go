package handlers

import (
	"context"
	"net/http"

	"quartermaster/handlers/signin"
	"quartermaster/internal/portal"
)

// presence is what handlers needs of the sign-in: *signin.Handler is it, and the
// tests have one that signs in whom they name.
type presence interface {
	// Load finds the session of the browser; what is behind it may ask Actor.
	Load(next http.Handler) http.Handler
	// Require sends strangers to sign in.
	Require(next http.Handler) http.Handler
	// Actor says who is signed in, with the roles in force now; false is nobody.
	Actor(r *http.Request) (portal.Actor, bool, error)
	// Routes are the addresses of sign-in, step-up and sign-out.
	Routes() []signin.Route
	// Keep remembers a text in the session until Take removes it.
	Keep(ctx context.Context, key, text string)
	Take(ctx context.Context, key string) string
	// ProveCode judges a one-time code of the portal for what is asked and keeps the
	// proof; problem is what to say beside the field, "" = proven.
	ProveCode(ctx context.Context, code string, ask signin.Ask) (proof, problem string, err error)
}

type actorKey struct{}

// actorOf is who is signed in; the gate put it there. The zero Actor is nobody.
func actorOf(r *http.Request) portal.Actor {
	a, _ := r.Context().Value(actorKey{}).(portal.Actor)
	return a
}

func withActor(ctx context.Context, a portal.Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}
