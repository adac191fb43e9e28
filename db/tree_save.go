package db

import (
	"context"
	"fmt"
	"strconv"

	"github.com/lib/pq"

	"quartermaster/internal/portal"
)

// Horizon says which ordinals may still be committed late. Append takes the object's
// head before the ordinal, so a transaction has its number before its entries have theirs.
func (t *tx) Horizon(ctx context.Context) (h portal.Horizon, err error) {
	var row struct {
		Running string `db:"running"`
		Next    string `db:"next"`
		Newest  int64  `db:"newest"`
	}
	err = t.get(ctx, &row, "", `
		SELECT pg_snapshot_xmin(s.now)::text AS running, pg_snapshot_xmax(s.now)::text AS next, (SELECT coalesce(max(e.ordinal), 0) FROM ledger_entry e) AS newest
		FROM (SELECT pg_current_snapshot() AS now) s`)
	if err != nil {
		return h, fmt.Errorf("horizon of the record: %w", err)
	}
	h.Newest = row.Newest
	if h.Running, err = strconv.ParseUint(row.Running, 10, 64); err != nil {
		return h, err
	}
	h.Next, err = strconv.ParseUint(row.Next, 10, 64)
	return h, err
}

// UnsequencedAfter returns entries without a leaf whose ordinal is larger than after.
func (t *tx) UnsequencedAfter(ctx context.Context, after int64, limit int) ([]portal.UnsequencedEntry, error) {
	var rows []portal.UnsequencedEntry
	err := t.all(ctx, &rows, `
		SELECT e.ordinal, e.digest FROM ledger_entry e
		WHERE e.ordinal > $1 AND NOT EXISTS (SELECT FROM ledger_leaf l WHERE l.ordinal = e.ordinal)
		ORDER BY e.ordinal LIMIT $2`, after, limit)
	if err != nil {
		return nil, fmt.Errorf("entries without a leaf: %w", err)
	}
	return rows, nil
}

// InsertLeaves adds leaves from index first on. Two sequencers cannot add the same
// place or the same entry: the second gets a Conflict.
func (t *tx) InsertLeaves(ctx context.Context, first int64, leaves []portal.NewLeaf) error {
	ordinals, hashes := make([]int64, len(leaves)), make(pq.ByteaArray, len(leaves))
	for i, l := range leaves {
		ordinals[i], hashes[i] = l.Ordinal, l.Hashes
	}
	_, err := t.exec(ctx, `
		INSERT INTO ledger_leaf (index, ordinal, hashes)
		SELECT $1::bigint + x.n - 1, x.ordinal, x.hashes FROM unnest($2::bigint[], $3::bytea[]) WITH ORDINALITY AS x (ordinal, hashes, n)`,
		first, pq.Array(ordinals), hashes)
	if err != nil {
		return fmt.Errorf("insert leaves from %d: %w", first, err)
	}
	return nil
}

// InsertCheck keeps what a check of the record found.
func (t *tx) InsertCheck(ctx context.Context, c portal.RecordCheck) error {
	_, err := t.exec(ctx, `INSERT INTO ledger_check (at, kind, size, ok, problem, entry_id) VALUES ($1, $2, $3, $4, $5, $6)`, c.At, c.Kind, c.Size, c.OK, c.Problem, c.EntryID)
	if err != nil {
		return fmt.Errorf("insert check of the record: %w", err)
	}
	return nil
}

// Notify wakes whoever listens once the transaction commits.
func (t *tx) Notify(ctx context.Context, channel string) error {
	_, err := t.exec(ctx, `SELECT pg_notify($1, '')`, channel)
	return err
}
