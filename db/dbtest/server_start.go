package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/lib/pq"

	"quartermaster/db"
	"quartermaster/internal/dev/postgres"
)

// StartServer starts the PostgreSQL of a test run; make test does it once for all
// packages. It is fast and forgets its data when the machine crashes.
//
// Data directories are kept below the system's temporary directory and used
// again, so that only the first run ever pays for initdb. Each is locked by the
// process that uses it; runs at the same time take different ones.
func StartServer(ctx context.Context) (*postgres.Server, error) {
	parent := filepath.Join(os.TempDir(), "quartermaster-test-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(parent, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	info, err := os.Lstat(parent)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		return nil, fmt.Errorf("%s belongs to somebody else: set TMPDIR", parent)
	}
	for n := 1; ; n++ {
		dir := filepath.Join(parent, "postgres-"+strconv.Itoa(n))
		s, err := postgres.Start(ctx, postgres.Options{Dir: dir, Fast: true})
		var running *postgres.RunningError
		var version *postgres.VersionError
		switch {
		case err == nil:
			if err := sweep(ctx, s.URL("postgres")); err != nil {
				return nil, errors.Join(err, s.Stop())
			}
			return s, nil
		case errors.As(err, &running):
		case errors.As(err, &version): // test data of a PostgreSQL that is gone
			if err := os.RemoveAll(dir); err != nil {
				return nil, err
			}
			n--
		default:
			return nil, err
		}
	}
}

// sweep drops what earlier runs left on a server that is ours alone.
func sweep(ctx context.Context, address string) error {
	admin, err := sql.Open("postgres", address)
	if err != nil {
		return err
	}
	defer admin.Close()
	var names pq.StringArray
	if err := admin.QueryRowContext(ctx, `SELECT coalesce(array_agg(datname), '{}') FROM pg_database`).Scan(&names); err != nil {
		return err
	}
	keep := templatePrefix + db.MigrationsDigest()[:16]
	for _, name := range names {
		if !strings.HasPrefix(name, clonePrefix) && !strings.HasPrefix(name, templatePrefix) || name == keep {
			continue
		}
		quoted := pq.QuoteIdentifier(name)
		if _, err := admin.ExecContext(ctx, `ALTER DATABASE `+quoted+` IS_TEMPLATE false`); err != nil {
			return err
		}
		if _, err := admin.ExecContext(ctx, `DROP DATABASE `+quoted+` WITH (FORCE)`); err != nil {
			return err
		}
	}
	return nil
}

// connect returns the server of this test process. One that is started here ends
// with the process.
func connect() (*server, error) {
	address := os.Getenv("TEST_DATABASE_URL")
	if address == "" {
		s, err := StartServer(context.Background())
		if err != nil {
			return nil, err
		}
		address = s.URL("postgres")
	}
	if _, err := url.Parse(address); err != nil {
		return nil, errors.New("TEST_DATABASE_URL is not an address") // without its password
	}
	admin, err := sql.Open("postgres", address)
	if err != nil {
		return nil, err
	}
	admin.SetMaxIdleConns(4)
	return &server{url: address, admin: admin}, admin.Ping()
}
