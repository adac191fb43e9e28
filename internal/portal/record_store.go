package portal

import (
	"context"
	"iter"
	"time"

	"quartermaster/internal/ledger"
)

// Record reads the ledger.
type Record interface {
	// Entries by filter, newest first, keyset by ordinal.
	Entries(ctx context.Context, q EntryQuery) ([]EntryRow, error)
	// CountEntries counts what q matches, up to limit.
	CountEntries(ctx context.Context, q EntryQuery, limit int) (int, error)
	Entry(ctx context.Context, id string) (EntryRow, error)
	// EntriesOfRequest oldest first.
	EntriesOfRequest(ctx context.Context, requestID string) ([]EntryRow, error)
	// Neighbours of an entry in its object's chain; nil where there is none.
	Neighbours(ctx context.Context, e EntryRow) (before, after *EntryRow, err error)
	// StreamEntries yields every match, newest first, in constant memory.
	StreamEntries(ctx context.Context, q EntryQuery) iter.Seq2[EntryRow, error]
	// StreamStored yields the whole record, oldest first, for verification.
	StreamStored(ctx context.Context) iter.Seq2[ledger.Stored, error]
	// Heads returns what the store says is each object's last digest, by "kind\x00id".
	Heads(ctx context.Context) (map[string]string, error)
	LogName(ctx context.Context) (string, error)
}

// EntryQuery filters the history; empty fields do not filter.
type EntryQuery struct {
	PersonID  string
	ProjectID string
	PoolID    string
	ClusterID string
	RequestID string
	Types     []ledger.Type
	Outcome   ledger.Outcome
	Search    string // request number, person or project name
	From, To  time.Time
	Teams     []string // nil = all
	Before    int64    // ordinal; 0 = newest page
	After     int64    // ordinal: the page of newer ones
	Limit     int
}

// EntryRow is an entry with the names for its ids and the text of its openings.
type EntryRow struct {
	Ordinal       int64
	Digest        string
	Canonical     []byte
	Entry         ledger.Entry
	At            time.Time
	ActorName     string
	RequestID     string
	RequestNumber int64 // 0 = none
	ProjectID     string
	ProjectName   string
	PoolIDs       []string
	ClusterID     string
	Openings      map[string]string // name → text; erased ones are absent
}

// Names of openings: the free text and personal data that an entry binds by commitments.
const (
	OpeningReason = "reason" // of a decision or any other act
	OpeningText   = "text"   // of a comment
	OpeningActor  = "actor"  // issuer, subject and name of who acted
)

// EntryRefs are the search columns of an entry.
type EntryRefs struct {
	RequestID, ProjectID, ClusterID string
	PoolIDs                         []string
}
