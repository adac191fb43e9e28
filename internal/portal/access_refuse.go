package portal

import (
	"context"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

// Refusal is an attempt that the roles of a person do not open.
type Refusal struct {
	Route         string // method and pattern, e.g. POST /requests/{request}/decide
	RequestNumber int64  // the request it aimed at; 0 = none
}

// RecordRefusal puts a refused attempt on record, in the chain of entries about
// the person who made it. An attempt on a request that exists is found with that request too.
func (p *Portal) RecordRefusal(ctx context.Context, actor Actor, in Refusal) error {
	return p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		var refs EntryRefs
		if in.RequestNumber > 0 {
			r, err := tx.RequestByNumber(ctx, in.RequestNumber)
			switch {
			case fault.KindOf(err) == fault.NotFound:
			case err != nil:
				return err
			default:
				refs.RequestID, refs.ProjectID = r.ID, r.Revision.Content.ProjectID
			}
		}
		e := p.entry(actor, ledger.AccessRefused, "person", actor.Person.ID)
		e.Outcome = ledger.Refused
		e.Facts["route"] = in.Route
		_, err := tx.Append(ctx, e, refs, openingsOf(actor, nil))
		return err
	})
}
