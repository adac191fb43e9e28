package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

const noEntry = "There is no such entry in the record."

type entryRow struct {
	Ordinal       int64                       `db:"ordinal"`
	Digest        string                      `db:"digest"`
	Canonical     []byte                      `db:"canonical"`
	At            time.Time                   `db:"at"`
	ActorName     string                      `db:"actor_name"`
	RequestID     string                      `db:"request_id"`
	RequestNumber int64                       `db:"request_number"`
	ProjectID     string                      `db:"project_id"`
	ProjectName   string                      `db:"project_name"`
	PoolIDs       pq.StringArray              `db:"pool_ids"`
	ClusterID     string                      `db:"cluster_id"`
	Openings      document[map[string]string] `db:"openings"`
}

// toDomain shows what lies in the store. Bytes that are no entry any more stay
// visible: whoever reads or verifies them has to see that they are broken.
func (e entryRow) toDomain() portal.EntryRow {
	parsed, err := ledger.Parse(e.Canonical)
	if err != nil {
		parsed = ledger.Entry{}
	}
	row := portal.EntryRow{Ordinal: e.Ordinal, Digest: e.Digest, Canonical: e.Canonical, Entry: parsed, At: e.At.UTC(), ActorName: e.ActorName,
		RequestID: e.RequestID, RequestNumber: e.RequestNumber, ProjectID: e.ProjectID, ProjectName: e.ProjectName, PoolIDs: e.PoolIDs,
		ClusterID: e.ClusterID, Openings: map[string]string{}}
	if e.Openings.Doc != nil {
		row.Openings = *e.Openings.Doc
	}
	return row
}

// Names and openings are looked up for the rows of one page, h. An actor is a
// person's id or a system name such as job:change_apply.
const entryOf = `
	SELECT h.ordinal, h.digest, h.canonical, h.at, coalesce(p.name, '') AS actor_name, coalesce(h.request_id::text, '') AS request_id,
	       coalesce(q.number, 0) AS request_number, coalesce(h.project_id, '') AS project_id, coalesce(j.name, '') AS project_name,
	       h.pool_ids, coalesce(h.cluster_id, '') AS cluster_id,
	       (SELECT jsonb_object_agg(o.name, o.text) FROM ledger_opening o WHERE o.entry_id = h.id AND o.text IS NOT NULL) AS openings
	FROM hit h
	LEFT JOIN person p ON p.id = CASE WHEN h.actor ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN h.actor::uuid END
	LEFT JOIN request q ON q.id = h.request_id
	LEFT JOIN project j ON j.id = h.project_id `

const hitColumns = `SELECT e.ordinal, e.id, e.digest, e.canonical, e.at, e.actor, e.request_id, e.project_id, e.pool_ids, e.cluster_id FROM ledger_entry e `

// Entry by id.
func (r reader) Entry(ctx context.Context, id string) (portal.EntryRow, error) {
	if !isID(id) {
		return portal.EntryRow{}, fault.New(fault.NotFound, noEntry)
	}
	var row entryRow
	if err := r.get(ctx, &row, noEntry, `WITH hit AS (`+hitColumns+`WHERE e.id = $1)`+entryOf, id); err != nil {
		return portal.EntryRow{}, fmt.Errorf("load entry: %w", err)
	}
	return row.toDomain(), nil
}

// EntriesOfRequest oldest first.
func (r reader) EntriesOfRequest(ctx context.Context, requestID string) ([]portal.EntryRow, error) {
	if !isID(requestID) {
		return nil, fault.New(fault.NotFound, noRequest)
	}
	return r.entries(ctx, `WITH hit AS (`+hitColumns+`WHERE e.request_id = $1)`+entryOf+`ORDER BY h.ordinal`, requestID)
}

// EntriesOfObject are an object's entries of one type, oldest first.
func (r reader) EntriesOfObject(ctx context.Context, kind, id string, t ledger.Type) ([]portal.EntryRow, error) {
	return r.entries(ctx, `WITH hit AS (`+hitColumns+`WHERE e.object_kind = $1 AND e.object_id = $2 AND e.type = $3)`+entryOf+`ORDER BY h.ordinal`, kind, id, t)
}

// Neighbours are the entries before and after e in the chain of its object.
func (r reader) Neighbours(ctx context.Context, e portal.EntryRow) (before, after *portal.EntryRow, err error) {
	o := e.Entry.Object
	if e.Entry.Prev != "" {
		rows, err := r.entries(ctx, `WITH hit AS (`+hitColumns+`WHERE e.digest = $1)`+entryOf, e.Entry.Prev)
		if err != nil {
			return nil, nil, err
		}
		if len(rows) == 1 {
			before = &rows[0]
		}
	}
	rows, err := r.entries(ctx, `WITH hit AS (`+hitColumns+`WHERE e.object_kind = $1 AND e.object_id = $2 AND e.prev = $3)`+entryOf, o.Kind, o.ID, e.Digest)
	if err != nil {
		return nil, nil, err
	}
	if len(rows) == 1 {
		after = &rows[0]
	}
	return before, after, nil
}

func (r reader) entries(ctx context.Context, query string, args ...any) ([]portal.EntryRow, error) {
	var rows []entryRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load entries: %w", err)
	}
	out := make([]portal.EntryRow, 0, len(rows))
	for _, e := range rows {
		out = append(out, e.toDomain())
	}
	return out, nil
}

// Heads is what the store says is the last digest of each object.
func (r reader) Heads(ctx context.Context) (map[string]string, error) {
	var rows []struct {
		Kind   string `db:"object_kind"`
		ID     string `db:"object_id"`
		Digest string `db:"digest"`
	}
	if err := r.all(ctx, &rows, `SELECT h.object_kind, h.object_id, h.digest FROM ledger_head h`); err != nil {
		return nil, fmt.Errorf("load heads: %w", err)
	}
	out := make(map[string]string, len(rows))
	for _, h := range rows {
		out[h.Kind+"\x00"+h.ID] = h.Digest
	}
	return out, nil
}
