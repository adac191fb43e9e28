package portal

import (
	"context"
	"strconv"

	"quartermaster/internal/ledger"
)

// MoveIssuer carries the people of one issuer over to another: for an identity
// provider that moved to another address and kept its subjects. Its caller says so
// on the command line or, in dev, knows it.
func (p *Portal) MoveIssuer(ctx context.Context, actor Actor, from, to string) (n int, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if n, err = tx.MoveIssuer(ctx, from, to); err != nil || n == 0 {
			return err
		}
		e := p.entry(actor, ledger.IssuerMoved, "identity_provider", to)
		e.Facts["from"], e.Facts["people"] = from, strconv.Itoa(n)
		_, err := tx.Append(ctx, e, EntryRefs{}, nil)
		return err
	})
	return n, err
}
