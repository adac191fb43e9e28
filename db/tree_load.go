package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

// TreeSize is how many entries have a leaf. Leaves are numbered without gaps; a
// verification tells when that is no longer so.
func (r reader) TreeSize(ctx context.Context) (size int64, err error) {
	if err := r.get(ctx, &size, "", `SELECT coalesce(max(l.index) + 1, 0) FROM ledger_leaf l`); err != nil {
		return 0, fmt.Errorf("size of the tree: %w", err)
	}
	return size, nil
}

// TreeNodes returns nodes by the index under which tlog counts them.
func (r reader) TreeNodes(ctx context.Context, stored []int64) ([]ledger.Hash, error) {
	leaves, places := make([]int64, len(stored)), make([]int, len(stored))
	for i, s := range stored {
		leaves[i], places[i] = ledger.NodePlace(s)
	}
	var rows []struct {
		Index  int64  `db:"index"`
		Hashes []byte `db:"hashes"`
	}
	if err := r.all(ctx, &rows, `SELECT l.index, l.hashes FROM ledger_leaf l WHERE l.index = ANY($1)`, pq.Array(leaves)); err != nil {
		return nil, fmt.Errorf("nodes of the tree: %w", err)
	}
	byLeaf := make(map[int64][]byte, len(rows))
	for _, x := range rows {
		byLeaf[x.Index] = x.Hashes
	}
	out := make([]ledger.Hash, len(stored))
	for i := range stored {
		raw, at := byLeaf[leaves[i]], places[i]*ledger.HashBytes
		if len(raw) < at+ledger.HashBytes {
			return nil, fmt.Errorf("nodes of the tree: %w at leaf %d", portal.ErrNodeGone, leaves[i])
		}
		copy(out[i][:], raw[at:])
	}
	return out, nil
}

type leafRow struct {
	Index      int64      `db:"index"`
	Hashes     []byte     `db:"hashes"`
	Ordinal    int64      `db:"ordinal"`
	Digest     *string    `db:"digest"`
	Canonical  []byte     `db:"canonical"`
	ID         *string    `db:"id"`
	Type       *string    `db:"type"`
	Outcome    *string    `db:"outcome"`
	At         *time.Time `db:"at"`
	Actor      *string    `db:"actor"`
	ObjectKind *string    `db:"object_kind"`
	ObjectID   *string    `db:"object_id"`
	Prev       *string    `db:"prev"`
}

func (l leafRow) toDomain() ledger.Leaf {
	out := ledger.Leaf{Index: l.Index, Hashes: l.Hashes, Stored: ledger.Stored{Ordinal: l.Ordinal}}
	if l.Digest != nil {
		out.Stored = storedRow{l.Ordinal, *l.Digest, l.Canonical, *l.ID, *l.Type, *l.Outcome, *l.At, *l.Actor, *l.ObjectKind, *l.ObjectID, *l.Prev}.toDomain()
	}
	return out
}

// leafBatch is how many leaves a stream holds in memory.
const leafBatch = 5000

// StreamLeaves yields the leaves of [from, to) in order, each with its entry.
func (r reader) StreamLeaves(ctx context.Context, from, to int64) iter.Seq2[ledger.Leaf, error] {
	return func(yield func(ledger.Leaf, error) bool) {
		for ; from < to; from += leafBatch {
			var rows []leafRow
			err := r.all(ctx, &rows, `
				SELECT l.index, l.hashes, l.ordinal, e.digest, e.canonical, e.id, e.type, e.outcome, e.at, e.actor, e.object_kind, e.object_id, e.prev
				FROM ledger_leaf l LEFT JOIN ledger_entry e ON e.ordinal = l.ordinal
				WHERE l.index >= $1 AND l.index < $2 ORDER BY l.index`, from, min(from+leafBatch, to))
			if err != nil {
				yield(ledger.Leaf{}, fmt.Errorf("read the tree: %w", err))
				return
			}
			for _, row := range rows {
				if !yield(row.toDomain(), nil) {
					return
				}
			}
		}
	}
}

