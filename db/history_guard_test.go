package db_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/approval"
	"quartermaster/internal/finding"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/policy"
	"quartermaster/internal/portal"
)

// fillHistory puts a row into every history table.
func fillHistory(w *world) {
	_, err := w.owner.Exec(`INSERT INTO match_rule (rules) VALUES ($1)`, "[]")
	require.NoError(w.t, err)
	r := w.submit(w.draft("ada", "cv", line("east-h100", 1)), noon)
	r = w.decide(r, "mia", approval.Approve, noon)
	b := w.binding("cv", "east")
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		row, err := tx.Append(ctx, w.entry("mia", ledger.RequestCommented, "request", r.ID), portal.EntryRefs{}, map[string]string{portal.OpeningText: "x"})
		if err != nil {
			return err
		}
		grant := portal.GrantRow{Grant: fleet.Grant{ID: uuid.NewString(), RequestID: r.ID, PoolID: "east-h100", Kind: fleet.HardGrant}, ProjectID: "cv", Environment: "development", MadeAt: noon}
		for _, step := range []func() error{
			func() error { return tx.InsertComment(ctx, uuid.NewString(), r.ID, w.id("mia"), row.Entry.ID, noon) },
			func() error {
				return tx.InsertChecks(ctx, r.ID, r.Revision.Digest, "decision", []policy.Result{{ID: "a", Severity: policy.Warn, Outcome: policy.Pass}}, noon)
			},
			func() error { _, err := tx.InsertGrant(ctx, grant); return err },
			func() error { _, err := tx.StartGrant(ctx, grant.ID, noon); return err },
			func() error { return tx.EndGrant(ctx, grant.ID, "revoked", noon) },
			func() error {
				return tx.InsertObjectImport(ctx, portal.ObjectImport{ID: uuid.NewString(), ClusterID: "east", FileName: "dump.yaml", Digest: "d", At: noon})
			},
			func() error {
				f := finding.Finding{ID: uuid.NewString(), ClusterID: "east", State: finding.Open, Since: noon, LastSeen: noon, TurnsFrom: noon,
					Seen: finding.Seen{Kind: finding.Bypass, Severity: 1, Owner: finding.PlatformAdmin, Key: finding.Key{Object: fleet.ObjectRef{Kind: "LocalQueue", Namespace: "n", Name: "q"}, Field: finding.FieldQueue}}}
				if err := tx.SaveFinding(ctx, f); err != nil {
					return err
				}
				return tx.InsertFindingEvent(ctx, portal.FindingEvent{FindingID: f.ID, EntryID: row.Entry.ID, Event: "opened", At: noon, By: "job:usage_poll"})
			},
			func() error { return tx.InsertBaseline(ctx, b.ID, "east-h100", fleet.Base{}, noon) },
			func() error {
				return tx.InsertLeaves(ctx, 0, []portal.NewLeaf{{Ordinal: row.Ordinal, Hashes: make([]byte, 32)}})
			},
			func() error {
				return tx.InsertCheck(ctx, portal.RecordCheck{At: noon, Kind: portal.CheckWhole, OK: true, EntryID: row.Entry.ID})
			},
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkpointed adds a checkpoint, as only the signer may.
func checkpointed(w *world) {
	s, err := db.OpenSign(w.t.Context(), dbtest.SignerURL(w.t, w.address), db.Options{})
	require.NoError(w.t, err)
	defer s.Close()
	require.NoError(w.t, s.InsertCheckpoint(w.t.Context(), portal.CheckpointRow{Size: 1, Note: "x", At: noon}))
}

// Nobody changes history: not the app, not the owner, not a superuser who plays replica.
func TestHistoryCannotBeChanged(t *testing.T) {
	w := newWorld(t)
	fillHistory(w)
	checkpointed(w)
	app := dbtest.Open(t, dbtest.AppURL(t, w.address))
	replica := dbtest.Open(t, withSetting(t, w.address, "session_replication_role", "replica"))
	for who, pool := range map[string]*sqlx.DB{"app": app, "owner": w.owner, "superuser as replica": replica} {
		for _, table := range db.History {
			var column string
			require.NoError(t, w.owner.Get(&column, `SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND attidentity = '' ORDER BY attnum LIMIT 1`, table))
			var rows int
			require.NoError(t, w.owner.Get(&rows, `SELECT count(*) FROM `+table))
			require.NotZero(t, rows, table)
			for _, statement := range []string{
				fmt.Sprintf(`UPDATE %s SET %[2]s = %[2]s`, table, pq.QuoteIdentifier(column)), `DELETE FROM ` + table, `TRUNCATE ` + table + ` CASCADE`,
			} {
				_, err := pool.Exec(statement)
				var e *pq.Error
				require.ErrorAs(t, err, &e, "%s: %s", who, statement)
				require.Equal(t, "insufficient_privilege", e.Code.Name(), "%s: %s", who, statement)
			}
			var left int
			require.NoError(t, w.owner.Get(&left, `SELECT count(*) FROM `+table))
			require.Equal(t, rows, left, table)
		}
		// Upserts are updates too.
		_, err := pool.Exec(`INSERT INTO grant_end SELECT * FROM grant_end ON CONFLICT (grant_id) DO UPDATE SET cause = 'expired'`)
		require.Error(t, err, who)
	}
}

func TestEveryHistoryTableIsGuarded(t *testing.T) {
	var guarded []string
	require.NoError(t, dbtest.New(t).Select(&guarded, `
		SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND
			(SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgenabled = 'A' AND t.tgname IN ('refuse_change', 'refuse_truncate')) = 2`))
	require.ElementsMatch(t, db.History, guarded)
}

func TestTheAppCannotOpenTheGuard(t *testing.T) {
	app := dbtest.Open(t, dbtest.AppURL(t, dbtest.URL(t)))
	for _, statement := range []string{
		`ALTER TABLE ledger_entry DISABLE TRIGGER refuse_change`, `DROP TRIGGER refuse_change ON ledger_entry`, `DROP TABLE ledger_entry CASCADE`,
		`CREATE OR REPLACE FUNCTION refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
		`SET session_replication_role = replica`, `SET ROLE postgres`, `CREATE RULE r AS ON INSERT TO ledger_entry DO INSTEAD NOTHING`,
		`ALTER TABLE ledger_entry OWNER TO quartermaster_test`, `CREATE TABLE mine (n int)`, `TRUNCATE request CASCADE`, `CREATE ROLE another SUPERUSER`,
	} {
		_, err := app.Exec(statement)
		require.Error(t, err, statement)
	}
	app.Exec(`GRANT UPDATE ON ledger_entry TO quartermaster_app`) // PostgreSQL only warns
	var granted bool
	require.NoError(t, app.Get(&granted, `SELECT has_table_privilege('ledger_entry', 'UPDATE')`))
	require.False(t, granted)
}

func TestTheAppDeletesNothingThatTheRecordRefersTo(t *testing.T) {
	app := dbtest.Open(t, dbtest.AppURL(t, dbtest.URL(t)))
	for _, table := range []string{"unit", "team", "project", "route", "person", "cluster", "pool", "binding", "session_owner", "request", "change", "ledger_head", "installation"} {
		_, err := app.Exec(`DELETE FROM ` + table)
		require.ErrorContains(t, err, "permission denied", table)
	}
	_, err := app.Exec(`UPDATE installation SET log = 'another'`)
	require.ErrorContains(t, err, "permission denied")
}

// The portal refuses to serve as a role that could rewrite the record.
func TestAppOwnsHistoryTellsTheOwnerFromTheApp(t *testing.T) {
	address := dbtest.URL(t)
	owns := func(address string) bool {
		t.Helper()
		s, err := db.Open(t.Context(), address, db.Options{})
		require.NoError(t, err)
		defer s.Close()
		owns, err := s.AppOwnsHistory(t.Context())
		require.NoError(t, err)
		return owns
	}
	require.False(t, owns(dbtest.AppURL(t, address)))
	require.True(t, owns(address))
	require.True(t, owns(dbtest.AsRole(address, db.AppRole)), "a superuser that only plays the app role can stop playing")

	owner := dbtest.Open(t, address)
	owner.MustExec(`GRANT UPDATE ON decision TO quartermaster_app`)
	require.True(t, owns(dbtest.AppURL(t, address)))
	owner.MustExec(`REVOKE UPDATE ON decision FROM quartermaster_app`)
	require.False(t, owns(dbtest.AppURL(t, address)))
	owner.MustExec(`DROP TRIGGER refuse_change ON decision`)
	require.True(t, owns(dbtest.AppURL(t, address)), "a guard is missing")
}

func TestEnsureAppRoleCanBeRepeatedAndChangesThePassword(t *testing.T) {
	address := dbtest.URL(t)
	user := "app_" + uuid.NewString()[:8]
	owner := dbtest.Open(t, address)
	t.Cleanup(func() { owner.MustExec(`DROP ROLE ` + pq.QuoteIdentifier(user)) })
	for _, password := range []string{"first", `it's "quoted" \ 100%`} {
		require.NoError(t, db.EnsureAppRole(t.Context(), address, user, password))
		u := mustParse(t, address)
		u.User = nil
		dsn := u.String()
		s, err := db.Open(t.Context(), withUser(t, dsn, user, password), db.Options{})
		require.NoError(t, err)
		_, err = s.Units(t.Context())
		require.NoError(t, err)
		s.Close()
	}
	_, err := db.Open(t.Context(), withUser(t, address, user, "first"), db.Options{})
	require.ErrorContains(t, err, "password authentication failed")
}

// The signer adds checkpoints and nothing else; the app adds everything but them.
func TestWhoWritesEntriesDoesNotSignThem(t *testing.T) {
	w := newWorld(t)
	fillHistory(w)
	signer := dbtest.Open(t, dbtest.SignerURL(t, w.address))
	app := dbtest.Open(t, dbtest.AppURL(t, w.address))
	const add = `INSERT INTO ledger_checkpoint (size, root, note, at) VALUES (1, decode(repeat('00', 32), 'hex'), 'x', now())`
	_, err := app.Exec(add)
	require.ErrorContains(t, err, "permission denied")
	_, err = signer.Exec(add)
	require.NoError(t, err)
	_, err = signer.Exec(add)
	require.ErrorContains(t, err, "ledger_checkpoint_pkey", "one size has one root")
	var tables []string
	require.NoError(t, w.owner.Select(&tables, `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`))
	for _, table := range tables {
		for _, right := range []string{"INSERT", "UPDATE", "DELETE", "TRUNCATE"} {
			var may bool
			require.NoError(t, signer.Get(&may, `SELECT has_table_privilege($1, $2)`, pq.QuoteIdentifier(table), right))
			require.Equal(t, table == "ledger_checkpoint" && right == "INSERT", may, "%s on %s", right, table)
		}
	}
	s, err := db.OpenSign(t.Context(), dbtest.SignerURL(t, w.address), db.Options{})
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.OnlySigns(t.Context()))
	both, err := db.OpenSign(t.Context(), w.address, db.Options{})
	require.NoError(t, err)
	defer both.Close()
	require.ErrorContains(t, both.OnlySigns(t.Context()), "may do more")
}
