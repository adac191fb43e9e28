package portal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/ledger"
)

// Signer signs what the tree is. Before it does, it derives everything since the last
// checkpoint anew from the stored entries, on top of a right edge that gives the root it
// signed before: so the new tree contains the old one, whatever the database says.
// One Signer is used by one loop at a time; it remembers what it signed.
type Signer struct {
	p       *Portal
	store   SignStore
	key     note.Signer
	trusted note.Verifiers

	mu   sync.Mutex
	last ledger.Checkpoint
}

// Broken is what a check of the record found wrong. Nothing is signed or pushed then.
type Broken struct {
	Size    int64
	Problem string
}

func (b *Broken) Error() string { return "the record is not as it was written: " + b.Problem }

// NewSigner returns a signer for the log in store. trusted are the public keys whose
// checkpoints it continues: its own and those before it.
func (p *Portal) NewSigner(store SignStore, key note.Signer, trusted note.Verifiers) *Signer {
	return &Signer{p: p, store: store, key: key, trusted: trusted}
}

// Sign makes a checkpoint of the tree if it grew. A *Broken error says why it must not.
func (s *Signer) Sign(ctx context.Context) (signed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next ledger.Checkpoint
	err = s.store.AtOneMoment(ctx, func(ctx context.Context, r TreeReader) error {
		next, err = s.derive(ctx, r)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("sign the record: %w", err)
	}
	if next.Size == s.last.Size {
		return false, nil
	}
	text, err := next.Sign(s.key)
	if err != nil {
		return false, err
	}
	s.p.reached("record.signed.before")
	err = s.store.InsertCheckpoint(ctx, CheckpointRow{Size: next.Size, Root: next.Root, Note: text, At: s.p.Now()})
	if err != nil {
		if Raced(err) { // another replica signed this size; the next run compares roots
			return false, nil
		}
		return false, fmt.Errorf("sign the record: %w", err)
	}
	s.last = next
	s.p.reached("record.signed.after")
	return true, nil
}

// derive returns the checkpoint to sign next, and the last one when nothing was added.
func (s *Signer) derive(ctx context.Context, r TreeReader) (ledger.Checkpoint, error) {
	name, err := r.LogName(ctx)
	if err != nil {
		return ledger.Checkpoint{}, err
	}
	origin := ledger.Origin(name)
	if s.key.Name() != origin {
		return ledger.Checkpoint{}, fmt.Errorf("the signer's key is of %s and this log is %s: make a key for it with quartermaster key", s.key.Name(), origin)
	}
	size, err := r.TreeSize(ctx)
	if err != nil {
		return ledger.Checkpoint{}, err
	}
	last, err := s.lastSigned(ctx, r, origin)
	if err != nil {
		return last, err
	}
	if size < last.Size {
		return last, &Broken{size, fmt.Sprintf("the tree has %d leaves and %d were signed: leaves were removed", size, last.Size)}
	}
	tree, err := ledger.FrontierAt(last.Size, nodesOf(ctx, r))
	if errors.Is(err, ErrNodeGone) {
		return last, &Broken{size, "nodes of the signed tree are gone"}
	}
	if err != nil {
		return last, err
	}
	if last.Size > 0 && tree.Root() != last.Root {
		return last, &Broken{size, fmt.Sprintf("the stored tree of %d leaves does not give the root that was signed", last.Size)}
	}
	s.last = last
	if size == last.Size {
		return last, nil
	}
	if err := extend(ctx, r, tree, size); err != nil {
		return last, err
	}
	return ledger.Checkpoint{Origin: origin, Size: size, Root: tree.Root()}, nil
}

// lastSigned is the newest checkpoint of the store, which has to be one of ours and
// not older than what this process signed itself.
func (s *Signer) lastSigned(ctx context.Context, r TreeReader, origin string) (ledger.Checkpoint, error) {
	row, found, err := r.LastCheckpoint(ctx)
	if err != nil {
		return ledger.Checkpoint{}, err
	}
	if !found {
		if s.last.Size > 0 {
			return s.last, &Broken{s.last.Size, "the checkpoints were removed"}
		}
		return ledger.Checkpoint{Origin: origin}, nil
	}
	c, err := ledger.OpenCheckpoint(row.Note, s.trusted, origin)
	if err != nil {
		return c, &Broken{row.Size, fmt.Sprintf("the newest checkpoint (size %d) is not signed by a trusted key", row.Size)}
	}
	if c.Size != row.Size || c.Root != row.Root {
		return c, &Broken{row.Size, fmt.Sprintf("the newest checkpoint (size %d) is stored with another size or root than it says", row.Size)}
	}
	if c.Size < s.last.Size || c.Size == s.last.Size && c.Root != s.last.Root {
		return c, &Broken{row.Size, fmt.Sprintf("the checkpoint of size %d that was signed is gone or another", s.last.Size)}
	}
	return c, nil
}

// extend adds the leaves up to size to tree, each from its entry's bytes.
func extend(ctx context.Context, r TreeReader, tree *ledger.Frontier, size int64) error {
	var audit ledger.RangeCheck
	for l, err := range r.StreamLeaves(ctx, tree.Size(), size) {
		if err != nil {
			return err
		}
		if problem := audit.Add(tree, l); problem != "" {
			return &Broken{size, problem}
		}
	}
	if tree.Size() != size {
		return &Broken{size, fmt.Sprintf("the tree has no leaf %d: leaves were removed", tree.Size())}
	}
	return nil
}
