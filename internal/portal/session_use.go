package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/signin"
)

var (
	// ErrInactive: the person was deactivated.
	ErrInactive = errors.New("person is deactivated")
	// ErrSessionEnded: the session was ended elsewhere.
	ErrSessionEnded = errors.New("session was ended elsewhere")
)

// SessionReader reads the rows behind sign-in.
type SessionReader interface {
	// SessionPerson returns whose session it is and whether it is still open.
	SessionPerson(ctx context.Context, id string) (personID string, open bool, err error)
	// TOTP returns a person's sealed second-factor keys, confirmed and pending (nil =
	// none), and the last step spent.
	TOTP(ctx context.Context, personID string) (sealed, pending []byte, lastStep int64, err error)
}

// EndedSession is a session that was closed and whose it was.
type EndedSession struct {
	ID     string
	Person org.Person
}

// SessionWriter writes them, in the transaction that records it.
type SessionWriter interface {
	InsertSession(ctx context.Context, id, personID, providerSession string, at time.Time) error
	// EndSession closes one session; false when it was closed before or never there.
	EndSession(ctx context.Context, id string, at time.Time) (bool, error)
	// EndSessionsOf closes the open sessions that a provider names: of subject, of its
	// session providerSession, or of both; one of the two may be empty. It returns what it closed.
	EndSessionsOf(ctx context.Context, issuer, subject, providerSession string, at time.Time) ([]EndedSession, error)
	// MoveIssuer renames an issuer's people and returns how many.
	MoveIssuer(ctx context.Context, from, to string) (int, error)
	// FirstLogout remembers the id of a logout token until a time; false when it was seen before.
	FirstLogout(ctx context.Context, tokenID string, until time.Time) (bool, error)
	// ProposeTOTP keeps pending unless one is kept already, and returns the one that is.
	ProposeTOTP(ctx context.Context, personID string, pending []byte) ([]byte, error)
	// ConfirmTOTP makes the pending key the person's with step spent; false when there is none any more.
	ConfirmTOTP(ctx context.Context, personID string, step int64) (bool, error)
	// SpendTOTP marks a step as used; false unless it is newer than the last one.
	SpendTOTP(ctx context.Context, personID string, step int64) (bool, error)
}

// SignInPerson finds or creates the person of (issuer, subject), keeps name,
// e-mail and groups as the provider sent them, and opens the session.
func (p *Portal) SignInPerson(ctx context.Context, s signin.Session) (personID string, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		at := s.Began
		person, err := tx.UpsertPerson(ctx, org.Person{Issuer: s.Issuer, Subject: s.Subject, Name: s.Name, Email: s.Email, Groups: s.Groups}, &at)
		if err != nil {
			return err
		}
		if !person.Active {
			return ErrInactive
		}
		if err := tx.InsertSession(ctx, s.ID, person.ID, s.ProviderSession, s.Began); err != nil {
			return err
		}
		s.PersonID, personID = person.ID, person.ID
		actor := actorOf(person, s)
		e := p.entry(actor, ledger.SignedIn, "person", person.ID)
		for i, a := range person.Roles {
			e.Facts[fmt.Sprintf("role.%d", i+1)] = string(a.Role) + " " + a.Scope.String()
		}
		if s.GroupsNote != "" {
			e.Facts["groups"] = "none"
		}
		_, err = tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, map[string]string{"note": s.GroupsNote}))
		return err
	})
	return personID, err
}

// EnterSession returns who acts in a session, with the roles in force now.
func (p *Portal) EnterSession(ctx context.Context, s signin.Session) (Actor, error) {
	id, open, err := p.Store.SessionPerson(ctx, s.ID)
	if err != nil {
		return Actor{}, err
	}
	if !open || id != s.PersonID {
		return Actor{}, ErrSessionEnded
	}
	person, err := p.Store.Person(ctx, id)
	if err != nil {
		return Actor{}, err
	}
	if !person.Active {
		return Actor{}, ErrInactive
	}
	return actorOf(person, s), nil
}

func actorOf(person org.Person, s signin.Session) Actor {
	return Actor{
		Person: person, Via: "web", SessionID: s.ID, ACR: s.ACR, AMR: s.AMR,
		AuthTime: s.AuthTime,
	}
}

// SignOutPerson closes a session that ends here. cause is "sign_out", "idle", "absolute" or "replaced".
func (p *Portal) SignOutPerson(ctx context.Context, s signin.Session, cause string) error {
	return p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		ended, err := tx.EndSession(ctx, s.ID, p.Now())
		if err != nil || !ended {
			return err
		}
		return p.recordSession(ctx, tx, s, ledger.SignedOut, map[string]string{"cause": cause})
	})
}

// EndSessions closes the sessions that the provider says are over, and returns how many.
func (p *Portal) EndSessions(ctx context.Context, issuer, subject, providerSession string) (n int, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		n = 0
		ended, err := tx.EndSessionsOf(ctx, issuer, subject, providerSession, p.Now())
		if err != nil {
			return err
		}
		for _, x := range ended {
			s := signin.Session{ID: x.ID, PersonID: x.Person.ID, Issuer: issuer, Subject: x.Person.Subject, Name: x.Person.Name}
			if err := p.recordSession(ctx, tx, s, ledger.SignedOut, map[string]string{"cause": "provider"}); err != nil {
				return err
			}
		}
		n = len(ended)
		return nil
	})
	return n, err
}

// SignInRefusal is a sign-in or step-up that failed. Reason and Detail are frozen words.
type SignInRefusal struct {
	Reason, Detail, Issuer string
	Session                signin.Session // whose it was; empty for a stranger
	StepUp                 bool
}

// RefuseSignIn puts a failed attempt on record and returns the entry's id. Strangers
// share one chain: the object is the provider.
func (p *Portal) RefuseSignIn(ctx context.Context, in SignInRefusal) (entryID string, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		kind, id := "identity_provider", in.Issuer
		if in.Session.PersonID != "" {
			kind, id = "person", in.Session.PersonID
		}
		e := p.entry(sessionActor(in.Session), ledger.SignInRefused, kind, id)
		e.Outcome = ledger.Refused
		e.Facts["reason"] = in.Reason
		if in.Detail != "" {
			e.Facts["detail"] = in.Detail
		}
		if in.StepUp {
			e.Facts["at"] = "step-up"
		}
		if in.Session.PersonID == "" {
			e.Actor.ID = "stranger"
		}
		row, err := tx.Append(ctx, e, EntryRefs{}, openingsOf(sessionActor(in.Session), nil))
		entryID = row.Entry.ID
		return err
	})
	return entryID, err
}

func (p *Portal) recordSession(ctx context.Context, tx Tx, s signin.Session, t ledger.Type, facts map[string]string) error {
	actor := sessionActor(s)
	e := p.entry(actor, t, "person", s.PersonID)
	for k, v := range facts {
		if v != "" {
			e.Facts[k] = v
		}
	}
	_, err := tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, nil))
	return err
}

// SessionActor is who a session belongs to, for what happens at the door; it holds no roles.
func SessionActor(s signin.Session) Actor { return sessionActor(s) }

func sessionActor(s signin.Session) Actor {
	return actorOf(org.Person{ID: s.PersonID, Issuer: s.Issuer, Subject: s.Subject, Name: s.Name}, s)
}
