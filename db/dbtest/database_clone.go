// Package dbtest gives every test a real PostgreSQL database of its own, with all
// migrations applied.
//
// The server is the one TEST_DATABASE_URL names (make test starts one for all
// packages), else one that the test process starts itself. The migrations run
// once, into a template that is cloned for each test. Only tests import it. A
// missing PostgreSQL is a failure, never a reason to skip.
package dbtest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"net/url"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"quartermaster/db"
)

// New returns a pool on a fresh database, as its owner (a superuser). Both end
// with the test.
func New(t testing.TB) *sqlx.DB {
	t.Helper()
	return Open(t, URL(t))
}

// Open returns a pool that is closed when the test ends.
func Open(t testing.TB, address string) *sqlx.DB {
	t.Helper()
	pool, err := sqlx.Connect("postgres", address)
	if err != nil {
		t.Fatalf("connect to the test database: %v", err)
	}
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	t.Cleanup(func() { pool.Close() })
	return pool
}

// URL returns the address of a fresh database, as its owner (a superuser). The
// database is dropped when the test ends, whoever is still connected.
func URL(t testing.TB) string {
	t.Helper()
	server, err := prepared()
	if err != nil {
		t.Fatalf("test database: %v", err)
	}
	address, drop, err := server.clone(t.Context())
	if err != nil {
		t.Fatalf("test database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return address
}

// AsRole is the same database for a session whose rights are those of a role:
// quartermaster_app for what the portal may do.
func AsRole(address, role string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // an address of this package
	}
	q := u.Query()
	q.Set("role", role)
	u.RawQuery = q.Encode()
	return u.String()
}

const (
	clonePrefix    = "test_"
	templatePrefix = "migrated_"
)

// prepared is the server of this process with its template, the same for every test.
var prepared = sync.OnceValues(func() (*server, error) {
	s, err := connect()
	if err != nil {
		return nil, err
	}
	s.template, err = s.migrated(context.Background())
	return s, err
})

// server is the PostgreSQL that holds the test databases.
type server struct {
	url      string
	admin    *sql.DB
	template string
}

// migrated returns the name of the migrated database, made by whichever test
// process comes first. It is marked as a template as the very last step, so that
// one without the mark is a leftover of a process that died half-way.
func (s *server) migrated(ctx context.Context) (string, error) {
	name := templatePrefix + db.MigrationsDigest()[:16]
	conn, err := s.admin.Conn(ctx) // the lock belongs to one session
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, lockID(name)); err != nil {
		return "", err
	}
	defer conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, lockID(name))

	var done bool
	err = conn.QueryRowContext(ctx, `SELECT datistemplate FROM pg_database WHERE datname = $1`, name).Scan(&done)
	if err == nil && done {
		return name, nil
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	quoted := pq.QuoteIdentifier(name)
	for _, statement := range []string{`DROP DATABASE IF EXISTS ` + quoted + ` WITH (FORCE)`, `CREATE DATABASE ` + quoted} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return "", err
		}
	}
	if err := db.Migrate(ctx, withDatabase(s.url, name)); err != nil {
		return "", err
	}
	_, err = conn.ExecContext(ctx, `ALTER DATABASE `+quoted+` IS_TEMPLATE true`)
	return name, err
}

// clone makes a database for one test. It copies the template's files, which for
// a small database is several times faster than writing it to the log. The choice came with PostgreSQL 15; before,
// it was the only way.
func (s *server) clone(ctx context.Context) (address string, drop func() error, err error) {
	id := make([]byte, 6)
	rand.Read(id) // never fails: crypto/rand ends the program instead
	name := clonePrefix + hex.EncodeToString(id)
	quoted := pq.QuoteIdentifier(name)

	var version int
	if err := s.admin.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int`).Scan(&version); err != nil {
		return "", nil, err
	}
	statement := `CREATE DATABASE ` + quoted + ` TEMPLATE ` + pq.QuoteIdentifier(s.template)
	if version >= 150000 {
		statement += ` STRATEGY = FILE_COPY`
	}
	if _, err := s.admin.ExecContext(ctx, statement); err != nil {
		return "", nil, err
	}
	drop = func() error { // also when ctx has ended
		_, err := s.admin.Exec(`DROP DATABASE ` + quoted + ` WITH (FORCE)`)
		return err
	}
	return withDatabase(s.url, name), drop, nil
}

func lockID(name string) int64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return int64(h.Sum64())
}

func withDatabase(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // parsed before
	}
	u.Path = "/" + name
	return u.String()
}
