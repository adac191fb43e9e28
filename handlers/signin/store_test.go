package signin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/handlers/signin"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/seal"
)

// people is the portal's own store and use cases, with the rights the portal
// serves with, and a reader of what they put on record.
type people struct {
	signin.PortalPeople
	t     *testing.T
	store *db.Store
	db    *sqlx.DB
}

func newPeople(t *testing.T, now func() time.Time) *people {
	key, err := seal.NewKey()
	require.NoError(t, err)
	ring := seal.NewRing(key)
	store := dbtest.Store(t)
	return &people{
		PortalPeople: signin.PortalPeople{Portal: &portal.Portal{
			Store: store, Seal: ring.Seal, Open: ring.Open, NewID: uuid.NewString, Now: func() time.Time { return now().UTC() },
		}},
		t: t, store: store, db: store.DB(),
	}
}

// recorded reads the ledger, oldest first, as "type subject facts".
func (p *people) recorded() []string {
	var rows []struct {
		Canonical []byte
		Subject   string
	}
	require.NoError(p.t, p.db.Select(&rows, `
		SELECT e.canonical, coalesce(p.subject, e.actor) AS subject
		FROM ledger_entry e LEFT JOIN person p ON p.id::text = e.actor ORDER BY e.ordinal`))
	var out []string
	for _, r := range rows {
		e, err := ledger.Parse(r.Canonical)
		require.NoError(p.t, err)
		line := string(e.Type) + " " + r.Subject
		for _, name := range []string{"reason", "cause", "by", "for", "factor"} {
			if e.Facts[name] != "" {
				line += fmt.Sprintf(" %s=%s", name, e.Facts[name])
			}
		}
		out = append(out, line)
	}
	return out
}
