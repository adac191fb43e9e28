package portal

import (
	"context"
	"encoding/json"
	"iter"
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
	SessionReader
}

// Org reads the organisation.
type Org interface {
	Person(ctx context.Context, id string) (org.Person, error)
	PersonBySubject(ctx context.Context, issuer, subject string) (org.Person, error)
	// PeopleHolding returns active people who hold role anywhere, with all their roles.
	PeopleHolding(ctx context.Context, role org.Role) ([]org.Person, error)
	// PeopleHoldingAt returns those of them who hold it at one of places.
	PeopleHoldingAt(ctx context.Context, role org.Role, places []org.Place) ([]org.Person, error)
	// People returns everybody by name; after is the last name+id of the page before.
	People(ctx context.Context, q PeopleQuery) ([]org.Person, error)
	PeopleByID(ctx context.Context, ids []string) (map[string]org.Person, error)
	// NamesOfSubjects returns the names of active people by their subject.
	NamesOfSubjects(ctx context.Context, subjects []string) (map[string]string, error)
	Mappings(ctx context.Context) (mappings []org.Mapping, version int64, err error)
	// RouteInForce returns the stage templates and their version.
	RouteInForce(ctx context.Context) (templates []approval.Template, version int, err error)
	Units(ctx context.Context) ([]org.Unit, error)
	Teams(ctx context.Context) ([]org.Team, error)
	Team(ctx context.Context, id string) (org.Team, error)
	// Projects of the given teams; teams nil = all.
	Projects(ctx context.Context, teams []string) ([]org.Project, error)
	Project(ctx context.Context, id string) (org.Project, error)
	// ProjectsByID returns those of ids that exist.
	ProjectsByID(ctx context.Context, ids []string) (map[string]org.Project, error)
	// ProjectList is one page of the given teams' projects that fit q, by name; teams nil = all.
	ProjectList(ctx context.Context, teams []string, q ProjectQuery) ([]org.Project, error)
	Pools(ctx context.Context) ([]PoolState, error)
	Pool(ctx context.Context, id string) (PoolState, error)
}

// PeopleQuery pages through people.
type PeopleQuery struct {
	Search    string
	AfterName string
	AfterID   string
	Limit     int
}

// PoolState is a pool with what was last observed of it.
type PoolState struct {
	org.Pool
	ClusterName string
	ClusterKind fleet.Kind
	Unit        fleet.Unit
	Product     string
	Capacity    fleet.Measure
	Cards       fleet.Measure
	Nodes       *int
	Notes       []string
	ObservedAt  *time.Time
	// Sums over every queue of the cluster, whoever owns it; unknown until polled.
	Nominal, Reserved, InUse, Borrowed fleet.Measure
	Pending                            fleet.Measure // workloads waiting
	Stale                              bool          // the last poll failed; figures are of ObservedAt
}

// Requests reads requests and what belongs to them.
type Requests interface {
	Request(ctx context.Context, id string) (request.Request, error)
	RequestByNumber(ctx context.Context, number int64) (request.Request, error)
	RequestList(ctx context.Context, q RequestQuery) ([]RequestRow, error)
	// CountWaiting counts what waits for p, up to limit.
	CountWaiting(ctx context.Context, p org.Person, limit int) (int, error)
	Revisions(ctx context.Context, requestID string) ([]request.Revision, error)
	Comments(ctx context.Context, requestID string) ([]Comment, error)
	Checks(ctx context.Context, requestID string) ([]KeptCheck, error)
	GrantsOfRequest(ctx context.Context, requestID string) ([]GrantRow, error)
	// GrantsOfPlace returns all grants ever made for (project, environment), oldest first.
	GrantsOfPlace(ctx context.Context, projectID, environment string) ([]GrantRow, error)
	// ComingOfPools sums by pool what was granted at other places than except and is
	// not enforced yet, as of at; pools without any are absent.
	ComingOfPools(ctx context.Context, pools []string, except PlaceKey, at time.Time) (map[string]fleet.Quantity, error)
	// GrantsStanding returns the grants of projects that did not end before at, oldest
	// first: all that the desired limits from then on depend on.
	GrantsStanding(ctx context.Context, projectIDs []string, at time.Time) ([]GrantRow, error)
	// GrantsDue returns (project, environment) places where a grant starts or ends in (after, until]
	// and nobody handled it: a start later than made_at without a grant_start, an end without a grant_end.
	GrantsDue(ctx context.Context, after, until time.Time) ([]PlaceKey, error)
	ChangesOfRequest(ctx context.Context, requestID string) ([]Change, error)
	Change(ctx context.Context, id string) (Change, error)
	// OpenChanges of a cluster, oldest first.
	OpenChanges(ctx context.Context, clusterID string) ([]Change, error)
	// StoppedChanges of a cluster that are the newest of their binding, oldest first.
	StoppedChanges(ctx context.Context, clusterID string) ([]Change, error)
	// ChangesOfBinding returns the newest changes of a binding, newest first, at most limit.
	ChangesOfBinding(ctx context.Context, bindingID string, limit int) ([]Change, error)
	// ChangeCounts by cluster id; clusters with neither are absent.
	ChangeCounts(ctx context.Context) (map[string]ChangeCount, error)
}

