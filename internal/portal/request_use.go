package portal

import (
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/mod/sumdb/note"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

// RequestUse is what people do with requests: Portal implements it. Handlers may
// take it as their dependency.
type RequestUse interface {
	// PreviewRequest says what the portal would answer to a request now; it stores nothing.
	PreviewRequest(ctx context.Context, actor Actor, c request.Content) (Preview, error)
	// DraftRequest stores a new draft. Incomplete content is fine; project and pools have to exist.
	DraftRequest(ctx context.Context, actor Actor, in DraftInput) (RequestRef, error)
	// EditRequest replaces a draft, or writes the next revision of a returned request.
	EditRequest(ctx context.Context, actor Actor, in EditInput) (RequestRef, error)
	// SubmitRequest freezes the route and hands the request to the first stage.
	SubmitRequest(ctx context.Context, actor Actor, in SubmitInput) (RequestRef, error)
	// WithdrawRequest takes a request back before it is decided.
	WithdrawRequest(ctx context.Context, actor Actor, in WithdrawInput) (RequestRef, error)
	// CommentRequest adds a remark.
	CommentRequest(ctx context.Context, actor Actor, in CommentInput) (RequestRef, error)
	// ListRequests pages through what actor may see; q.Teams is set here.
	ListRequests(ctx context.Context, actor Actor, q RequestQuery) (RequestPage, error)
	// ListApprovals is what waits for actor, oldest first; q.WaitingFor is set here.
	ListApprovals(ctx context.Context, actor Actor, q RequestQuery) (RequestPage, error)
	// ViewRequest is everything the page of one request shows.
	ViewRequest(ctx context.Context, actor Actor, number int64) (RequestDetail, error)
	// ViewDecision is everything the decide page shows. entered are the figures of
	// "approve less" to preview; nil = what is on the table.
	ViewDecision(ctx context.Context, actor Actor, number int64, entered []approval.Granted) (DecisionDetail, error)
	// DecideRequest takes one decision. Without a fresh second factor the fault's
	// cause is ErrStepUp; a changed request gives a Stale fault caused by *RequestChanged.
	DecideRequest(ctx context.Context, actor Actor, in DecideInput) (DecideResult, error)
}

// RecordUse is what auditors do with the record: Portal implements it.
type RecordUse interface {
	// SearchHistory pages through the ledger, newest first.
	SearchHistory(ctx context.Context, actor Actor, q EntryQuery) (HistoryPage, error)
	// ViewEntry is one entry with its neighbours.
	ViewEntry(ctx context.Context, actor Actor, id string) (EntryDetail, error)
	// ExportHistory writes what q matches as CSV, row by row. begin is called once,
	// after the export was recorded and before the first byte: an error returned
	// earlier can still become a page.
	ExportHistory(ctx context.Context, actor Actor, q EntryQuery, w io.Writer, begin func()) error
	// VerifyRecord recomputes the whole record.
	VerifyRecord(ctx context.Context, in VerifyInput) (VerifyReport, error)
	// Receipt is the signed receipt of an entry; Unavailable while it is not signed yet.
	Receipt(ctx context.Context, actor Actor, entryID string) (ledger.Receipt, error)
	// RecordState is the newest check of the record.
	RecordState(ctx context.Context) (RecordCheck, error)
	// ListPeople pages through people with the roles in force.
	ListPeople(ctx context.Context, actor Actor, q PeopleQuery) (PeoplePage, error)
	// ImportOrg makes the organisation what the file says; dryRun only compares.
	ImportOrg(ctx context.Context, actor Actor, o Organisation, dryRun bool) (OrgDiff, error)
}

// PersonName is a person as pages name them.
type PersonName struct{ ID, Name string }

// Preview is what the portal would say to a request.
type Preview struct {
	// Fields say what is missing or wrong; names are those of the form: project,
	// environment, data_class, workload_type, purpose, justification, runtime_hours,
	// on_behalf_of, lines, line.N.pool, line.N.asked, line.N.kind, line.N.start, line.N.end, route.
	Fields []fault.Field
	Checks []policy.Result
	Stages []StagePeople
	Cost   Cost
	Pools  []Headroom // each pool once, in the order of the lines
	Lines  []LineNow  // in the order of the lines
}

// StagePeople is one stage and who can decide in it.
type StagePeople struct {
	Key, Name     string
	Role          org.Role
	Quorum        int
	RespondWithin time.Duration
	People        []PersonName // at most ten
	Count         int          // all of them
	Missing       string       // what is missing and who can mend it; "" = enough people
}

// Money is an amount in hundredths of a currency.
type Money struct {
	Cents    int64
	Currency string
}

// Cost of a month of 730 hours at the pools' rates.
type Cost struct {
	Lines    []LineCost // in the order of the lines
	Totals   []Money    // one a currency
	Complete bool       // every line has a rate
}

// LineCost is one line's cost a month. Known is false where the pool has no rate.
type LineCost struct {
	PoolID string
	Asked  Money // of the whole amount asked
	Known  bool
}

// Headroom of one pool, as last polled. Unknown stays unknown.
type Headroom struct {
	PoolID, PoolName, Resource string
	ClusterID, ClusterName     string
	Simulated                  bool
	Unit                       fleet.Unit
	Capacity                   fleet.Measure
	Committed                  fleet.Measure  // sum of nominal over all queues, and Coming
	Coming                     fleet.Quantity // granted to others and not enforced yet
	Reserved, InUse, Borrowed  fleet.Measure
	Adds                       fleet.Measure // what the request adds to Committed; negative for a decrease
	After                      fleet.Measure // Committed after this request
	At                         *time.Time
	Stale                      bool
}

// LineNow is what the portal knows of one line's pool for the project and environment.
type LineNow struct {
	PoolID, PoolName, Resource string
	ClusterID, ClusterName     string
	Simulated                  bool
	Unit                       fleet.Unit
	Current                    fleet.Measure   // limit in force as read from the cluster
	Borrowing                  *fleet.Quantity // nil with BorrowingKnown = no limit
	BorrowingKnown             bool
	Reserved, InUse, Borrowed  fleet.Measure
	Pending                    fleet.Measure // workloads
	PendingAmount              fleet.Measure // units
	At                         *time.Time    // nil = never read
	Stale                      bool
	Why                        string // why figures are unknown
}

// RequestRef is what a command answers: where the request stands now.
type RequestRef struct {
	ID       string        `json:"id"`
	Number   int64         `json:"number"`
	State    request.State `json:"state"`
	Revision int           `json:"revision"`
	Digest   string        `json:"digest"`
}

// DraftInput is a new request. Key is the form's idempotency key.
type DraftInput struct {
	Content    request.Content
	CorrectsID string // the request that this one changes; "" = none
	Key        string
}

// EditInput is a new wording. Digest is of the revision the form was filled from.
type EditInput struct {
	Number  int64
	Digest  string
	Content request.Content
	Key     string
}

// SubmitInput submits the revision with Digest.
type SubmitInput struct {
	Number int64
	Digest string
	Key    string
}

// WithdrawInput takes a request back; Reason may be empty.
type WithdrawInput struct {
	Number int64
	Reason string
	Key    string
}

// CommentInput is a remark on a request.
type CommentInput struct {
	Number int64
	Text   string
	Key    string
}

// RequestPage is one page of a list; Next is the AfterKey of the page after, "" on the last.
type RequestPage struct {
	Rows []RequestRow
	Next string
}

// DecideInput is one person's decision.
type DecideInput struct {
	Number   int64
	Digest   string // of the revision that the page showed
	StageKey string
	Outcome  approval.Outcome
	// Granted per line, in the order of the lines; nil on approve = all that is on the table.
	Granted      []approval.Granted
	Reason       string
	Acknowledged bool // of what keeps running when the limit goes below it
	// Base is DecisionDetail.Base as the page carried it: the live limits that the decider saw.
	Base string
	Key  string
}

// DecideResult is what became of a decision. A second click with the same key answers the same.
type DecideResult struct {
	RequestRef
	Outcome    approval.Outcome `json:"outcome"`
	DecisionID string           `json:"decision_id"`
	EntryID    string           `json:"entry_id"`
	Changes    []string         `json:"changes"` // ids of the changes that follow
}

// RequestChanged is the cause of a Stale fault: what the form showed and what is there now.
type RequestChanged struct {
	Number int64
	Digest string // of the revision now
	What   string // "Ada Lovelace wrote revision 3 at 2 Dec 2026, 14:00 UTC"
	Rows   []ValueChange
}

// ValueChange is one value then and now.
type ValueChange struct{ Field, Then, Now string }

// RequestDetail is the page of one request.
type RequestDetail struct {
	Request     request.Request
	Project     org.Project
	TeamName    string
	Requester   PersonName
	Beneficiary PersonName        // zero when asked for themselves
	Names       map[string]string // of every person id on the page
	Lines       []DetailLine
	Stages      []DetailStage
	Revisions   []request.Revision // oldest first
	Checks      []KeptCheck        // the newest set kept, for the current revision; of a draft: as of now
	Decisions   []DetailDecision   // oldest first
	Changes     []DetailChange
	Comments    []Comment
	Timeline    []EntryRow // newest first
	Places      []GrantPlace
	Pending     []ClusterWorkload
	Running     []ClusterWorkload
	Next        NextStep
	Cost        Cost
	// What actor may do now.
	MayDecide             bool
	WhyNot                string // why somebody with the role may not decide; "" otherwise
	MayEdit, MayWithdraw  bool
	MayComment, MayRepeat bool
	At                    time.Time
}

// DetailLine is one pool: asked → granted → enforced → in use.
type DetailLine struct {
	request.Line
	Now     LineNow
	Granted fleet.Measure // unknown = nobody approved yet
	Grant   *GrantRow     // once granted
	// BaseChanged: the live limit differs from what was live at submission.
	BaseChanged bool
}

// DetailStage is one step of the route.
type DetailStage struct {
	StagePeople
	Done    bool
	Current bool
	Since   *time.Time
	Due     *time.Time
	By      []DetailDecision // in this stage, on the current revision
}

// DetailDecision is a decision with its reason and ledger entry.
type DetailDecision struct {
	approval.Decision
	PersonName   string
	StageName    string
	Role         org.Role
	EntryID      string
	EntryOrdinal int64
	Reason       string // "" when none was given
	Erased       bool   // the reason was erased
}

// DetailChange is the work on one cluster.
type DetailChange struct {
	Change
	ClusterName string
	Simulated   bool
	ClusterMode fleet.Mode
	Paused      bool
	Binding     fleet.Binding
}

// GrantPlace is where people use what was granted.
type GrantPlace struct {
	ClusterID, ClusterName string
	Simulated              bool
	Namespace, LocalQueue  string
	Account                string // on Slurm, instead of both
	Until                  *time.Time
	Manifest               string // a job that is admitted there
}

// ClusterWorkload is a workload and the cluster it is on.
type ClusterWorkload struct {
	fleet.Workload
	ClusterID, ClusterName string
}

// NextStep is what happens next, by whom and by when.
type NextStep struct {
	What  string
	Who   []PersonName // at most ten
	Count int
	By    *time.Time // until when, of a deadline
	On    *time.Time // when it happens by itself
	Note  string
	Yours bool // the actor has to act
	Over  bool // nothing follows
	Held  bool // what was granted is in force
}

// DecisionDetail is the page on which one stage is decided.
type DecisionDetail struct {
	Detail RequestDetail
	Stage  approval.Stage
	// Table is what may be granted at most, in the order of the lines; Entered what the page shows in its fields.
	Table, Entered []approval.Granted
	Plans          []ClusterPlan
	Base           string // carried by the form, given back as DecideInput.Base
	Pools          []Headroom
	Checks         []policy.Result // as of now
	Samples        []LineSamples
	Lowering       []Lowering
	// MustReason says why approving needs a reason; "" if it does not.
	MustReason string
	// Blocked says why approving is refused whatever the reason; "" if it is not.
	Blocked string
	// Next request that waits for actor; 0 = none.
	NextNumber int64
	FreshUntil *time.Time // two factors were proven for this revision, good until then; nil = asked for
	OwnFactor  bool       // asked for as a one-time code on the page itself
}

// ClusterPlan is what would change on one cluster.
type ClusterPlan struct {
	ClusterID, ClusterName string
	Simulated              bool
	Mode                   fleet.Mode
	Paused                 bool
	Binding                fleet.Binding
	NewBinding             bool
	Plan                   *fleet.Plan // nil when the cluster did not answer
	Problem                string      // why not
}

// LineSamples is the recent use of one line's pool by the project.
type LineSamples struct {
	PoolID   string
	From, To time.Time
	Samples  []Sample
}

// Lowering is a limit that would go below what is in use, and what keeps running.
type Lowering struct {
	PoolID, PoolName string
	To               fleet.Quantity
	InUse            fleet.Measure
	Running          []ClusterWorkload
}

// HistoryPage is one page of the record.
type HistoryPage struct {
	Rows  []EntryRow
	Count int  // what the filter matches, up to CountLimit
	More  bool // there are more than CountLimit
	// Newer and Older are the ordinals for After and Before; 0 = no such page.
	Newer, Older int64
}

// CountLimit is how far matches are counted.
const CountLimit = 10000

// EntryDetail is one entry with what surrounds it in its object's chain.
type EntryDetail struct {
	Row           EntryRow
	Before, After *EntryRow
	// Intact: the digest fits the content and the link fits the entry before.
	Intact  bool
	Problem string
	// Proof is where the entry stands in the signed tree.
	Proof Proof
}

// VerifyInput is what to hold the record against.
type VerifyInput struct {
	// Trusted are the public keys whose checkpoints count; nil: those of the portal.
	Trusted note.Verifiers
	// Since are checkpoints kept elsewhere, older than the record is now.
	Since []ledger.Signed
	// OnlyEntries leaves out comparing decisions, grants and changes with their entries.
	OnlyEntries bool
}

// VerifyReport is what verification found.
type VerifyReport struct {
	Log      string
	Entries  int64
	Objects  int
	Rows     int64 // compared with their entries
	Problems []VerifyProblem
	At       time.Time
	// Size of the tree and its root; up to Signed a trusted checkpoint confirms it.
	Size, Signed int64
	Root         ledger.Hash
	Checkpoints  int64 // looked at
	Newer        int64 // entries that no checkpoint covers yet
	// Incomplete says what could not be proven; the rest is as it was written.
	Incomplete []string
}

// VerifyProblem is one place where the record is not what it says.
type VerifyProblem struct {
	Ordinal int64
	EntryID string
	Text    string
}

// String is the problem with where it is.
func (p VerifyProblem) String() string {
	if p.Ordinal == 0 {
		return p.Text
	}
	return fmt.Sprintf("entry %d %s: %s", p.Ordinal, p.EntryID, p.Text)
}

// PeoplePage is one page of people.
type PeoplePage struct {
	People   []org.Person
	More     bool
	Mappings int64 // version of the role mappings in force
}

// OrgDiff is what an import changes.
type OrgDiff struct {
	Lines   []string // "+ team vision", "~ project cv-train: owner ada → bob", in a fixed order
	Empty   bool
	Version int64 // of the organisation after the import; 0 on a dry run
}
