package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"
)

// AppRole is the group whose rights the portal serves with: it reads and adds to
// history, and can neither change nor own it.
const AppRole = "quartermaster_app"

// EnsureAppRole makes user a login role with the rights of the app role and
// nothing else, with this password. ownerURL is a role that may create roles.
func EnsureAppRole(ctx context.Context, ownerURL, user, password string) error {
	return ensureRole(ctx, ownerURL, AppRole, user, password)
}

// EnsureSignerRole is EnsureAppRole for the signer: it reads the record, adds
// checkpoints and can do nothing else.
func EnsureSignerRole(ctx context.Context, ownerURL, user, password string) error {
	return ensureRole(ctx, ownerURL, SignerRole, user, password)
}

func ensureRole(ctx context.Context, ownerURL, group, user, password string) error {
	conn, err := sql.Open("postgres", ownerURL)
	if err != nil {
		return fmt.Errorf("make role: %w", err)
	}
	defer conn.Close()
	name := pq.QuoteIdentifier(user)
	secret := ""
	if password != "" { // else another way of authentication, which is the server's business
		secret = ` PASSWORD ` + pq.QuoteLiteral(password)
	}
	// Roles belong to the whole server: another process may make the same one now.
	for _, step := range []struct {
		statement string
		twice     bool // that it was done already is fine
	}{
		{`CREATE ROLE ` + name, true},
		{`ALTER ROLE ` + name + ` LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS` + secret, false},
		{`GRANT ` + group + ` TO ` + name, true},
	} {
		err := concurrently(ctx, conn, step.statement)
		var e *pq.Error
		if step.twice && errors.As(err, &e) && (e.Code.Name() == "duplicate_object" || e.Code.Name() == "unique_violation") {
			continue
		}
		if err != nil {
			// The statement holds a password: only the server's words go on.
			return fmt.Errorf("make role %s: %w", user, err)
		}
	}
	return nil
}

// concurrently tries a statement on the server's catalogues again when somebody
// else changed the same row at that moment (SQLSTATE XX000).
func concurrently(ctx context.Context, conn *sql.DB, statement string) error {
	for n := 0; ; n++ {
		_, err := conn.ExecContext(ctx, statement)
		var e *pq.Error
		if !errors.As(err, &e) || e.Code != "XX000" || n == attempts {
			return err
		}
	}
}

// history are the tables to which rows are only ever added.
var history = []string{
	"org_version", "request_revision", "decision", "check_result", "comment", "grant_line", "grant_start", "grant_end", "baseline",
	"match_rule", "object_import", "finding_event",
	"ledger_entry", "ledger_opening", "ledger_leaf", "ledger_checkpoint", "ledger_check",
}

// AppOwnsHistory reports whether the role that the store connects as could change
// or delete history: as its owner or a superuser, by a right, or because a guard
// is missing. The portal does not serve then, since its record would prove nothing.
func (s *Store) AppOwnsHistory(ctx context.Context) (bool, error) {
	var owns bool
	err := s.get(ctx, &owns, "", `
		SELECT bool_or(c.oid IS NULL
			OR pg_has_role(session_user, c.relowner, 'MEMBER') OR pg_has_role(current_user, c.relowner, 'MEMBER')
			OR has_table_privilege(session_user, c.oid, 'UPDATE, DELETE, TRUNCATE') OR has_table_privilege(current_user, c.oid, 'UPDATE, DELETE, TRUNCATE')
			OR 2 <> (SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgenabled = 'A' AND t.tgname IN ('refuse_change', 'refuse_truncate')))
		FROM unnest($1::text[]) AS h (name) LEFT JOIN pg_class c ON c.oid = to_regclass(h.name)`, pq.Array(history))
	if err != nil {
		return false, fmt.Errorf("check the rights on history: %w", err)
	}
	return owns, nil
}
