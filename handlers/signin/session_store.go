package signin

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/alexedwards/scs/postgresstore"
	"github.com/alexedwards/scs/v2"

	"quartermaster/internal/fault"
)

// sessionStore is scs's PostgreSQL store with one difference: a session that was
// loaded is only ever updated, never inserted again. scs commits with an upsert,
// so a request still under way would bring a session back that was signed out or
// rotated meanwhile.
type sessionStore struct {
	*postgresstore.PostgresStore
	db *sql.DB
}

var _ scs.CtxStore = (*sessionStore)(nil)

const cleanEvery = 5 * time.Minute

func newSessionStore(db *sql.DB) *sessionStore {
	return &sessionStore{postgresstore.NewWithCleanupInterval(db, cleanEvery), db}
}

// loaded holds the token that this request came with, once it was found.
type loaded struct{ token string }

type loadedKey struct{}

func withLoaded(ctx context.Context) context.Context {
	return context.WithValue(ctx, loadedKey{}, &loaded{})
}

func (s *sessionStore) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var data []byte
	err := s.db.QueryRowContext(ctx, `SELECT data FROM sessions WHERE token = $1 AND current_timestamp < expiry`, token).Scan(&data)
	if err == sql.ErrNoRows {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unreachable(err, "load session")
	}
	if l, ok := ctx.Value(loadedKey{}).(*loaded); ok {
		l.token = token
	}
	return data, true, nil
}

func (s *sessionStore) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	// The session outlives the request that changed it.
	ctx = context.WithoutCancel(ctx)
	statement := `
		INSERT INTO sessions (token, data, expiry) VALUES ($1, $2, $3)
		ON CONFLICT (token) DO UPDATE SET data = EXCLUDED.data, expiry = EXCLUDED.expiry`
	if l, ok := ctx.Value(loadedKey{}).(*loaded); ok && l.token == token {
		statement = `UPDATE sessions SET data = $2, expiry = $3 WHERE token = $1`
	}
	if _, err := s.db.ExecContext(ctx, statement, token, data, expiry); err != nil {
		return unreachable(err, "keep session")
	}
	return nil
}

func (s *sessionStore) DeleteCtx(ctx context.Context, token string) error {
	if _, err := s.db.ExecContext(context.WithoutCancel(ctx), `DELETE FROM sessions WHERE token = $1`, token); err != nil {
		return unreachable(err, "end session")
	}
	return nil
}

func (s *sessionStore) AllCtx(context.Context) (map[string][]byte, error) { return s.All() }

// unreachable says of an error of the sessions' table what a person can do about it.
// Three plain statements on one table fail when the database is away, starts or
// recovers; none of that is a fault of the portal.
func unreachable(err error, doing string) error {
	return fmt.Errorf("%s: %w", doing, fault.New(fault.Unavailable, "The database does not answer. Try again in a moment.").Because(err))
}
