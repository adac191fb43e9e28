package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

// usagePoll reads one cluster.
type usagePoll struct {
	river.WorkerDefaults[work.UsagePoll]
	portal *portal.Portal
}

// Work reads the cluster once. It is never tried again: the next turn comes anyway.
func (w *usagePoll) Work(ctx context.Context, job *river.Job[work.UsagePoll]) error {
	if _, err := w.portal.PollCluster(ctx, job.Args.ClusterID); err != nil {
		return river.JobCancel(err)
	}
	return nil
}

// Timeout leaves room for what comes before and after the reading, which has its own.
func (w *usagePoll) Timeout(*river.Job[work.UsagePoll]) time.Duration { return changeTimeout }