// StreamUnsequenced yields the entries that have no leaf yet, oldest first.
func (r reader) StreamUnsequenced(ctx context.Context) iter.Seq2[ledger.Stored, error] {
	return func(yield func(ledger.Stored, error) bool) {
		for last := int64(0); ; {
			var rows []storedRow
			err := r.all(ctx, &rows, `
				SELECT e.ordinal, e.digest, e.canonical, e.id, e.type, e.outcome, e.at, e.actor, e.object_kind, e.object_id, e.prev
				FROM ledger_entry e WHERE e.ordinal > $1 AND NOT EXISTS (SELECT FROM ledger_leaf l WHERE l.ordinal = e.ordinal)
				ORDER BY e.ordinal LIMIT $2`, last, batch)
			if err != nil {
				yield(ledger.Stored{}, fmt.Errorf("read what has no leaf: %w", err))
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

type leafOpeningRow struct {
	Entry string `db:"entry_id"`
	Name  string `db:"name"`
	Salt  string `db:"salt"`
	Text  string `db:"text"`
}

// StreamLeafOpenings yields the texts of the entries of the first size leaves.
func (r reader) StreamLeafOpenings(ctx context.Context, size int64) iter.Seq2[ledger.Opening, error] {
	return func(yield func(ledger.Opening, error) bool) {
		for from := int64(0); from < size; from += batch {
			var rows []leafOpeningRow
			err := r.all(ctx, &rows, `
				SELECT o.entry_id, o.name, encode(o.salt, 'hex') AS salt, o.text
				FROM ledger_leaf l JOIN ledger_entry e ON e.ordinal = l.ordinal JOIN ledger_opening o ON o.entry_id = e.id
				WHERE l.index >= $1 AND l.index < $2 AND o.text IS NOT NULL ORDER BY l.index, o.name`, from, min(from+batch, size))
			if err != nil {
				yield(ledger.Opening{}, fmt.Errorf("read openings: %w", err))
				return
			}
			for _, o := range rows {
				if !yield(ledger.Opening(o), nil) {
					return
				}
			}
		}
	}
}

// LeafIndexes returns the place of each entry that has one.
func (r reader) LeafIndexes(ctx context.Context, entryIDs []string) (map[string]int64, error) {
	var rows []struct {
		ID    string `db:"id"`
		Index int64  `db:"index"`
	}
	err := r.all(ctx, &rows, `SELECT e.id, l.index FROM ledger_entry e JOIN ledger_leaf l ON l.ordinal = e.ordinal WHERE e.id = ANY($1::uuid[])`, pq.Array(notNil(entryIDs)))
	if err != nil {
		return nil, fmt.Errorf("places in the tree: %w", err)
	}
	out := make(map[string]int64, len(rows))
	for _, x := range rows {
		out[x.ID] = x.Index
	}
	return out, nil
}

type checkpointRow struct {
	Size int64     `db:"size"`
	Root []byte    `db:"root"`
	Note string    `db:"note"`
	At   time.Time `db:"at"`
}

func (c checkpointRow) toDomain() portal.CheckpointRow {
	out := portal.CheckpointRow{Size: c.Size, Note: c.Note, At: c.At.UTC()}
	copy(out.Root[:], c.Root)
	return out
}

// LastCheckpoint is the newest.
func (r reader) LastCheckpoint(ctx context.Context) (portal.CheckpointRow, bool, error) {
	var row checkpointRow
	err := r.q.GetContext(ctx, &row, `SELECT c.size, c.root, c.note, c.at FROM ledger_checkpoint c ORDER BY c.size DESC LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) {
		return portal.CheckpointRow{}, false, nil
	}
	if err != nil {
		return portal.CheckpointRow{}, false, fmt.Errorf("last checkpoint: %w", explain(ctx, err))
	}
	return row.toDomain(), true, nil
}

// Checkpoints by size, those larger than after.
func (r reader) Checkpoints(ctx context.Context, after int64, limit int) ([]portal.CheckpointRow, error) {
	var rows []checkpointRow
	if err := r.all(ctx, &rows, `SELECT c.size, c.root, c.note, c.at FROM ledger_checkpoint c WHERE c.size > $1 ORDER BY c.size LIMIT $2`, after, limit); err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	out := make([]portal.CheckpointRow, 0, len(rows))
	for _, c := range rows {
		out = append(out, c.toDomain())
	}
	return out, nil
}

// RecordState is the newest check of the record; OK when there was none.
func (r reader) RecordState(ctx context.Context) (portal.RecordCheck, error) {
	var row struct {
		At      time.Time `db:"at"`
		Kind    string    `db:"kind"`
		Size    int64     `db:"size"`
		OK      bool      `db:"ok"`
		Problem string    `db:"problem"`
		EntryID string    `db:"entry_id"`
	}
	err := r.q.GetContext(ctx, &row, `SELECT c.at, c.kind, c.size, c.ok, c.problem, c.entry_id FROM ledger_check c ORDER BY c.id DESC LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) {
		return portal.RecordCheck{OK: true}, nil
	}
	if err != nil {
		return portal.RecordCheck{}, fmt.Errorf("state of the record: %w", explain(ctx, err))
	}
	return portal.RecordCheck{At: row.At.UTC(), Kind: row.Kind, Size: row.Size, OK: row.OK, Problem: row.Problem, EntryID: row.EntryID}, nil
}

// LastWholeCheck is when the whole record was checked last; zero = never.
func (r reader) LastWholeCheck(ctx context.Context) (time.Time, error) {
	var at sql.NullTime
	if err := r.get(ctx, &at, "", `SELECT max(c.at) FROM ledger_check c WHERE c.kind = 'whole'`); err != nil {
		return time.Time{}, fmt.Errorf("last check of the record: %w", err)
	}
	return at.Time.UTC(), nil
}
