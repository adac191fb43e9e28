package fleet

import (
	"context"
	"time"
)

// Cluster is one scheduler the portal reads and writes. Every method honours
// the context's deadline. Errors are faults: Unavailable when the cluster does
// not answer, Stale when an object changed since the plan, Conflict when another
// manager owns a field, Forbidden when the token may not.
type Cluster interface {
	// Discover says what is there: versions, capabilities, nodes, pools, and who
	// manages the limits that exist.
	Discover(ctx context.Context) (Discovery, error)
	// Observe reads limits in force, usage, queue depth and workloads. A part that
	// could not be read is unknown and named in Problems; if nothing could be read
	// it is an error, never an empty observation.
	Observe(ctx context.Context) (Observation, error)
	// Plan returns the difference to what is desired, as the server would store it.
	Plan(ctx context.Context, d Desired) (Plan, error)
	// Apply makes a plan true. Idempotent: what is already so is not sent. It is
	// refused (Stale) when an object changed since the plan.
	Apply(ctx context.Context, p Plan) (Receipt, error)
	// ReadBack reads the desired fields anew.
	ReadBack(ctx context.Context, d Desired) (ReadBack, error)
	// Watch reports each workload as it changes, until ctx ends or the stream
	// breaks; it first reports all that exist.
	Watch(ctx context.Context, report func(WorkloadEvent)) error
}

// Discovery is what connecting to a cluster finds.
type Discovery struct {
	Kind         Kind     `json:"kind"`
	Version      string   `json:"version"`       // Kubernetes or Slurm version
	KueueVersion string   `json:"kueue_version"` // "" where not known
	KueueAPI     string   `json:"kueue_api"`     // v1beta2, v1beta1 or "" = no Kueue
	Capabilities []string `json:"capabilities"`  // kueue, resourcequota, cohort, …
	Nodes        int      `json:"nodes"`         // nodes with accelerators or in all flavors
	Pools        []Pool   `json:"pools"`
	Queues       []Queue  `json:"queues"`
	Quotas       []Quota  `json:"quotas"`
	// Objects tell projects apart or stand above queues: namespaces, LocalQueues, Cohorts, ResourceFlavors.
	Objects []Object `json:"objects"`
	// Capacities are what the nodes of each flavor can allocate, cpu and memory too.
	Capacities []Amount  `json:"capacities"`
	Problems   []string  `json:"problems"`
	At         time.Time `json:"at"`
}

// Unit says what one unit of a pool is: a whole card, or a part of one.
type Unit string

const (
	Card  Unit = "card"       // one physical accelerator
	MIG   Unit = "MIG device" // a hardware slice
	Share Unit = "time share" // a time-sliced replica; not memory-isolated
	Other Unit = "unit"
)

// Pool is one kind of accelerator found on a cluster.
type Pool struct {
	Key PoolKey `json:"key"`
	// Capacity is what the nodes of the pool can allocate: allocatable beats labels.
	Capacity Measure `json:"capacity"`
	// Cards is the number of physical cards behind Capacity, where labels tell.
	Cards   Measure           `json:"cards"`
	Unit    Unit              `json:"unit"`
	Product string            `json:"product"` // e.g. NVIDIA-H100-80GB-HBM3
	Nodes   int               `json:"nodes"`
	Labels  map[string]string `json:"labels"` // node labels of the flavor
	// CPU and Memory allocatable on the pool's nodes in all.
	CPU    Measure  `json:"cpu"`
	Memory Measure  `json:"memory"`
	Notes  []string `json:"notes"`
}

// Queue is one queue that enforces limits (a ClusterQueue; an account on Slurm).
type Queue struct {
	Name   string `json:"name"`
	Cohort string `json:"cohort"`
	// Parent is the queue whose limit and use include this one's: an account's
	// parent account. "" on Kueue, whose cohorts lend and do not count.
	Parent      string      `json:"parent"`
	Namespaces  []string    `json:"namespaces"`   // of the LocalQueues that point to it
	LocalQueues []string    `json:"local_queues"` // namespace/name
	StopPolicy  string      `json:"stop_policy"`  // None, Hold, HoldAndDrain
	Active      bool        `json:"active"`
	Inactive    string      `json:"inactive"` // the cluster's reason where not active
	Flavors     []FlavorUse `json:"flavors"`
	Pending     Measure     `json:"pending"`  // workloads waiting
	Admitted    Measure     `json:"admitted"` // workloads admitted
	Managers    []string    `json:"managers"` // who manages its limits
	Owner       string      `json:"owner"`    // Argo CD, Flux, Helm … "" = nobody known
	Ours        bool        `json:"ours"`
	Marks       Marks       `json:"marks"`
	// Selector says which namespaces may use the queue, as NamespaceSelector writes it
	// for one; nil = not known.
	Selector *string  `json:"selector,omitempty"`
	Writers  []Writer `json:"writers,omitempty"` // who wrote its parts, where the cluster keeps that
	Notes    []string `json:"notes"`
}

