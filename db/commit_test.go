package db_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
)

// cut says when the proxy ends a connection on which COMMIT is sent.
type cut int32

const (
	never        cut = iota
	beforeServer     // COMMIT never arrives
	beforeAnswer     // COMMIT takes place, its answer is lost
	refuseAll        // as beforeAnswer, and nobody gets through afterwards
	refuseOnly       // nobody gets through
)

// proxy stands between the store and PostgreSQL.
type proxy struct {
	listener net.Listener
	server   string
	mode     atomic.Int32
	left     atomic.Int32 // how many COMMITs are cut
	cuts     atomic.Int32
	open     sync.Map
}

// startProxy returns a proxy and the store's address through it.
func startProxy(t *testing.T, address string) (*proxy, string) {
	u, err := url.Parse(address)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, server: u.Host}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.hangUp()
		served.Wait()
	})
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *proxy) cutNext(m cut, n int32) {
	p.left.Store(n)
	p.mode.Store(int32(m))
}

// hangUp ends every connection that is open.
func (p *proxy) hangUp() {
	p.open.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	if m := cut(p.mode.Load()); m == refuseOnly || m == refuseAll && p.cuts.Load() > 0 {
		return
	}
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.open.Store(client, nil)
	defer p.open.Delete(client)
	var muted atomic.Bool
	go func() {
		defer client.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			if muted.Load() { // the answer to COMMIT: it took place, and the line is dead
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		m := cut(p.mode.Load())
		if m != never && m != refuseOnly && bytes.Contains(buf[:n], []byte("COMMIT\x00")) && p.left.Add(-1) >= 0 {
			p.cuts.Add(1)
			if m == beforeServer {
				return
			}
			muted.Store(true)
			server.Write(buf[:n])
			io.Copy(io.Discard, client) // until the other side ends the connection
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A connection that dies while COMMIT is on its way says nothing about what the
// database did: the store asks. lib/pq #925.
func TestAConnectionThatDiesDuringCommit(t *testing.T) {
	w := newWorld(t)
	p, address := startProxy(t, dbtest.AppURL(t, w.address))
	s, err := db.Open(t.Context(), address, db.Options{MaxConns: 2, Resolve: time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })

	write := func(key string) (runs int, err error) {
		err = s.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
			runs++
			return tx.SaveReplay(ctx, w.id("ada"), key, "test", runs)
		})
		return runs, err
	}
	kept := func(key string) (n int) {
		t.Helper()
		require.NoError(t, w.owner.Get(&n, `SELECT count(*) FROM idempotency WHERE key = $1`, key))
		return n
	}

	t.Run("before the server gets it: done again, once", func(t *testing.T) {
		p.cutNext(beforeServer, 1)
		runs, err := write("a")
		require.NoError(t, err)
		require.Equal(t, 2, runs)
		require.Equal(t, 1, kept("a"))
	})
	t.Run("before each answer, many times: unavailable, nothing kept", func(t *testing.T) {
		p.cutNext(beforeServer, 1000)
		runs, err := write("b")
		p.cutNext(never, 0)
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
		require.Equal(t, 5, runs)
		require.Equal(t, 0, kept("b"))
	})
	t.Run("after the server got it: it counts, and is not done twice", func(t *testing.T) {
		p.cutNext(beforeAnswer, 1)
		runs, err := write("c")
		require.NoError(t, err)
		require.Equal(t, 1, runs)
		require.Equal(t, 1, kept("c"))
	})
	t.Run("and nobody answers afterwards: unknown, said so", func(t *testing.T) {
		p.cuts.Store(0)
		p.cutNext(refuseAll, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		runs := 0
		err := s.InTx(ctx, func(ctx context.Context, tx portal.Tx) error {
			runs++
			return tx.SaveReplay(ctx, w.id("ada"), "d", "test", runs)
		})
		p.cutNext(never, 0)
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
		require.Contains(t, fault.As(err).Public, "unknown")
		require.Equal(t, 1, runs)
		require.Equal(t, 1, kept("d"))
	})
	t.Run("the server is away: unavailable, and back when it is back", func(t *testing.T) {
		p.cutNext(refuseOnly, 0)
		p.hangUp()
		_, err := write("e")
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
		_, err = s.Clusters(t.Context())
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
		require.Equal(t, fault.Unavailable, fault.KindOf(s.Ready(t.Context())))
		p.cutNext(never, 0)
		_, err = write("e")
		require.NoError(t, err)
		require.Equal(t, 1, kept("e"))
	})
	t.Run("a transaction that wrote nothing does not care", func(t *testing.T) {
		p.cutNext(beforeAnswer, 1)
		require.NoError(t, s.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error { _, err := tx.Clusters(ctx); return err }))
	})
}

func TestATransactionThatLosesARaceRunsAgain(t *testing.T) {
	w := newWorld(t)
	a, b := w.draft("ada", "cv", line("east-h100", 1)), w.draft("ada", "cv", line("east-h100", 1))
	// Each locks one request, then wants the other's: a deadlock that PostgreSQL ends.
	var met sync.WaitGroup
	met.Add(2)
	var runs atomic.Int32
	both := func(first, second string) error {
		once := sync.OnceFunc(func() { met.Done(); met.Wait() })
		return w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
			runs.Add(1)
			if _, err := tx.RequestForUpdate(ctx, first); err != nil {
				return err
			}
			once()
			_, err := tx.RequestForUpdate(ctx, second)
			return err
		})
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = both(a.ID, b.ID) })
	wg.Go(func() { errs[1] = both(b.ID, a.ID) })
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.EqualValues(t, 3, runs.Load())
}

func TestAnErrorOrPanicLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	boom := errors.New("boom")
	write := func(ctx context.Context, tx portal.Tx) error {
		return tx.SaveReplay(ctx, w.id("ada"), "k", "test", 1)
	}
	err := w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error { return errors.Join(write(ctx, tx), boom) })
	require.ErrorIs(t, err, boom)
	require.Panics(t, func() {
		w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error { write(ctx, tx); panic("boom") })
	})
	// A statement that failed inside cannot be swallowed.
	err = w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
		write(ctx, tx)
		_ = tx.SaveReplay(ctx, "no person", "k2", "test", 1)
		return nil
	})
	require.Error(t, err)
	var n int
	require.NoError(t, w.owner.Get(&n, `SELECT count(*) FROM idempotency`))
	require.Zero(t, n)
	require.Zero(t, w.DB().Stats().InUse, "no connection is lost")
}

func TestATimeoutIsUnavailableAndACancelIsACancel(t *testing.T) {
	w := newWorld(t)
	block := w.owner.MustBegin()
	defer block.Rollback()
	block.MustExec(`LOCK TABLE request IN ACCESS EXCLUSIVE MODE`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := w.RequestList(ctx, portal.RequestQuery{})
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	err = w.InTx(ctx, func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.RequestList(ctx, portal.RequestQuery{})
		return err
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, fault.KindOf(err), "nobody is there to be told")

	// The server ends a statement by itself.
	w.owner.MustExec(`ALTER ROLE quartermaster_test IN DATABASE ` + pq.QuoteIdentifier(strings.TrimPrefix(mustParse(t, w.address).Path, "/")) + ` SET statement_timeout = 50`)
	s := dbtest.StoreAt(t, w.address)
	_, err = s.RequestList(t.Context(), portal.RequestQuery{})
	require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
}

func mustParse(t *testing.T, address string) *url.URL {
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}