// RequestQuery filters and pages requests. Zero values do not filter. Keyset: the
// last row's key of the page before.
type RequestQuery struct {
	Teams       []string // nil = all; empty, non-nil = none
	RequesterID string   // asked by or on behalf of
	ProjectID   string
	PoolID      string
	ClusterID   string
	States      []request.State
	Search      string // number, project name or purpose
	// WaitingFor lists only what this person could decide now (role, scope, separation of duties), oldest first.
	WaitingFor *org.Person
	Sort       string // "newest" (default), "oldest", "due"
	AfterKey   string // opaque, from RequestRow.Key
	Limit      int    // at most 200; 0 = 50
}

// RequestRow is one line of a list.
type RequestRow struct {
	Key           string // keyset position
	ID            string
	Number        int64
	State         request.State
	ProjectID     string
	ProjectName   string
	TeamName      string
	Environment   string
	RequesterID   string
	RequesterName string
	Purpose       string
	StageName     string
	WaitingSince  *time.Time
	DueAt         *time.Time
	CreatedAt     time.Time
	Warnings      int // failed or unknown checks at submission
	Lines         []RequestRowLine
}

// RequestRowLine is the figure line of one pool.
type RequestRowLine struct {
	PoolID, PoolName, Resource string
	Unit                       fleet.Unit
	Kind                       request.LimitKind
	Current                    fleet.Measure
	Asked                      fleet.Quantity
	Granted                    fleet.Measure // unknown = nothing granted yet
	Enforced                   fleet.Measure
	InUse                      fleet.Measure
}

// Comment on a request. Text is "" with Erased when it was erased.
type Comment struct {
	ID, PersonID, PersonName, Text, EntryID string
	Erased                                  bool
	At                                      time.Time
}

// KeptCheck is a check result as it stood.
type KeptCheck struct {
	policy.Result
	Digest string
	Phase  string
	At     time.Time
}

// GrantRow is a grant with where it holds.
type GrantRow struct {
	fleet.Grant
	ProjectID, Environment string
	Asked                  fleet.Quantity
	Digest                 string
	MadeAt                 time.Time
	EndCause               string // revoked, superseded, expired; "" while it runs
}

// ChangeCount is how many changes of a cluster are open, and stopped as in StoppedChanges.
type ChangeCount struct{ Open, Stopped int }

// PlaceKey is where limits are bound.
type PlaceKey struct{ ProjectID, Environment string }

// ChangeState is where a change stands. Frozen strings.
type ChangeState string

const (
	ChangePlanned    ChangeState = "planned"
	ChangeHeld       ChangeState = "held"    // the cluster is not in enforce, or writing is paused
	ChangeWaiting    ChangeState = "waiting" // the cluster does not answer
	ChangeApplying   ChangeState = "applying"
	ChangeApplied    ChangeState = "applied" // sent, not read back yet
	ChangeVerified   ChangeState = "verified"
	ChangeStopped    ChangeState = "stopped" // needs a person: another base, another owner, refused
	ChangeSuperseded ChangeState = "superseded"
)

// Open reports whether the change still has to come true.
func (s ChangeState) Open() bool {
	return s == ChangePlanned || s == ChangeHeld || s == ChangeWaiting || s == ChangeApplying || s == ChangeApplied
}

// Change is the work of making limits true on one binding.
type Change struct {
	ID         string
	Seq        int64
	BindingID  string
	ClusterID  string
	RequestID  string // "" when caused by an end or a mode change
	Cause      string
	State      ChangeState
	Takeover   bool
	Expected   []fleet.Limit // what the decider saw live; empty = not compared
	Plan       *fleet.Plan
	Receipt    *fleet.Receipt // without a time: begun, and no answer kept yet
	ReadBack   *fleet.ReadBack
	Problem    string
	CreatedAt  time.Time
	AppliedAt  *time.Time
	VerifiedAt *time.Time
}

