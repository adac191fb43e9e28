package portal

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// entryText is one entry of an organisation as lines of field and value, in a fixed order.
type entryText struct {
	name   string
	fields [][2]string
}

// diffOrganisation compares o with what is stored: one line for each entry that
// is new (+), changed (~) or, for role mappings alone, taken away (-).
func diffOrganisation(ctx context.Context, r Reader, o Organisation) (OrgDiff, error) {
	if len(o.Route) == 0 {
		o.Route = approval.Default // what the store puts in force then
	}
	now, err := loadOrganisation(ctx, r, o)
	if err != nil {
		return OrgDiff{}, err
	}
	was, want := texts(now), texts(o)
	var d OrgDiff
	old := map[string]entryText{}
	for _, e := range was {
		old[e.name] = e
	}
	named := map[string]bool{}
	for _, e := range want {
		named[e.name] = true
		before, there := old[e.name]
		if !there {
			d.Lines = append(d.Lines, "+ "+e.name)
			continue
		}
		if changes := fieldChanges(before, e); changes != "" {
			d.Lines = append(d.Lines, "~ "+e.name+": "+changes)
		}
	}
	for _, e := range was {
		if strings.HasPrefix(e.name, "role ") && !named[e.name] {
			d.Lines = append(d.Lines, "- "+e.name)
		}
	}
	d.Empty = len(d.Lines) == 0
	return d, nil
}

func fieldChanges(before, after entryText) string {
	was := map[string]string{}
	for _, f := range before.fields {
		was[f[0]] = f[1]
	}
	var out []string
	for _, f := range after.fields {
		if was[f[0]] != f[1] {
			out = append(out, fmt.Sprintf("%s %s → %s", f[0], quoted(was[f[0]]), quoted(f[1])))
		}
	}
	return strings.Join(out, ", ")
}

