package portal

import (
	"context"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

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
