package db

import (
	"strings"

	"github.com/lib/pq"
)

// origin are ids of which an entry has to carry one.
type origin struct{ people, projects, requests []string }

// fewest is up to how many ids each is asked for its own newest entries. More of
// them match so much of the record that walking it from the end is faster.
const fewest = 200

func (o origin) count() int { return len(o.people) + len(o.projects) + len(o.requests) }

func (o origin) few() bool { return o.count() > 0 && o.count() <= fewest }

// or adds the ids to f as one condition.
func (o origin) or(f *filter) {
	if o.count() > 0 {
		f.and("(e.request_id = ANY(?::uuid[]) OR e.actor = ANY(?) OR e.project_id = ANY(?))",
			pq.Array(notNil(o.requests)), pq.Array(notNil(o.people)), pq.Array(notNil(o.projects)))
	}
}

// some is a query for matching ordinals, of each kind of id no more than limit, so
// that no part reads on when there are enough.
func (o origin) some(f filter, limit int) (query string, args []any) {
	var parts []string
	for _, x := range []struct {
		condition string
		ids       []string
	}{{"e.actor = ANY(?)", o.people}, {"e.project_id = ANY(?)", o.projects}, {"e.request_id = ANY(?::uuid[])", o.requests}} {
		if len(x.ids) > 0 {
			parts = append(parts, `(SELECT e.ordinal FROM ledger_entry e WHERE `+x.condition+string(f.conditions)+` LIMIT ?)`)
			args = append(append(append(args, pq.Array(x.ids)), f.args...), limit)
		}
	}
	return `SELECT FROM (` + strings.Join(parts, ` UNION `) + `) e`, args
}

// top is a query for the first limit ordinals in order: of each id as many from
// its own index, of those the first. An OR over the indexes would read all that
// matches, or the whole record, before it sorts.
func (o origin) top(f filter, order string, limit int) (query string, args []any) {
	var parts []string
	for _, x := range []struct {
		condition string
		ids       []string
	}{{"e.actor = o.id", o.people}, {"e.project_id = o.id", o.projects}, {"e.request_id = o.id::uuid", o.requests}} {
		if len(x.ids) == 0 {
			continue
		}
		parts = append(parts, `SELECT x.ordinal FROM unnest(?::text[]) AS o (id) CROSS JOIN LATERAL (
			SELECT e.ordinal FROM ledger_entry e WHERE `+x.condition+string(f.conditions)+` ORDER BY `+order+` LIMIT ?) x`)
		args = append(append(append(args, pq.Array(x.ids)), f.args...), limit)
	}
	return `SELECT DISTINCT e.ordinal FROM (` + strings.Join(parts, ` UNION ALL `) + `) e ORDER BY ` + order + ` LIMIT ?`, append(args, limit)
}
