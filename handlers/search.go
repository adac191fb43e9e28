package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// searchEach is how many finds of one kind a search shows.
const searchEach = 10

// search finds a request by number at once, and else whatever carries the words:
// projects, pools, requests and people that this person may see.
func (s *server) search(w http.ResponseWriter, r *http.Request) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if n, err := strconv.ParseInt(trimRequestWord(q), 10, 64); err == nil && n > 0 {
		return seeOther(w, r, requestPath(n))
	}
	v := web.SearchView{Query: q}
	a := actorOf(r)
	if q != "" {
		if err := s.find(r, a, q, &v); err != nil {
			return err
		}
	}
	f := s.frame(r, "Search")
	f.Search = q
	return s.render(w, r, web.SearchPage(f, v))
}

func (s *server) find(r *http.Request, a portal.Actor, q string, v *web.SearchView) error {
	ctx := r.Context()
	projects, err := s.Portal.ListProjects(ctx, a, portal.ProjectQuery{Search: q, Limit: searchEach, Short: true})
	if err != nil {
		return err
	}
	for _, row := range projects.Rows {
		v.Projects = append(v.Projects, web.Found{Link: projectLink(row.Project), Text: row.TeamName})
	}
	pools, err := s.Portal.ListPools(ctx, a)
	if err != nil {
		return err
	}
	low := strings.ToLower(q)
	for _, p := range pools {
		if len(v.Pools) < searchEach && (strings.Contains(strings.ToLower(p.Name), low) || strings.Contains(strings.ToLower(p.ID), low) || strings.Contains(strings.ToLower(p.ClusterName), low)) {
			v.Pools = append(v.Pools, web.Found{Link: web.Link{Text: p.Name, Href: paths.Pool(p.ID)}, Text: p.ClusterName})
		}
	}
	requests, err := s.Portal.ListRequests(ctx, a, portal.RequestQuery{Search: q, Limit: searchEach})
	if err != nil {
		return err
	}
	for _, row := range requests.Rows {
		v.Requests = append(v.Requests, web.Found{Link: requestLink(row.Number), Text: row.ProjectName + ", " + row.Environment + ": " + row.Purpose})
	}
	if requests.Next != "" {
		v.AllRequests = paths.With(paths.Requests, "tab", "all", "q", q)
	}
	if census.includes(a.Person) {
		people, err := s.Portal.ListPeople(ctx, a, portal.PeopleQuery{Search: q, Limit: searchEach})
		if err != nil {
			return err
		}
		for _, p := range people.People {
			v.People = append(v.People, web.Found{Link: web.Link{Text: p.Name, Href: paths.With(paths.People, "q", p.Name)}, Text: strings.Join(roleWords(p.Roles), ", ")})
		}
	}
	return nil
}
