package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// historyQuery reads the filters of the history from the address; the list and
// the CSV read the same ones. A filter that cannot be read is said, not ignored:
// an auditor must not take a wider list for a narrow one.
func (s *server) historyQuery(r *http.Request) (portal.EntryQuery, error) {
	f := formOf(r.URL.Query())
	q := portal.EntryQuery{
		ProjectID: f.text("project"), PoolID: f.text("pool"), ClusterID: f.text("cluster"),
		Search: trimRequestWord(f.text("q")), Limit: pageSize,
	}
	if from := f.moment("from"); from != nil {
		q.From = *from
	}
	if to := f.moment("to"); to != nil {
		q.To = *to
		if len(f.text("to")) == len(time.DateOnly) {
			q.To = to.AddDate(0, 0, 1) // the day named is included
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		f.reject("to", "The period ends before it begins.")
	}
	for _, kind := range f.values["kind"] {
		switch t := ledger.Type(kind); {
		case kind == "":
		case slices.Contains(ledger.Types, t):
			q.Types = append(q.Types, t)
		default:
			f.reject("kind", "There is no such kind of entry.")
		}
	}
	switch o := ledger.Outcome(f.text("outcome")); o {
	case "", ledger.Done, ledger.Refused, ledger.Failed:
		q.Outcome = o
	default:
		f.reject("outcome", "Choose done, refused or failed.")
	}
	q.Before, q.After = ordinalIn(f, "before"), ordinalIn(f, "after")
	if err := s.personFilter(r, f, &q); err != nil {
		return q, err
	}
	return q, f.err()
}

// personFilter takes a person's id, or a name that fits exactly one person.
func (s *server) personFilter(r *http.Request, f *form, q *portal.EntryQuery) error {
	name := f.text("person")
	if name == "" || isID(name) {
		q.PersonID = name
		return nil
	}
	if !census.includes(actorOf(r).Person) {
		f.reject("person", "Write the name into the first field. Only who may see everybody can choose a person.")
		return nil
	}
	page, err := s.Portal.ListPeople(r.Context(), actorOf(r), portal.PeopleQuery{Search: name, Limit: 2})
	if err != nil {
		return err
	}
	switch len(page.People) {
	case 0:
		f.reject("person", "Nobody known is called %s.", name)
	case 1:
		q.PersonID = page.People[0].ID
	default:
		f.reject("person", "More than one person fits %s. Write more of the name.", name)
	}
	return nil
}

func ordinalIn(f *form, name string) int64 {
	raw := f.text(name)
	if raw == "" {
		return 0
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 1 {
		f.reject(name, "This page of the list does not exist.")
		return 0
	}
	return n
}

// trimRequestWord lets people search for R-42 as well as 42.
func trimRequestWord(q string) string {
	if rest := strings.TrimPrefix(strings.ToUpper(q), "R-"); rest != "" && rest != strings.ToUpper(q) {
		if _, err := strconv.ParseInt(rest, 10, 64); err == nil {
			return rest
		}
	}
	return q
}

// names are the words for ids on the history's pages.
type names struct{ pools, clusters map[string]string }

// historyNames reads the names of pools and clusters once a page.
func (s *server) historyNames(r *http.Request) (names, []portal.PoolState, error) {
	n := names{map[string]string{}, map[string]string{}}
	pools, err := s.Portal.ListPools(r.Context(), actorOf(r))
	for _, p := range pools {
		n.pools[p.ID], n.clusters[p.ClusterID] = p.Name, p.ClusterName
	}
	return n, pools, err
}

// historyFilters is the bar above the history.
func historyFilters(r *http.Request, pools []portal.PoolState, projects []web.Option) web.Filters {
	in := r.URL.Query()
	var poolOptions, clusterOptions, kinds []web.Option
	for _, p := range pools {
		poolOptions = append(poolOptions, web.Option{Value: p.ID, Text: p.Name + " · " + p.ClusterName})
		if !slices.ContainsFunc(clusterOptions, func(o web.Option) bool { return o.Value == p.ClusterID }) {
			clusterOptions = append(clusterOptions, web.Option{Value: p.ClusterID, Text: p.ClusterName})
		}
	}
	for _, t := range ledger.Types {
		kinds = append(kinds, web.Option{Value: string(t), Text: string(t)})
	}
	f := web.Filters{Action: r.URL.Path, Clear: clearLink(r), Fields: []web.Filter{
		{Name: "q", Label: "Number, person or project", Value: in.Get("q"), Kind: "search"},
		{Name: "person", Label: "Person", Value: in.Get("person")},
		{Name: "project", Label: "Project", Value: in.Get("project"), Options: options("Any project", projects...)},
		{Name: "pool", Label: "Pool", Value: in.Get("pool"), Options: options("Any pool", poolOptions...)},
		{Name: "cluster", Label: "Cluster", Value: in.Get("cluster"), Options: options("Any cluster", clusterOptions...)},
		{Name: "kind", Label: "Kind", Value: in.Get("kind"), Options: options("Any kind", kinds...)},
		{Name: "outcome", Label: "Outcome", Value: in.Get("outcome"), Options: options("Any outcome", sameWords("done", "refused", "failed")...)},
		{Name: "from", Label: "From (UTC)", Value: in.Get("from"), Kind: "date"},
		{Name: "to", Label: "To, included (UTC)", Value: in.Get("to"), Kind: "date"},
	}}
	if len(projects) == 0 {
		f.Fields[2] = web.Filter{Name: "project", Label: "Project id", Value: in.Get("project")}
	}
	if !census.includes(actorOf(r).Person) {
		f.Fields = slices.Delete(f.Fields, 1, 2)
	}
	return f
}
