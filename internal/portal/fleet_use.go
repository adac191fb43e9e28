package portal

import (
	"context"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
)

// FleetUse is what people do with clusters, pools and projects: Portal implements it.
// Handlers may take it as their dependency.
type FleetUse interface {
	// TestConnection asks a cluster with the given credentials who it is; it stores nothing.
	TestConnection(ctx context.Context, actor Actor, in ConnectInput) (Tested, error)
	// ConnectCluster keeps a cluster whose test is good, in mode observe, its token sealed.
	ConnectCluster(ctx context.Context, actor Actor, in ConnectInput) (Tested, error)
	// TestCluster asks a connected cluster who it is, now, and keeps the answer.
	TestCluster(ctx context.Context, actor Actor, id string) (Tested, error)
	// ChangeClusterMode goes one way along observe → plan → enforce, or back. Entering
	// enforce releases what was held. Without a fresh second factor the cause is ErrStepUp.
	ChangeClusterMode(ctx context.Context, actor Actor, in ModeInput) (Cluster, error)
	// PauseCluster stops writing, or resumes it (Paused false), which releases what was held.
	PauseCluster(ctx context.Context, actor Actor, in PauseInput) (Cluster, error)
	// AdoptBinding makes an existing queue carry the limits of a project and environment.
	// The limits it has now become the recorded baseline; its shape stays as it is.
	AdoptBinding(ctx context.Context, actor Actor, in AdoptInput) (fleet.Binding, error)
	// ViewAdopt lists every object of a cluster with who keeps it, and matches queues to projects.
	ViewAdopt(ctx context.Context, actor Actor, clusterID string) (AdoptDesk, error)
	// AdoptBindings adopts many queues, each for itself: one that fails is said and
	// fails none of the others.
	AdoptBindings(ctx context.Context, actor Actor, clusterID string, rows []AdoptInput) ([]AdoptResult, error)
	// PreviewImport reads a file of objects and compares it with what is held; it keeps nothing.
	PreviewImport(ctx context.Context, actor Actor, in ImportInput) (ImportReport, error)
	// KeepImport keeps the file on record.
	KeepImport(ctx context.Context, actor Actor, in ImportInput) (ImportReport, error)
	// PlanCluster asks the cluster what enforcing would change, binding by binding.
	PlanCluster(ctx context.Context, actor Actor, q PlanQuery) (ModePlan, error)
	// TakeoverChange lets one stopped change write fields that somebody else manages.
	TakeoverChange(ctx context.Context, actor Actor, in ChangeInput) (Change, error)
	// RetryChange starts a stopped change again.
	RetryChange(ctx context.Context, actor Actor, in ChangeInput) (Change, error)
	// ViewChange is what the takeover page shows.
	ViewChange(ctx context.Context, actor Actor, id string) (ChangeDetail, error)

	ListClusters(ctx context.Context, actor Actor) ([]ClusterRow, error)
	ViewCluster(ctx context.Context, actor Actor, id string) (ClusterDetail, error)
	ListPools(ctx context.Context, actor Actor) ([]PoolState, error)
	ViewPool(ctx context.Context, actor Actor, id string, r Range) (PoolDetail, error)
	ListProjects(ctx context.Context, actor Actor, q ProjectQuery) (ProjectPage, error)
	ViewProject(ctx context.Context, actor Actor, id string, r Range) (ProjectDetail, error)
}

// FleetWork is what jobs do: Portal implements it.
type FleetWork interface {
	// ApplyChange makes one change true, or says where it stands. Safe to run twice.
	ApplyChange(ctx context.Context, changeID string) (ApplyResult, error)
	// PollCluster reads a cluster once and keeps what it says; ok is false after a failed poll.
	PollCluster(ctx context.Context, clusterID string) (ok bool, err error)
	// WatchCluster keeps each workload as it changes, until ctx ends.
	WatchCluster(ctx context.Context, clusterID string) error
	// TickGrants handles the starts and ends of grants since it last ran; it returns
	// how many boundaries it handled.
	TickGrants(ctx context.Context) (int, error)
	// RollUsage rolls up every hour that ended and is due; it returns how many.
	RollUsage(ctx context.Context) (int, error)
	// TidyUsage makes partitions and removes what is older than the retention, once a day.
	TidyUsage(ctx context.Context) (UsagePruned, error)
}

