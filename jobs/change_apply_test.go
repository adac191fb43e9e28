package jobs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivertest"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/internal/work"
	"quartermaster/jobs"
)

// work runs one job of a change as River would, and returns what became of it.
func (y *yard) work(id string, opts *river.InsertOpts) *rivertest.WorkResult {
	y.t.Helper()
	pool := y.store.DB().DB
	w := rivertest.NewWorker(y.t, riverdatabasesql.New(pool), &river.Config{Logger: y.Log}, jobs.NewChangeApply(y.Portal))
	tx, err := pool.BeginTx(y.t.Context(), nil)
	require.NoError(y.t, err)
	defer tx.Rollback()
	res, err := w.Work(y.t.Context(), y.t, tx, work.ChangeApply{ChangeID: id}, opts)
	if res == nil {
		require.NoError(y.t, err)
	}
	return res
}

func TestASnoozeUsesUpNoAttempt(t *testing.T) {
	y := newYard(t)
	_, out := y.grant("east-h100", "production", 12, nil, nil)
	y.sims["east"].Intercept(func(context.Context, string) error {
		return fault.New(fault.Unavailable, "The cluster cannot be reached.")
	})
	res := y.work(out.Changes[0], &river.InsertOpts{MaxAttempts: 1})
	require.Equal(t, river.EventKindJobSnoozed, res.EventKind)
	require.Equal(t, rivertype.JobStateScheduled, res.Job.State)
	require.Zero(t, res.Job.Attempt)
	y.sims["east"].Intercept(nil)
	for range 2 {
		require.Equal(t, river.EventKindJobCompleted, y.work(out.Changes[0], nil).EventKind)
	}
	require.Equal(t, "12", y.live("east", "production"))
}

// A job that is about to be discarded does not leave its change looking as if it were under way.
func TestTheLastAttemptStopsTheChange(t *testing.T) {
	y := newYard(t)
	_, out := y.grant("east-h100", "production", 12, nil, nil)
	y.Dial = func(context.Context, string) (fleet.Cluster, error) { return nil, errors.New("a defect") }
	res := y.work(out.Changes[0], nil)
	require.Equal(t, river.EventKindJobFailed, res.EventKind)
	c, err := y.store.Change(t.Context(), out.Changes[0])
	require.NoError(t, err)
	require.True(t, c.State.Open())
	res = y.work(out.Changes[0], &river.InsertOpts{MaxAttempts: 1})
	require.Equal(t, rivertype.JobStateDiscarded, res.Job.State)
	c, err = y.store.Change(t.Context(), out.Changes[0])
	require.NoError(t, err)
	require.Equal(t, portal.ChangeStopped, c.State)
	require.NotContains(t, c.Problem, "a defect", "the cause is for the log")
}
