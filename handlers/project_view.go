package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// projectView is the page of one project.
func (s *server) projectView(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "project")
	if err != nil {
		return err
	}
	length := portal.Range(oneOf(r, "range", "24h", "7d", "30d", "90d"))
	d, err := s.Portal.ViewProject(r.Context(), actorOf(r), id, length)
	if err != nil {
		return err
	}
	p := d.Row.Project
	v := web.ProjectView{
		ID: p.ID, Name: p.Name, Lines: poolLinesOf(d.Row.Lines), Pending: workloadsOf(d.Pending),
		AllReqs: paths.With(paths.Requests, "tab", "all", "project", p.ID),
		Facts: []web.Fact{
			{Label: "team", Text: d.Row.TeamName}, {Label: "owner", Text: orElse(d.Row.OwnerName, p.Owner)}, {Label: "cost centre", Text: p.CostCentre},
			{Label: "environments", Text: strings.Join(p.Environments, ", ")}, {Label: "data classes", Text: strings.Join(p.DataClasses, ", ")},
			{Label: "granted, a month", Text: orElse(moneyLine(d.Row.Month), "–")}, {Label: "id", Text: p.ID, Mono: true},
		},
	}
	if d.MayAsk {
		v.Ask = paths.With(paths.RequestNew, "project", p.ID)
	}
	v.Ranges = rangeTabs(length, func(x portal.Range) string { return address(r, "range", string(x)) + "#use" })
	for _, c := range d.Charts {
		chart := samplesChart("use-"+c.Environment+"-"+c.PoolID, c.PoolName+", "+c.Environment, units(c.Unit), d.From, d.To, c.Samples)
		chart = foldTable(r, chart)
		chart.Empty = "Nothing was read in this period. The next poll is due within " + web.Span(s.PollEvery) + "."
		v.Charts = append(v.Charts, chart)
	}
	for _, m := range d.Members {
		member := web.Member{Name: m.Person.Name, Role: strings.Join(roleWords(m.Roles), ", ")}
		var from []string
		for _, a := range m.Roles {
			if a.Group != "" {
				from = append(from, "group "+a.Group)
			}
		}
		if m.Owner {
			from = append(from, "owner in the organisation file")
			member.Role = orElse(member.Role, "owner")
		}
		member.From = strings.Join(from, ", ")
		v.Members = append(v.Members, member)
	}
	numbers := map[string]int64{}
	for _, row := range d.Requests {
		v.Requests = append(v.Requests, requestRowOf(row))
		numbers[row.ID] = row.Number
	}
	for _, g := range d.Grants {
		v.Grants = append(v.Grants, grantRowOf(g, d.Pools, numbers, d.At))
	}
	found, err := s.Portal.ProjectFindings(r.Context(), actorOf(r), p.ID)
	if err != nil {
		return err
	}
	v.Findings = findingRowsOf(found, actorOf(r).Person)
	f := markPlaces(s.frame(r, p.Name, web.Link{Text: "Projects", Href: paths.Projects}), d.Row.Lines)
	return s.render(w, r, web.ProjectPage(f, v))
}
