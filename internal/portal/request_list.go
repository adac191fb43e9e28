package portal

import (
	"context"
	"fmt"
)

// pageSize of lists, in rows.
const pageSize = 50

// ListRequests pages through the requests that actor may see. Ended ones stay listed.
func (p *Portal) ListRequests(ctx context.Context, actor Actor, q RequestQuery) (RequestPage, error) {
	teams, all := actor.Person.Teams()
	switch {
	case all:
	case q.RequesterID != "" && q.RequesterID == actor.Person.ID:
		q.Teams = nil // one's own, whichever team
	case teams == nil:
		q.Teams = []string{}
	default:
		q.Teams = within(teams, q.Teams)
	}
	q.WaitingFor = nil
	return p.requestPage(ctx, q)
}

// within narrows what may be seen to what was asked for.
func within(may, asked []string) []string {
	if asked == nil {
		return may
	}
	out := []string{}
	for _, a := range asked {
		for _, m := range may {
			if a == m {
				out = append(out, a)
			}
		}
	}
	return out
}

// ListApprovals pages through what actor could decide now, oldest first.
func (p *Portal) ListApprovals(ctx context.Context, actor Actor, q RequestQuery) (RequestPage, error) {
	q.WaitingFor = &actor.Person
	return p.requestPage(ctx, q)
}

func (p *Portal) requestPage(ctx context.Context, q RequestQuery) (RequestPage, error) {
	if q.Limit <= 0 || q.Limit > 199 {
		q.Limit = pageSize
	}
	shown := q.Limit
	q.Limit++
	rows, err := p.Store.RequestList(ctx, q)
	if err != nil {
		return RequestPage{}, fmt.Errorf("list requests: %w", err)
	}
	page := RequestPage{Rows: rows}
	if len(rows) > shown {
		page.Rows, page.Next = rows[:shown], rows[shown-1].Key
	}
	return page, nil
}
