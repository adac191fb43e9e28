package portal

import (
	"context"
	"iter"
	"time"

	"quartermaster/internal/ledger"
)

// TreeReader reads the tree over the record and its checkpoints. Every role may.
type TreeReader interface {
	LogName(ctx context.Context) (string, error)
	// TreeSize is how many entries have a leaf.
	TreeSize(ctx context.Context) (int64, error)
	// TreeNodes returns nodes by the index under which tlog counts them.
	TreeNodes(ctx context.Context, stored []int64) ([]ledger.Hash, error)
	// StreamLeaves yields the leaves from index from up to but not including to, in
	// order, each with its entry. A leaf that is gone is left out.
	StreamLeaves(ctx context.Context, from, to int64) iter.Seq2[ledger.Leaf, error]
	// LastCheckpoint is the newest; found is false when nothing was signed yet.
	LastCheckpoint(ctx context.Context) (c CheckpointRow, found bool, err error)
	// Checkpoints by size, those larger than after.
	Checkpoints(ctx context.Context, after int64, limit int) ([]CheckpointRow, error)
}

// Tree is what the portal reads of the tree.
type Tree interface {
	TreeReader
	// LeafIndexes returns the place of each entry that has one, by entry id.
	LeafIndexes(ctx context.Context, entryIDs []string) (map[string]int64, error)
	// EntriesOfObject are an object's entries of one type, oldest first.
	EntriesOfObject(ctx context.Context, kind, id string, t ledger.Type) ([]EntryRow, error)
	// StreamUnsequenced yields the entries that have no leaf yet, oldest first.
	StreamUnsequenced(ctx context.Context) iter.Seq2[ledger.Stored, error]
	// StreamLeafOpenings yields the texts of the entries of the first size leaves, by leaf and name.
	StreamLeafOpenings(ctx context.Context, size int64) iter.Seq2[ledger.Opening, error]
	// RecordState is the newest check of the record; OK when there was none.
	RecordState(ctx context.Context) (RecordCheck, error)
	// LastWholeCheck is when the whole record was checked last; zero = never.
	LastWholeCheck(ctx context.Context) (time.Time, error)
	Projections
}

// TreeWriter are the writes of the sequencer and of checks.
type TreeWriter interface {
	// Horizon says which ordinals may still be committed late.
	Horizon(ctx context.Context) (Horizon, error)
	// UnsequencedAfter returns entries without a leaf whose ordinal is larger than after, by ordinal.
	UnsequencedAfter(ctx context.Context, after int64, limit int) ([]UnsequencedEntry, error)
	// InsertLeaves adds leaves from index first on; a Conflict fault when somebody else did.
	InsertLeaves(ctx context.Context, first int64, leaves []NewLeaf) error
	InsertCheck(ctx context.Context, c RecordCheck) error
	// Notify wakes whoever listens on the channel once the transaction commits.
	Notify(ctx context.Context, channel string) error
}

// SignStore is the record as the signer's own role sees it.
type SignStore interface {
	// AtOneMoment gives fn reads that all show the database at one moment.
	AtOneMoment(ctx context.Context, fn func(ctx context.Context, r TreeReader) error) error
	// InsertCheckpoint keeps a checkpoint; a Conflict fault when one of this size is there.
	InsertCheckpoint(ctx context.Context, c CheckpointRow) error
}

// Channels on which sequencer and signer are woken.
const (
	ChannelRecord = "quartermaster_record" // an entry has to be included soon
	ChannelTree   = "quartermaster_tree"   // the tree grew for somebody who waits
)

// Horizon is one look at which transactions may still add entries.
type Horizon struct {
	Running uint64 // every transaction before this one has ended
	Next    uint64 // every transaction that has begun to write is before this one
	Newest  int64  // largest ordinal that can be seen
}

// UnsequencedEntry is an entry that waits for its leaf.
type UnsequencedEntry struct {
	Ordinal int64
	Digest  string
}

// NewLeaf is a leaf to store: its entry and the nodes it completes.
type NewLeaf struct {
	Ordinal int64
	Hashes  []byte
}

// CheckpointRow is a checkpoint as it lies in the store.
type CheckpointRow struct {
	Size int64
	Root ledger.Hash
	Note string
	At   time.Time
}

// Kinds of checks of the record.
const (
	CheckRange   = "range"   // what came since the last checkpoint, before it is signed
	CheckWhole   = "whole"   // everything
	CheckCleared = "cleared" // somebody lifted the stop
)

// RecordCheck is what a check of the record found. While the newest is not OK
// nothing is signed and nothing pushed.
type RecordCheck struct {
	At      time.Time
	Kind    string
	Size    int64
	OK      bool
	Problem string
	EntryID string
}
