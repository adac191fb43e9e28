package dbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"quartermaster/db"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

const signerUser = "quartermaster_test_signer"

// SignerURL is the database of address for a login role with the signer's rights.
func SignerURL(t testing.TB, address string) string {
	t.Helper()
	if err := signerRole(); err != nil {
		t.Fatalf("make the signer's role: %v", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("signer address: %v", err)
	}
	u.User = url.UserPassword(signerUser, appPassword)
	return u.String()
}

var signerRole = sync.OnceValue(func() error {
	server, err := prepared()
	if err != nil {
		return err
	}
	return db.EnsureSignerRole(context.Background(), server.url, signerUser, appPassword)
})

// Record is what keeps the record of a test's database.
type Record struct {
	Store   db.SignStore
	Key     note.Signer
	Private string
	Public  string
	Trusted note.Verifiers
	Signer  *portal.Signer
}

// KeepRecord gives p a signer of its own and lets it sequence and sign by itself
// whenever something waits for its proof.
func KeepRecord(t testing.TB, p *portal.Portal, address string) *Record {
	t.Helper()
	name, err := p.Store.LogName(t.Context())
	if err != nil {
		t.Fatalf("name of the log: %v", err)
	}
	r := &Record{}
	if r.Private, r.Public, err = note.GenerateKey(rand.Reader, ledger.Origin(name)); err != nil {
		t.Fatalf("key of the log: %v", err)
	}
	if r.Key, err = note.NewSigner(r.Private); err != nil {
		t.Fatalf("key of the log: %v", err)
	}
	if r.Trusted, _, err = ledger.Trust(r.Public); err != nil {
		t.Fatalf("key of the log: %v", err)
	}
	if r.Store, err = db.OpenSign(t.Context(), SignerURL(t, address), db.Options{}); err != nil {
		t.Fatalf("open as the signer: %v", err)
	}
	t.Cleanup(func() { r.Store.Close() })
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	r.Signer = p.NewSigner(r.Store, r.Key, r.Trusted)
	p.Trusted = r.Trusted
	var one sync.Mutex
	sequencer := p.NewSequencer()
	p.Include = func(ctx context.Context) error {
		one.Lock()
		defer one.Unlock()
		if _, err := sequencer.Run(ctx, false); err != nil {
			return err
		}
		_, err := r.Signer.Sign(ctx)
		var broken *portal.Broken
		if errors.As(err, &broken) {
			return p.ReportSigning(ctx, err)
		}
		return err
	}
	return r
}
