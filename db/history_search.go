package db

import (
	"context"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"quartermaster/internal/portal"
)

// Entries that match q, newest first.
func (r reader) Entries(ctx context.Context, q portal.EntryQuery) ([]portal.EntryRow, error) {
	q.Limit = pageSize(q.Limit)
	return r.entryPage(ctx, q)
}

// entryPage is one page of q.Limit entries, newest first.
func (r reader) entryPage(ctx context.Context, q portal.EntryQuery) ([]portal.EntryRow, error) {
	f, from, none, err := r.entryFilter(ctx, q)
	if err != nil || none {
		return nil, err
	}
	if !from.few() {
		from.or(&f)
	}
	order, shown, before, after := "e.ordinal DESC", "h.ordinal DESC", "e.ordinal < ?", "e.ordinal > ?"
	if !q.From.IsZero() || !q.To.IsZero() {
		// A period is read in the order of time, from its own end: in the order of
		// ordinals PostgreSQL would walk back to an old one through everything since.
		order, shown = "e.at DESC, e.ordinal DESC", "h.at DESC, h.ordinal DESC"
		before = "(e.at, e.ordinal) < ((SELECT b.at FROM ledger_entry b WHERE b.ordinal = ?), ?)"
		after = "(e.at, e.ordinal) > ((SELECT b.at FROM ledger_entry b WHERE b.ordinal = ?), ?)"
	}
	keyed := func(condition string, ordinal int64) {
		args := []any{ordinal}
		if strings.Count(condition, "?") == 2 {
			args = append(args, ordinal)
		}
		f.and(condition, args...)
	}
	if q.Before > 0 {
		keyed(before, q.Before)
	}
	if q.After > 0 {
		// The page that borders on After from above: cut from below, shown newest first.
		keyed(after, q.After)
		order = strings.ReplaceAll(order, " DESC", "")
	}
	if !from.few() {
		f.args = append(f.args, q.Limit)
		query := `WITH hit AS (` + hitColumns + `WHERE true` + string(f.conditions) + ` ORDER BY ` + order + ` LIMIT ?)` + entryOf + `ORDER BY ` + shown
		return r.entries(ctx, sqlx.Rebind(sqlx.DOLLAR, query), f.args...)
	}
	top, args := from.top(f, order, q.Limit)
	query := `WITH hit AS (` + hitColumns + `JOIN (` + top + `) top ON top.ordinal = e.ordinal)` + entryOf + `ORDER BY h.ordinal DESC`
	return r.entries(ctx, sqlx.Rebind(sqlx.DOLLAR, query), args...)
}

// CountEntries counts what q matches, up to limit; Before and After do not matter.
func (r reader) CountEntries(ctx context.Context, q portal.EntryQuery, limit int) (int, error) {
	f, from, none, err := r.entryFilter(ctx, q)
	if err != nil || none {
		return 0, err
	}
	query, args := `SELECT FROM ledger_entry e WHERE true`+string(f.conditions), f.args
	if from.count() > 0 {
		query, args = from.some(f, limit)
	}
	var n int
	query = `SELECT count(*) FROM (` + query + ` LIMIT ?) matching`
	if err := r.get(ctx, &n, "", sqlx.Rebind(sqlx.DOLLAR, query), append(args, limit)...); err != nil {
		return 0, fmt.Errorf("count entries: %w", err)
	}
	return n, nil
}

// entryFilter turns q into conditions, and into ids of which one has to match
// where q names people, projects or requests by a search or by teams. none =
// nothing can match.
func (r reader) entryFilter(ctx context.Context, q portal.EntryQuery) (f filter, from origin, none bool, err error) {
	if q.PersonID != "" {
		f.and("e.actor = ?", q.PersonID)
	}
	if q.ProjectID != "" {
		f.and("e.project_id = ?", q.ProjectID)
	}
	if q.PoolID != "" {
		f.and("e.pool_ids @> ARRAY[?] AND e.pool_ids <> '{}'", q.PoolID)
	}
	if q.ClusterID != "" {
		f.and("e.cluster_id = ?", q.ClusterID)
	}
	if q.RequestID != "" {
		if !isID(q.RequestID) {
			return f, from, true, nil
		}
		f.and("e.request_id = ?", q.RequestID)
	}
	if len(q.Types) > 0 {
		f.and("e.type = ANY(?)", pq.Array(q.Types))
	}
	if q.Outcome != "" {
		f.and("e.outcome = ?", q.Outcome)
	}
	if !q.From.IsZero() {
		f.and("e.at >= ?", q.From)
	}
	if !q.To.IsZero() {
		f.and("e.at < ?", q.To)
	}
	if q.Teams != nil {
		projects, err := r.ids(ctx, `SELECT p.id FROM project p WHERE p.team_id = ANY($1)`, pq.Array(q.Teams))
		if err != nil || len(projects) == 0 {
			return f, from, true, err
		}
		if from.projects = projects; q.Search != "" {
			from = origin{}
			f.and("e.project_id = ANY(?)", pq.Array(projects))
		}
	}
	if s := strings.TrimSpace(q.Search); s != "" {
		from, err = r.named(ctx, s)
		return f, from, from.count() == 0, err
	}
	return f, from, false, nil
}

// named looks up what s may name.
func (r reader) named(ctx context.Context, s string) (o origin, err error) {
	if o.requests, err = r.ids(ctx, `SELECT q.id FROM request q WHERE q.number = $1`, numberIn(s)); err != nil {
		return o, err
	}
	if o.people, err = r.ids(ctx, `SELECT p.id FROM person p WHERE p.name ILIKE $1`, contains(s)); err != nil {
		return o, err
	}
	o.projects, err = r.ids(ctx, `SELECT p.id FROM project p WHERE p.name ILIKE $1`, contains(s))
	return o, err
}

func (r reader) ids(ctx context.Context, query string, arg any) ([]string, error) {
	out := []string{}
	if err := r.all(ctx, &out, query, arg); err != nil {
		return nil, fmt.Errorf("search names: %w", err)
	}
	return out, nil
}
