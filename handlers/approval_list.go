package handlers

import (
	"net/http"
	"strconv"

	"quartermaster/internal/portal"
	"quartermaster/web"
)

// approvalList is the queue of what waits for this person, oldest first.
func (s *server) approvalList(w http.ResponseWriter, r *http.Request) error {
	q := requestQuery(r)
	if q.Sort == "" {
		q.Sort = "oldest"
	}
	page, err := s.Portal.ListApprovals(r.Context(), actorOf(r), q)
	if err != nil {
		return err
	}
	v := web.ApprovalList{Pager: web.Pager{Shown: len(page.Rows), Noun: "requests"}}
	if v.Filters, err = s.requestFilters(r); err != nil {
		return err
	}
	v.Filters.Sorts = nil
	for _, o := range []struct{ value, text string }{{"oldest", "longest waiting"}, {"due", "due first"}, {"newest", "newest"}} {
		v.Filters.Sorts = append(v.Filters.Sorts, web.Tab{Text: o.text, Href: address(r, "sort", o.value, "after", ""), Current: oneOf(r, "sort", "oldest", "due", "newest") == o.value})
	}
	for _, row := range page.Rows {
		v.Rows = append(v.Rows, approvalRowOf(row))
	}
	v.Pager.Older, v.Pager.Newer = olderNewer(r, page.Next)
	v.Empty = web.Empty{Icon: "approvals", Title: "Nothing waits for you", Text: "Requests that you can decide stand here, oldest first."}
	if v.Filters.Clear != "" {
		v.Empty = web.Empty{Icon: "approvals", Title: "Nothing that waits for you fits these filters", Text: "Clear the filters to see all of it.", Action: web.Link{Text: "Clear filters", Href: v.Filters.Clear}}
	}
	if n, err := strconv.ParseInt(r.URL.Query().Get("decided"), 10, 64); err == nil && n > 0 {
		v.Decided = requestLink(n)
	}
	return s.render(w, r, web.ApprovalListPage(s.frame(r, "Approvals"), v))
}

func approvalRowOf(row portal.RequestRow) web.ApprovalRow {
	v := web.ApprovalRow{
		ID: decimal(row.Number), Number: requestWord(row.Number), Stage: row.StageName, Who: row.RequesterName, Project: row.ProjectName,
		Team: row.TeamName, Env: row.Environment, Purpose: row.Purpose, Lines: rowLines(row.Lines, row.State), Waiting: at(row.WaitingSince), Due: at(row.DueAt),
	}
	if row.Warnings > 0 {
		v.Warnings = []string{web.Many(int64(row.Warnings), "check warns", "checks warn")}
	}
	return v
}
