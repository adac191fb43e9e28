package portal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"quartermaster/internal/fleet"
)

const (
	// watchFlush is how long changes of workloads are gathered into one transaction.
	watchFlush = 500 * time.Millisecond
	// watchBatch bounds one transaction.
	watchBatch = 500
	// watchPause bounds the pause before a broken watch is taken up again.
	watchPause = time.Minute
)

// WatchCluster keeps each workload as it changes, because a poll misses short ones. A
// watch that breaks is taken up again, with growing pauses, until ctx ends. Whoever
// calls it sees to it that only one replica does.
func (p *Portal) WatchCluster(ctx context.Context, clusterID string) error {
	pause := time.Second
	for {
		began := time.Now()
		err := p.watchOnce(ctx, clusterID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > watchPause {
			pause = time.Second // it held for a while
		}
		p.Log.Warn("watch", "cluster", clusterID, "again_in", pause, "err", err)
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
		pause = min(2*pause, watchPause)
	}
}

func (p *Portal) watchOnce(ctx context.Context, clusterID string) error {
	remote, err := p.Dial(ctx, clusterID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := &watched{p: p, clusterID: clusterID, latest: map[string]fleet.WorkloadEvent{}, full: make(chan struct{}, 1)}
	var done sync.WaitGroup
	done.Go(func() {
		if err := b.keep(ctx); err != nil {
			cancel(err) // a watch whose changes cannot be stored is begun anew
		}
	})
	err = remote.Watch(ctx, b.add)
	cancel(nil)
	done.Wait()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	if err == nil {
		return errors.New("the watch ended")
	}
	return err
}

// watched gathers changes: of several of one workload only the last is kept.
type watched struct {
	p         *Portal
	clusterID string
	mu        sync.Mutex
	latest    map[string]fleet.WorkloadEvent
	order     []string
	full      chan struct{}
}

func (b *watched) add(e fleet.WorkloadEvent) {
	if e.Synced {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, seen := b.latest[e.Workload.UID]; !seen {
		b.order = append(b.order, e.Workload.UID)
	}
	b.latest[e.Workload.UID] = e
	if len(b.order) >= watchBatch {
		select {
		case b.full <- struct{}{}:
		default:
		}
	}
}

// keep stores what was gathered, until ctx ends.
func (b *watched) keep(ctx context.Context) error {
	tick := time.NewTicker(watchFlush)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-b.full:
		}
		for {
			batch := b.take()
			if len(batch) == 0 {
				break
			}
			if err := b.store(ctx, batch); err != nil {
				return err
			}
		}
	}
}

func (b *watched) take() []fleet.WorkloadEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.order), watchBatch)
	out := make([]fleet.WorkloadEvent, 0, n)
	for _, uid := range b.order[:n] {
		out = append(out, b.latest[uid])
		delete(b.latest, uid)
	}
	b.order = b.order[n:]
	return out
}

func (b *watched) store(ctx context.Context, batch []fleet.WorkloadEvent) error {
	at := b.p.Now()
	err := b.p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		for _, e := range batch {
			if err := tx.SaveWorkload(ctx, b.clusterID, e.Workload, e.Gone, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep workloads of cluster %s: %w", b.clusterID, err)
	}
	return nil
}
