package portal

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
)

// entry starts the ledger entry of something that actor does now. The caller adds
// authority, facts and digests, and appends it in the transaction of what it records.
func (p *Portal) entry(actor Actor, t ledger.Type, kind, id string) ledger.Entry {
	e := ledger.Entry{
		ID: p.NewID(), Type: t, At: ledger.Time(p.Now()), Outcome: ledger.Done, Via: actor.Via,
		Object: ledger.Object{Kind: kind, ID: id},
		Actor:  ledger.Actor{ID: actor.Person.ID, Session: actor.SessionID, ACR: actor.ACR, AMR: actor.AMR},
		Facts:  map[string]string{},
	}
	if actor.System != "" {
		e.Actor.ID = actor.System
	}
	if !actor.AuthTime.IsZero() {
		e.Actor.AuthTime = ledger.Time(actor.AuthTime)
	}
	if actor.MappingVersion > 0 {
		e.Authority.MappingVersion = strconv.FormatInt(actor.MappingVersion, 10)
	}
	return e
}

// by puts the assignment under which actor acts into the entry.
func by(e ledger.Entry, a org.Assignment) ledger.Entry {
	e.Authority.Role, e.Authority.Scope = string(a.Role), a.Scope.String()
	return e
}

// openingsOf are the texts that an entry binds without showing them: who acted,
// and whatever free text came with it. Empty texts are left out.
func openingsOf(actor Actor, texts map[string]string) map[string]string {
	out := map[string]string{}
	if actor.Person.Subject != "" {
		out["actor"] = actor.Person.Issuer + "\n" + actor.Person.Subject + "\n" + actor.Person.Name
	}
	for name, text := range texts {
		if text != "" {
			out[name] = text
		}
	}
	return out
}

// refused records an attempt that came to nothing and returns the fault that
// stopped it. Only refusals are recorded (role, separation of duties, visibility,
// state, staleness, a denying check): a field that was filled in wrongly is none, and a
// failure of the portal itself is for the log. It runs in a transaction of its own, because
// the one of the attempt was rolled back.
func (p *Portal) refused(ctx context.Context, actor Actor, t ledger.Type, kind, id string, refs EntryRefs, cause error) error {
	f := fault.As(cause)
	if f == nil || (f.Kind == fault.Invalid && !errors.Is(cause, errDenied)) || (f.Kind == fault.NotFound && !errors.Is(cause, errHidden)) || f.Kind == fault.Unavailable {
		return cause
	}
	var factor *StepUpNeeded
	if errors.As(cause, &factor) && factor.Why == "" {
		return cause // asked for, not refused: the person has not answered yet
	}
	e := p.entry(actor, t, kind, id)
	e.Outcome = ledger.Refused
	e.Facts["refusal"] = string(f.Kind)
	if factor != nil {
		e.Facts["step_up"] = factor.Why
	}
	err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.Append(ctx, e, refs, openingsOf(actor, map[string]string{"explanation": f.Public}))
		return err
	})
	if err != nil {
		return fmt.Errorf("record refused %s: %w", t, errors.Join(err, cause))
	}
	return cause
}

// errHidden is the cause of a NotFound fault about something that is there, but not for this person.
var errHidden = errors.New("not visible to the person")

// errDenied is the cause of a fault by which a check, not a field, refuses.
var errDenied = errors.New("denied by a check")
