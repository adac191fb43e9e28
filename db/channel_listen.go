package db

import (
	"context"
	"time"

	"github.com/lib/pq"
)

// Listen returns a channel that gets a value when somebody notifies on the database
// channel, and after a lost connection came back, since notices may have been missed
// meanwhile. It ends with ctx. Several notices may come as one.
func (s *Store) Listen(ctx context.Context, channel string) <-chan struct{} {
	out := make(chan struct{}, 1)
	wake := func() {
		select {
		case out <- struct{}{}:
		default:
		}
	}
	l := pq.NewListener(s.url, 100*time.Millisecond, 10*time.Second, nil)
	go func() {
		defer l.Close()
		for l.Listen(channel) != nil { // no database yet
			retry := time.NewTimer(time.Second)
			select {
			case <-ctx.Done():
				retry.Stop()
				return
			case <-retry.C:
			}
		}
		wake()
		for {
			select {
			case <-ctx.Done():
				return
			case <-l.Notify: // nil after a reconnection
				wake()
			}
		}
	}()
	return out
}
