package jobs

import (
	"context"
	"hash/fnv"
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
}

func (s *schedule) look(ctx context.Context) error {
	p := s.r.cfg.Portal
	now := p.Now()
	times, err := p.Store.PollTimes(ctx)
	if err != nil {
		return err
	}
	var due []work.Args
	for id, last := range times {
		turn, began := turnOf(id, now, s.r.cfg.Every)
		if s.asked[id] == turn || last != nil && !last.Before(began) {
			continue
		}
		s.asked[id] = turn
		due = append(due, work.UsagePoll{ClusterID: id, Slot: turn})
	}
	if now.Sub(s.ticked) >= tickAgain {
		waits, err := p.GrantsDue(ctx)
		if err != nil {
			return err
		}
		if waits {
			s.ticked = now
			due = append(due, work.GrantTick{Slot: now.Unix()})
		}
	}
	if len(due) == 0 {
		return nil
	}
	return p.Store.InTx(ctx, func(ctx context.Context, tx portal.Tx) error {
		for _, args := range due {
			if err := tx.Enqueue(ctx, args); err != nil {
				return err
			}
		}
		return nil
	})
}

// turnOf numbers the turns of a cluster and says when the present one began. Each
// cluster has its own phase, so that they are not all read at the same moment.
func turnOf(clusterID string, now time.Time, every time.Duration) (turn int64, began time.Time) {
	h := fnv.New64a()
	h.Write([]byte(clusterID))
	phase := time.Duration(h.Sum64() % uint64(every))
	turn = (now.UnixNano() + int64(phase)) / int64(every)
	return turn, time.Unix(0, turn*int64(every)-int64(phase)).UTC()
}
