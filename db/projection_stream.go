package db

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

const noUUID = "00000000-0000-0000-0000-000000000000"

// byID pages through query, whose rows come in the order of their keys, batch by batch.
// query takes the last key and a limit.
func byID[Row any, T any](ctx context.Context, r reader, what, query string, key func(Row) string, toDomain func(Row) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for last := noUUID; ; {
			var rows []Row
			if err := r.all(ctx, &rows, query, last, batch); err != nil {
				var none T
				yield(none, fmt.Errorf("read %s: %w", what, err))
				return
			}
			for _, row := range rows {
				if !yield(toDomain(row), nil) {
					return
				}
			}
			if len(rows) < batch {
				return
			}
			last = key(rows[len(rows)-1])
		}
	}
}

type projectedDecisionRow struct {
	ID        string                       `db:"id"`
	RequestID string                       `db:"request_id"`
	Revision  int                          `db:"revision"`
	Digest    string                       `db:"digest"`
	StageKey  string                       `db:"stage_key"`
	PersonID  string                       `db:"person_id"`
	Identity  string                       `db:"identity"`
	Outcome   approval.Outcome             `db:"outcome"`
	Granted   document[[]approval.Granted] `db:"granted"`
	Factors   pq.StringArray               `db:"factors"`
	EntryID   string                       `db:"entry_id"`
	At        time.Time                    `db:"at"`
	Entry     []byte                       `db:"entry"`
}

// StreamDecisions yields every decision with its entry.
func (r reader) StreamDecisions(ctx context.Context) iter.Seq2[portal.ProjectedDecision, error] {
	return byID(ctx, r, "decisions", `
		SELECT d.id, d.request_id, d.revision, d.digest, d.stage_key, d.person_id, d.identity, d.outcome, d.granted, d.factors, d.entry_id, d.at, e.canonical AS entry
		FROM decision d LEFT JOIN ledger_entry e ON e.id = d.entry_id WHERE d.id > $1::uuid ORDER BY d.id LIMIT $2`,
		func(d projectedDecisionRow) string { return d.ID },
		func(d projectedDecisionRow) portal.ProjectedDecision {
			return portal.ProjectedDecision{EntryID: d.EntryID, Entry: d.Entry, Decision: approval.Decision{ID: d.ID, RequestID: d.RequestID, Revision: d.Revision, Digest: d.Digest,
				StageKey: d.StageKey, PersonID: d.PersonID, Identity: d.Identity, Outcome: d.Outcome, Granted: *d.Granted.Doc, Factors: d.Factors, At: d.At.UTC()}}
		})
}

type projectedGrantRow struct {
	ID          string          `db:"id"`
	RequestID   string          `db:"request_id"`
	Digest      string          `db:"digest"`
	ProjectID   string          `db:"project_id"`
	Environment string          `db:"environment"`
	PoolID      string          `db:"pool_id"`
	Kind        fleet.GrantKind `db:"kind"`
	Asked       string          `db:"asked"`
	Amount      string          `db:"amount"`
	Start       *time.Time      `db:"starts_at"`
	End         *time.Time      `db:"ends_at"`
	MadeAt      time.Time       `db:"made_at"`
	EndCause    string          `db:"cause"`
	EndedAt     *time.Time      `db:"ended_at"`
	Made        []byte          `db:"made"`
	Ended       pq.ByteaArray   `db:"ended"`
}

func (g projectedGrantRow) toDomain() portal.ProjectedGrant {
	out := portal.ProjectedGrant{Made: g.Made, Ended: g.Ended, GrantRow: portal.GrantRow{ProjectID: g.ProjectID, Environment: g.Environment, Digest: g.Digest, MadeAt: g.MadeAt.UTC(), EndCause: g.EndCause,
		Grant: fleet.Grant{ID: g.ID, RequestID: g.RequestID, PoolID: g.PoolID, Kind: g.Kind, Start: utc(g.Start), End: utc(g.End), Revoked: utc(g.EndedAt)}}}
	// An amount that is no quantity stays zero, and is told as differing from its entry.
	out.Asked, _ = fleet.ParseQuantity(g.Asked)
	out.Amount, _ = fleet.ParseQuantity(g.Amount)
	return out
}

// StreamGrants yields every grant with its end and its entries.
func (r reader) StreamGrants(ctx context.Context) iter.Seq2[portal.ProjectedGrant, error] {
	return byID(ctx, r, "grants", `
		SELECT g.id, g.request_id, g.digest, g.project_id, g.environment, g.pool_id, g.kind, g.asked, g.amount, g.starts_at, g.ends_at, g.made_at,
		       coalesce(x.cause, '') AS cause, x.at AS ended_at,
		       (SELECT e.canonical FROM ledger_entry e WHERE e.object_kind = 'grant' AND e.object_id = g.id::text AND e.type = 'grant.made' AND e.outcome = 'done' ORDER BY e.ordinal LIMIT 1) AS made,
		       (SELECT coalesce(array_agg(e.canonical ORDER BY e.ordinal), '{}') FROM ledger_entry e WHERE e.object_kind = 'grant' AND e.object_id = g.id::text AND e.type = 'grant.ended') AS ended
		FROM grant_line g LEFT JOIN grant_end x ON x.grant_id = g.id WHERE g.id > $1::uuid ORDER BY g.id LIMIT $2`,
		func(g projectedGrantRow) string { return g.ID }, projectedGrantRow.toDomain)
}

