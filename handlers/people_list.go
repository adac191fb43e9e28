package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/org"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// peopleList is "People": roles in force and where they come from.
func (s *server) peopleList(w http.ResponseWriter, r *http.Request) error {
	in := r.URL.Query()
	name, id, _ := strings.Cut(in.Get("after"), "\n")
	if !isID(id) {
		name, id = "", ""
	}
	page, err := s.Portal.ListPeople(r.Context(), actorOf(r), portal.PeopleQuery{Search: strings.TrimSpace(in.Get("q")), AfterName: name, AfterID: id, Limit: pageSize})
	if err != nil {
		return err
	}
	v := web.PeopleList{
		Filters: web.Filters{Action: r.URL.Path, Clear: clearLink(r), Fields: []web.Filter{{Name: "q", Label: "Name or login", Value: in.Get("q"), Kind: "search"}}},
		Pager:   web.Pager{Shown: len(page.People), Noun: "people"},
		Empty:   web.Empty{Icon: "people", Title: "Nobody is known yet", Text: "People come with the organisation file, or with their first sign-in."},
	}
	if v.Filters.Clear != "" {
		v.Empty = web.Empty{Icon: "people", Title: "Nobody fits this filter", Action: web.Link{Text: "Clear filters", Href: v.Filters.Clear}}
	}
	for _, p := range page.People {
		v.Rows = append(v.Rows, personRowOf(p))
	}
	next := ""
	if n := len(page.People); page.More && n > 0 {
		next = page.People[n-1].Name + "\n" + page.People[n-1].ID
	}
	v.Pager.Older, v.Pager.Newer = olderNewer(r, next)
	return s.render(w, r, web.PeopleListPage(s.frame(r, "People"), v))
}

func personRowOf(p org.Person) web.PersonRow {
	row := web.PersonRow{Name: p.Name, Login: orElse(p.Email, p.Subject), Identity: p.Issuer + " · " + p.Subject, LastSeen: at(p.LastSignIn)}
	for _, a := range p.Roles {
		row.Roles = append(row.Roles, web.Member{Role: roleWord(a), From: "group " + a.Group})
	}
	return row
}
