package portal

import (
	"context"
	"iter"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/usage"
)

// UsageHistory reads the account of use.
type UsageHistory interface {
	// UsageSums of a period, by the key of q.By and by pool. Parts of the period lie in
	// roll-ups of hours, days and months; each is read from the coarsest that holds it.
	UsageSums(ctx context.Context, q UsageSumQuery) ([]UsageSum, error)
	// UsageOverTime is the same by bucket and unit, oldest first.
	UsageOverTime(ctx context.Context, q UsageSumQuery, bucket usage.Bucket) ([]UsageBucket, error)
	// StreamUsage yields each project, environment, pool and workload type by the day,
	// oldest first, as of one moment.
	StreamUsage(ctx context.Context, q UsageSumQuery) iter.Seq2[UsageLine, error]
	// UsageDue is how many hours of a period wait to be rolled up.
	UsageDue(ctx context.Context, span usage.Span) (int, error)
	// UsageTypes are the workload types that ever stood in an account.
	UsageTypes(ctx context.Context) ([]string, error)
}

// UsageWriter keeps the history of use in order.
type UsageWriter interface {
	// MarkUsageDue has the hours of [from, until) rolled up, of every cluster ever read.
	MarkUsageDue(ctx context.Context, from, until time.Time) error
	// RollUsage computes the due hours of one cluster and day anew, with the day and the
	// month; no hours when none is due that ended by closed.
	RollUsage(ctx context.Context, closed, kept time.Time) (RolledUsage, error)
	// MakePartitions makes those of the days and months around now that are missing, and of whatever
	// lies in no partition.
	MakePartitions(ctx context.Context, now time.Time) (made int, err error)
	// PruneUsage removes what is older than cut says and returns what was removed.
	PruneUsage(ctx context.Context, cut UsageCut) (UsagePruned, error)
}

// UsageSumQuery says what is summed up. Empty fields do not filter.
type UsageSumQuery struct {
	Span                           usage.Span
	By                             usage.Group
	Teams                          []string // nil = all: what the person may see
	TeamID, ProjectID, Environment string
	PoolID, WorkloadType           string
	UnknownType                    bool // only what has no workload type
}

// UsageSum is one row of an account: a key, a pool, and its figures.
type UsageSum struct {
	Key    string
	PoolID string
	usage.Figures
}

// UsageBucket is what was used in one bucket, by unit of the pools.
type UsageBucket struct {
	At   time.Time
	Unit fleet.Unit
	usage.Figures
}

// UsageLine is one row of the CSV.
type UsageLine struct {
	From, To                                             time.Time
	TeamID, TeamName, ProjectID, ProjectName, CostCentre string
	Environment, ClusterID, PoolID, PoolName, Resource   string
	WorkloadType                                         string
	Unit                                                 fleet.Unit
	HourlyCents                                          int64
	Currency                                             string
	usage.Figures
}

// RolledUsage says what one roll-up did.
type RolledUsage struct {
	ClusterID string
	Day       time.Time
	Hours     int
}

// UsageCut says before when things are removed; zero = not at all.
type UsageCut struct{ Samples, Hours, Days, Polls, Workloads time.Time }

// UsagePruned counts what was removed, and says before when no reading is kept.
type UsagePruned struct {
	Samples, Hours, Days, Polls, Workloads int64
	SamplesBefore                          time.Time
}
