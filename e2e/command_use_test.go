package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/e2e/site"
)

// installation is what an operator sets up before serve: an owner's and an app's
// address, a key, and an organisation file.
type installation struct {
	owner, app, key, public string
	db                      *sqlx.DB
}

func newInstallation(t *testing.T) installation {
	t.Helper()
	owner := dbtest.URL(t)
	i := installation{owner: owner, key: filepath.Join(t.TempDir(), "key"), db: dbtest.Open(t, owner)}
	// dbtest hands out a migrated database; an operator begins with an empty one.
	_, err := i.db.Exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`)
	require.NoError(t, err)
	_, i.public, err = note.GenerateKey(rand.Reader, "quartermaster/e2e")
	require.NoError(t, err)
	secret := make([]byte, 32)
	rand.Read(secret)
	require.NoError(t, os.WriteFile(i.key, []byte(base64.StdEncoding.EncodeToString(secret)+"\n"), 0o600))
	return i
}

func (i installation) run(t *testing.T, args ...string) (string, int) {
	t.Helper()
	return site.Command(t, []string{
		"QUARTERMASTER_DATABASE_MIGRATE=" + i.owner, "QUARTERMASTER_DATABASE_APP=" + i.app, "QUARTERMASTER_KEY_FILE=" + i.key,
		"QUARTERMASTER_IDENTITY_ISSUER=https://id.example", "QUARTERMASTER_IDENTITY_CLIENT_ID=portal", "QUARTERMASTER_IDENTITY_CLIENT_SECRET=very-secret",
		"QUARTERMASTER_BASE_URL=https://quota.example", "QUARTERMASTER_RECORD_TRUSTED_KEYS=" + i.public,
	}, args...)
}

func (i installation) good(t *testing.T, args ...string) string {
	t.Helper()
	out, code := i.run(t, args...)
	require.Equal(t, 0, code, "%v: %s", args, out)
	return out
}

// appRole makes the login of the portal, as migrate tells the operator to.
func (i *installation) appRole(t *testing.T) {
	t.Helper()
	const role, password = "e2e_portal", "e2e-portal-password"
	require.NoError(t, db.EnsureAppRole(t.Context(), i.owner, role, password))
	t.Cleanup(func() {
		_, err := i.db.Exec(`DROP OWNED BY ` + role + `; DROP ROLE ` + role)
		require.NoError(t, err)
	})
	var err error
	i.app, err = db.AsUser(i.owner, role, password)
	require.NoError(t, err)
}

func TestCommandsOfAnOperator(t *testing.T) {
	i := newInstallation(t)
	file := labOrganisation(t)

	require.Contains(t, i.good(t, "migrate"), "schema is current")
	require.Contains(t, i.good(t, "migrate"), "schema is current", "twice is as good as once")
	i.appRole(t)

	out := i.good(t, "import", "--dry-run", file)
	require.Contains(t, out, "street-scenes")
	require.Contains(t, out, "nothing was changed")
	require.Zero(t, i.rows(t, "project"))
	require.Contains(t, i.good(t, "import", file), "organisation version 1")
	require.Equal(t, 6, i.rows(t, "project"))
	require.Contains(t, i.good(t, "import", file), "nothing to change")
	require.Contains(t, i.good(t, "import", "--dry-run", file), "nothing to change")
	require.Equal(t, 1, i.rows(t, "org_version"))

	out = i.good(t, "config")
	require.Contains(t, out, "(hidden)")
	require.Contains(t, out, "https://id.example")
	for _, secret := range []string{"very-secret", "e2e-portal-password"} {
		require.NotContains(t, out, secret)
	}
	i.refusesUnknownKeys(t)
	i.verifies(t)

	asOwner := i
	asOwner.app = i.owner
	out, code := asOwner.run(t, "serve", "--listen", "127.0.0.1:0")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, "could change the record")
}

func (i installation) rows(t *testing.T, table string) int {
	t.Helper()
	var n int
	require.NoError(t, i.db.Get(&n, `SELECT count(*) FROM `+table))
	return n
}

func (i installation) refusesUnknownKeys(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "quartermaster.yaml")
	require.NoError(t, os.WriteFile(file, []byte("listen: 127.0.0.1:0\nlisten_adress: 127.0.0.1:1\n"), 0o600))
	out, code := i.run(t, "config", "--config", file)
	require.Equal(t, 1, code)
	require.Contains(t, out, "listen_adress")
	out, code = site.Command(t, []string{"QUARTERMASTER_LISTEN_ADRESS=x"}, "config")
	require.Equal(t, 1, code)
	require.Contains(t, out, "QUARTERMASTER_LISTEN_ADRESS")
}

// verifies changes one byte of one entry behind the back of the triggers, as only
// a superuser can, and looks whether verify finds it.
func (i installation) verifies(t *testing.T) {
	t.Helper()
	unsigned := func() {
		t.Helper()
		out, code := i.run(t, "verify")
		require.Equal(t, 2, code, out)
		require.Contains(t, out, "no checkpoint was signed yet", "whole, and proven by nobody")
	}
	unsigned()
	_, err := i.db.Exec(`UPDATE ledger_entry SET canonical = canonical`)
	require.ErrorContains(t, err, "history", "the triggers refuse even a superuser")
	var id string
	require.NoError(t, i.db.Get(&id, `SELECT id FROM ledger_entry ORDER BY ordinal LIMIT 1`))
	flip := `ALTER TABLE ledger_entry DISABLE TRIGGER USER;
		UPDATE ledger_entry SET canonical = set_byte(canonical, 40, get_byte(canonical, 40) # 1) WHERE ordinal = (SELECT min(ordinal) FROM ledger_entry);
		ALTER TABLE ledger_entry ENABLE TRIGGER USER`
	_, err = i.db.Exec(flip)
	require.NoError(t, err)
	out, code := i.run(t, "verify")
	require.Equal(t, 1, code, out)
	require.Contains(t, out, id, "it names the entry")
	_, err = i.db.Exec(flip)
	require.NoError(t, err)
	unsigned()
}
