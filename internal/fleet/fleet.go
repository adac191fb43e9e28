// Package fleet knows clusters, pools, limits and usage: what a cluster has, what
// it is told to enforce and how far that came true. It defines the Cluster
// interface that k8s, slurm and the simulated cluster implement; jobs and the
// use cases in portal call it. It never decides who may ask for what, and it
// holds no credentials.
package fleet

import (
	"strings"
	"time"
)

// Mode says what the portal may write on a cluster.
type Mode string

const (
	// Observe: read only; where every cluster starts.
	Observe Mode = "observe"
	// PlanOnly: show what would change, write nothing.
	PlanOnly Mode = "plan"
	// Enforce: push approved changes.
	Enforce Mode = "enforce"
)

// Modes in order of growing power.
var Modes = []Mode{Observe, PlanOnly, Enforce}

// Valid reports whether m is one of Modes.
func (m Mode) Valid() bool { return m == Observe || m == PlanOnly || m == Enforce }

// Kind of scheduler.
type Kind string

const (
	Kubernetes Kind = "kubernetes"
	Slurm      Kind = "slurm"
	// Simulated is the demonstration cluster; pages that show it say so.
	Simulated Kind = "simulated"
)

// QueueWord is what that kind of cluster calls the object which carries the limits.
func (k Kind) QueueWord() string {
	if k == Slurm {
		return "account"
	}
	return "ClusterQueue"
}

// PoolKey names a pool inside one cluster: on Kubernetes the ResourceFlavor and
// the resource name, on Slurm the GRES type (or the GRES name, for all types together)
// and the TRES. A Slurm account's limit holds in all partitions, so that partitions do not
// make pools; each pool names those that reach it.
type PoolKey struct {
	Flavor   string `json:"flavor"`
	Resource string `json:"resource"`
}

func (k PoolKey) String() string { return k.Flavor + " " + k.Resource }

// Accelerator tells extended resources (vendor/name, gres) from what every node has:
// cpu and memory only accompany accelerators, and are never counted with them.
func (k PoolKey) Accelerator() bool {
	return strings.Contains(k.Resource, "/") && !strings.HasPrefix(k.Resource, "kubernetes.io/") && !helpers[k.Resource]
}

// Counts reports whether what is taken from o is taken from k as well: Slurm's
// gres/gpu counts every type, gres/gpu:a100 one of them.
func (k PoolKey) Counts(o PoolKey) bool {
	return k == o || k.Untyped() && strings.HasPrefix(o.Resource, k.Resource+":")
}

// Untyped reports a Slurm pool that counts all types of its GRES.
func (k PoolKey) Untyped() bool {
	return strings.HasPrefix(k.Resource, "gres/") && !strings.Contains(k.Resource, ":")
}

// Binding says which objects of one cluster carry the limits of one project in
// one environment.
type Binding struct {
	ID          string `json:"id"`
	ProjectID   string `json:"project"`
	Environment string `json:"environment"`
	ClusterID   string `json:"cluster"`

	Namespace    string `json:"namespace"`     // Kubernetes namespace
	LocalQueue   string `json:"local_queue"`   // LocalQueue in Namespace
	ClusterQueue string `json:"cluster_queue"` // ClusterQueue behind it
	Cohort       string `json:"cohort"`        // the team's Cohort; "" = none
	RootCohort   string `json:"root_cohort"`   // the Cohort above it; "" = none
	// ResourceQuota is the portal's own object in Namespace; "" = write none.
	ResourceQuota string `json:"resource_quota"`
	// Account carries the limits on Slurm, in lower case as Slurm keeps it; the fields above are "" there.
	Account string `json:"account"`
	// Adopted objects existed before the portal: their shape (namespace, queues,
	// cohort, labels) is left as it is and only limits are written.
	Adopted bool `json:"adopted"`
}

// Queue is the Queue.Name of what carries the limits: the account on Slurm, the
// ClusterQueue elsewhere.
func (b Binding) Queue() string {
	if b.Account != "" {
		return b.Account
	}
	return b.ClusterQueue
}

// Home is the Workload.Namespace of its workloads: the account on Slurm, the namespace elsewhere.
func (b Binding) Home() string {
	if b.Account != "" {
		return b.Account
	}
	return b.Namespace
}

// Limit is what one pool of a binding is to be held to.
type Limit struct {
	Pool PoolKey `json:"pool"`
	// Nominal is the guaranteed amount (nominalQuota).
	Nominal Quantity `json:"nominal"`
	// Borrowing is how much more may be borrowed: nil means without limit, 0 none.
	Borrowing *Quantity `json:"borrowing"`
	// Lending is how much of Nominal others may borrow: nil all, 0 none.
	// Never above Nominal.
	Lending *Quantity `json:"lending"`
}

