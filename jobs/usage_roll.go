package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

// usageRoll rolls up the hours that are due.
type usageRoll struct {
	river.WorkerDefaults[work.UsageRoll]
	portal *portal.Portal
}

// Work rolls up what is due. It is never tried again: the schedule asks anew every minute.
func (w *usageRoll) Work(ctx context.Context, _ *river.Job[work.UsageRoll]) error {
	if _, err := w.portal.RollUsage(ctx); err != nil {
		return river.JobCancel(err)
	}
	return nil
}

// Timeout is above the time that one run gives itself.
func (w *usageRoll) Timeout(*river.Job[work.UsageRoll]) time.Duration { return changeTimeout }

// usageTidy makes partitions and removes what is older than the retention.
type usageTidy struct {
	river.WorkerDefaults[work.UsageTidy]
	portal *portal.Portal
}

// Work tidies up. It is never tried again: the schedule asks anew every hour.
func (w *usageTidy) Work(ctx context.Context, _ *river.Job[work.UsageTidy]) error {
	if _, err := w.portal.TidyUsage(ctx); err != nil {
		return river.JobCancel(err)
	}
	return nil
}

// Timeout of one run.
func (w *usageTidy) Timeout(*river.Job[work.UsageTidy]) time.Duration { return changeTimeout }
