package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"quartermaster/assets"
	"quartermaster/db"
	"quartermaster/db/dbload"
	"quartermaster/db/dbtest"
	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// loadedDatabase names a database that dbload.Installation filled before, for
// whoever measures one page again and again; without it each run loads its own.
const loadedDatabase = "QM_BENCH_DATABASE"

// large is the real router on the installation of dbload. Its clusters are
// simulated; only who is signed in is made up.
type large struct {
	h        http.Handler
	store    *db.Store
	portal   *portal.Portal
	owner    *sqlx.DB
	address  string
	presence *testPresence
	now      time.Time
}

func newLarge(b *testing.B) *large {
	b.Helper()
	l := &large{presence: newPresence(), now: time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)}
	var err error
	if l.address = os.Getenv(loadedDatabase); l.address == "" {
		l.address = dbtest.URL(b)
		require.NoError(b, dbload.Installation(b.Context(), dbtest.Open(b, l.address), l.now))
	}
	l.owner = dbtest.Open(b, l.address)
	l.store, err = db.Open(b.Context(), dbtest.AsRole(l.address, "quartermaster_app"), db.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { l.store.Close() })
	pools, err := l.store.Pools(b.Context())
	require.NoError(b, err)
	var known []org.Pool
	for _, p := range pools {
		known = append(known, p.Pool)
	}
	clock := func() time.Time { return l.now }
	var mu sync.Mutex
	clusters := map[string]fleet.Cluster{}
	plain := func(text []byte, _ string) ([]byte, error) { return text, nil }
	l.portal = &portal.Portal{
		Store: l.store, Seal: plain, Open: plain, Now: clock, NewID: uuid.NewString, BaseURL: "http://portal.test", Log: slog.New(slog.DiscardHandler),
		Dial: func(_ context.Context, id string) (fleet.Cluster, error) {
			mu.Lock()
			defer mu.Unlock()
			if k, ok := clusters[id]; ok {
				return k, nil
			}
			k, err := sim.Open(sim.Config{ID: id, Pools: sim.PoolsOf(id, known), Seed: 7, Now: clock, Idle: true})
			if err == nil {
				clusters[id] = k
			}
			return k, err
		},
	}
	for _, subject := range []string{dbload.Requester, dbload.Manager, dbload.Operator, dbload.Decider, dbload.Auditor, dbload.Admin} {
		p, err := l.store.PersonBySubject(b.Context(), dbload.Issuer, subject)
		require.NoError(b, err)
		l.presence.actors[subject] = portal.Actor{Person: p, Via: "web", SessionID: "session", AMR: []string{"pwd", "otp"}, AuthTime: l.now}
	}
	server, err := newServer(Config{Portal: l.portal, Log: slog.New(slog.DiscardHandler), BaseURL: "http://portal.test", Assets: assets.Handler(), Now: clock, Ready: l.store.Ready})
	require.NoError(b, err)
	server.session = l.presence
	l.h = server.router()
	return l
}

// send answers one request as somebody.
func (l *large) send(as, method, target string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Cookie", "as="+as)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	l.h.ServeHTTP(w, r)
	return w
}
