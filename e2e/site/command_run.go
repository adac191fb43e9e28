package site

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the driver of DB
	"github.com/stretchr/testify/require"

	"quartermaster/db"
)

// Command runs the program once with extra variables and returns what it printed,
// both streams together, and its exit code.
func Command(t testing.TB, env []string, args ...string) (out string, code int) {
	t.Helper()
	binary, err := Binary()
	require.NoError(t, err)
	var b bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = environment(env)
	cmd.Stdout, cmd.Stderr = &b, &b
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// AppDatabase is the address by which the running portal reaches its database:
// as a role that cannot change the record.
func (s *Site) AppDatabase(t testing.TB) string {
	t.Helper()
	password, err := os.ReadFile(filepath.Join(s.Dir, "app-password"))
	require.NoError(t, err)
	address, err := db.AsUser(s.Database, s.AppRole(), strings.TrimSpace(string(password)))
	require.NoError(t, err)
	return address
}

// AppRole is the portal's own login at the database.
func (s *Site) AppRole() string {
	const stem = "quartermaster_portal_"
	return stem + fmt.Sprintf("%x", sha256.Sum256([]byte(s.Dir)))[:8]
}

// Verify runs `quartermaster verify` on the site's database.
func (s *Site) Verify(t testing.TB) (out string, code int) {
	t.Helper()
	return s.Command(t, "verify")
}

// PublicKey is the file with the public key of the site's log.
func (s *Site) PublicKey() string { return filepath.Join(s.Dir, "signer-key.pub") }

// Command runs the program on the site's database, as its portal would.
func (s *Site) Command(t testing.TB, args ...string) (out string, code int) {
	t.Helper()
	return Command(t, []string{"QUARTERMASTER_DATABASE_APP=" + s.AppDatabase(t), "QUARTERMASTER_KEY_FILE=" + filepath.Join(s.Dir, "key"),
		"QUARTERMASTER_RECORD_SIGNER_KEY_FILE=" + filepath.Join(s.Dir, "signer-key")}, args...)
}

// Intact fails unless the whole record verifies.
func (s *Site) Intact(t testing.TB) {
	t.Helper()
	out, code := s.Verify(t)
	require.Equal(t, 0, code, out)
	require.Contains(t, out, "intact")
}

// DB is the site's database as its owner, for looking at what pages do not show.
func (s *Site) DB(t testing.TB) *sqlx.DB {
	t.Helper()
	pool, err := sqlx.Connect("postgres", s.Database)
	require.NoError(t, err)
	t.Cleanup(func() { pool.Close() })
	return pool
}
