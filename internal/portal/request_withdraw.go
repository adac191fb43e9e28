package portal

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/request"
)

// WithdrawRequest takes a request back before it is decided. It stays listed.
func (p *Portal) WithdrawRequest(ctx context.Context, actor Actor, in WithdrawInput) (RequestRef, error) {
	seen, err := p.Store.RequestByNumber(ctx, in.Number)
	if err != nil {
		return RequestRef{}, err
	}
	ref, err := once(ctx, p, actor, "withdraw", in.Key, in, func(ctx context.Context, tx Tx) (RequestRef, error) {
		r, err := tx.RequestForUpdate(ctx, seen.ID)
		if err != nil {
			return RequestRef{}, err
		}
		if err := p.sees(ctx, tx, actor, r); err != nil {
			return RequestRef{}, err
		}
		if !owns(actor, r) {
			return RequestRef{}, fault.New(fault.Forbidden, "Only who asked, or on whose behalf, can withdraw a request.")
		}
		from := r.State
		if r, err = r.Withdraw(p.Now()); err != nil {
			return RequestRef{}, err
		}
		if err := tx.SaveRequest(ctx, r); err != nil {
			return RequestRef{}, err
		}
		e := p.entry(actor, ledger.RequestWithdrawn, "request", r.ID)
		e.Object.Revision, e.Object.Digest = fmt.Sprint(r.Revision.Number), r.Revision.Digest
		e.Facts["from"], e.Facts["to"] = string(from), string(r.State)
		if _, err := tx.Append(ctx, e, refsOf(r, nil), openingsOf(actor, map[string]string{OpeningReason: in.Reason})); err != nil {
			return RequestRef{}, err
		}
		return refOf(r), nil
	})
	if err != nil {
		return RequestRef{}, p.refused(ctx, actor, ledger.RequestWithdrawn, "request", seen.ID, refsOf(seen, nil), err)
	}
	return ref, nil
}

// owns reports whether actor asked, is the beneficiary, or wrote a revision.
func owns(actor Actor, r request.Request) bool {
	id := actor.Person.ID
	return id != "" && (id == r.RequesterID || id == r.Revision.Content.BeneficiaryID || slices.Contains(r.EditorIDs, id))
}
