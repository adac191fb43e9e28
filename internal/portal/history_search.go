package portal

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

// SearchHistory pages through the record, newest first. Those whose work is not
// the whole see what belongs to their teams.
func (p *Portal) SearchHistory(ctx context.Context, actor Actor, q EntryQuery) (HistoryPage, error) {
	q = visible(actor, q)
	if q.Limit <= 0 || q.Limit > 199 {
		q.Limit = pageSize
	}
	shown := q.Limit
	q.Limit++
	rows, err := p.Store.Entries(ctx, q)
	if err != nil {
		return HistoryPage{}, fmt.Errorf("search history: %w", err)
	}
	more := len(rows) > shown
	page := HistoryPage{Rows: rows}
	switch {
	case q.After > 0: // a page towards the newest: the spare row is the first
		if more {
			page.Rows = rows[1:]
			page.Newer = page.Rows[0].Ordinal
		}
		if len(page.Rows) > 0 {
			page.Older = page.Rows[len(page.Rows)-1].Ordinal
		}
	default:
		if more {
			page.Rows = rows[:shown]
			page.Older = page.Rows[shown-1].Ordinal
		}
		if q.Before > 0 && len(rows) > 0 {
			page.Newer = rows[0].Ordinal
		}
	}
	all := q
	all.Before, all.After, all.Limit = 0, 0, 0
	n, err := p.Store.CountEntries(ctx, all, CountLimit+1)
	if err != nil {
		return page, fmt.Errorf("count history: %w", err)
	}
	page.Count, page.More = min(n, CountLimit), n > CountLimit
	return page, nil
}

// visible narrows q to what actor may see.
func visible(actor Actor, q EntryQuery) EntryQuery {
	teams, all := actor.Person.Teams()
	switch {
	case all || actor.System != "":
	case teams == nil:
		q.Teams = []string{}
	default:
		q.Teams = within(teams, q.Teams)
	}
	return q
}

// ViewEntry is one entry, the ones before and after it about the same object, and
// whether content and link hold.
func (p *Portal) ViewEntry(ctx context.Context, actor Actor, id string) (EntryDetail, error) {
	row, err := p.Store.Entry(ctx, id)
	if err != nil {
		return EntryDetail{}, err
	}
	if err := p.seesEntry(ctx, actor, row); err != nil {
		return EntryDetail{}, err
	}
	v := EntryDetail{Row: row}
	if v.Before, v.After, err = p.Store.Neighbours(ctx, row); err != nil {
		return v, fmt.Errorf("neighbours of entry %s: %w", id, err)
	}
	if v.Proof, err = p.prove(ctx, p.Store, row); err != nil {
		return v, fmt.Errorf("proof of entry %s: %w", id, err)
	}
	v.Problem = judge(v)
	v.Intact = v.Problem == ""
	return v, nil
}

// judge recomputes the digest and the links to the neighbours.
func judge(v EntryDetail) string {
	if ledger.Digest(v.Row.Canonical) != v.Row.Digest {
		return "The content does not match its digest."
	}
	e, err := ledger.Parse(v.Row.Canonical)
	if err != nil {
		return "The content is not in canonical form."
	}
	if v.Before == nil && e.Prev != "" {
		return "The entry before is gone."
	}
	if v.Before != nil && ledger.Digest(v.Before.Canonical) != e.Prev {
		return "The link to the entry before does not match."
	}
	if v.After != nil && v.After.Entry.Prev != v.Row.Digest {
		return "The entry after links to something else."
	}
	return ""
}

func (p *Portal) seesEntry(ctx context.Context, actor Actor, row EntryRow) error {
	teams, all := actor.Person.Teams()
	if all || actor.System != "" || (actor.Person.ID != "" && row.Entry.Actor.ID == actor.Person.ID) {
		return nil
	}
	hidden := fault.New(fault.NotFound, "There is no such entry that you may see.")
	if row.ProjectID == "" {
		return hidden
	}
	project, err := p.Store.Project(ctx, row.ProjectID)
	if err != nil {
		return err
	}
	if !slices.Contains(teams, project.TeamID) {
		return hidden
	}
	return nil
}