// FlavorUse is one pool of a queue: limits and use. An account without a limit has
// Nominal 0 (nothing is guaranteed) and Borrowing nil (and nothing is refused).
type FlavorUse struct {
	Pool      PoolKey   `json:"pool"`
	Nominal   Measure   `json:"nominal"`
	Borrowing *Quantity `json:"borrowing"` // nil: no limit
	Lending   *Quantity `json:"lending"`   // nil: all
	Reserved  Measure   `json:"reserved"`  // quota reserved by workloads
	InUse     Measure   `json:"in_use"`    // by admitted workloads
	Borrowed  Measure   `json:"borrowed"`  // of InUse, from the cohort; 0 without one
	Notes     []string  `json:"notes"`
}

// Quota is one ResourceQuota key.
type Quota struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Key       string   `json:"key"` // requests.nvidia.com/gpu
	Hard      Measure  `json:"hard"`
	Used      Measure  `json:"used"` // a missing key is unknown, not 0
	Owner     string   `json:"owner"`
	Ours      bool     `json:"ours"`
	Notes     []string `json:"notes"` // "not tracked by Kubernetes", …
}

// Observation is one poll of a cluster.
type Observation struct {
	At        time.Time  `json:"at"`
	Pools     []Pool     `json:"pools"`
	Queues    []Queue    `json:"queues"`
	Quotas    []Quota    `json:"quotas"`
	Workloads []Workload `json:"workloads"`
	// Loose are accelerators in use that no queue counts.
	Loose []Loose `json:"loose"`
	// Capacities are what the nodes of each flavor can allocate; nil while pools are not known.
	Capacities []Amount `json:"capacities"`
	// Problems name the parts that could not be read; their values are unknown.
	Problems []string `json:"problems"`
	// Complete parts: false means the list could not be read and says nothing.
	QueuesKnown    bool `json:"queues_known"`
	QuotasKnown    bool `json:"quotas_known"`
	WorkloadsKnown bool `json:"workloads_known"`
	PoolsKnown     bool `json:"pools_known"`
	LooseKnown     bool `json:"loose_known"`

	// Every is how far apart readings are; 0 = 30 s. What was read holds until the next
	// reading, and never longer than two of them: after that it is unknown.
	Every time.Duration `json:"-"`
}

// maxHold bounds how long a reading holds, whatever the distance of readings.
const maxHold = time.Hour

// Holds is how long what was read counts when nothing is read after it.
func (o Observation) Holds() time.Duration {
	if o.Every <= 0 {
		return time.Minute
	}
	return min(2*o.Every, maxHold)
}

// WorkloadState is where a workload stands.
type WorkloadState string

const (
	Pending  WorkloadState = "pending"
	Admitted WorkloadState = "admitted" // quota reserved and admitted; running or about to
	Finished WorkloadState = "finished"
	Evicted  WorkloadState = "evicted"
)

// Workload is one job as its queue sees it.
type Workload struct {
	UID        string        `json:"uid"`
	Namespace  string        `json:"namespace"` // the account on Slurm
	Name       string        `json:"name"`
	Job        string        `json:"job"`         // "Job train-1": kind and name of the owner
	LocalQueue string        `json:"local_queue"` // the partition on Slurm
	Queue      string        `json:"queue"`       // ClusterQueue once known
	Submitter  string        `json:"submitter"`   // "" unknown
	State      WorkloadState `json:"state"`
	// Reason and Message are the scheduler's own words on a pending or evicted one.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Amounts asked (pending) or admitted, by pool, each unit once: in the narrowest pool
	// that is known. Flavor is "" while a scheduler that chooses one has not.
	Amounts    []Amount   `json:"amounts"`
	Node       string     `json:"node"`
	CreatedAt  time.Time  `json:"created_at"`
	AdmittedAt *time.Time `json:"admitted_at"`
	FinishedAt *time.Time `json:"finished_at"`
}

// Amount is how much of one pool a workload takes.
type Amount struct {
	Pool   PoolKey  `json:"pool"`
	Amount Quantity `json:"amount"`
}

// WorkloadEvent is one change of one workload; Gone when it was deleted.
type WorkloadEvent struct {
	Workload Workload
	Gone     bool
	// Synced is sent once, with no workload, when all existing ones were reported.
	Synced bool
}
