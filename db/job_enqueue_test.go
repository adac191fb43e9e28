package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

func (w *world) enqueue(args work.Args) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx portal.Tx) error { return tx.Enqueue(ctx, args) })
}

// jobs are the states of all jobs of a kind, oldest first.
func (w *world) jobs(kind string) []string {
	w.t.Helper()
	states := []string{}
	require.NoError(w.t, w.owner.Select(&states, `SELECT state FROM river_job WHERE kind = $1 ORDER BY id`, kind))
	return states
}

func TestAJobIsUniqueWhileItWaitsAndNeverBecauseItFinished(t *testing.T) {
	w := newWorld(t)
	poll := work.UsagePoll{ClusterID: "east"}
	w.enqueue(poll)
	w.enqueue(poll)
	w.enqueue(work.UsagePoll{ClusterID: "west"})
	require.Equal(t, []string{"available", "available"}, w.jobs("usage_poll"))

	for _, finished := range []string{"completed", "cancelled", "discarded"} {
		w.owner.MustExec(`DELETE FROM river_job`)
		w.enqueue(poll)
		w.owner.MustExec(`UPDATE river_job SET state = $1, finalized_at = now()`, finished)
		w.enqueue(poll)
		require.Equal(t, []string{finished, "available"}, w.jobs("usage_poll"))
	}
	w.enqueue(work.GrantTick{})
	w.enqueue(work.GrantTick{})
	require.Len(t, w.jobs("grant_tick"), 1, "a job without arguments is the same job")
}

// A job that runs may have read the state from before: its wake-up is not lost.
func TestAJobThatRunsIsFollowedByOneMore(t *testing.T) {
	w := newWorld(t)
	apply := work.ChangeApply{ChangeID: "1"}
	w.enqueue(apply)
	w.owner.MustExec(`UPDATE river_job SET state = 'running'`)
	for range 3 {
		w.enqueue(apply)
	}
	require.Equal(t, []string{"running", "available"}, w.jobs("change_apply"))
}

func TestAJobThatWasPutOffRunsAtOnce(t *testing.T) {
	for _, state := range []string{"scheduled", "retryable"} {
		w := newWorld(t)
		w.enqueue(work.ChangeApply{ChangeID: "1"})
		w.owner.MustExec(`UPDATE river_job SET state = $1, scheduled_at = now() + interval '1 hour'`, state)
		w.enqueue(work.ChangeApply{ChangeID: "1"})
		require.Equal(t, []string{"available"}, w.jobs("change_apply"))
		var late bool
		require.NoError(t, w.owner.Get(&late, `SELECT scheduled_at > now() FROM river_job`))
		require.False(t, late)
	}
}

func TestAJobComesAndGoesWithItsTransaction(t *testing.T) {
	w := newWorld(t)
	err := w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
		if err := tx.Enqueue(ctx, work.GrantTick{}); err != nil {
			return err
		}
		return errors.New("no")
	})
	require.Error(t, err)
	require.Empty(t, w.jobs("grant_tick"))
}
