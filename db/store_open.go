package db

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"

	"quartermaster/internal/portal"
)

// Options of a Store; zero values mean the defaults.
type Options struct {
	MaxConns int // of the pool; default 16. As many stay open: fewer halve the throughput.
	MaxLocks int // connections that hold or wait for locks; default 16
	// Resolve bounds how long the outcome of a commit is asked for whose connection died; default 10 s.
	Resolve time.Duration
	Log     *slog.Logger
}

// Store is the portal's PostgreSQL. Safe for concurrent use.
type Store struct {
	reader
	db    *sqlx.DB
	locks *sql.DB // apart, so that waiting for a lock never takes the connection its holder needs
	river *river.Client[*sql.Tx]
	log   *slog.Logger
	asks  time.Duration
	name  atomic.Pointer[string] // of the ledger; never changes
	url   string
}

var _ portal.Store = (*Store)(nil)

// Open connects to url as the app role and asks the database one question, so
// that a wrong address shows at start.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.MaxConns == 0 {
		o.MaxConns = 16
	}
	if o.MaxLocks == 0 {
		o.MaxLocks = 16
	}
	if o.Resolve == 0 {
		o.Resolve = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	connector, err := pq.NewConnector(withSession(url))
	if err != nil {
		return nil, fmt.Errorf("open database: the address cannot be read") // without its password
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(o.MaxConns)
	pool.SetMaxIdleConns(o.MaxConns)
	locks := sql.OpenDB(connector)
	locks.SetMaxOpenConns(o.MaxLocks)
	locks.SetMaxIdleConns(1)
	s := &Store{db: sqlx.NewDb(pool, "postgres"), locks: locks, log: o.Log, asks: o.Resolve, url: url}
	s.reader = reader{s.db}
	if s.river, err = river.NewClient(riverdatabasesql.New(pool), &river.Config{Logger: o.Log}); err != nil {
		return nil, fmt.Errorf("open job queue: %w", err)
	}
	if err := pool.PingContext(ctx); err != nil {
		return nil, fmt.Errorf("open database: %w", explain(ctx, err))
	}
	return s, nil
}

// withSession sets what every session of the portal needs: times in UTC.
func withSession(address string) string {
	if !strings.Contains(address, "://") {
		return address + " timezone=UTC" // the keyword form
	}
	u, err := url.Parse(address)
	if err != nil {
		return address // the connector says what is wrong
	}
	q := u.Query()
	q.Set("timezone", "UTC")
	if !q.Has("application_name") {
		q.Set("application_name", "quartermaster")
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// DB is the pool behind the store: for the session store and the job queue,
// which bring their own SQL.
func (s *Store) DB() *sqlx.DB { return s.db }

// Close ends all connections.
func (s *Store) Close() error {
	s.locks.Close()
	return s.db.Close()
}

// Ready answers nil when the database answers.
func (s *Store) Ready(ctx context.Context) error { return explain(ctx, s.db.PingContext(ctx)) }

// querier is what a pool and a transaction have in common. Both read a result to
// its end before the next statement: lib/pq refuses a second one on open rows.
type querier interface {
	GetContext(ctx context.Context, dest any, query string, args ...any) error
	SelectContext(ctx context.Context, dest any, query string, args ...any) error
}

// reader answers the reads, of a pool or of one transaction.
type reader struct{ q querier }

// get reads one row; none is a NotFound fault that says missing.
func (r reader) get(ctx context.Context, dest any, missing, query string, args ...any) error {
	return notFound(explain(ctx, r.q.GetContext(ctx, dest, query, args...)), missing)
}

// all reads every row.
func (r reader) all(ctx context.Context, dest any, query string, args ...any) error {
	return explain(ctx, r.q.SelectContext(ctx, dest, query, args...))
}
