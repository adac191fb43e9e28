package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/portal"
	"quartermaster/web"
)

// projectList is "Projects", by name.
func (s *server) projectList(w http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	name, id, _ := strings.Cut(in.Get("after"), "\n")
	page, err := s.Portal.ListProjects(r.Context(), actorOf(r), portal.ProjectQuery{Search: strings.TrimSpace(in.Get("q")), TeamID: in.Get("team"), AfterName: name, AfterID: id, Limit: pageSize})
	if err != nil {
		return err
	}
	var teams []web.Option
	for _, t := range page.Teams {
		teams = append(teams, web.Option{Value: t.ID, Text: t.Name})
	}
	v := web.ProjectList{
		Filters: web.Filters{Action: r.URL.Path, Clear: clearLink(r), Fields: []web.Filter{
			{Name: "q", Label: "Name, owner or cost centre", Value: in.Get("q"), Kind: "search"},
			{Name: "team", Label: "Team", Value: in.Get("team"), Options: options("Any team", teams...)},
		}},
		Pager: web.Pager{Shown: len(page.Rows), Noun: "projects"},
		Empty: web.Empty{Icon: "projects", Title: "No projects yet", Text: "Projects come from the organisation file. A platform admin imports it."},
	}
	if v.Filters.Clear != "" {
		v.Empty = web.Empty{Icon: "projects", Title: "No project fits these filters", Text: "Clear the filters to see all of them.", Action: web.Link{Text: "Clear filters", Href: v.Filters.Clear}}
	}
	f := s.frame(r, "Projects")
	for _, row := range page.Rows {
		v.Rows = append(v.Rows, projectRowOf(row))
		f = markPlaces(f, row.Lines)
	}
	next := ""
	if page.NextID != "" {
		next = page.NextName + "\n" + page.NextID
	}
	v.Pager.Older, v.Pager.Newer = olderNewer(r, next)
	return s.render(w, r, web.ProjectListPage(f, v))
}

func projectRowOf(row portal.ProjectRow) web.ProjectRow {
	return web.ProjectRow{
		Project: projectLink(row.Project), Team: row.TeamName, Owner: row.OwnerName, CostCentre: row.Project.CostCentre,
		Lines: poolLinesOf(row.Lines), Month: money(row.Month, "nothing with an hourly rate is granted"),
	}
}