func quoted(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// loadOrganisation reads what is stored in the form of a file. Of people only
// those whom o names are read in full: their groups count until they signed in.
func loadOrganisation(ctx context.Context, r Reader, o Organisation) (Organisation, error) {
	var now Organisation
	var err error
	if now.Units, err = r.Units(ctx); err != nil {
		return now, err
	}
	if now.Teams, err = r.Teams(ctx); err != nil {
		return now, err
	}
	if now.Projects, err = r.Projects(ctx, nil); err != nil {
		return now, err
	}
	if now.Mappings, _, err = r.Mappings(ctx); err != nil {
		return now, err
	}
	clusters, err := r.Clusters(ctx)
	if err != nil {
		return now, err
	}
	for _, c := range clusters {
		now.Clusters = append(now.Clusters, c.Cluster)
	}
	pools, err := r.Pools(ctx)
	if err != nil {
		return now, err
	}
	for _, s := range pools {
		now.Pools = append(now.Pools, s.Pool)
	}
	if now.Route, _, err = r.RouteInForce(ctx); err != nil {
		return now, err
	}
	if now.Matching, err = r.MatchRules(ctx); err != nil {
		return now, err
	}
	now.People, err = loadOrgPeople(ctx, r, o)
	return now, err
}

// peopleRead at once.
const peopleRead = 199

func loadOrgPeople(ctx context.Context, r Reader, o Organisation) ([]OrgPerson, error) {
	wanted := map[[2]string]OrgPerson{}
	for _, w := range o.People {
		wanted[[2]string{w.Issuer, w.Subject}] = w
	}
	identities := map[[2]string]string{}
	var found []org.Person
	q := PeopleQuery{Limit: peopleRead}
	for {
		people, err := r.People(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, who := range people {
			key := [2]string{who.Issuer, who.Subject}
			identities[key] = who.Identity
			if _, ok := wanted[key]; ok {
				found = append(found, who)
			}
		}
		if len(people) < peopleRead {
			break
		}
		q.AfterName, q.AfterID = people[len(people)-1].Name, people[len(people)-1].ID
	}
	var out []OrgPerson
	for _, who := range found {
		w := wanted[[2]string{who.Issuer, who.Subject}]
		now := OrgPerson{Issuer: who.Issuer, Subject: who.Subject, Name: who.Name, Email: who.Email, Groups: who.Groups, Title: w.Title}
		if who.LastSignIn != nil {
			now.Groups = w.Groups // the provider's word counts since then
		}
		if w.LinkedTo != "" && identities[[2]string{who.Issuer, w.LinkedTo}] == who.Identity {
			now.LinkedTo = w.LinkedTo
		}
		out = append(out, now)
	}
	return out, nil
}

// texts are all entries of o in the order of the file's sections, each section by name.
func texts(o Organisation) []entryText {
	var out []entryText
	section := func(es []entryText) {
		sort.SliceStable(es, func(i, j int) bool { return es[i].name < es[j].name })
		out = append(out, es...)
	}
	var es []entryText
	for _, u := range o.Units {
		es = append(es, entryText{"unit " + u.ID, [][2]string{{"name", u.Name}}})
	}
	section(es)
	es = nil
	for _, t := range o.Teams {
		es = append(es, entryText{"team " + t.ID, [][2]string{{"name", t.Name}, {"unit", t.UnitID}}})
	}
	section(es)
	es = nil
	for _, p := range o.Projects {
		es = append(es, entryText{"project " + p.ID, [][2]string{{"name", p.Name}, {"team", p.TeamID}, {"owner", p.Owner}, {"cost_centre", p.CostCentre},
			{"environments", strings.Join(p.Environments, " ")}, {"data_classes", strings.Join(p.DataClasses, " ")}}})
	}
	section(es)
	es = nil
	for _, w := range o.People {
		groups := slices.Sorted(slices.Values(w.Groups))
		es = append(es, entryText{"person " + w.Issuer + " " + w.Subject, [][2]string{{"name", w.Name}, {"email", w.Email}, {"groups", strings.Join(groups, " ")}, {"linked_to", w.LinkedTo}}})
	}
	section(es)
	section(roleTexts(o.Mappings))
	es = nil
	for _, c := range o.Clusters {
		es = append(es, entryText{"cluster " + c.ID, [][2]string{{"name", c.Name}, {"kind", string(c.Kind)}, {"root_cohort", c.RootCohort}}})
	}
	section(es)
	section(poolTexts(o.Pools))
	out = append(out, routeText(o.Route)...)
	return append(out, matchingText(o.Matching))
}

func matchingText(rules []org.MatchRule) entryText {
	var all []string
	for i, r := range rules {
		all = append(all, fmt.Sprintf("%d: %s", i+1, r))
	}
	return entryText{"matching", [][2]string{{"rules", strings.Join(all, "; ")}}}
}

func roleTexts(mappings []org.Mapping) []entryText {
	var es []entryText
	seen := map[string]bool{}
	for _, m := range mappings {
		name := fmt.Sprintf("role %s for group %s at %s", m.Role, m.Group, m.Scope)
		if !seen[name] {
			seen[name] = true
			es = append(es, entryText{name: name})
		}
	}
	return es
}

func poolTexts(pools []org.Pool) []entryText {
	var es []entryText
	for _, p := range pools {
		es = append(es, entryText{"pool " + p.ID, [][2]string{{"cluster", p.ClusterID}, {"name", p.Name}, {"flavor", p.Key.Flavor}, {"resource", p.Key.Resource},
			{"tier", p.Tier}, {"rate", rate(p)}, {"borrow_ceiling", openText(p.BorrowCeiling)},
			{"cpu_per_unit", p.CPUPerUnit.String()}, {"memory_per_unit", p.MemoryPerUnit.String()}, {"data_classes", strings.Join(p.DataClasses, " ")}}})
	}
	return es
}

// rate of a pool; the currency of no rate says nothing.
func rate(p org.Pool) string {
	if p.HourlyCents == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%02d %s an hour", p.HourlyCents/100, p.HourlyCents%100, p.Currency)
}

func openText(q *fleet.Quantity) string {
	if q == nil {
		return "no limit"
	}
	return q.String()
}

// routeText is the route as one entry: its stages count in their order.
func routeText(route []approval.Template) []entryText {
	if len(route) == 0 {
		return nil
	}
	var stages []string
	for _, t := range route {
		stages = append(stages, fmt.Sprintf("%s (%q, %d × %s of %s within %s)", t.Key, t.Name, t.Quorum, t.Role, t.Scope, t.RespondWithin))
	}
	return []entryText{{"route", [][2]string{{"stages", strings.Join(stages, ", ")}}}}
}
