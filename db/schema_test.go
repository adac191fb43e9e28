package db_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
)

func TestSchemaFileIsWhatTheMigrationsMake(t *testing.T) {
	want, err := dbtest.Schema(t.Context())
	require.NoError(t, err)
	have, err := os.ReadFile("schema.sql")
	require.NoError(t, err)
	require.Equal(t, want, string(have), "run make schema and look at the difference")
}
