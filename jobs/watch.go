package jobs

import (
	"context"
	"sync"
	"time"
)

// watchLook is how often clusters that were connected meanwhile are noticed, and how
// long a replica that lost the lock waits before it asks again.
const watchLook = 5 * time.Second

// keepWatching follows the workloads of all clusters, in one replica at a time: the
// one that holds the lock. The lock falls with its process, and another takes over.
func (r *Runner) keepWatching(ctx context.Context) {
	for ctx.Err() == nil {
		err := r.cfg.Portal.Store.Lock(ctx, "watch", r.watchAll)
		if ctx.Err() != nil {
			return
		}
		r.cfg.Log.Warn("watching the clusters", "err", err)
		pause(ctx, watchLook)
	}
}

// watchAll runs one watch a cluster until ctx ends.
func (r *Runner) watchAll(ctx context.Context) error {
	var watches sync.WaitGroup
	defer watches.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running := map[string]bool{}
	for {
		times, err := r.cfg.Portal.Store.PollTimes(ctx)
		if err != nil {
			return err
		}
		for id := range times {
			if running[id] {
				continue
			}
			running[id] = true
			watches.Go(func() { r.cfg.Portal.WatchCluster(ctx, id) }) // it returns only when ctx ends
		}
		if !pause(ctx, watchLook) {
			return ctx.Err()
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
