package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"quartermaster/handlers/oidc"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// People keeps who signed in and puts it on record. Each method is one
// transaction, with its ledger entry inside.
type People interface {
	// SignIn finds or creates the person of (issuer, subject), keeps name, e-mail
	// and groups as the provider sent them, and opens session.ID for them. It
	// returns the person's id, or ErrInactive.
	SignIn(ctx context.Context, id oidc.Identity, session facts.Session) (personID string, err error)
	// Enter puts the person of a session into ctx for the handlers of one request.
	// It returns ErrEnded when the session was ended elsewhere, or ErrInactive.
	Enter(ctx context.Context, session facts.Session) (context.Context, error)
	// SignOut closes a session that is ended here. cause is "sign_out", "idle",
	// "absolute" or "replaced".
	SignOut(ctx context.Context, session facts.Session, cause string) error
	// EndSessions closes the sessions that the provider says are over, and returns how many.
	EndSessions(ctx context.Context, out oidc.Logout) (int, error)
	// SteppedUp keeps and records a proof of two factors, bound to what it was asked for;
	// it returns the proof's id.
	SteppedUp(ctx context.Context, session facts.Session, by facts.Proof, ask Ask) (id string, err error)
	// Refuse records an attempt that failed and returns its number in the ledger.
	Refuse(ctx context.Context, attempt Refused) (record string, err error)
}

// Factors keeps the portal's own second factor of each person. Secrets are
// sealed by whoever implements it.
type Factors interface {
	// TOTP returns the confirmed secret and the last step spent; secret is empty
	// when the person has none.
	TOTP(ctx context.Context, personID string) (secret string, lastStep int64, err error)
	// PendingTOTP returns the secret that was shown and not yet confirmed, or keeps
	// and returns the proposed one when there is none. It is never called with "".
	PendingTOTP(ctx context.Context, personID, proposed string) (secret string, err error)
	// ConfirmTOTP makes the pending secret the person's, with step spent, and
	// records it. It returns the recovery codes, to be shown once, or false when another
	// request was faster.
	ConfirmTOTP(ctx context.Context, session facts.Session, step int64) (codes []string, done bool, err error)
	// SpendTOTP marks a step as used: UPDATE … WHERE last_step < step. It returns
	// false when it was used before.
	SpendTOTP(ctx context.Context, personID string, step int64) (bool, error)
	// UseRecovery takes a recovery code, once, and records it; left is how many remain.
	UseRecovery(ctx context.Context, session facts.Session, code string) (left int, ok bool, err error)
	// State tells what a person has.
	State(ctx context.Context, personID string) (portal.FactorState, error)
	// RenewRecovery makes new codes. Propose keeps a new secret beside the one in force,
	// Proposed returns it and Replace puts it in force. All three take a proof of two factors,
	// and fail with portal.ErrStepUp without one.
	RenewRecovery(ctx context.Context, session facts.Session, proof string) (codes []string, err error)
	Propose(ctx context.Context, session facts.Session, proof, secret string) error
	Proposed(ctx context.Context, session facts.Session, proof string) (secret string, err error)
	Replace(ctx context.Context, session facts.Session, proof string, step int64) (codes []string, err error)
}

var (
	// ErrInactive: the person was deactivated.
	ErrInactive = errors.New("person is deactivated")
	// ErrEnded: the session was ended elsewhere.
	ErrEnded = errors.New("session was ended elsewhere")
)

// Refused is an attempt that failed. Reason is a frozen word, Detail a claim or
// error code; neither holds anything personal.
type Refused struct {
	Reason, Detail string
	Issuer         string
	Session        facts.Session // whose it was; empty for a stranger
	StepUp         bool          // refused while stepping up, not while signing in
	At             time.Time
	Next           string // where the person wanted to go
}

// Pages are the screens, made by web.
type Pages struct {
	SignedOut func(http.ResponseWriter, *http.Request, SignedOutPage)
	Refused   func(http.ResponseWriter, *http.Request, int, RefusedPage)
	StepUp    func(http.ResponseWriter, *http.Request, int, StepUpPage)
	Codes     func(http.ResponseWriter, *http.Request, CodesPage)
	Factor    func(http.ResponseWriter, *http.Request, int, FactorPage)
}

func (p Pages) complete() bool {
	return p.SignedOut != nil && p.Refused != nil && p.StepUp != nil && p.Codes != nil && p.Factor != nil
}

// SignedOutPage is the page outside of a session.
type SignedOutPage struct {
	Why  string // a sentence; empty for somebody who never signed in
	Next string // path to come back to after signing in; may be empty
}

// RefusedPage says why nobody was let in.
type RefusedPage struct {
	Reason string // the frozen word
	Text   string // what happened and what to do
	Record string // number in the ledger; empty when not recorded
	Next   string
	StepUp bool // the person is signed in, but did not prove a second factor
}

// StepUpPage asks for a one-time code. It posts code and back to paths.StepUp.
type StepUpPage struct {
	What  string // "to approve R-1042"
	Back  string // path
	Error string
	// Secret and URL are set when the person has no second factor yet: to be added
	// to an authenticator app, and confirmed with its first code.
	Secret, URL string
	Window      time.Duration
	// Recovery asks for a recovery code instead; HasRecovery offers that.
	Recovery, HasRecovery bool
}

// CodesPage shows new recovery codes, once.
type CodesPage struct {
	Codes []string
	Back  string
}

// FactorPage is a person's own second factor.
type FactorPage struct {
	portal.FactorState
	// Secret and URL are set while a new authenticator waits for its first code.
	Secret, URL, Proof string
	Error              string
	Confirm            string // "codes" or "replace": proven, and waiting for the last word
	Provider           bool   // the provider proves two factors
}
