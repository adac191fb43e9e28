package jobs

import (
	"context"
	"time"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

const (
	// rollEvery is how soon after a late reading its hour is right again.
	rollEvery = time.Minute
	tidyEvery = time.Hour
)

// usageTurns are the last turns for which this process asked.
type usageTurns struct{ roll, tidy int64 }

// usage enqueues what keeps the history of use in order, each turn once among all replicas.
func (s *schedule) usage(ctx context.Context, now time.Time) error {
	roll, tidy := now.Unix()/int64(rollEvery.Seconds()), now.Unix()/int64(tidyEvery.Seconds())
	if s.turns.roll == roll {
		return nil // a tidy's turn begins with a roll's
	}
	err := s.r.cfg.Portal.Store.InTx(ctx, func(ctx context.Context, tx portal.Tx) error {
		if s.turns.tidy != tidy { // first: it makes the partitions
			if err := once(ctx, tx, "usage.tidy", now.Truncate(tidyEvery), work.UsageTidy{Slot: tidy}); err != nil {
				return err
			}
		}
		return once(ctx, tx, "usage.roll", now.Truncate(rollEvery), work.UsageRoll{Slot: roll})
	})
	if err == nil {
		s.turns = usageTurns{roll, tidy}
	}
	return err
}

// once enqueues the job of the turn that began, unless a replica did.
func once(ctx context.Context, tx portal.Tx, name string, began time.Time, job work.Args) error {
	last, err := tx.TickForUpdate(ctx, name)
	if err != nil || !last.Before(began) {
		return err
	}
	if err := tx.Enqueue(ctx, job); err != nil {
		return err
	}
	return tx.SaveTick(ctx, name, began)
}
