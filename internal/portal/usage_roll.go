package portal

import (
	"context"
	"fmt"
	"time"
)

const (
	// closedTick is until when every ended hour was marked to be rolled up.
	closedTick = "usage.closed"
	// keptTick is before when no reading is kept.
	keptTick = "usage.kept"
	// rollBudget bounds one run; the next one goes on.
	rollBudget = 30 * time.Second
	// markBack bounds how far back ended hours are marked after a long stop.
	markBack = 31 * 24 * time.Hour
)

// RollUsage rolls up every hour that ended and is due, cluster by cluster and day by
// day, until none is left or its time is up. Whatever it did stands; whatever
// it did not comes with the next run. It returns how many hours of clusters it computed.
func (p *Portal) RollUsage(ctx context.Context) (int, error) {
	began := p.Now()
	closed := began.Truncate(time.Hour)
	if err := p.markEnded(ctx, closed); err != nil {
		return 0, fmt.Errorf("roll up usage: %w", err)
	}
	kept, err := p.Store.TickedAt(ctx, keptTick)
	if err != nil {
		return 0, fmt.Errorf("roll up usage: %w", err)
	}
	hours := 0
	for ctx.Err() == nil && p.Now().Sub(began) < rollBudget {
		var done RolledUsage
		err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) (err error) {
			done, err = tx.RollUsage(ctx, closed, kept)
			p.reached("usage.rolled.before")
			return err
		})
		if err != nil {
			return hours, fmt.Errorf("roll up usage: %w", err)
		}
		if done.Hours == 0 {
			break
		}
		p.reached("usage.rolled.after")
		hours += done.Hours
	}
	return hours, ctx.Err()
}

// markEnded has each hour that ended since the last run rolled up, also where nothing
// was read: that is a gap, and a gap is part of the account.
func (p *Portal) markEnded(ctx context.Context, closed time.Time) error {
	last, err := p.Store.TickedAt(ctx, closedTick)
	if err != nil || !last.Before(closed) {
		return err
	}
	return p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		last, err := tx.TickForUpdate(ctx, closedTick)
		if err != nil || !last.Before(closed) {
			return err
		}
		switch {
		case last.IsZero():
			last = closed.Add(-24 * time.Hour) // what the version before read meanwhile
		case last.Before(closed.Add(-markBack)):
			last = closed.Add(-markBack)
		}
		if err := tx.MarkUsageDue(ctx, last, closed); err != nil {
			return err
		}
		return tx.SaveTick(ctx, closedTick, closed)
	})
}
