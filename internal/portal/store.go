package portal

import (
	"context"
	"encoding/json"
	"time"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
	"quartermaster/internal/work"
)

// Store is what portal needs of the database. Missing rows are NotFound faults.
// A lost connection during commit is an Unavailable fault after the store has
// re-read what became of the transaction where it can tell.
type Store interface {
	// InTx runs fn in one explicit transaction and commits if it returns nil.
	// Serialization failures and deadlocks are tried again, so fn must not have other effects.
	InTx(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	// Lock holds a lock on name (e.g. a binding) for as long as fn runs, across processes
	// and transactions; it is gone when the process dies. Used as the per-object fence.
	// fn's ctx ends when the lock is lost. Locks are not nested.
	Lock(ctx context.Context, name string, fn func(ctx context.Context) error) error
	// TryLock is Lock that returns false at once when somebody else holds the lock.
	TryLock(ctx context.Context, name string, fn func(ctx context.Context) error) (bool, error)
	// Listen gets a value when somebody notifies on the channel, until ctx ends.
	Listen(ctx context.Context, channel string) <-chan struct{}
	// Snapshot gives fn reads that all show the database at one moment, as a
	// verification that compares entries with heads needs.
	Snapshot(ctx context.Context, fn func(ctx context.Context, r Reader) error) error
	Reader
}

// Reader are the reads that pages and use cases share; Tx has them too, inside the transaction.
type Reader interface {
	Org
	Requests
	Fleet
	Record
	Tree
	SessionReader
	ObjectReader
	StepUpReader
	RecoveryReader
	UsageHistory
	FindingReader
}

// Tx is one transaction. Everything read through it is of the transaction.
type Tx interface {
	Reader
	SessionWriter
	TreeWriter
	ObjectWriter
	StepUpWriter
	RecoveryWriter
	UsageWriter
	FindingWriter

	// RequestForUpdate locks the request row.
	RequestForUpdate(ctx context.Context, id string) (request.Request, error)
	// InsertRequest stores a new draft and returns its number.
	InsertRequest(ctx context.Context, r request.Request) (number int64, err error)
	// SaveRequest writes state, route, waiting stage and lines, and a revision row when
	// the digest is new; Stale when r.Version is not the stored one, which becomes
	// r.Version+1 (InsertRequest stores 1). lines' granted
	// figures come from r.Granted once anybody approved.
	SaveRequest(ctx context.Context, r request.Request) error
	InsertDecision(ctx context.Context, d approval.Decision, entryID string) error
	InsertComment(ctx context.Context, id, requestID, personID, entryID string, at time.Time) error
	InsertChecks(ctx context.Context, requestID, digest, phase string, results []policy.Result, at time.Time) error
	InsertGrant(ctx context.Context, g GrantRow) (seq int64, err error)
	EndGrant(ctx context.Context, grantID, cause string, at time.Time) error
	// StartGrant marks that a grant's own start was handled; first is false if it was before.
	StartGrant(ctx context.Context, grantID string, at time.Time) (first bool, err error)
	// TickForUpdate locks the named tick (made when missing) and returns when it last ran; zero = never.
	TickForUpdate(ctx context.Context, name string) (time.Time, error)
	SaveTick(ctx context.Context, name string, at time.Time) error

	InsertBinding(ctx context.Context, b fleet.Binding) error
	InsertBaseline(ctx context.Context, bindingID, poolID string, base fleet.Base, at time.Time) error
	InsertChange(ctx context.Context, c Change) (seq int64, err error)
	ChangeForUpdate(ctx context.Context, id string) (Change, error)
	SaveChange(ctx context.Context, c Change) error
	// SupersedeOlder marks open changes of the binding with a smaller seq as superseded and returns them.
	SupersedeOlder(ctx context.Context, bindingID string, seq int64) ([]Change, error)
	// WaitingChanges of a cluster become planned again; returns their ids.
	ReleaseChanges(ctx context.Context, clusterID string, from []ChangeState) ([]string, error)

	InsertCluster(ctx context.Context, c Cluster, ca string, tokenSealed []byte) error
	SaveClusterMode(ctx context.Context, id string, mode fleet.Mode, paused bool) error
	SaveDiscovery(ctx context.Context, id string, d fleet.Discovery) error
	// SavePoll keeps a good poll: pools, queues, usage rows, samples, workloads, poll row.
	SavePoll(ctx context.Context, clusterID string, o fleet.Observation, usage []UsageRow, took time.Duration) error
	// SaveFailedPoll keeps the problem; the last good figures stay.
	SaveFailedPoll(ctx context.Context, clusterID, problem string, at time.Time, took time.Duration) error
	SaveWorkload(ctx context.Context, clusterID string, w fleet.Workload, gone bool, at time.Time) error
	UpsertPool(ctx context.Context, p org.Pool) error

	// SaveOrg makes the organisation what o says: inserts and updates; nothing is deleted,
	// what o no longer names stays for the record. Returns the new version.
	SaveOrg(ctx context.Context, o Organisation, digest, by string) (version int64, err error)

	UpsertPerson(ctx context.Context, p org.Person, signedInAt *time.Time) (org.Person, error)

	// Append writes an entry: it fills V, Log, Prev and the digest. openings bind free text;
	// the commitment named OpeningReason is put into Entry.Reason, OpeningActor into
	// Entry.Actor.Commitment, others into Facts. The row returned has no names.
	Append(ctx context.Context, e ledger.Entry, refs EntryRefs, openings map[string]string) (EntryRow, error)
	// Enqueue adds a job that runs once the transaction commits, in the queue that
	// work.QueueOf names. Fields tagged river:"unique" make it unique among unfinished jobs.
	Enqueue(ctx context.Context, args work.Args) error
	// Replay returns the result stored under the person's key, if any.
	Replay(ctx context.Context, personID, key, useCase string) (result json.RawMessage, found bool, err error)
	SaveReplay(ctx context.Context, personID, key, useCase string, result any) error
}
