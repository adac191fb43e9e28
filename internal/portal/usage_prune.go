package portal

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"quartermaster/internal/ledger"
)

const (
	pruneTick = "usage.pruned"
	day       = 24 * time.Hour
)

// Retention is how many days the history of use is kept; 0 = for ever.
type Retention struct {
	// Readings of clusters, polls, and workloads that ended.
	Readings int
	// Hours of the roll-ups.
	Hours int
	// Days of the roll-ups. Months are kept for ever.
	Days int
}

// TidyUsage makes the partitions that will be needed and, once a day (UTC), removes
// what is older than the retention. What was removed is on record, in one entry. What people decided
// and the record itself are never touched.
func (p *Portal) TidyUsage(ctx context.Context) (UsagePruned, error) {
	var out UsagePruned
	now := p.Now()
	err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		_, err := tx.MakePartitions(ctx, now)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("tidy usage: %w", err)
	}
	keep := p.Retention
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		out = UsagePruned{}
		last, err := tx.TickForUpdate(ctx, pruneTick)
		if err != nil || !last.Before(now.Truncate(day)) {
			return err
		}
		readings, hours := keep.before(now, keep.Readings), keep.before(now, keep.Hours)
		out, err = tx.PruneUsage(ctx, UsageCut{Samples: readings, Polls: readings, Workloads: readings, Hours: hours, Days: keep.before(now, keep.Days)})
		if err != nil {
			return err
		}
		if !out.SamplesBefore.IsZero() {
			if err := tx.SaveTick(ctx, keptTick, out.SamplesBefore); err != nil {
				return err
			}
		}
		if err := p.recordPrune(ctx, tx, out, hours); err != nil {
			return err
		}
		p.reached("usage.pruned.before")
		return tx.SaveTick(ctx, pruneTick, now)
	})
	if err != nil {
		return UsagePruned{}, fmt.Errorf("prune usage: %w", err)
	}
	return out, nil
}

func (Retention) before(now time.Time, days int) time.Time {
	if days <= 0 {
		return time.Time{}
	}
	return now.AddDate(0, 0, -days)
}

// recordPrune writes what was removed into the record; nothing when nothing was.
func (p *Portal) recordPrune(ctx context.Context, tx Tx, out UsagePruned, hours time.Time) error {
	e := p.entry(jobActor("usage_tidy"), ledger.UsagePruned, "usage", "history")
	for name, n := range map[string]int64{"readings": out.Samples, "hours": out.Hours, "days": out.Days, "polls": out.Polls, "workloads": out.Workloads} {
		if n > 0 {
			e.Facts[name] = strconv.FormatInt(n, 10)
		}
	}
	if len(e.Facts) == 0 {
		return nil
	}
	if out.Samples > 0 {
		e.Facts["readings_before"] = ledger.Time(out.SamplesBefore)
	}
	if out.Hours > 0 {
		e.Facts["hours_before"] = ledger.Time(time.Date(hours.Year(), hours.Month(), 1, 0, 0, 0, 0, time.UTC))
	}
	_, err := tx.Append(ctx, e, EntryRefs{}, nil)
	return err
}
