package signin

import (
	"context"
	"net/http"
	"time"

	"quartermaster/handlers/oidc"
	"quartermaster/internal/paths"
)

// pending is one trip to the provider. It is kept in the browser's session on
// the server, under its state, and taken out at the first return.
type pending struct {
	Session string    `json:"session"` // oidc.Session
	Next    string    `json:"next"`    // path to go to afterwards
	StepUp  bool      `json:"step_up"`
	Began   time.Time `json:"began"`
}

const (
	pendingLife = 10 * time.Minute
	// mostPending: several tabs may sign in at once, not hundreds.
	mostPending = 5
)

// startSignIn sends the browser to the provider.
func (h *Handler) startSignIn(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	next := wayBack(r.URL.Query().Get("back"))
	if _, signedIn := FromContext(ctx); signedIn {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return nil
	}
	if why := h.sessions.GetString(ctx, keyEnded); why != "" {
		// Once, so that the link on that page signs in.
		h.sessions.Remove(ctx, keyEnded)
		http.Redirect(w, r, paths.With(paths.SignedOut, "why", why, "back", next), http.StatusSeeOther)
		return nil
	}
	return h.leave(w, r, pending{Next: next}, oidc.AuthOptions{})
}

// leave begins a trip and redirects.
func (h *Handler) leave(w http.ResponseWriter, r *http.Request, p pending, o oidc.AuthOptions) error {
	ctx := r.Context()
	state := oidc.NewState()
	s, err := h.cfg.Provider.BeginAuthWith(ctx, state, o)
	if err != nil {
		session, _ := FromContext(ctx)
		return h.refuseToken(w, r, Refused{Session: session, StepUp: p.StepUp, Next: p.Next}, err)
	}
	p.Session, p.Began = s.Marshal(), h.cfg.Now().UTC()
	all := h.pendings(ctx)
	for len(all) >= mostPending {
		oldest := ""
		for state, other := range all {
			if oldest == "" || other.Began.Before(all[oldest].Began) {
				oldest = state
			}
		}
		delete(all, oldest)
	}
	all[state] = p
	h.keep(ctx, keyPending, all)
	if _, signedIn := FromContext(ctx); !signedIn {
		// Nobody yet: the row need not live longer than the trip.
		h.sessions.SetDeadline(ctx, time.Now().Add(pendingLife).UTC())
	}
	http.Redirect(w, r, s.AuthURL, http.StatusSeeOther)
	return nil
}

// pendings are the trips under way that are not too old.
func (h *Handler) pendings(ctx context.Context) map[string]pending {
	all := map[string]pending{}
	h.read(ctx, keyPending, &all)
	for state, p := range all {
		if h.cfg.Now().Sub(p.Began) > pendingLife {
			delete(all, state)
		}
	}
	return all
}

// showSignedOut is the page outside of a session.
func (h *Handler) showSignedOut(w http.ResponseWriter, r *http.Request) error {
	if _, signedIn := FromContext(r.Context()); signedIn {
		http.Redirect(w, r, paths.Home, http.StatusSeeOther)
		return nil
	}
	h.cfg.Pages.SignedOut(w, r, SignedOutPage{Why: orElse(endings[r.URL.Query().Get("why")], endings["sign_out"]), Next: wayBack(r.URL.Query().Get("back"))})
	return nil
}

// endings are the sentences the page can say; the address only picks one.
var endings = map[string]string{
	"sign_out":  "You are signed out.",
	"idle":      "You were signed out after 30 minutes without use.",
	"absolute":  "You were signed out; a session ends after 12 hours.",
	"elsewhere": "Your session was ended at the identity provider or by an administrator.",
	"inactive":  "Your account is switched off. A platform administrator can tell you why.",
	"late":      "You were signed out, so what you sent was not carried out. Sign in and send it again.",
}