type projectedChangeRow struct {
	changeRow
	Planned []byte `db:"planned"`
	Last    []byte `db:"last"`
}

// StreamChanges yields every change with the entries that tell of it.
func (r reader) StreamChanges(ctx context.Context) iter.Seq2[portal.ProjectedChange, error] {
	return byID(ctx, r, "changes", `
		SELECT `+changeColumns+`,
		       (SELECT e.canonical FROM ledger_entry e WHERE e.object_kind = 'change' AND e.object_id = c.id::text AND e.type = 'change.planned' ORDER BY e.ordinal LIMIT 1) AS planned,
		       (SELECT e.canonical FROM ledger_entry e WHERE e.object_kind = 'change' AND e.object_id = c.id::text AND e.outcome <> 'refused' ORDER BY e.ordinal DESC LIMIT 1) AS last
		FROM change c WHERE c.id > $1::uuid ORDER BY c.id LIMIT $2`,
		func(c projectedChangeRow) string { return c.ID },
		func(c projectedChangeRow) portal.ProjectedChange {
			return portal.ProjectedChange{Change: c.toDomain(), Planned: c.Planned, Last: c.Last}
		})
}

type projectedOpeningRow struct {
	EntryID string `db:"entry_id"`
	Name    string `db:"name"`
	Salt    []byte `db:"salt"`
	Text    string `db:"text"`
	Entry   []byte `db:"canonical"`
}

// StreamOpenings yields every text that was not erased with the entry that binds it.
func (r reader) StreamOpenings(ctx context.Context) iter.Seq2[portal.ProjectedOpening, error] {
	return func(yield func(portal.ProjectedOpening, error) bool) {
		for entry, name := noUUID, ""; ; {
			var rows []projectedOpeningRow
			err := r.all(ctx, &rows, `
				SELECT o.entry_id, o.name, o.salt, o.text, e.canonical FROM ledger_opening o LEFT JOIN ledger_entry e ON e.id = o.entry_id
				WHERE o.text IS NOT NULL AND (o.entry_id, o.name) > ($1::uuid, $2) ORDER BY o.entry_id, o.name LIMIT $3`, entry, name, batch)
			if err != nil {
				yield(portal.ProjectedOpening{}, fmt.Errorf("read openings: %w", err))
				return
			}
			for _, o := range rows {
				if !yield(portal.ProjectedOpening{EntryID: o.EntryID, Name: o.Name, Text: o.Text, Salt: o.Salt, Entry: o.Entry}, nil) {
					return
				}
			}
			if len(rows) < batch {
				return
			}
			entry, name = rows[len(rows)-1].EntryID, rows[len(rows)-1].Name
		}
	}
}

// Orphans are entries whose row is gone.
func (r reader) Orphans(ctx context.Context, limit int) ([]portal.Orphan, error) {
	var rows []struct {
		Ordinal  int64  `db:"ordinal"`
		ID       string `db:"id"`
		Table    string `db:"table"`
		ObjectID string `db:"object_id"`
	}
	err := r.all(ctx, &rows, `
		SELECT e.ordinal, e.id, 'decision' AS table, 'of entry ' || e.id::text AS object_id FROM ledger_entry e
		WHERE e.outcome = 'done' AND e.type = 'request.decided' AND NOT EXISTS (SELECT FROM decision d WHERE d.entry_id = e.id)
		UNION ALL
		SELECT e.ordinal, e.id, 'grant_line', e.object_id FROM ledger_entry e
		WHERE e.outcome = 'done' AND e.type = 'grant.made' AND NOT EXISTS (SELECT FROM grant_line g WHERE g.id::text = e.object_id)
		UNION ALL
		SELECT e.ordinal, e.id, 'grant_end', e.object_id FROM ledger_entry e
		WHERE e.outcome = 'done' AND e.type = 'grant.ended' AND NOT EXISTS (SELECT FROM grant_end g WHERE g.grant_id::text = e.object_id)
		UNION ALL
		SELECT e.ordinal, e.id, 'change', e.object_id FROM ledger_entry e
		WHERE e.outcome = 'done' AND e.type = 'change.planned' AND NOT EXISTS (SELECT FROM change c WHERE c.id::text = e.object_id)
		ORDER BY ordinal LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("entries without a row: %w", err)
	}
	var out []portal.Orphan
	for _, o := range rows {
		out = append(out, portal.Orphan{Ordinal: o.Ordinal, EntryID: o.ID, Table: o.Table, ObjectID: o.ObjectID})
	}
	return out, nil
}
