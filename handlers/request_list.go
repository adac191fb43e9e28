package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/web"
)

// requestList is "Requests": own ones, or all that this person may see.
func (s *server) requestList(w http.ResponseWriter, r *http.Request) error {
	a := actorOf(r)
	tab := oneOf(r, "tab", "mine", "all")
	if !asks.includes(a.Person) && r.URL.Query().Get("tab") == "" {
		tab = "all" // who never asks has none of their own
	}
	q := requestQuery(r)
	if tab == "mine" {
		q.RequesterID = a.Person.ID
	}
	page, err := s.Portal.ListRequests(r.Context(), a, q)
	if err != nil {
		return err
	}
	v := web.RequestList{
		Tabs: []web.Tab{
			{Text: "Mine", Href: address(r, "tab", "mine", "after", ""), Current: tab == "mine"},
			{Text: "All that I may see", Href: address(r, "tab", "all", "after", ""), Current: tab == "all"},
		},
		CanAsk: asks.includes(a.Person), Pager: web.Pager{Shown: len(page.Rows), Noun: "requests"},
	}
	v.Filters, err = s.requestFilters(r, "tab")
	if err != nil {
		return err
	}
	for _, row := range page.Rows {
		v.Rows = append(v.Rows, requestRowOf(row))
	}
	v.Pager.Older, v.Pager.Newer = olderNewer(r, page.Next)
	v.Empty = web.Empty{Icon: "requests", Title: "No requests yet", Text: "What is asked for stands here from the first draft to its end, and stays."}
	if v.CanAsk {
		v.Empty.Action = web.Link{Text: "New request", Href: paths.RequestNew}
	}
	if v.Filters.Clear != "" {
		v.Empty = web.Empty{Icon: "requests", Title: "No request fits these filters", Text: "Clear the filters to see all of them.", Action: web.Link{Text: "Clear filters", Href: v.Filters.Clear}}
	}
	return s.render(w, r, web.RequestListPage(s.frame(r, "Requests"), v))
}

// requestQuery reads the filters that requests and approvals share.
func requestQuery(r *http.Request) portal.RequestQuery {
	in := r.URL.Query()
	q := portal.RequestQuery{ProjectID: in.Get("project"), PoolID: in.Get("pool"), ClusterID: in.Get("cluster"), Search: strings.TrimSpace(in.Get("q")), AfterKey: in.Get("after"), Limit: pageSize}
	q.Search = strings.TrimPrefix(strings.TrimPrefix(q.Search, "R-"), "r-")
	for _, st := range request.States {
		if string(st) == in.Get("state") {
			q.States = []request.State{st}
		}
	}
	switch sort := in.Get("sort"); sort {
	case "oldest", "due", "newest":
		q.Sort = sort
	}
	return q
}

// requestFilters is the bar above a list of requests.
func (s *server) requestFilters(r *http.Request, keep ...string) (web.Filters, error) {
	pools, err := s.Portal.ListPools(r.Context(), actorOf(r))
	if err != nil {
		return web.Filters{}, err
	}
	in := r.URL.Query()
	var poolOptions, states []web.Option
	for _, p := range pools {
		poolOptions = append(poolOptions, web.Option{Value: p.ID, Text: p.Name + " · " + p.ClusterName})
	}
	for _, st := range request.States {
		states = append(states, web.Option{Value: string(st), Text: string(st)})
	}
	f := web.Filters{Action: r.URL.Path, Clear: clearLink(r, append(keep, "sort")...), Fields: []web.Filter{
		{Name: "q", Label: "Number, project or purpose", Value: in.Get("q"), Kind: "search"},
		{Name: "state", Label: "State", Value: in.Get("state"), Options: options("Any state", states...)},
		{Name: "pool", Label: "Pool", Value: in.Get("pool"), Options: options("Any pool", poolOptions...)},
	}}
	for _, name := range append(keep, "sort", "project") {
		if in.Get(name) != "" {
			f.Keep = append(f.Keep, web.Filter{Name: name, Value: in.Get(name)})
		}
	}
	for _, o := range []struct{ value, text string }{{"newest", "newest"}, {"oldest", "oldest"}, {"due", "due first"}} {
		f.Sorts = append(f.Sorts, web.Tab{Text: o.text, Href: address(r, "sort", o.value, "after", ""), Current: oneOf(r, "sort", "newest", "oldest", "due") == o.value})
	}
	return f, nil
}

// olderNewer are the addresses around a page by key. Going back leads to the
// first page: keys know only forwards.
func olderNewer(r *http.Request, next string) (older, newer string) {
	if next != "" {
		older = address(r, "after", next)
	}
	if r.URL.Query().Get("after") != "" {
		newer = address(r, "after", "")
	}
	return older, newer
}

func requestRowOf(row portal.RequestRow) web.RequestRow {
	v := web.RequestRow{
		ID: decimal(row.Number), Number: requestWord(row.Number), State: web.StateBadge(string(row.State)), Project: row.ProjectName, Team: row.TeamName,
		Environment: row.Environment, Purpose: row.Purpose, Who: row.RequesterName, Lines: rowLines(row.Lines, row.State), Next: row.StageName,
		Submitted: row.CreatedAt, Changed: row.CreatedAt,
	}
	if row.WaitingSince != nil {
		v.Changed = *row.WaitingSince
	}
	return v
}

func rowLines(lines []portal.RequestRowLine, state request.State) []web.RequestRowLine {
	var out []web.RequestRowLine
	for _, l := range lines {
		out = append(out, web.RequestRowLine{Pool: l.PoolName, Figures: web.FigureLine{
			Unit: units(l.Unit), Asked: exactly(l.Asked), Granted: grantedFigure(l.Granted, state),
			Enforced: figure(l.Enforced, "not read yet"), InUse: figure(l.InUse, "not read yet"), Later: state == request.Scheduled,
		}})
	}
	return out
}
