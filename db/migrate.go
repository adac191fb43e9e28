// Package db is the PostgreSQL adapter of the portal: the tables, their
// migrations and the stores that the use cases need. cmd wires it; it must never
// decide anything, and its SQL is written out, never put together from input.
package db

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

//go:generate go run quartermaster/db/schemadump schema.sql

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// riverMigration is the place of River's tables in our history.
	riverMigration = 2
	// riverVersion is River's own version after it. A newer River gets a
	// migration of its own: what version 2 does never changes.
	riverVersion = 8
)

// Migrate brings the schema at ownerURL to the newest version. It may run while
// the version before serves, and on several machines at once: one of them works
// and the others wait.
func Migrate(ctx context.Context, ownerURL string) error {
	conn, err := sql.Open("postgres", ownerURL)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer conn.Close()
	p, err := provider(conn)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// SchemaVersion returns the version the database has and the one this program
// was built for. A database never migrated has version 0.
func SchemaVersion(ctx context.Context, conn *sql.DB) (applied, built int64, err error) {
	p, err := provider(conn)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range p.ListSources() {
		built = max(built, s.Version)
	}
	// Asked directly: goose would make its table, which the app role may not.
	err = conn.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&applied)
	var pqErr *pq.Error
	if errors.As(err, &pqErr) && pqErr.Code.Name() == "undefined_table" {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("schema version: %w", err)
	}
	return applied, built, err
}

// MigrationsDigest is the same for two programs exactly when their migrations are.
func MigrationsDigest() string {
	h := sha256.New()
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, name := range names {
		b, err := migrations.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(b), b)
	}
	fmt.Fprintf(h, "river %d", riverVersion)
	return hex.EncodeToString(h.Sum(nil))
}

func provider(conn *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	one, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 60))
	if err != nil {
		return nil, err
	}
	// Outside goose's transaction: one of River's migrations adds an enum value and
	// a later one uses it, which PostgreSQL refuses inside one transaction (55P04).
	river := goose.NewGoMigration(riverMigration, &goose.GoFunc{RunDB: migrateRiver}, nil)
	return goose.NewProvider(goose.DialectPostgres, conn, files,
		goose.WithGoMigrations(river), goose.WithSessionLocker(one), goose.WithDisableGlobalRegistry(true))
}

func migrateRiver(ctx context.Context, conn *sql.DB) error {
	m, err := rivermigrate.New(riverdatabasesql.New(conn), nil)
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{TargetVersion: riverVersion})
	return err
}
