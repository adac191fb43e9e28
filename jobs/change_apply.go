package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

// changeApply makes one change true.
type changeApply struct {
	river.WorkerDefaults[work.ChangeApply]
	portal *portal.Portal
}

// Work runs the change once. A cluster that does not answer snoozes the job, which
// uses up no attempt: the change waits as long as the cluster is away.
func (w *changeApply) Work(ctx context.Context, job *river.Job[work.ChangeApply]) error {
	res, err := w.portal.ApplyChange(ctx, job.Args.ChangeID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return river.JobCancel(err)
	case err != nil && job.Attempt >= job.MaxAttempts:
		// The job is about to be discarded; the change must not look as if it were under way.
		return errors.Join(err, w.portal.GiveUpChange(context.WithoutCancel(ctx), job.Args.ChangeID, err))
	case err != nil:
		return err
	case res.Again > 0:
		return river.JobSnooze(res.Again)
	}
	return nil
}

// Timeout of one run.
func (w *changeApply) Timeout(*river.Job[work.ChangeApply]) time.Duration { return changeTimeout }

// NextRetry after a failure of the portal's own: soon, then at most a minute apart.
func (w *changeApply) NextRetry(job *river.Job[work.ChangeApply]) time.Time {
	pause := time.Minute
	if job.Attempt < 6 {
		pause = time.Second << job.Attempt
	}
	return time.Now().UTC().Add(pause)
}
