package signin_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"quartermaster/handlers/oidc"
	"quartermaster/handlers/signin"
	facts "quartermaster/internal/signin"
)

// people keeps persons and sessions in the portal's real tables, and notes in
// memory what would go to the ledger.
type people struct {
	db *sqlx.DB

	mu     sync.Mutex
	record []string
}

type personKey struct{}

func (p *people) note(format string, args ...any) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record = append(p.record, fmt.Sprintf(format, args...))
	return fmt.Sprint(len(p.record))
}

func (p *people) recorded() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.record...)
}

func (p *people) SignIn(ctx context.Context, id oidc.Identity, s facts.Session) (string, error) {
	tx, err := p.db.BeginTxx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }()
	var person struct {
		ID     string
		Active bool
	}
	err = tx.GetContext(ctx, &person, `
		INSERT INTO person (issuer, subject, name, email, groups, last_sign_in) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (issuer, subject) DO UPDATE SET name = EXCLUDED.name, groups = EXCLUDED.groups, last_sign_in = EXCLUDED.last_sign_in
		RETURNING id, active`, id.Issuer, id.Subject, id.Name, id.Email, pq.StringArray(append([]string{}, id.Groups...)), s.Began)
	if err != nil {
		return "", err
	}
	if !person.Active {
		return "", signin.ErrInactive
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO session_owner (id, person_id, provider_sid, created_at) VALUES ($1, $2, $3, $4)`,
		s.ID, person.ID, s.ProviderSession, s.Began); err != nil {
		return "", err
	}
	p.note("signed in %s", id.Subject)
	return person.ID, tx.Commit()
}

func (p *people) Enter(ctx context.Context, s facts.Session) (context.Context, error) {
	var row struct {
		Active bool
		Ended  bool
		Name   string
	}
	err := p.db.GetContext(ctx, &row, `
		SELECT p.active, p.name, o.ended_at IS NOT NULL AS ended
		FROM session_owner o JOIN person p ON p.id = o.person_id WHERE o.id = $1`, s.ID)
	switch {
	case err == sql.ErrNoRows || (err == nil && row.Ended):
		return ctx, signin.ErrEnded
	case err != nil:
		return ctx, err
	case !row.Active:
		return ctx, signin.ErrInactive
	}
	return context.WithValue(ctx, personKey{}, row.Name), nil
}

func (p *people) SignOut(ctx context.Context, s facts.Session, cause string) error {
	p.note("signed out %s: %s", s.Subject, cause)
	_, err := p.db.ExecContext(ctx, `UPDATE session_owner SET ended_at = now() WHERE id = $1 AND ended_at IS NULL`, s.ID)
	return err
}

func (p *people) EndSessions(ctx context.Context, out oidc.Logout) (int, error) {
	res, err := p.db.ExecContext(ctx, `
		UPDATE session_owner o SET ended_at = now() FROM person p
		WHERE o.person_id = p.id AND o.ended_at IS NULL AND p.issuer = $1
		  AND ($2 = '' OR p.subject = $2) AND ($3 = '' OR o.provider_sid = $3)`, out.Issuer, out.Subject, out.SessionID)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

func (p *people) SteppedUp(_ context.Context, s facts.Session, what string) error {
	p.note("stepped up %s by %s %s", s.Subject, s.ProvenBy, what)
	return nil
}

func (p *people) Refuse(_ context.Context, a signin.Refused) (string, error) {
	return p.note("refused %s %s", a.Session.Subject, a.Reason), nil
}

func (p *people) firstLogout(ctx context.Context, id string, until time.Time) (bool, error) {
	res, err := p.db.ExecContext(ctx, `INSERT INTO logout_token (jti, expires) VALUES ($1, $2) ON CONFLICT DO NOTHING`, id, until)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (p *people) TOTP(ctx context.Context, personID string) (secret string, last int64, err error) {
	var row struct {
		Secret []byte `db:"totp_sealed"`
		Last   int64  `db:"totp_last_step"`
	}
	err = p.db.GetContext(ctx, &row, `SELECT totp_sealed, totp_last_step FROM person WHERE id = $1`, personID)
	return string(row.Secret), row.Last, err
}

func (p *people) PendingTOTP(ctx context.Context, personID, proposed string) (secret string, err error) {
	var kept []byte
	err = p.db.GetContext(ctx, &kept, `
		UPDATE person SET totp_pending = COALESCE(totp_pending, NULLIF($2, '')::bytea) WHERE id = $1 RETURNING totp_pending`, personID, proposed)
	return string(kept), err
}

func (p *people) ConfirmTOTP(ctx context.Context, s facts.Session, step int64) (bool, error) {
	res, err := p.db.ExecContext(ctx, `
		UPDATE person SET totp_sealed = totp_pending, totp_pending = NULL, totp_last_step = $2
		WHERE id = $1 AND totp_sealed IS NULL AND totp_pending IS NOT NULL`, s.PersonID, step)
	if err != nil {
		return false, err
	}
	p.note("enrolled %s", s.Subject)
	n, err := res.RowsAffected()
	return n == 1, err
}

func (p *people) SpendTOTP(ctx context.Context, personID string, step int64) (bool, error) {
	res, err := p.db.ExecContext(ctx, `UPDATE person SET totp_last_step = $2 WHERE id = $1 AND totp_last_step < $2`, personID, step)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
