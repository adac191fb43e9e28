package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"quartermaster/internal/paths"
	facts "quartermaster/internal/signin"
)

// Keys of the session's data. Values are JSON text.
const (
	keySession = "session"  // facts.Session
	keyHint    = "id_token" // for signing out at the provider
	keyPending = "pending"  // sign-ins under way, by state
	keyEnded   = "ended"    // why the session before this one ended, until somebody reads it
	keyKept    = "kept "    // prefix of what Keep remembers
)

// seenEvery is how exactly idleness is kept: a write per minute, not per request.
const seenEvery = time.Minute

type sessionKey struct{}

type present struct {
	session facts.Session
	ended   string // why the session of this browser no longer counts; empty otherwise
}

// FromContext returns the session of a request behind Load, if somebody is signed in.
func FromContext(ctx context.Context) (facts.Session, bool) {
	p, _ := ctx.Value(sessionKey{}).(*present)
	if p == nil || p.session.PersonID == "" {
		return facts.Session{}, false
	}
	return p.session.Clone(), true
}

// Load finds the browser's session, ends it when it is over, and lets the person
// in. Nobody signed in is no error; Require makes it one.
func (h *Handler) Load(next http.Handler) http.Handler {
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := h.enter(r.Context())
		if err != nil {
			h.cfg.Fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
	saved := h.sessions.LoadAndSave(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, twice := r.Context().Value(sessionKey{}).(*present); twice {
			next.ServeHTTP(w, r)
			return
		}
		saved.ServeHTTP(w, r.WithContext(withLoaded(r.Context())))
	})
}

func (h *Handler) enter(ctx context.Context) (context.Context, error) {
	p := &present{}
	ctx = context.WithValue(ctx, sessionKey{}, p)
	var s facts.Session
	if !h.read(ctx, keySession, &s) || s.PersonID == "" {
		return ctx, nil
	}
	now := h.cfg.Now()
	if end := s.End(now, h.cfg.Rules); end != facts.InForce {
		p.ended = string(end)
		if err := h.cfg.People.SignOut(ctx, s, string(end)); err != nil {
			return ctx, err
		}
		return ctx, h.forget(ctx, p.ended)
	}
	entered, err := h.cfg.People.Enter(ctx, s)
	switch {
	case errors.Is(err, ErrEnded):
		p.ended = "elsewhere"
		return ctx, h.forget(ctx, p.ended)
	case errors.Is(err, ErrInactive):
		p.ended = "inactive"
		return ctx, h.forget(ctx, p.ended)
	case err != nil:
		return ctx, err
	}
	if now.Sub(s.Seen) >= seenEvery {
		s.Seen = now.UTC()
		h.keep(ctx, keySession, s)
	}
	p.session = s
	return entered, nil
}

// forget ends the browser's session and leaves why in a new, empty one: the next
// sign-in tells, instead of passing silently through the provider's own session.
func (h *Handler) forget(ctx context.Context, why string) error {
	if err := h.sessions.Destroy(ctx); err != nil {
		return err
	}
	h.sessions.SetDeadline(ctx, time.Now().Add(pendingLife).UTC())
	h.sessions.Put(ctx, keyEnded, why)
	return nil
}

// Require sends strangers to sign in. A form that was posted too late is not
// sent after them: the page says so.
func (h *Handler) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := r.Context().Value(sessionKey{}).(*present)
		if p != nil && p.session.PersonID != "" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		here := ""
		if r.Method == http.MethodGet {
			here = r.URL.RequestURI()
		}
		target := paths.With(paths.SignIn, "back", wayBack(here))
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			target = paths.With(paths.SignedOut, "why", "late")
		}
		if r.Header.Get("HX-Request") == "true" {
			w.Header().Set("HX-Redirect", target)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, target, http.StatusSeeOther)
	})
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// read takes a JSON value out of the session; false when it is absent or not readable.
func (h *Handler) read(ctx context.Context, key string, into any) bool {
	text := h.sessions.GetString(ctx, key)
	return text != "" && json.Unmarshal([]byte(text), into) == nil
}

func (h *Handler) keep(ctx context.Context, key string, value any) {
	text, err := json.Marshal(value)
	if err != nil { // values of this package: strings, times, maps of them
		panic(fmt.Sprintf("session value %s: %v", key, err))
	}
	h.sessions.Put(ctx, key, string(text))
}
