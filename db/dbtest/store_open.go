package dbtest

import (
	"context"
	"net/url"
	"sync"
	"testing"

	"quartermaster/db"
)

const (
	appUser     = "quartermaster_test"
	appPassword = "test"
)

// Store returns the portal's store on a fresh database, with the rights that the
// portal serves with. Both end with the test.
func Store(t testing.TB) *db.Store {
	t.Helper()
	return StoreAt(t, URL(t))
}

// StoreAt is Store on a database of URL, for tests that also look at it as its owner.
func StoreAt(t testing.TB, address string) *db.Store {
	t.Helper()
	s, err := db.Open(t.Context(), AppURL(t, address), db.Options{})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// AppURL is the same database for a login role that has the rights of the app
// role and cannot take others.
func AppURL(t testing.TB, address string) string {
	t.Helper()
	if err := appRole(); err != nil {
		t.Fatalf("make the app role: %v", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatalf("app address: %v", err)
	}
	u.User = url.UserPassword(appUser, appPassword)
	return u.String()
}

// appRole makes the role once a process: roles belong to the whole server.
var appRole = sync.OnceValue(func() error {
	server, err := prepared()
	if err != nil {
		return err
	}
	return db.EnsureAppRole(context.Background(), server.url, appUser, appPassword)
})