// ConnectInput is how to reach a cluster that is not connected yet.
type ConnectInput struct {
	// ID is chosen once and stays: a lower-case name such as "east-1". "" makes one from Name.
	ID     string
	Name   string
	Kind   fleet.Kind // "" = kubernetes
	Server string     // https URL
	CA     string     // PEM; "" = the system's
	Token  string
	Key    string // idempotency key of the form
}

// withoutSecrets is what of in may be kept, if only as part of a digest.
func (in ConnectInput) withoutSecrets() ConnectInput {
	in.Token = ""
	return in
}

// Tested is what a cluster answered.
type Tested struct {
	ClusterID string
	Discovery fleet.Discovery
	Took      time.Duration
}

// ModeInput asks for a mode. Reason is kept in the record.
type ModeInput struct {
	ClusterID string
	Mode      fleet.Mode
	Reason    string
	Key       string
}

// PauseInput stops or resumes writing. Reason is kept in the record.
type PauseInput struct {
	ClusterID string
	Paused    bool
	Reason    string
	Key       string
}

// AdoptInput binds a found queue to a project and environment.
type AdoptInput struct {
	ClusterID   string
	Queue       string // ClusterQueue, or account on Slurm
	Namespace   string // of the LocalQueue; "" when only one namespace uses the queue
	LocalQueue  string // "" when the namespace has only one
	ProjectID   string
	Environment string
	// Matched is the rule that proposed the place; "" = chosen by hand.
	Matched string
	Key     string
}

// ChangeInput acts on one change. Reason is kept in the record.
type ChangeInput struct {
	ChangeID string
	Reason   string
	Key      string
}

// ChangeDetail is one change with what a person needs to decide on it.
type ChangeDetail struct {
	Change        Change
	Binding       fleet.Binding
	Cluster       Cluster
	Project       org.Project
	RequestNumber int64 // 0 = not caused by a request
	MayTakeover   bool
	MayRetry      bool
	WhyNot        string // why neither
}

// ClusterRow is one line of the clusters' list.
type ClusterRow struct {
	Cluster Cluster
	// Nodes and Units of all pools together; unknown until discovered.
	Nodes   fleet.Measure
	Units   fleet.Measure
	Open    int // changes that still have to come true
	Stopped int // changes that need a person
}

// ClusterDetail is the page of one cluster.
type ClusterDetail struct {
	Cluster  Cluster
	Pools    []PoolState
	Bindings []BindingRow
	Changes  []ChangeDetail // open and stopped, oldest first
	Polls    []Poll         // newest first
	// Limits in force as last read, with what the portal granted there.
	Limits []LimitRow
	// Projects to adopt for; empty unless MayManage.
	Projects  []org.Project
	MayManage bool
	// MaySteer: may change what is written, enforcing alone excepted.
	MaySteer bool
	// Sanity compares all quotas of each flavor and resource with what its nodes can allocate.
	Sanity []SanityRow
	// Import is the file of objects kept last; nil = none.
	Import *ObjectImport
	// Paused says who paused writing and when; nil when it is not paused.
	PausedBy *EntryRow
	PollEach time.Duration
	At       time.Time
}

// SanityRow is the quotas of one flavor and resource, over every queue, beside its nodes.
type SanityRow struct {
	Pool     fleet.PoolKey
	Quota    fleet.Measure
	Capacity fleet.Measure
	Result   policy.Result
}

// BindingRow is one binding with its project's name and figures.
type BindingRow struct {
	Binding     fleet.Binding
	ProjectName string
	TeamName    string
	Usage       []UsageRow
}

