package handlers

import (
	"context"
	"net/http"

	"quartermaster/internal/portal"
)

// SignIn is what handlers needs of the sign-in: who asks, and a memory on the
// server's side of the session. handlers/signin implements it.
type SignIn interface {
	// Load finds the session of the browser and keeps what changed in it.
	Load(next http.Handler) http.Handler
	// Actor says who is signed in, with the roles in force now; false is nobody.
	Actor(r *http.Request) (portal.Actor, bool, error)
	// Keep remembers a text in the session until Take removes it.
	Keep(ctx context.Context, key, text string)
	Take(ctx context.Context, key string) string
	// Peek is the text that Keep stored.
	Peek(ctx context.Context, key string) string
}

type actorKey struct{}

// actorOf is who is signed in; the gate put it there. The zero Actor is nobody.
func actorOf(r *http.Request) portal.Actor {
	a, _ := r.Context().Value(actorKey{}).(portal.Actor)
	return a
}

func withActor(r *http.Request, a portal.Actor) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), actorKey{}, a))
}
