package db

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"golang.org/x/text/unicode/norm"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

// saltBytes make a commitment to a short text (a name, "no") impossible to guess.
const saltBytes = 32

type openingRecord struct {
	Name string `json:"name"`
	Salt string `json:"salt"` // hex
	Text string `json:"text"`
}

// Append writes an entry into the record, in the transaction of what it records.
// Two transactions on one object wait for each other here, so that its chain has
// no forks.
func (t *tx) Append(ctx context.Context, e ledger.Entry, refs portal.EntryRefs, openings map[string]string) (portal.EntryRow, error) {
	row, err := t.append(ctx, e, refs, openings)
	if err != nil {
		return portal.EntryRow{}, fmt.Errorf("append %s to the record: %w", e.Type, err)
	}
	return row, nil
}

func (t *tx) append(ctx context.Context, e ledger.Entry, refs portal.EntryRefs, openings map[string]string) (row portal.EntryRow, err error) {
	at, err := time.Parse(time.RFC3339Nano, e.At)
	if err != nil {
		return row, fmt.Errorf("its time %q: %w", e.At, err)
	}
	e.V, e.At = ledger.Version, ledger.Time(at)
	if e.ID == "" {
		e.ID = uuid.NewString()
	}
	if e.Log, err = t.LogName(ctx); err != nil {
		return row, err
	}
	e, records := bind(e, openings)
	if e.Prev, err = t.lockHead(ctx, e.Object); err != nil {
		return row, err
	}
	canonical, err := e.Canonical()
	if err != nil {
		return row, err
	}
	// What is kept is what the bytes say: a text that only normalising changes must not differ.
	if e, err = ledger.Parse(canonical); err != nil {
		return row, fault.New(fault.Invalid, "The text holds characters that cannot be recorded. Paste it as plain text.").Because(err)
	}
	row = portal.EntryRow{Digest: ledger.Digest(canonical), Canonical: canonical, Entry: e, At: at.UTC().Truncate(time.Microsecond),
		RequestID: refs.RequestID, ProjectID: refs.ProjectID, ClusterID: refs.ClusterID, PoolIDs: refs.PoolIDs, Openings: maps.Clone(openings)}
	row.Ordinal, err = t.insertEntry(ctx, row, records)
	return row, err
}

// bind puts salted commitments to openings into e, which shares no memory with the caller's.
func bind(e ledger.Entry, openings map[string]string) (ledger.Entry, []openingRecord) {
	e.Facts = maps.Clone(e.Facts)
	records := make([]openingRecord, 0, len(openings))
	for _, name := range slices.Sorted(maps.Keys(openings)) {
		salt := make([]byte, saltBytes)
		rand.Read(salt) // never fails: crypto/rand ends the program instead
		text := norm.NFC.String(openings[name])
		commitment := ledger.Commit(salt, text)
		switch name {
		case portal.OpeningReason:
			e.Reason = commitment
		case portal.OpeningActor:
			e.Actor.Commitment = commitment
		default:
			if e.Facts == nil {
				e.Facts = map[string]string{}
			}
			e.Facts[name] = commitment
		}
		records = append(records, openingRecord{name, hex.EncodeToString(salt), text})
	}
	return e, records
}

// lockHead returns the digest of the object's last entry and keeps others from
// adding one until this transaction ends.
func (t *tx) lockHead(ctx context.Context, o ledger.Object) (string, error) {
	var digest string
	err := t.tx.GetContext(ctx, &digest, `SELECT h.digest FROM ledger_head h WHERE h.object_kind = $1 AND h.object_id = $2 FOR UPDATE`, o.Kind, o.ID)
	if errors.Is(err, sql.ErrNoRows) {
		// The first entry of an object. Somebody may be adding it too: then this waits
		// for them and returns their digest.
		err = t.tx.GetContext(ctx, &digest, `
			INSERT INTO ledger_head AS h (object_kind, object_id, digest) VALUES ($1, $2, '')
			ON CONFLICT (object_kind, object_id) DO UPDATE SET digest = h.digest RETURNING h.digest`, o.Kind, o.ID)
	}
	return digest, explain(ctx, err)
}

// insertEntry writes the entry, its openings and the object's new head in one statement.
func (t *tx) insertEntry(ctx context.Context, row portal.EntryRow, records []openingRecord) (ordinal int64, err error) {
	e := row.Entry
	err = t.get(ctx, &ordinal, "", `
		WITH opened AS (
			INSERT INTO ledger_opening (entry_id, name, salt, text)
			SELECT $1::uuid, x.name, decode(x.salt, 'hex'), x.text FROM jsonb_to_recordset($15) AS x (name text, salt text, text text)
		), moved AS (
			UPDATE ledger_head SET digest = $2 WHERE object_kind = $8 AND object_id = $9
		)
		INSERT INTO ledger_entry (id, digest, canonical, type, outcome, at, actor, object_kind, object_id, prev, request_id, project_id, pool_ids, cluster_id)
		VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING ordinal`,
		e.ID, row.Digest, row.Canonical, e.Type, e.Outcome, row.At, e.Actor.ID, e.Object.Kind, e.Object.ID, e.Prev,
		orNull(row.RequestID), orNull(row.ProjectID), pq.Array(notNil(row.PoolIDs)), orNull(row.ClusterID), jsonOf(records))
	return ordinal, err
}
