package db_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
)

func TestLockIsHeldByOneAcrossStores(t *testing.T) {
	address := dbtest.URL(t)
	stores := []*db.Store{dbtest.StoreAt(t, address), dbtest.StoreAt(t, address)}
	var inside, most, ran atomic.Int32
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			err := stores[i%2].Lock(t.Context(), "binding 1", func(ctx context.Context) error {
				most.Store(max(most.Load(), inside.Add(1)))
				defer inside.Add(-1)
				ran.Add(1)
				// The holder's own work needs a connection, however many wait.
				return stores[i%2].InTx(ctx, func(ctx context.Context, tx portal.Tx) error { _, err := tx.Clusters(ctx); return err })
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 20, ran.Load())
	require.EqualValues(t, 1, most.Load())
}

func TestOtherNamesDoNotWait(t *testing.T) {
	s := dbtest.Store(t)
	require.NoError(t, s.Lock(t.Context(), "a", func(ctx context.Context) error {
		return s.Lock(ctx, "b", func(context.Context) error { return nil })
	}))
}

func TestLockGivesUpWithItsContextAndAfterErrorsAndPanics(t *testing.T) {
	s := dbtest.Store(t)
	boom := errors.New("boom")
	require.ErrorIs(t, s.Lock(t.Context(), "a", func(context.Context) error { return boom }), boom)
	require.Panics(t, func() { s.Lock(t.Context(), "a", func(context.Context) error { panic("boom") }) })
	require.NoError(t, s.Lock(t.Context(), "a", func(ctx context.Context) error {
		waiting, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- s.Lock(waiting, "a", func(context.Context) error { return errors.New("two hold it") })
		}()
		waitFor(t, s, `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)`)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		return nil
	}))
	require.NoError(t, s.Lock(t.Context(), "a", func(context.Context) error { return nil }))
}

func TestALockWhoseConnectionDiesEndsTheWork(t *testing.T) {
	address := dbtest.URL(t)
	s, owner := dbtest.StoreAt(t, address), dbtest.Open(t, address)
	err := s.Lock(t.Context(), "a", func(ctx context.Context) error {
		owner.MustExec(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		<-ctx.Done()
		return ctx.Err()
	})
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.NoError(t, s.Lock(t.Context(), "a", func(context.Context) error { return nil }), "the server gave it up with the connection")
}

// waitFor asks until the answer is true.
func waitFor(t *testing.T, s *db.Store, query string) {
	t.Helper()
	for {
		var yes bool
		require.NoError(t, s.DB().GetContext(t.Context(), &yes, query))
		if yes {
			return
		}
	}
}
