package db_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
)

// Several replicas start at once on an empty database, and once more later.
func TestMigrateRunsOnceHoweverManyStart(t *testing.T) {
	address := dbtest.URL(t)
	pool := dbtest.Open(t, address)
	_, err := pool.Exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	require.NoError(t, err)

	applied, built, err := db.SchemaVersion(t.Context(), pool.DB)
	require.NoError(t, err)
	require.Zero(t, applied, "never migrated")

	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = db.Migrate(context.Background(), address) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.NoError(t, db.Migrate(t.Context(), address))
	applied, _, err = db.SchemaVersion(t.Context(), pool.DB)
	require.NoError(t, err)
	require.Equal(t, built, applied)
}

// A newer River needs a migration of its own in our history.
func TestRiverIsMigratedToTheVersionItsLibraryNeeds(t *testing.T) {
	m, err := rivermigrate.New(riverdatabasesql.New(dbtest.New(t).DB), nil)
	require.NoError(t, err)
	result, err := m.Validate(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, result.OK, "%v", result.Messages)
}

func TestSchemaVersionTellsOfADatabaseThatDoesNotAnswer(t *testing.T) {
	conn, err := sql.Open("postgres", "postgres://nobody@127.0.0.1:1/none?sslmode=disable")
	require.NoError(t, err)
	defer conn.Close()
	_, _, err = db.SchemaVersion(t.Context(), conn)
	require.Error(t, err)
}
