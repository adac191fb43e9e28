package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/site"
)

// The auditor opens a decision in the history, sees it in the signed tree, takes the
// receipt and a bundle away and verifies all of it; a byte changed behind the
// portal is found, and so is a record made up anew.
func TestAuditorProvesADecision(t *testing.T) {
	s := site.New(t)
	db := s.DB(t)
	var id string
	require.NoError(t, db.Get(&id, `SELECT id FROM ledger_entry WHERE type = 'request.decided' AND outcome = 'done' ORDER BY ordinal LIMIT 1`))
	otto := as(t, s, "otto", browser.Wide)
	otto.Open("/history/" + id)
	otto.ReloadUntil("in the signed tree")
	otto.See("The proof leads from this entry to the root that was signed.")
	otto.See("quartermaster verify --policy KEYS --receipt receipt-" + id + ".json")
	s.Intact(t)

	bundle := filepath.Join(t.TempDir(), "record.zip")
	out, code := s.Command(t, "export", bundle)
	require.Equal(t, 0, code, out)
	offline := func(args ...string) (string, int) {
		return site.Command(t, nil, append([]string{"verify", "--policy", s.PublicKey()}, args...)...)
	}
	out, code = offline("--since", bundle, bundle)
	require.Equal(t, 0, code, out)
	require.Contains(t, out, "intact")
	out, code = site.Command(t, nil, "verify", bundle)
	require.Equal(t, 2, code, out)
	require.Contains(t, out, "no key is trusted")
	out, code = s.Command(t, "verify", "--since", bundle)
	require.Equal(t, 0, code, out)

	flip := `ALTER TABLE ledger_entry DISABLE TRIGGER USER;
		UPDATE ledger_entry SET canonical = set_byte(canonical, 40, get_byte(canonical, 40) # 1) WHERE id = '` + id + `';
		ALTER TABLE ledger_entry ENABLE TRIGGER USER`
	db.MustExec(flip)
	out, code = s.Verify(t)
	require.Equal(t, 1, code, out)
	require.Contains(t, out, id)
	out, code = s.Command(t, "record", "check")
	require.Equal(t, 1, code, out)
	otto.Open("/history")
	otto.See("The record is not as it was written.")
	db.MustExec(flip)
	out, code = s.Command(t, "record", "check")
	require.Equal(t, 0, code, out)
	s.Intact(t)

	raw, err := os.ReadFile(bundle)
	require.NoError(t, err)
	raw[len(raw)/2] ^= 1
	broken := filepath.Join(t.TempDir(), "broken.zip")
	require.NoError(t, os.WriteFile(broken, raw, 0o600))
	_, code = offline(broken)
	require.Equal(t, 1, code)
}
