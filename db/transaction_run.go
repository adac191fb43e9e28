package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"

	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
)

// attempts of one transaction that loses races or its connection.
const attempts = 5

// tx is one transaction. Every write of the store is a method of it: lib/pq may
// run a statement outside a transaction twice after a lost connection (lib/pq #939).
type tx struct {
	reader
	tx    *sqlx.Tx
	store *Store
}

var _ portal.Tx = (*tx)(nil)

// InTx runs fn in one transaction and commits when it returns nil.
func (s *Store) InTx(ctx context.Context, fn func(ctx context.Context, tx portal.Tx) error) error {
	return s.inTx(ctx, func(ctx context.Context, t *tx) error { return fn(ctx, t) })
}

func (s *Store) inTx(ctx context.Context, fn func(ctx context.Context, t *tx) error) error {
	for n := 1; ; n++ {
		err := s.once(ctx, fn)
		if err == nil || ctx.Err() != nil || n == attempts || !(passing(err) || errors.Is(err, errNothingDone)) {
			return explain(ctx, err)
		}
		s.log.WarnContext(ctx, "transaction tried again", "attempt", n, "error", err)
		wait := time.NewTimer(time.Duration(rand.Int64N(int64(n) * int64(20*time.Millisecond))))
		select {
		case <-ctx.Done():
		case <-wait.C:
		}
		wait.Stop()
	}
}

// errNothingDone marks a transaction that lost its connection and surely was not committed.
var errNothingDone = errors.New("the connection was lost and nothing was committed")

func (s *Store) once(ctx context.Context, fn func(ctx context.Context, t *tx) error) error {
	raw, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return lostBefore(err)
	}
	defer raw.Rollback() // after a commit it does nothing
	t := &tx{reader: reader{raw}, tx: raw, store: s}
	if err := fn(ctx, t); err != nil {
		return lostBefore(err)
	}
	// The name by which the transaction can be asked for; none when it wrote nothing.
	var xid sql.NullString
	if err := raw.GetContext(ctx, &xid, `SELECT pg_current_xact_id_if_assigned()::text`); err != nil {
		return lostBefore(err)
	}
	err = raw.Commit()
	if err == nil || !xid.Valid && ctx.Err() == nil && connectionLost(err) {
		return nil
	}
	if !xid.Valid {
		return err
	}
	return s.resolve(ctx, xid.String, err)
}

// lostBefore marks an error that came before COMMIT was sent.
func lostBefore(err error) error {
	if connectionLost(err) {
		return errors.Join(errNothingDone, err)
	}
	return err
}

// resolve asks the database what became of transaction xid, whose COMMIT was
// answered with cause: an error there does not say that nothing was committed
// (lib/pq #925). It goes on when ctx has ended, since the answer is for the record.
func (s *Store) resolve(ctx context.Context, xid string, cause error) error {
	ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.asks)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var status sql.NullString
		err := s.db.GetContext(ask, &status, `SELECT pg_xact_status($1::xid8)`, xid)
		switch {
		case err == nil && status.String == "committed":
			s.log.WarnContext(ctx, "commit answered with an error but took place", "xid", xid, "error", cause)
			return nil
		case err == nil && status.String == "aborted":
			if connectionLost(cause) {
				return errors.Join(errNothingDone, cause)
			}
			return cause
		case err == nil && !status.Valid, err != nil && !connectionLost(err):
			return unknownOutcome(xid, errors.Join(cause, err))
		}
		select {
		case <-ask.Done():
			return unknownOutcome(xid, errors.Join(cause, err))
		case <-tick.C:
		}
	}
}

func unknownOutcome(xid string, cause error) error {
	return fault.New(fault.Unavailable, "It is unknown whether this was saved: the database went away at that very moment. Load the page again to check before you repeat it.").
		Because(fmt.Errorf("outcome of transaction %s: %w", xid, cause))
}

// Snapshot gives fn reads that all show the database at one moment.
func (s *Store) Snapshot(ctx context.Context, fn func(ctx context.Context, r portal.Reader) error) error {
	return s.snapshot(ctx, func(r reader) error { return fn(ctx, r) })
}

func (s *Store) snapshot(ctx context.Context, fn func(r reader) error) error {
	raw, err := s.db.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return explain(ctx, err)
	}
	defer raw.Rollback()
	return fn(reader{raw})
}

// exec runs one statement and returns how many rows it touched.
func (t *tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, explain(ctx, err)
	}
	n, err := res.RowsAffected()
	return n, explain(ctx, err)
}

// one runs a statement that has to touch one row; none is a NotFound fault.
func (t *tx) one(ctx context.Context, missing, query string, args ...any) error {
	n, err := t.exec(ctx, query, args...)
	if err == nil && n == 0 {
		err = fault.New(fault.NotFound, missing)
	}
	return err
}