// LimitRow is one limit found on the cluster and who owns it.
type LimitRow struct {
	Object    fleet.ObjectRef
	Path      string        // flavor and resource of a queue, key of a ResourceQuota
	Value     fleet.Measure // nominalQuota, or the hard limit
	Borrows   bool          // a queue's limit: Borrowing and NoLimit say how much above it
	Borrowing fleet.Measure
	NoLimit   bool          // borrowingLimit is absent: no limit
	Granted   fleet.Measure // unknown where the portal granted nothing
	// GrantedBorrowing goes with Granted; unknown = without limit.
	GrantedBorrowing fleet.Measure
	Owner            string // Argo CD, Flux, a field manager; "" = nobody known
	Tool             bool   // Owner is a tool that keeps its own truth: it stays its
	Ours             bool
	Queue            string // to adopt; "" = cannot be adopted
	Adopted          bool   // already bound to a project
	Findings         []string
}

// Range of a chart.
type Range string

const (
	Day   Range = "24h"
	Week  Range = "7d"
	Month Range = "30d"
	// Quarter is what planning looks back on.
	Quarter Range = "90d"
)

// Length of the range; an unknown one is a day.
func (r Range) Length() time.Duration {
	switch r {
	case Week:
		return 7 * 24 * time.Hour
	case Month:
		return 30 * 24 * time.Hour
	case Quarter:
		return 90 * 24 * time.Hour
	}
	return 24 * time.Hour
}

// PoolDetail is the page of one pool.
type PoolDetail struct {
	Pool     PoolState
	Holders  []PlaceLine // who holds and uses it, largest first
	Samples  []Sample
	From, To time.Time
	Pending  []fleet.Workload // of the places the actor may see
	// Nodes and labels as discovered; nil when never discovered.
	Found *fleet.Pool
	// Queues that use the pool and that no project is bound to.
	Unbound int
}

// PlaceLine is one pool of one project and environment: granted → enforced → in use.
type PlaceLine struct {
	Project     org.Project
	TeamName    string
	Environment string
	PoolID      string
	PoolName    string
	Resource    string
	ClusterID   string
	ClusterName string
	ClusterKind fleet.Kind
	Unit        fleet.Unit
	Asked       fleet.Measure   // by the request of the newest grant in force; unknown where the limit is a baseline
	Granted     fleet.Measure   // desired now by baseline and grants; unknown where nothing was granted
	Borrowing   *fleet.Quantity // granted borrowing; nil with Granted known = no limit
	// Usage as last read; its Nominal is what the cluster enforces.
	Usage UsageRow
	// Read is false when nothing was ever read for this line; Why says why.
	Read bool
	Why  string
	// Ends is the next end of a grant in force.
	Ends *time.Time
}

// ProjectQuery filters projects; empty fields do not filter.
type ProjectQuery struct {
	Search    string // in id, name, owner and cost centre
	TeamID    string
	AfterName string // the last row's name and id of the page before
	AfterID   string
	Limit     int // 0 = 50
	// Short leaves out figures, cost and the owners' names.
	Short bool
}

// ProjectPage is one page of projects.
type ProjectPage struct {
	Rows             []ProjectRow
	NextName, NextID string // "" on the last page
	Teams            []org.Team
}

// ProjectRow is one project in short.
type ProjectRow struct {
	Project   org.Project
	TeamName  string
	OwnerName string
	Lines     []PlaceLine
	Month     []Money // granted, at the pools' rates for 730 hours; one a currency
}

// ProjectDetail is the page of one project.
type ProjectDetail struct {
	Row      ProjectRow
	Grants   []GrantRow // newest first
	Pools    map[string]PoolState
	Members  []ProjectMember
	Requests []RequestRow // newest first, at most 10
	Pending  []ClusterWorkload
	Charts   []PlaceSamples
	From, To time.Time
	MayAsk   bool
	At       time.Time
}

// ProjectMember is somebody with a part in the project.
type ProjectMember struct {
	Person PersonName
	Roles  []org.Assignment
	Owner  bool
}

// PlaceSamples is one chart: a pool of an environment.
type PlaceSamples struct {
	Environment string
	PoolID      string
	PoolName    string
	Unit        fleet.Unit
	Samples     []Sample
}

// ApplyResult is where a change stands after a run.
type ApplyResult struct {
	State   ChangeState
	Problem string
	// Again, when not 0, is how long to wait before the next run: the cluster does not
	// answer. It does not use up an attempt.
	Again time.Duration
}

var (
	_ FleetUse  = (*Portal)(nil)
	_ FleetWork = (*Portal)(nil)
)
