package jobs

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"quartermaster/internal/portal"
	"quartermaster/internal/work"
)

const (
	// look is how often the schedule is compared with the clock.
	look = time.Second
	// tickAgain is how long the schedule waits for a tick that it asked for.
	tickAgain = 5 * time.Second
)

// keepSchedule enqueues what is due until ctx ends. Every replica keeps the same
// schedule out of the database, so that it survives any of them: a cluster is due when it was not
// polled in its present turn, a tick when a start or end was not handled.
func (r *Runner) keepSchedule(ctx context.Context) {
	s := schedule{r: r, asked: map[string]int64{}}
	t := time.NewTicker(look)
	defer t.Stop()
	for {
		if err := s.look(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Log.Error("schedule", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

type schedule struct {
	r      *Runner
	asked  map[string]int64 // the turn of each cluster that this process enqueued last
	ticked time.Time
	turns  usageTurns
}

func (s *schedule) look(ctx context.Context) error {
	p := s.r.cfg.Portal
	now := p.Now()
	if err := s.usage(ctx, now); err != nil {
		return err
	}
	times, err := p.Store.PollTimes(ctx)
	if err != nil {
		return err
	}
	var due []turn
	for id, last := range times {
		n, began := turnOf(id, now, s.r.cfg.Every)
		if s.asked[id] == n || last != nil && !last.Before(began) {
			continue
		}
		due = append(due, turn{id, n, began})
	}
	slices.SortFunc(due, func(a, b turn) int { return strings.Compare(a.clusterID, b.clusterID) }) // one order of locks
	tick := false
	if now.Sub(s.ticked) >= tickAgain {
		if tick, err = p.GrantsDue(ctx); err != nil {
			return err
		}
	}
	if len(due) == 0 && !tick {
		return nil
	}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx portal.Tx) error {
		for _, t := range due {
			if err := t.enqueue(ctx, tx); err != nil {
				return err
			}
		}
		if tick {
			return tx.Enqueue(ctx, work.GrantTick{Slot: now.Unix()})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range due {
		s.asked[t.clusterID] = t.n
	}
	if tick {
		s.ticked = now
	}
	return nil
}

// turn is one cluster's turn to be read.
type turn struct {
	clusterID string
	n         int64
	began     time.Time
}

// enqueue adds the poll unless a replica did: which turn was last is kept under a
// lock, because the job of another replica may be over by the time this one looks.
func (t turn) enqueue(ctx context.Context, tx portal.Tx) error {
	name := "poll:" + t.clusterID
	last, err := tx.TickForUpdate(ctx, name)
	if err != nil || !last.Before(t.began) {
		return err
	}
	if err := tx.Enqueue(ctx, work.UsagePoll{ClusterID: t.clusterID, Slot: t.n}); err != nil {
		return err
	}
	return tx.SaveTick(ctx, name, t.began)
}

// turnOf numbers the turns of a cluster and says when the present one began. Each
// cluster has its own phase, so that they are not all read at the same moment.
func turnOf(clusterID string, now time.Time, every time.Duration) (turn int64, began time.Time) {
	h := fnv.New64a()
	h.Write([]byte(clusterID))
	phase := time.Duration(h.Sum64() % uint64(every)).Truncate(time.Millisecond) // PostgreSQL keeps microseconds
	turn = (now.UnixNano() + int64(phase)) / int64(every)
	return turn, time.Unix(0, turn*int64(every)-int64(phase)).UTC()
}
