package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"quartermaster/internal/fault"
)

// lockCheck is how often the connection that holds a lock is asked whether it lives.
const lockCheck = time.Second

// Lock holds a session-level advisory lock on name while fn runs. The server
// gives it up when the connection ends, so a dead process holds nothing. When
// the connection is lost meanwhile, fn's context ends: somebody else may hold
// the lock by then.
func (s *Store) Lock(ctx context.Context, name string, fn func(ctx context.Context) error) error {
	conn, err := s.locks.Conn(ctx)
	if err != nil {
		return fmt.Errorf("lock %s: %w", name, explain(ctx, err))
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(hashtextextended($1, 0))`, name); err != nil {
		discard(conn) // it may have got the lock a moment before the wait was cancelled
		return fmt.Errorf("lock %s: %w", name, explain(ctx, err))
	}
	return hold(ctx, conn, name, fn)
}

// TryLock is Lock for who need not wait: it returns false at once when somebody else
// holds the lock. A wait inside the server would keep its oldest snapshot alive.
func (s *Store) TryLock(ctx context.Context, name string, fn func(ctx context.Context) error) (bool, error) {
	conn, err := s.locks.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, explain(ctx, err))
	}
	defer conn.Close()
	var got bool
	if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock(hashtextextended($1, 0))`, name).Scan(&got); err != nil {
		discard(conn)
		return false, fmt.Errorf("lock %s: %w", name, explain(ctx, err))
	}
	if !got {
		return false, nil
	}
	return true, hold(ctx, conn, name, fn)
}

// hold runs fn while conn has the lock, and gives it up.
func hold(ctx context.Context, conn *sql.Conn, name string, fn func(ctx context.Context) error) error {
	held, lose := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(held, conn, lose)
	}()
	defer func() { // also when fn panics
		lose(nil)
		<-watched
		release(conn, name)
	}()
	err := fn(held)
	if lost := context.Cause(held); errors.Is(lost, errLockLost) && err != nil {
		return fault.New(fault.Unavailable, "The database went away during the work. It is tried again.").Because(errors.Join(lost, err))
	}
	return err
}

var errLockLost = errors.New("the connection that held the lock was lost")

func watch(held context.Context, conn *sql.Conn, lose context.CancelCauseFunc) {
	tick := time.NewTicker(lockCheck)
	defer tick.Stop()
	for {
		select {
		case <-held.Done():
			return
		case <-tick.C:
			// Not under held: ending that during the question would break the connection.
			ask, cancel := context.WithTimeout(context.WithoutCancel(held), 10*lockCheck)
			_, err := conn.ExecContext(ask, `SELECT 1`)
			cancel()
			if err != nil {
				lose(fmt.Errorf("%w: %w", errLockLost, err))
				return
			}
		}
	}
}

// release gives the lock up. A connection that does not confirm it is closed,
// which gives it up too.
func release(conn *sql.Conn, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var ok bool
	err := conn.QueryRowContext(ctx, `SELECT pg_advisory_unlock(hashtextextended($1, 0))`, name).Scan(&ok)
	if err != nil || !ok {
		discard(conn)
	}
}

func discard(conn *sql.Conn) {
	conn.Raw(func(any) error { return driver.ErrBadConn })
}
