package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// historySearch is the decision history, newest first.
func (s *server) historySearch(w http.ResponseWriter, r *http.Request) error {
	q, err := s.historyQuery(r)
	status, wrong := http.StatusOK, fault.As(err)
	if err != nil && (wrong == nil || wrong.Kind != fault.Invalid) {
		return err
	}
	words, pools, err := s.historyNames(r)
	if err != nil {
		return err
	}
	projects, err := s.projectOptions(r)
	if err != nil {
		return err
	}
	v := web.HistoryList{Filters: historyFilters(r, pools, projects)}
	f := s.frame(r, "History")
	if wrong != nil {
		noteOf(r).err, status = wrong, http.StatusUnprocessableEntity
		v.Count = "No list"
		v.Empty = web.Empty{Icon: "history", Title: "A filter does not fit", Action: web.Link{Text: "Clear filters", Href: paths.History}}
		for _, x := range wrong.Fields {
			v.Empty.Text += fieldLabel(x.Name) + ": " + x.Message + " "
		}
		return s.show(w, r, status, web.HistoryListPage(f, v))
	}
	page, err := s.Portal.SearchHistory(r.Context(), actorOf(r), q)
	if err != nil {
		return err
	}
	v.Filters.CSV = paths.HistoryExport + query(address(r, "before", "", "after", ""))
	v.Count = web.Many(int64(page.Count), "entry", "entries")
	if page.More {
		v.Count = "More than " + web.Count(int64(page.Count)) + " entries"
	}
	v.Period = periodOf(q)
	for _, e := range page.Rows {
		v.Rows = append(v.Rows, historyRow(e, words.pools, words.clusters))
	}
	v.Pager = web.Pager{Shown: len(page.Rows), Noun: "entries", Total: web.Count(int64(page.Count))}
	if page.More {
		v.Pager.Total = "more than " + v.Pager.Total
	}
	if page.Newer > 0 {
		v.Pager.Newer = address(r, "after", decimal(page.Newer), "before", "")
	}
	if page.Older > 0 {
		v.Pager.Older = address(r, "before", decimal(page.Older), "after", "")
	}
	v.Empty = web.Empty{Icon: "history", Title: "No entries yet", Text: "Every request, decision and change on a cluster stands here, with who, when and why."}
	if v.Filters.Clear != "" {
		v.Empty = web.Empty{Icon: "history", Title: "No entry fits these filters", Text: "Clear the filters to see all of them.", Action: web.Link{Text: "Clear filters", Href: v.Filters.Clear}}
	}
	return s.show(w, r, status, web.HistoryListPage(f, v))
}

// query is what follows the path in an address.
func query(address string) string {
	for i := range address {
		if address[i] == '?' {
			return address[i:]
		}
	}
	return ""
}

func periodOf(q portal.EntryQuery) string {
	switch {
	case q.From.IsZero() && q.To.IsZero():
		return "from the first entry until now"
	case q.From.IsZero():
		return "until " + web.Exact(q.To)
	case q.To.IsZero():
		return "from " + web.Exact(q.From) + " until now"
	}
	return web.Exact(q.From) + " to " + web.Exact(q.To)
}

// maxProjectOptions is up to how many projects a select is of use; above it the
// id is typed.
const maxProjectOptions = 200

// projectOptions are the projects to filter by, or none when there are too many to choose from.
func (s *server) projectOptions(r *http.Request) ([]web.Option, error) {
	page, err := s.Portal.ListProjects(r.Context(), actorOf(r), portal.ProjectQuery{Limit: maxProjectOptions, Short: true})
	if err != nil || page.NextID != "" {
		return nil, err
	}
	var out []web.Option
	for _, row := range page.Rows {
		out = append(out, web.Option{Value: row.Project.ID, Text: row.Project.Name})
	}
	return out, nil
}
