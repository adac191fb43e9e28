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

// QueueOf names the queue in which a job waits. Readings of clusters have their own,
// so that slow clusters never hold up a change.
func QueueOf(a Args) string {
	if a.Kind() == (UsagePoll{}).Kind() {
		return PollQueue
	}
	return ChangeQueue
}

// Queues of background work. Frozen strings.
const (
	ChangeQueue = "default"
	PollQueue   = "polls"
)