// Fleet reads clusters, bindings and usage.
type Fleet interface {
	// Clusters by name, without the queues and quotas of their discovery and without their observation.
	Clusters(ctx context.Context) ([]Cluster, error)
	Cluster(ctx context.Context, id string) (Cluster, error)
	// Credentials of a cluster, still sealed.
	ClusterToken(ctx context.Context, id string) (sealed []byte, err error)
	Binding(ctx context.Context, id string) (fleet.Binding, error)
	BindingAt(ctx context.Context, projectID, environment, clusterID string) (fleet.Binding, error)
	Bindings(ctx context.Context, q BindingQuery) ([]fleet.Binding, error)
	// Baselines of a binding by pool id: the newest row of each.
	Baselines(ctx context.Context, bindingID string) (map[string]fleet.Base, error)
	// BaselinesOf bindings by binding and pool id.
	BaselinesOf(ctx context.Context, bindingIDs []string) (map[string]map[string]fleet.Base, error)
	// Usage per binding and pool.
	Usage(ctx context.Context, q UsageQuery) ([]UsageRow, error)
	// Samples for charts: at most ~300 buckets between from and to; gaps stay gaps.
	BindingSamples(ctx context.Context, bindingID, poolID string, from, to time.Time) ([]Sample, error)
	PoolSamples(ctx context.Context, poolID string, from, to time.Time) ([]Sample, error)
	// Workloads of a namespace that are pending or admitted, newest first, at most limit.
	Workloads(ctx context.Context, clusterID, namespace string, limit int) ([]fleet.Workload, error)
	// PendingWorkloads of namespaces, longest waiting first, at most limit.
	PendingWorkloads(ctx context.Context, clusterID string, namespaces []string, limit int) ([]fleet.Workload, error)
	Polls(ctx context.Context, clusterID string, limit int) ([]Poll, error)
	// PollTimes says when each cluster was last polled, well or not; nil = never.
	PollTimes(ctx context.Context) (map[string]*time.Time, error)
	// TickedAt is when the named tick last ran; zero = never.
	TickedAt(ctx context.Context, name string) (time.Time, error)
}

// BindingQuery filters bindings; empty fields do not filter.
type BindingQuery struct {
	ProjectID, Environment, ClusterID string
	ProjectIDs                        []string // nil = all
}

// UsageQuery filters usage; empty fields do not filter.
type UsageQuery struct {
	ProjectID, Environment, ClusterID, PoolID string
	ProjectIDs                                []string // nil = all
}

// Cluster is a connected cluster and what was last seen of it.
type Cluster struct {
	org.Cluster
	Mode        fleet.Mode
	Paused      bool
	Server      string
	HasToken    bool
	TokenSetAt  *time.Time
	Discovery   *fleet.Discovery
	Observation *fleet.Observation // without workloads
	LastPollAt  *time.Time
	LastGoodAt  *time.Time
	Problem     string // public; "" = the last poll was good
	CreatedAt   time.Time
}

// Writes reports whether the portal may write to the cluster now.
func (c Cluster) Writes() bool { return c.Mode == fleet.Enforce && !c.Paused }

// UsageRow is what one binding holds and uses of one pool.
type UsageRow struct {
	Binding        fleet.Binding
	PoolID         string
	PoolName       string
	Resource       string
	Nominal        fleet.Measure
	Borrowing      *fleet.Quantity // nil with BorrowingKnown = no limit
	BorrowingKnown bool
	Reserved       fleet.Measure
	InUse          fleet.Measure
	Borrowed       fleet.Measure
	Pending        fleet.Measure // workloads
	PendingAmount  fleet.Measure // units of the pool
	Active         *bool
	InactiveReason string
	At             time.Time // when these were read
	Stale          bool      // the cluster's last poll failed
}

// Sample is one bucket of a chart in units of the pool; nil = no data. Of a whole
// pool Pending is nil: which pool a waiting workload will take is not decided yet.
type Sample struct {
	At                                                    time.Time
	Capacity, Nominal, Reserved, InUse, Borrowed, Pending *float64
}

// Poll is one attempt to read a cluster.
type Poll struct {
	At      time.Time
	OK      bool
	Took    time.Duration
	Problem string
}

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

// Tx is one transaction. Everything read through it is of the transaction.
type Tx interface {
	Reader
	SessionWriter

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

// Organisation is the content of an organisation file.
type Organisation struct {
	Units    []org.Unit          `yaml:"units"`
	Teams    []org.Team          `yaml:"teams"`
	Projects []org.Project       `yaml:"projects"`
	People   []OrgPerson         `yaml:"people"`
	Mappings []org.Mapping       `yaml:"roles"`
	Clusters []org.Cluster       `yaml:"clusters"`
	Pools    []org.Pool          `yaml:"pools"`
	Route    []approval.Template `yaml:"route"`
}

// OrgPerson announces somebody before the first sign-in; groups are replaced by
// what the provider says at sign-in.
type OrgPerson struct {
	Issuer  string   `yaml:"issuer"` // "" = the configured provider
	Subject string   `yaml:"subject"`
	Name    string   `yaml:"name"`
	Email   string   `yaml:"email"`
	Title   string   `yaml:"title"`
	Groups  []string `yaml:"groups"`
	// LinkedTo names another subject of the same human being.
	LinkedTo string `yaml:"linked_to"`
}
