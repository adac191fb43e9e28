package db

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"quartermaster/internal/work"
)

// Unfinished are the states over which a job is unique. A finished one never
// stands in the way of the next.
var unfinished = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
}

// Enqueue sees to it that a job with args runs after the transaction commits.
// One that waits already is enough, and is run at once if it was put off. One
// that runs at this moment may have read the state from before, so another
// follows it.
func (t *tx) Enqueue(ctx context.Context, args work.Args) error {
	if err := t.enqueue(ctx, args); err != nil {
		return fmt.Errorf("enqueue %s: %w", args.Kind(), explain(ctx, err))
	}
	return nil
}

func (t *tx) enqueue(ctx context.Context, args work.Args) error {
	opts := &river.InsertOpts{Queue: work.QueueOf(args)}
	if unique(args) {
		opts.UniqueOpts = river.UniqueOpts{ByArgs: true, ByState: unfinished}
	}
	res, err := t.store.river.InsertTx(ctx, t.tx.Tx, args, opts)
	if err != nil || !res.UniqueSkippedAsDuplicate {
		return err
	}
	switch res.Job.State {
	case rivertype.JobStateScheduled, rivertype.JobStateRetryable:
		_, err = t.store.river.JobRetryTx(ctx, t.tx.Tx, res.Job.ID)
	case rivertype.JobStateRunning:
		err = t.follow(ctx, args)
	}
	return err
}

// follow adds a job behind the one that runs, unless one waits there already.
func (t *tx) follow(ctx context.Context, args work.Args) error {
	encoded, err := json.Marshal(args)
	if err != nil {
		return err
	}
	var waits bool
	err = t.tx.GetContext(ctx, &waits, `
		SELECT EXISTS (SELECT FROM river_job j WHERE j.kind = $1 AND j.args = $2::jsonb AND j.state IN ('available', 'pending', 'retryable', 'scheduled'))`,
		args.Kind(), string(encoded))
	if err != nil || waits {
		return err
	}
	_, err = t.store.river.InsertTx(ctx, t.tx.Tx, args, &river.InsertOpts{Queue: work.QueueOf(args)})
	return err
}

// unique reports whether jobs with equal args are the same job: their fields say
// so, or there are none.
func unique(args work.Args) bool {
	t := reflect.TypeOf(args)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if strings.Contains(t.Field(i).Tag.Get("river"), "unique") {
			return true
		}
	}
	return t.NumField() == 0
}
