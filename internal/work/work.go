// Package work names the background jobs and their arguments. Arguments are ids
// only: a worker re-reads the truth. Kinds are frozen strings: they lie in the
// queue across versions. jobs implements the workers; portal enqueues.
package work

// Args is one job to enqueue; it satisfies River's JobArgs. Fields tagged
// river:"unique" make a job unique among the unfinished ones only, so that asking
// again after one finished runs again; a kind without such fields is never unique.
type Args interface{ Kind() string }

// ChangeApply makes one change true on its cluster. Enqueued while an earlier job of
// the change is snoozed, that one starts at once.
type ChangeApply struct {
	ChangeID string `json:"change_id" river:"unique"`
}

// Kind of the job.
func (ChangeApply) Kind() string { return "change_apply" }

// UsagePoll reads one cluster. A good one releases the changes that wait for the cluster.
type UsagePoll struct {
	ClusterID string `json:"cluster_id" river:"unique"`
	// Slot is the turn of the schedule (0 = asked for out of turn). Replicas agree on
	// it, so a turn is polled once; one whose process died does not block the next.
	Slot int64 `json:"slot,omitempty" river:"unique"`
}

// Kind of the job.
func (UsagePoll) Kind() string { return "usage_poll" }

// GrantTick looks for grants that start or end and plans the changes that follow.
type GrantTick struct {
	// Slot is the second (Unix time) in which the schedule saw something due.
	Slot int64 `json:"slot" river:"unique"`
}

// Kind of the job.
func (GrantTick) Kind() string { return "grant_tick" }

// UsageRoll rolls up the hours of use that are due.
type UsageRoll struct {
	// Slot is the minute (Unix time / 60) in which the schedule asked.
	Slot int64 `json:"slot" river:"unique"`
}

// Kind of the job.
func (UsageRoll) Kind() string { return "usage_roll" }

// UsageTidy makes partitions for the history of use and removes what is too old.
type UsageTidy struct {
	// Slot is the hour (Unix time / 3600) in which the schedule asked.
	Slot int64 `json:"slot" river:"unique"`
}

// Kind of the job.
func (UsageTidy) Kind() string { return "usage_tidy" }

// QueueOf names the queue in which a job waits. Readings of clusters and roll-ups have
// their own, so that neither slow clusters nor long sums ever hold up a change.
func QueueOf(a Args) string {
	switch a.Kind() {
	case (UsagePoll{}).Kind():
		return PollQueue
	case (UsageRoll{}).Kind(), (UsageTidy{}).Kind():
		return UsageQueue
	}
	return ChangeQueue
}

// Queues of background work. Frozen strings.
const (
	ChangeQueue = "default"
	PollQueue   = "polls"
	UsageQueue  = "usage"
)
