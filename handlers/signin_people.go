package handlers

import (
	"context"
	"errors"
	"time"

	"quartermaster/handlers/oidc"
	"quartermaster/handlers/signin"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// signInPeople lets handlers/signin keep its people, sessions and factors through
// the use cases of the portal, each on record.
type signInPeople struct{ portal *portal.Portal }

var (
	_ signin.People  = signInPeople{}
	_ signin.Factors = signInPeople{}
)

// SignIn opens the session of whoever the provider says it is.
func (p signInPeople) SignIn(ctx context.Context, id oidc.Identity, s facts.Session) (string, error) {
	s.Issuer, s.Subject, s.Name, s.Email = id.Issuer, id.Subject, id.Name, id.Email
	s.Groups, s.GroupsNote = id.Groups, id.GroupsNote
	personID, err := p.portal.SignInPerson(ctx, s)
	return personID, ended(err)
}

// Enter puts who acts into the context, with the roles in force now.
func (p signInPeople) Enter(ctx context.Context, s facts.Session) (context.Context, error) {
	actor, err := p.portal.EnterSession(ctx, s)
	if err != nil {
		return ctx, ended(err)
	}
	return context.WithValue(ctx, actorKey{}, actor), nil
}

func (p signInPeople) SignOut(ctx context.Context, s facts.Session, cause string) error {
	return p.portal.SignOutPerson(ctx, s, cause)
}

func (p signInPeople) EndSessions(ctx context.Context, out oidc.Logout) (int, error) {
	return p.portal.EndSessions(ctx, out.Issuer, out.Subject, out.SessionID)
}

func (p signInPeople) SteppedUp(ctx context.Context, s facts.Session, what string) error {
	return p.portal.RecordStepUp(ctx, s, what)
}

func (p signInPeople) Refuse(ctx context.Context, a signin.Refused) (string, error) {
	return p.portal.RefuseSignIn(ctx, portal.SignInRefusal{Reason: a.Reason, Detail: a.Detail, Issuer: a.Issuer, Session: a.Session, StepUp: a.StepUp})
}

func (p signInPeople) TOTP(ctx context.Context, personID string) (string, int64, error) {
	return p.portal.TOTPOf(ctx, personID)
}

func (p signInPeople) PendingTOTP(ctx context.Context, personID, proposed string) (string, error) {
	return p.portal.ProposeTOTP(ctx, personID, proposed)
}

func (p signInPeople) ConfirmTOTP(ctx context.Context, s facts.Session, step int64) (bool, error) {
	return p.portal.ConfirmTOTP(ctx, s, step)
}

func (p signInPeople) SpendTOTP(ctx context.Context, personID string, step int64) (bool, error) {
	return p.portal.SpendTOTP(ctx, personID, step)
}

// FirstLogout is for oidc.Config: it remembers logout tokens for all replicas.
func (p signInPeople) FirstLogout(ctx context.Context, id string, until time.Time) (bool, error) {
	return p.portal.FirstLogout(ctx, id, until)
}

// ended turns the portal's words for a session that does not count into those of sign-in.
func ended(err error) error {
	switch {
	case errors.Is(err, portal.ErrInactive):
		return signin.ErrInactive
	case errors.Is(err, portal.ErrSessionEnded):
		return signin.ErrEnded
	}
	return err
}
