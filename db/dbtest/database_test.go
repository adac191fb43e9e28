package dbtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
)

func TestEachTestHasAMigratedDatabaseOfItsOwn(t *testing.T) {
	a, b := dbtest.New(t), dbtest.New(t)
	_, err := a.Exec(`CREATE TABLE only_here (n int)`)
	require.NoError(t, err)
	var there bool
	require.NoError(t, b.Get(&there, `SELECT to_regclass('only_here') IS NOT NULL`))
	require.False(t, there)

	applied, built, err := db.SchemaVersion(t.Context(), a.DB)
	require.NoError(t, err)
	require.Equal(t, built, applied)
}

func TestADatabaseIsDroppedWithItsTest(t *testing.T) {
	admin := dbtest.New(t)
	var name string
	t.Run("user", func(t *testing.T) {
		require.NoError(t, dbtest.New(t).Get(&name, `SELECT current_database()`))
	})
	var there bool
	require.NoError(t, admin.Get(&there, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name))
	require.False(t, there)
}

func TestAsRoleHasTheRightsOfTheRoleAlone(t *testing.T) {
	app := dbtest.Open(t, dbtest.AsRole(dbtest.URL(t), "quartermaster_app"))
	var role string
	require.NoError(t, app.Get(&role, `SELECT current_user`))
	require.Equal(t, "quartermaster_app", role)
	_, err := app.Exec(`CREATE ROLE another`)
	require.ErrorContains(t, err, "permission denied")
}
