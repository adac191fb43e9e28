package handlers

import (
	"context"
	"errors"

	"quartermaster/handlers/oidc"
	"quartermaster/handlers/signin"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// SignInUse are the use cases behind sign-in; *portal.Portal is it.
type SignInUse interface {
	SignInPerson(ctx context.Context, s facts.Session) (personID string, err error)
	EnterSession(ctx context.Context, s facts.Session) (portal.Actor, error)
	SignOutPerson(ctx context.Context, s facts.Session, cause string) error
	EndSessions(ctx context.Context, issuer, subject, providerSession string) (n int, err error)
	RecordStepUp(ctx context.Context, s facts.Session, what string) error
	RefuseSignIn(ctx context.Context, in portal.SignInRefusal) (entryID string, err error)
	TOTPOf(ctx context.Context, personID string) (secret string, lastStep int64, err error)
	ProposeTOTP(ctx context.Context, personID, proposed string) (secret string, err error)
	ConfirmTOTP(ctx context.Context, s facts.Session, step int64) (done bool, err error)
	SpendTOTP(ctx context.Context, personID string, step int64) (ok bool, err error)
}

// people lets the sign-in keep its people and factors through the use cases.
type people struct{ use SignInUse }

var (
	_ signin.People  = people{}
	_ signin.Factors = people{}
)

func (p people) SignIn(ctx context.Context, _ oidc.Identity, s facts.Session) (string, error) {
	id, err := p.use.SignInPerson(ctx, s)
	return id, inWordsOfSignIn(err)
}

// Enter puts who acts into the context; actorOf reads it.
func (p people) Enter(ctx context.Context, s facts.Session) (context.Context, error) {
	a, err := p.use.EnterSession(ctx, s)
	if err != nil {
		return ctx, inWordsOfSignIn(err)
	}
	return withActor(ctx, a), nil
}

func (p people) SignOut(ctx context.Context, s facts.Session, cause string) error {
	return p.use.SignOutPerson(ctx, s, cause)
}

func (p people) EndSessions(ctx context.Context, out oidc.Logout) (int, error) {
	return p.use.EndSessions(ctx, out.Issuer, out.Subject, out.SessionID)
}

func (p people) SteppedUp(ctx context.Context, s facts.Session, what string) error {
	return p.use.RecordStepUp(ctx, s, what)
}

func (p people) Refuse(ctx context.Context, a signin.Refused) (string, error) {
	return p.use.RefuseSignIn(ctx, portal.SignInRefusal{Reason: a.Reason, Detail: a.Detail, Issuer: a.Issuer, Session: a.Session, StepUp: a.StepUp})
}

func (p people) TOTP(ctx context.Context, personID string) (string, int64, error) {
	return p.use.TOTPOf(ctx, personID)
}

func (p people) PendingTOTP(ctx context.Context, personID, proposed string) (string, error) {
	return p.use.ProposeTOTP(ctx, personID, proposed)
}

func (p people) ConfirmTOTP(ctx context.Context, s facts.Session, step int64) (bool, error) {
	return p.use.ConfirmTOTP(ctx, s, step)
}

func (p people) SpendTOTP(ctx context.Context, personID string, step int64) (bool, error) {
	return p.use.SpendTOTP(ctx, personID, step)
}

// inWordsOfSignIn maps the two ends of a session to what the sign-in knows.
func inWordsOfSignIn(err error) error {
	switch {
	case errors.Is(err, portal.ErrInactive):
		return signin.ErrInactive
	case errors.Is(err, portal.ErrSessionEnded):
		return signin.ErrEnded
	}
	return err
}
