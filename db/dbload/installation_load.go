// Package dbload fills a database with a large installation that has lived for a
// year: the sizes that pages have to be fast at. Only benchmarks call it. It writes
// SQL straight into the tables, so it must follow the migrations; it never makes
// what a use case would refuse, and must never be linked into the product.
package dbload

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/jmoiron/sqlx"
)

// Issuer of everybody in the installation.
const Issuer = "https://id.example.org"

// Subjects whose work the benchmarks do.
const (
	Requester = "person-0502" // in team-002
	Manager   = "person-0002" // of team-002
	Operator  = "person-4901" // capacity manager of five clusters
	Decider   = "person-4927" // team and capacity manager everywhere: all 10,000 wait for them
	Auditor   = "person-4928"
	Admin     = "person-4930"
)

// Things that the benchmarks look at.
const (
	Project = "project-0002" // of team-002, bound on two clusters
	Cluster = "cluster-002"
	Pool    = "cluster-002-h100"
	Entries = 1_000_000
)

var (
	//go:embed organisation.sql
	organisation string
	//go:embed request.sql
	requests string
	//go:embed ledger.sql
	entries string
	//go:embed sample.sql
	samples string
	//go:embed index_drop.sql
	dropIndexes string
	//go:embed index_make.sql
	makeIndexes string
)

// Installation fills an empty, migrated database; owner is a superuser on it. All
// times lie before now.
func Installation(ctx context.Context, owner *sqlx.DB, now time.Time) error {
	conn, err := owner.Conn(ctx) // temporary tables and settings belong to one session
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, setting := range [][2]string{
		{"timezone", "UTC"}, {"load.now", now.UTC().Format(time.RFC3339)}, {"load.entries", strconv.Itoa(Entries)},
		{"synchronous_commit", "off"}, {"work_mem", "256MB"}, {"maintenance_work_mem", "512MB"}, {"temp_buffers", "256MB"},
		{"session_replication_role", "replica"}, // foreign keys are not checked row by row
	} {
		if _, err := conn.ExecContext(ctx, `SELECT set_config($1, $2, false)`, setting[0], setting[1]); err != nil {
			return fmt.Errorf("set %s: %w", setting[0], err)
		}
	}
	for _, part := range []struct{ name, sql string }{
		{"drop indexes", dropIndexes}, {"organisation", organisation}, {"requests", requests}, {"ledger", entries}, {"samples", samples}, {"make indexes", makeIndexes},
		{"statistics", `VACUUM ANALYZE`},
	} {
		if _, err := conn.ExecContext(ctx, part.sql); err != nil {
			return fmt.Errorf("load %s: %w", part.name, err)
		}
	}
	return nil
}
