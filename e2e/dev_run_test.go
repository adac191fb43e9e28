package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
	"quartermaster/e2e/site"
)

func TestDevStartsStopsAndKeepsItsData(t *testing.T) {
	s := site.New(t, "--org", labOrganisation(t))
	require.Regexp(t, `listening on 127\.0\.0\.1:\d+`, s.Output(), "port 0 is said")
	require.Contains(t, s.Output(), "demo-ana", "who may sign in and how is said")
	file := filepath.Join(s.Dir, "dev.json")
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	first := described(t, file)
	require.Len(t, first.People, 12)
	for _, p := range first.People {
		require.NotEmpty(t, p.Role, "%s has a role", p.User)
	}
	answers(t, s.Portal+"/healthz")
	answers(t, s.Portal+"/readyz")
	answers(t, s.Portal+"/metrics")
	require.NotEmpty(t, postgresOf(s.Dir))
	entries := count(t, s, "ledger_entry")

	require.Equal(t, 0, s.Stop(), "Ctrl-C is no failure")
	require.Empty(t, postgresOf(s.Dir), "Ctrl-C stops the database too")

	require.NoError(t, s.Run())
	require.Equal(t, first.People, described(t, file).People, "people keep their secrets")
	require.Equal(t, 1, count(t, s, "org_version"), "what is there is not imported again")
	require.GreaterOrEqual(t, count(t, s, "ledger_entry"), entries)

	s.Kill()
	require.Eventually(t, func() bool { return len(postgresOf(s.Dir)) == 0 }, 30*time.Second, 50*time.Millisecond, "a killed program leaves no database behind")
	require.NoError(t, s.Run(), "and starts again")
	s.Intact(t)
}

// The data of another PostgreSQL are refused and stay as they are.
func TestDevRefusesTheDataOfAnotherPostgreSQL(t *testing.T) {
	s := site.New(t, "--org", labOrganisation(t))
	require.Equal(t, 0, s.Stop())
	version := filepath.Join(s.Dir, "postgres", "data", "PG_VERSION")
	mine, err := os.ReadFile(version)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(version, []byte("9.6\n"), 0o600))
	before := listing(t, filepath.Join(s.Dir, "postgres", "data"))
	err = s.Run()
	require.Error(t, err)
	require.Contains(t, err.Error(), "9.6", "it says which version made the data")
	require.Equal(t, before, listing(t, filepath.Join(s.Dir, "postgres", "data")))
	require.NoError(t, os.WriteFile(version, mine, 0o600))
	require.NoError(t, s.Run())
}

func TestDevUsesTheDatabaseItIsGiven(t *testing.T) {
	address := dbtest.URL(t)
	s := site.NewWith(t, []string{"DATABASE_URL=" + address}, "--org", labOrganisation(t))
	require.Equal(t, address, s.Database)
	require.Empty(t, postgresOf(s.Dir), "no server of its own")
	require.Equal(t, 6, count(t, s, "project"))
	s.Intact(t)
	require.Equal(t, 0, s.Stop())
	owner := s.DB(t)
	for _, statement := range []string{`DROP OWNED BY ` + s.AppRole(), `DROP ROLE ` + s.AppRole()} {
		_, err := owner.Exec(statement)
		require.NoError(t, err)
	}
}

func described(t *testing.T, file string) site.Site {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var s site.Site
	require.NoError(t, json.Unmarshal(raw, &s))
	return s
}

func answers(t *testing.T, address string) {
	t.Helper()
	r, err := http.Get(address)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusOK, r.StatusCode, address)
}

func count(t *testing.T, s *site.Site, table string) int {
	t.Helper()
	var n int
	require.NoError(t, s.DB(t).Get(&n, `SELECT count(*) FROM `+table))
	return n
}

// listing is every file below dir with its size and time.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			out[path] = info.ModTime().String()
		}
		return err
	}))
	return out
}