// Desired is everything one binding must look like at one moment. It is a pure
// function of the baseline and the grants in force, so applying it twice, or late, is harmless.
type Desired struct {
	Binding Binding `json:"binding"`
	// Limits in a fixed order: by flavor, then resource.
	Limits []Limit `json:"limits"`
	// Companions are the cpu and memory given with each pool's accelerators, so
	// that pods which ask for them are admitted; resource → amount per flavor.
	Companions []Limit `json:"companions"`
	// Hold stops new admissions (stopPolicy Hold); what runs keeps running.
	Hold bool `json:"hold"`
	// RequestID and RequestURL are written on each object as annotations.
	RequestID  string `json:"request_id"`
	RequestURL string `json:"request_url"`
	// Takeover is set for the one recorded forced apply of exactly the shown fields.
	Takeover bool `json:"takeover"`
}

// ObjectRef names one object of a cluster.
type ObjectRef struct {
	Kind      string `json:"kind"`                // ClusterQueue, LocalQueue, Cohort, ResourceQuota, Namespace, account
	Namespace string `json:"namespace,omitempty"` // "" for cluster-wide objects
	Name      string `json:"name"`
}

func (o ObjectRef) String() string {
	if o.Namespace != "" {
		return o.Kind + " " + o.Namespace + "/" + o.Name
	}
	return o.Kind + " " + o.Name
}

// Field is one value of one object as the cluster stores it. Path is written as
// the cluster's users write it, e.g. h100 nvidia.com/gpu nominalQuota or gpu gres/gpu GrpTRES.
type Field struct {
	Path string `json:"path"`
	// Before and After are nil where the field is absent (for borrowingLimit that means "no limit").
	Before *string `json:"before"`
	After  *string `json:"after"`
	// Limit marks the enforced numbers, as against shape (labels, selectors, queue names).
	Limit bool `json:"limit"`
	// Owner is, in a read-back, who else owns a live value that is not as desired; "" = nobody known.
	Owner string `json:"owner,omitempty"`
}

// Changed compares numerically where both sides are quantities.
func (f Field) Changed() bool {
	if f.Before == nil || f.After == nil {
		return f.Before != f.After
	}
	if *f.Before == *f.After {
		return false
	}
	a, errA := ParseQuantity(*f.Before)
	b, errB := ParseQuantity(*f.After)
	return errA != nil || errB != nil || !a.Equal(b)
}

// ObjectDiff is what a plan would do to one object.
type ObjectDiff struct {
	Object ObjectRef `json:"object"`
	Create bool      `json:"create"`
	Fields []Field   `json:"fields"` // unchanged ones included, so that a page can fold them
	// Manager is the field manager that would write.
	Manager string `json:"manager"`
	// Version is the resourceVersion the plan saw; an apply with an older one is refused.
	Version string `json:"version"`
}

// Changed reports whether applying would change anything.
func (d ObjectDiff) Changed() bool {
	if d.Create {
		return true
	}
	for _, f := range d.Fields {
		if f.Changed() {
			return true
		}
	}
	return false
}

// Conflict is a field that somebody else manages.
type Conflict struct {
	Object  ObjectRef `json:"object"`
	Field   string    `json:"field"`
	Manager string    `json:"manager"` // kubectl-client-side-apply, argocd-controller, …
}

// Plan is the difference between a cluster and what is desired there, as the
// cluster's own server-side dry run answered.
type Plan struct {
	Desired   Desired      `json:"desired"`
	Objects   []ObjectDiff `json:"objects"`
	Conflicts []Conflict   `json:"conflicts"`
	// Warnings are sentences for the decider: borrowing without limit and no
	// cohort ceiling, quota not covering a resource, and so on.
	Warnings []string  `json:"warnings"`
	At       time.Time `json:"at"`
}

// Changed reports whether applying would change anything.
func (p Plan) Changed() bool {
	for _, o := range p.Objects {
		if o.Changed() {
			return true
		}
	}
	return false
}

// Receipt is what an apply was answered: the version each object got.
type Receipt struct {
	Written []Written `json:"written"` // empty when nothing had to be sent
	At      time.Time `json:"at"`
}

// Written is one object that an apply sent.
type Written struct {
	Object  ObjectRef `json:"object"`
	Version string    `json:"version"`
}

// ReadBack is what the cluster holds after an apply, read anew. A push counts
// only when Verified is true.
type ReadBack struct {
	// Objects list every desired field with Before = live value, After = desired value.
	Objects []ObjectDiff `json:"objects"`
	// Active is the cluster's own word on whether the queue works; ActiveReason why not.
	Active       bool      `json:"active"`
	ActiveReason string    `json:"active_reason"`
	At           time.Time `json:"at"`
}

// Verified reports whether each desired field is live.
func (r ReadBack) Verified() bool { return len(r.Differences()) == 0 && len(r.Objects) > 0 }

// Differences lists what is not as desired.
func (r ReadBack) Differences() []ObjectDiff {
	var out []ObjectDiff
	for _, o := range r.Objects {
		if o.Changed() {
			out = append(out, o)
		}
	}
	return out
}
