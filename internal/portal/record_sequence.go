package portal

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

// ErrNodeGone: a node that the tree must have is not in the store.
var ErrNodeGone = errors.New("a node of the tree is gone")

// sequenceBatch is how many entries get their leaf in one transaction.
const sequenceBatch = 1000

// Sequencer gives entries their leaves. It may run anywhere, but is meant to run in
// one place at a time: it holds no lock itself, and a second one only loses races. It
// takes whatever has no leaf, never "what is newer than the last one": an entry gets
// its ordinal before it is committed, and may be committed late.
type Sequencer struct {
	p    *Portal
	tree *ledger.Frontier // as of the last batch; nil = not read yet
	room []ledger.Hash

	// Entries up to floor all have leaves or were never committed, so only what
	// is above has to be looked at. It rises to mark once every transaction that might
	// still add below it has ended.
	floor int64
	mark  Horizon
}

// NewSequencer returns a sequencer that begins to look at the very first entry.
func (p *Portal) NewSequencer() *Sequencer { return &Sequencer{p: p} }

// Run gives a leaf to every entry that can be seen and returns how many there were.
// With tell set it wakes the signer, also when there was nothing to do: somebody waits.
func (s *Sequencer) Run(ctx context.Context, tell bool) (int, error) {
	var seen Horizon
	done, after := 0, s.floor
	for first := true; ; first = false {
		var n int
		var last int64
		var tree *ledger.Frontier
		err := s.p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
			if first {
				var err error
				if seen, err = tx.Horizon(ctx); err != nil {
					return err
				}
			}
			var err error
			tree, n, last, err = s.batch(ctx, tx, after)
			if err != nil {
				return err
			}
			if tell && n < sequenceBatch && (first || n > 0) {
				if err := tx.Notify(ctx, ChannelTree); err != nil {
					return err
				}
			}
			s.p.reached("record.sequenced.before")
			return nil
		})
		if err != nil {
			s.tree = nil // whatever happened, read it anew
			return done, fmt.Errorf("sequence the record: %w", err)
		}
		s.p.reached("record.sequenced.after")
		s.tree, done = tree, done+n
		if n < sequenceBatch {
			break
		}
		after = last
	}
	s.raise(seen)
	return done, nil
}

// raise moves the floor up when the transactions of the last mark are all over.
func (s *Sequencer) raise(seen Horizon) {
	if s.mark.Next > 0 && seen.Running >= s.mark.Next {
		s.floor = max(s.floor, s.mark.Newest)
		s.mark = Horizon{}
	}
	if s.mark.Next == 0 {
		s.mark = seen
	}
}

// batch gives leaves to entries above after. It returns the tree with them.
func (s *Sequencer) batch(ctx context.Context, tx Tx, after int64) (tree *ledger.Frontier, n int, last int64, err error) {
	waiting, err := tx.UnsequencedAfter(ctx, after, sequenceBatch)
	if err != nil || len(waiting) == 0 {
		return s.tree, 0, after, err
	}
	size, err := tx.TreeSize(ctx)
	if err != nil {
		return nil, 0, 0, err
	}
	if s.tree != nil && s.tree.Size() == size {
		tree = s.tree.Clone()
	} else if tree, err = ledger.FrontierAt(size, nodesOf(ctx, tx)); err != nil {
		return nil, 0, 0, err
	}
	leaves := make([]NewLeaf, 0, len(waiting))
	for _, e := range waiting {
		leaf, err := ledger.ParseDigest(e.Digest)
		if err != nil {
			return nil, 0, 0, fmt.Errorf("entry %d: %w", e.Ordinal, err)
		}
		s.room = tree.Append(leaf, s.room)
		leaves = append(leaves, NewLeaf{Ordinal: e.Ordinal, Hashes: ledger.JoinHashes(s.room)})
	}
	if err := tx.InsertLeaves(ctx, size, leaves); err != nil {
		return nil, 0, 0, err
	}
	return tree, len(waiting), waiting[len(waiting)-1].Ordinal, nil
}

// nodesOf reads the tree's stored nodes through r.
func nodesOf(ctx context.Context, r TreeReader) tlog.HashReader {
	return tlog.HashReaderFunc(func(stored []int64) ([]ledger.Hash, error) { return r.TreeNodes(ctx, stored) })
}

// Raced reports whether err only says that another sequencer was faster.
func Raced(err error) bool { return fault.KindOf(err) == fault.Conflict }
