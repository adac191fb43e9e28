package portal

import (
	"context"
	"iter"

	"quartermaster/internal/approval"
)

// Projections read the rows that pages and pushes are made from together with the
// entries that they must agree with. An entry that is gone is nil.
type Projections interface {
	StreamDecisions(ctx context.Context) iter.Seq2[ProjectedDecision, error]
	StreamGrants(ctx context.Context) iter.Seq2[ProjectedGrant, error]
	StreamChanges(ctx context.Context) iter.Seq2[ProjectedChange, error]
	StreamOpenings(ctx context.Context) iter.Seq2[ProjectedOpening, error]
	// Orphans are entries whose row is gone, at most limit.
	Orphans(ctx context.Context, limit int) ([]Orphan, error)
}

// ProjectedDecision is a decision row and its entry.
type ProjectedDecision struct {
	approval.Decision
	EntryID string
	Entry   []byte
}

// ProjectedGrant is a grant row with its end, if it has one, and its entries.
type ProjectedGrant struct {
	GrantRow
	Made  []byte
	Ended [][]byte
}

// ProjectedChange is a change row with the first entry and the last one that tells
// what became of it.
type ProjectedChange struct {
	Change
	Planned []byte
	Last    []byte
}

// ProjectedOpening is a text and the entry that binds it.
type ProjectedOpening struct {
	EntryID, Name, Text string
	Salt, Entry         []byte
}

// Orphan is an entry of which the row it recorded is gone.
type Orphan struct {
	Ordinal        int64
	EntryID, Table string
	ObjectID       string
}
