package config

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "quartermaster.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestEnvironmentOverridesFileOverridesDefault(t *testing.T) {
	file := write(t, "listen: 127.0.0.1:9000\npoll: {every: 10s}\ndatabase: {app: postgres://a}\n")
	c, err := Load(file, []string{"QUARTERMASTER_POLL_EVERY=5s", "QUARTERMASTER_IDENTITY_SCOPES=profile, groups", "HOME=/x"})
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:9000", c.Listen)
	require.Equal(t, 5*time.Second, c.Poll.Every)
	require.Equal(t, []string{"profile", "groups"}, c.Identity.Scopes)
	require.Equal(t, 20*time.Second, c.Poll.Timeout, "default stays")
}

func TestUnknownKeysAreRefused(t *testing.T) {
	_, err := Load(write(t, "lisen: 127.0.0.1:9000\n"), nil)
	require.ErrorContains(t, err, "lisen")
	_, err = Load("", []string{"QUARTERMASTER_LISEN=x"})
	require.ErrorContains(t, err, "QUARTERMASTER_LISEN")
	require.ErrorContains(t, err, "QUARTERMASTER_LISTEN", "names what is known")
	_, err = Load("", []string{"QUARTERMASTER_POLL_EVERY=soon"})
	require.ErrorContains(t, err, "30s", "says what to write")
}

// What follows a second --- would not count, so it is not passed over in silence.
func TestSecondDocumentIsRefused(t *testing.T) {
	_, err := Load(write(t, "listen: 127.0.0.1:9000\n---\nlog: {level: debug}\n"), nil)
	require.ErrorContains(t, err, "more than one document")
}

func TestCheckNamesWrongValues(t *testing.T) {
	c := Default()
	c.Database.Connections, c.Log.Level, c.Log.Format = -4, "loud", "xml"
	err := c.Check()
	for _, key := range []string{"database.connections", "log.level", "log.format"} {
		require.ErrorContains(t, err, key)
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	c, err := Load("", []string{"QUARTERMASTER_DATABASE_APP=postgres://u:hunter2@h/d", "QUARTERMASTER_IDENTITY_CLIENT_SECRET=hunter2"})
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, c.Print(&out))
	require.NotContains(t, out.String(), "hunter2")
	require.Contains(t, out.String(), Hidden)
	require.Contains(t, out.String(), "migrate: \"\"", "an empty secret is seen to be empty")
}

func TestCheckNamesEverythingThatIsMissing(t *testing.T) {
	err := Default().Check()
	for _, key := range []string{"base_url", "database.app", "identity.issuer", "key_file"} {
		require.ErrorContains(t, err, key)
	}
}
