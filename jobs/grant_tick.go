package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

// grantTick handles starts and ends of grants.
type grantTick struct {
	river.WorkerDefaults[work.GrantTick]
	portal *portal.Portal
}

// Work handles whatever is due. It is never tried again: the schedule asks anew for
// as long as something is due.
func (w *grantTick) Work(ctx context.Context, _ *river.Job[work.GrantTick]) error {
	if _, err := w.portal.TickGrants(ctx); err != nil {
		return river.JobCancel(err)
	}
	return nil
}
