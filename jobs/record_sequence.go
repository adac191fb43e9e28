package jobs

import (
	"context"
	"time"

	"quartermaster/internal/portal"
)

const (
	// sweep is how often entries without a leaf are looked for without a notice.
	sweep = time.Second
	// lockAgain is when a replica that does not hold a lock asks for it again.
	lockAgain = time.Second
)

// keepSequencing gives entries their leaves, in one replica at a time. A job would not
// do: one that is enqueued while another runs may be lost, and with it the wake-up.
func (r *Runner) keepSequencing(ctx context.Context) {
	r.alone(ctx, "record.sequencer", r.sequence)
}

// alone runs fn in the replica that holds the lock, until ctx ends. The lock falls
// with its process or connection, and another replica takes over.
func (r *Runner) alone(ctx context.Context, lock string, fn func(ctx context.Context) error) {
	for {
		_, err := r.cfg.Portal.Store.TryLock(ctx, lock, fn)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.cfg.Log.Warn(lock, "err", err)
		}
		if !pause(ctx, lockAgain) {
			return
		}
	}
}

func (r *Runner) sequence(ctx context.Context) error {
	s := r.cfg.Portal.NewSequencer()
	woken := r.cfg.Portal.Store.Listen(ctx, portal.ChannelRecord)
	tell := true // somebody may have asked before this one listened
	for {
		if _, err := s.Run(ctx, tell); err != nil && !portal.Raced(err) {
			return err
		}
		tell = awaken(ctx, woken, sweep)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// awaken waits for a notice, at most for d; true when one came.
func awaken(ctx context.Context, woken <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-woken:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}
