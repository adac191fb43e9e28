package portal

import (
	"context"
	"unicode/utf8"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

// maxComment in characters.
const maxComment = 4000

// CommentRequest adds a remark. Whoever sees a request may comment on it, save
// those who may not change anything at all.
func (p *Portal) CommentRequest(ctx context.Context, actor Actor, in CommentInput) (RequestRef, error) {
	seen, err := p.Store.RequestByNumber(ctx, in.Number)
	if err != nil {
		return RequestRef{}, err
	}
	if !hasWords(in.Text) {
		return RequestRef{}, fault.New(fault.Invalid, "A comment needs words.").At("text", "Write a comment.")
	}
	if utf8.RuneCountInString(in.Text) > maxComment {
		return RequestRef{}, fault.New(fault.Invalid, "This comment is too long.").At("text", "At most %d characters.", maxComment)
	}
	id := p.NewID()
	ref, err := once(ctx, p, actor, "comment", in.Key, in, func(ctx context.Context, tx Tx) (RequestRef, error) {
		r, err := tx.Request(ctx, seen.ID)
		if err != nil {
			return RequestRef{}, err
		}
		if err := p.sees(ctx, tx, actor, r); err != nil {
			return RequestRef{}, err
		}
		if !mayComment(actor, r) {
			return RequestRef{}, fault.New(fault.Forbidden, "Your roles only read. A platform admin can map you to another one.")
		}
		e := p.entry(actor, ledger.RequestCommented, "request", r.ID)
		row, err := tx.Append(ctx, e, refsOf(r, nil), openingsOf(actor, map[string]string{OpeningText: in.Text}))
		if err != nil {
			return RequestRef{}, err
		}
		if err := tx.InsertComment(ctx, id, r.ID, actor.Person.ID, row.Entry.ID, p.Now()); err != nil {
			return RequestRef{}, err
		}
		return refOf(r), nil
	})
	if err != nil {
		return RequestRef{}, p.refused(ctx, actor, ledger.RequestCommented, "request", seen.ID, refsOf(seen, nil), err)
	}
	return ref, nil
}
