package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"quartermaster/handlers/oidc"
	"quartermaster/internal/paths"
	facts "quartermaster/internal/signin"
)

// takeReturn is where the provider sends the browser back to.
func (h *Handler) takeReturn(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	current, _ := FromContext(ctx)
	state := r.URL.Query().Get("state")
	all := h.pendings(ctx)
	p, known := all[state]
	if !known {
		refusal := &oidc.Refusal{Reason: oidc.StateMismatch}
		return h.refuseToken(w, r, Refused{Session: current, Next: paths.Home}, refusal)
	}
	// Taken out before anything is looked at: an answer counts once.
	delete(all, state)
	h.keep(ctx, keyPending, all)

	attempt := Refused{Session: current, StepUp: p.StepUp, Next: p.Next}
	session, err := h.cfg.Provider.UnmarshalSession(p.Session)
	if err != nil {
		return err
	}
	id, err := h.cfg.Provider.Finish(ctx, session.(*oidc.Session), r.URL.Query())
	if err != nil {
		return h.refuseToken(w, r, attempt, err)
	}
	if p.StepUp {
		return h.stepUpReturned(w, r, p, attempt, id)
	}
	return h.signIn(w, r, p, attempt, id)
}

// signIn opens a session under a new token: whatever was planted before the
// sign-in leads nowhere.
func (h *Handler) signIn(w http.ResponseWriter, r *http.Request, p pending, attempt Refused, id oidc.Identity) error {
	ctx := r.Context()
	now := h.cfg.Now().UTC()
	s := facts.Session{
		ID: uuid.NewString(), Issuer: id.Issuer, Subject: id.Subject, Name: id.Name, Email: id.Email,
		ACR: id.ACR, AMR: id.AMR, AuthTime: id.AuthTime, ProviderSession: id.SessionID,
		Groups: id.Groups, GroupsNote: id.GroupsNote, Began: now, Seen: now,
	}
	if old, signedIn := FromContext(ctx); signedIn {
		if err := h.cfg.People.SignOut(ctx, old, "replaced"); err != nil {
			return err
		}
	}
	var err error
	s.PersonID, err = h.cfg.People.SignIn(ctx, id, s)
	if errors.Is(err, ErrInactive) {
		attempt.Reason = "inactive"
		return h.refuse(w, r, attempt, endings["inactive"], http.StatusForbidden)
	}
	if err != nil {
		return err
	}
	if err := h.sessions.RenewToken(ctx); err != nil {
		return err
	}
	// Nothing of whoever sat here before.
	if err := h.sessions.Clear(ctx); err != nil {
		return err
	}
	h.sessions.SetDeadline(ctx, time.Now().Add(h.cfg.Rules.Absolute).UTC())
	h.keep(ctx, keySession, s)
	h.sessions.Put(ctx, keyHint, id.IDToken)
	h.cfg.Log.InfoContext(ctx, "signed in", "person", s.PersonID, "session", s.ID, "factors", h.cfg.Trust.Factors(id.ACR, id.AMR))
	http.Redirect(w, r, p.Next, http.StatusSeeOther)
	return nil
}

// stepUpReturned strengthens the session, or falls back on the portal's own
// second factor when the provider proved one factor only.
func (h *Handler) stepUpReturned(w http.ResponseWriter, r *http.Request, p pending, attempt Refused, id oidc.Identity) error {
	ctx := r.Context()
	s, signedIn := FromContext(ctx)
	if !signedIn {
		http.Redirect(w, r, paths.With(paths.SignIn, "back", p.Next), http.StatusSeeOther)
		return nil
	}
	if !s.SamePerson(id.Issuer, id.Subject) {
		attempt.Reason = "other_person"
		return h.refuse(w, r, attempt, "Somebody else signed in at the identity provider. Sign out there, then confirm as yourself.", http.StatusForbidden)
	}
	h.sessions.Put(ctx, keyHint, id.IDToken)
	s.ACR, s.AMR, s.AuthTime = id.ACR, id.AMR, id.AuthTime
	if id.SessionID != "" {
		s.ProviderSession = id.SessionID
	}
	// A provider that was asked anew and says that it last looked before that
	// has not looked. One that says nothing is believed for the first factor only.
	if !id.AuthTime.IsZero() && id.AuthTime.Before(p.Began.Add(-time.Minute)) {
		return h.refuseToken(w, r, attempt, &oidc.Refusal{Reason: oidc.StaleAuthTime})
	}
	if id.AuthTime.IsZero() || h.cfg.Trust.Factors(id.ACR, id.AMR) < 2 {
		s.Reauthed = h.cfg.Now().UTC()
		h.keep(ctx, keySession, s)
		http.Redirect(w, r, paths.With(paths.StepUp, "back", p.Next, "own", "1"), http.StatusSeeOther)
		return nil
	}
	return h.proven(w, r, s, facts.ProofProvider, p.Next)
}

// proven keeps the proof for what was asked under a new token and leads back to the
// page that asks for confirmation. Nothing is decided here.
func (h *Handler) proven(w http.ResponseWriter, r *http.Request, s facts.Session, by facts.Proof, back string) error {
	if err := h.keepProof(r.Context(), s, by, back); err != nil {
		return err
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
	return nil
}

// keepProof puts the proof on record and leaves its id for the page to come back to.
func (h *Handler) keepProof(ctx context.Context, s facts.Session, by facts.Proof, back string) error {
	ask := h.asked(ctx, back)
	if len(ask.Digests) > 0 {
		id, err := h.cfg.People.SteppedUp(ctx, s, by, ask)
		if err != nil {
			return err
		}
		h.Take(ctx, KeptAsk(back))
		h.Keep(ctx, KeptProof(back), id)
	}
	if err := h.sessions.RenewToken(ctx); err != nil {
		return err
	}
	h.keep(ctx, keySession, s)
	h.cfg.Log.InfoContext(ctx, "stepped up", "person", s.PersonID, "session", s.ID, "by", by, "for", len(ask.Digests))
	return nil
}
