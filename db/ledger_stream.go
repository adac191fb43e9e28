package db

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

// batch is how many entries a stream holds in memory. A page is read to its end
// before the next, so that other statements can run on the connection meanwhile.
const batch = 1000

// StreamEntries yields every match of q, newest first; q.Limit does not matter.
func (r reader) StreamEntries(ctx context.Context, q portal.EntryQuery) iter.Seq2[portal.EntryRow, error] {
	return func(yield func(portal.EntryRow, error) bool) {
		q.Limit, q.After = batch, 0
		for {
			rows, err := r.entryPage(ctx, q)
			if err != nil {
				yield(portal.EntryRow{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) < batch {
				return
			}
			q.Before = rows[len(rows)-1].Ordinal
		}
	}
}

type storedRow struct {
	Ordinal    int64     `db:"ordinal"`
	Digest     string    `db:"digest"`
	Canonical  []byte    `db:"canonical"`
	ID         string    `db:"id"`
	Type       string    `db:"type"`
	Outcome    string    `db:"outcome"`
	At         time.Time `db:"at"`
	Actor      string    `db:"actor"`
	ObjectKind string    `db:"object_kind"`
	ObjectID   string    `db:"object_id"`
	Prev       string    `db:"prev"`
}

func (s storedRow) toDomain() ledger.Stored {
	return ledger.Stored{Ordinal: s.Ordinal, Digest: s.Digest, Canonical: s.Canonical, Columns: ledger.Columns{ID: s.ID, Type: s.Type, Outcome: s.Outcome,
		At: ledger.Time(s.At), Actor: s.Actor, ObjectKind: s.ObjectKind, ObjectID: s.ObjectID, Prev: s.Prev}}
}

const selectStored = `
	SELECT e.ordinal, e.digest, e.canonical, e.id, e.type, e.outcome, e.at, e.actor, e.object_kind, e.object_id, e.prev
	FROM ledger_entry e WHERE e.ordinal > $1 ORDER BY e.ordinal LIMIT $2`

// StreamStored yields the whole record as it lies in the store, oldest first.
func (r reader) StreamStored(ctx context.Context) iter.Seq2[ledger.Stored, error] {
	return func(yield func(ledger.Stored, error) bool) {
		var last int64
		for {
			var rows []storedRow
			if err := r.all(ctx, &rows, selectStored, last, batch); err != nil {
				yield(ledger.Stored{}, fmt.Errorf("read the record: %w", err))
				return
			}
			for _, row := range rows {
				if !yield(row.toDomain(), nil) {
					return
				}
			}
			if len(rows) < batch {
				return
			}
			last = rows[len(rows)-1].Ordinal
		}
	}
}

// StreamEntries of the store shows one moment: an entry may get its ordinal early
// and be committed late, and pages read one after the other would miss it.
func (s *Store) StreamEntries(ctx context.Context, q portal.EntryQuery) iter.Seq2[portal.EntryRow, error] {
	return atOneMoment(ctx, s, func(r reader) iter.Seq2[portal.EntryRow, error] { return r.StreamEntries(ctx, q) })
}

// StreamStored of the store shows one moment. To compare with Heads, read both in
// one Snapshot.
func (s *Store) StreamStored(ctx context.Context) iter.Seq2[ledger.Stored, error] {
	return atOneMoment(ctx, s, func(r reader) iter.Seq2[ledger.Stored, error] { return r.StreamStored(ctx) })
}

func atOneMoment[T any](ctx context.Context, s *Store, read func(reader) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := s.snapshot(ctx, func(r reader) error {
			for v, err := range read(r) {
				if !yield(v, err) {
					return errStopped
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			var none T
			yield(none, err)
		}
	}
}

// errStopped ends a snapshot whose reader has seen enough.
var errStopped = errors.New("stopped")
