package portal

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

// ExportBundle writes everything under the newest checkpoint as a bundle that verifies
// offline. That it was taken away is on record before the first byte leaves. key signs
// the manifest; nil leaves it unsigned.
func (p *Portal) ExportBundle(ctx context.Context, actor Actor, w io.Writer, generator string, key note.Signer) (ledger.Checkpoint, error) {
	e := p.entry(actor, ledger.Exported, "export", p.NewID())
	last, found, err := p.Store.LastCheckpoint(ctx)
	if err != nil {
		return ledger.Checkpoint{}, err
	}
	if !found {
		return ledger.Checkpoint{}, fault.New(fault.Conflict, "Nothing was signed yet, so there is nothing that a bundle could prove. Run serve with a signer first.")
	}
	e.Facts["format"], e.Facts["tree_size"] = "bundle", strconv.FormatInt(last.Size, 10)
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, nil))
		return err
	})
	if err != nil {
		return ledger.Checkpoint{}, fmt.Errorf("record the export: %w", err)
	}
	err = p.Store.Snapshot(ctx, func(ctx context.Context, r Reader) error {
		name, err := r.LogName(ctx)
		if err != nil {
			return err
		}
		b := ledger.NewBundle(w, ledger.Manifest{Log: name, Generator: generator, At: ledger.Time(p.Now())})
		for l, err := range r.StreamLeaves(ctx, 0, last.Size) {
			if err == nil {
				err = b.Event(l.Stored.Canonical, l.Stored.Columns.At)
			}
			if err != nil {
				return err
			}
		}
		for o, err := range r.StreamLeafOpenings(ctx, last.Size) {
			if err == nil {
				err = b.Opening(o)
			}
			if err != nil {
				return err
			}
		}
		return b.Close(last.Note, last.Size, key)
	})
	if err != nil {
		return ledger.Checkpoint{}, fmt.Errorf("write the bundle: %w", err)
	}
	return ledger.Checkpoint{Size: last.Size, Root: last.Root}, nil
}

// Receipt is the signed receipt of an entry for whoever may see it. Unavailable while
// no checkpoint covers the entry: it is asked for, and there in a moment.
func (p *Portal) Receipt(ctx context.Context, actor Actor, entryID string) (ledger.Receipt, error) {
	row, err := p.Store.Entry(ctx, entryID)
	if err != nil {
		return ledger.Receipt{}, err
	}
	if err := p.seesEntry(ctx, actor, row); err != nil {
		return ledger.Receipt{}, err
	}
	proof, err := p.prove(ctx, p.Store, row)
	if err != nil {
		return ledger.Receipt{}, fmt.Errorf("receipt of entry %s: %w", entryID, err)
	}
	switch {
	case proof.Problem != "":
		return ledger.Receipt{}, fault.New(fault.Conflict, "There is no receipt for this entry. "+proof.Problem)
	case !proof.Signed:
		if err := p.askInclusion(ctx); err != nil {
			return ledger.Receipt{}, err
		}
		return ledger.Receipt{}, fault.New(fault.Unavailable, "This entry is recorded and not signed yet. The receipt is there in a few seconds: load this page again.")
	}
	return ledger.NewReceipt(row.Canonical, proof.Inclusion), nil
}
