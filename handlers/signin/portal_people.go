package signin

import (
	"context"
	"errors"
	"net/http"

	"quartermaster/handlers/oidc"
	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// PortalPeople is People and Factors by the portal's use cases, which put all of
// it on record.
type PortalPeople struct{ Portal *portal.Portal }

var (
	_ People  = PortalPeople{}
	_ Factors = PortalPeople{}
)

type actorKey struct{}

// Actor says who is signed in, with the roles in force now; false is nobody. It
// is for requests behind Load.
func (h *Handler) Actor(r *http.Request) (portal.Actor, bool, error) {
	a, ok := r.Context().Value(actorKey{}).(portal.Actor)
	return a, ok, nil
}

func (p PortalPeople) SignIn(ctx context.Context, _ oidc.Identity, s facts.Session) (string, error) {
	id, err := p.Portal.SignInPerson(ctx, s)
	return id, named(err)
}

func (p PortalPeople) Enter(ctx context.Context, s facts.Session) (context.Context, error) {
	a, err := p.Portal.EnterSession(ctx, s)
	if err != nil {
		if fault.KindOf(err) == fault.NotFound { // the database was restored or cleaned
			return ctx, ErrEnded
		}
		return ctx, named(err)
	}
	return context.WithValue(ctx, actorKey{}, a), nil
}

func (p PortalPeople) SignOut(ctx context.Context, s facts.Session, cause string) error {
	return p.Portal.SignOutPerson(ctx, s, cause)
}

func (p PortalPeople) EndSessions(ctx context.Context, out oidc.Logout) (int, error) {
	n, err := p.Portal.EndSessions(ctx, out.Issuer, out.Subject, out.SessionID)
	if fault.KindOf(err) == fault.NotFound {
		return 0, nil // nobody who ever came here
	}
	return n, err
}

func (p PortalPeople) SteppedUp(ctx context.Context, s facts.Session, by facts.Proof, ask Ask) (string, error) {
	return p.Portal.RecordStepUp(ctx, portal.SessionActor(s), portal.StepUpInput{By: by, For: ask.What, Digests: ask.Digests})
}

func (p PortalPeople) Refuse(ctx context.Context, a Refused) (string, error) {
	return p.Portal.RefuseSignIn(ctx, portal.SignInRefusal{
		Reason: a.Reason, Detail: a.Detail, Issuer: a.Issuer, Session: a.Session, StepUp: a.StepUp,
	})
}

func (p PortalPeople) TOTP(ctx context.Context, personID string) (string, int64, error) {
	return p.Portal.TOTPOf(ctx, personID)
}

func (p PortalPeople) PendingTOTP(ctx context.Context, personID, proposed string) (string, error) {
	return p.Portal.ProposeTOTP(ctx, personID, proposed)
}

func (p PortalPeople) ConfirmTOTP(ctx context.Context, s facts.Session, step int64) ([]string, bool, error) {
	return p.Portal.ConfirmTOTP(ctx, s, step)
}

func (p PortalPeople) SpendTOTP(ctx context.Context, personID string, step int64) (bool, error) {
	return p.Portal.SpendTOTP(ctx, personID, step)
}

func (p PortalPeople) UseRecovery(ctx context.Context, s facts.Session, code string) (int, bool, error) {
	return p.Portal.UseRecoveryCode(ctx, portal.SessionActor(s), code)
}

func (p PortalPeople) State(ctx context.Context, personID string) (portal.FactorState, error) {
	return p.Portal.FactorOf(ctx, personID)
}

func (p PortalPeople) RenewRecovery(ctx context.Context, s facts.Session, proof string) ([]string, error) {
	return p.Portal.RenewRecoveryCodes(ctx, withProof(s, proof))
}

func (p PortalPeople) Propose(ctx context.Context, s facts.Session, proof, secret string) error {
	return p.Portal.ProposeFactor(ctx, withProof(s, proof), secret)
}

func (p PortalPeople) Proposed(ctx context.Context, s facts.Session, proof string) (string, error) {
	return p.Portal.FactorProposed(ctx, withProof(s, proof))
}

func (p PortalPeople) Replace(ctx context.Context, s facts.Session, proof string, step int64) ([]string, error) {
	return p.Portal.ReplaceFactor(ctx, withProof(s, proof), step)
}

func withProof(s facts.Session, proof string) portal.Actor {
	a := portal.SessionActor(s)
	a.Proof = proof
	return a
}

// named turns the use cases' errors into those of this package.
func named(err error) error {
	switch {
	case errors.Is(err, portal.ErrInactive):
		return ErrInactive
	case errors.Is(err, portal.ErrSessionEnded):
		return ErrEnded
	}
	return err
}
