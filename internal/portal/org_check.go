package portal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// orgProblem is one thing that is wrong in an organisation: entry index of section, its name and field.
type orgProblem struct {
	section string
	index   int
	entry   string
	field   string
	message string
}

func (p orgProblem) where() string {
	s := p.section
	if p.entry != "" {
		s += " " + p.entry
	}
	if p.field != "" {
		s += ", " + p.field
	}
	return s
}

// goodID: ids stand in URLs, in names of cluster objects and in files.
var goodID = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// orgCheck collects problems.
type orgCheck struct{ problems []orgProblem }

func (c *orgCheck) add(section string, i int, entry, field, format string, args ...any) {
	c.problems = append(c.problems, orgProblem{section, i, entry, field, fmt.Sprintf(format, args...)})
}

// id checks form and uniqueness, and the name beside it.
func (c *orgCheck) id(section string, i int, id, name string, seen map[string]bool) {
	switch {
	case id == "":
		c.add(section, i, fmt.Sprint(i+1), "id", "is needed")
	case !goodID.MatchString(id):
		c.add(section, i, id, "id", "use lower-case letters, digits and hyphens, at most 63")
	case seen[id]:
		c.add(section, i, id, "id", "is there twice")
	}
	seen[id] = true
	c.name(section, i, id, name)
}

// longestName of anything in the file, in characters.
const longestName = 120

// name checks what pages, the record and the CSV show as a name.
func (c *orgCheck) name(section string, i int, entry, name string) {
	switch n := utf8.RuneCountInString(name); {
	case !hasWords(name):
		c.add(section, i, entry, "name", "is needed")
	case n > longestName:
		c.add(section, i, entry, "name", "has %d characters, at most %d", n, longestName)
	case !plainText(name):
		c.add(section, i, entry, "name", "holds characters that cannot be seen; type it again")
	}
}

// plainText: no control character, and none that turns the direction of what follows.
func plainText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}

func (c *orgCheck) known(section string, i int, entry, field, value string, among map[string]bool) {
	if !among[value] {
		c.add(section, i, entry, field, "there is no %q in the file", value)
	}
}

func (c *orgCheck) oneOf(section string, i int, entry, field, value string, among []string) {
	if !slices.Contains(among, value) {
		c.add(section, i, entry, field, "%q is not one of %v", value, among)
	}
}

// checkOrganisation returns everything that is wrong in o, in the order of the file's sections.
func checkOrganisation(o Organisation) []orgProblem {
	var c orgCheck
	units, teams, clusters, pools := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, u := range o.Units {
		c.id("units", i, u.ID, u.Name, units)
	}
	for i, t := range o.Teams {
		c.id("teams", i, t.ID, t.Name, teams)
		if t.UnitID != "" {
			c.known("teams", i, t.ID, "unit", t.UnitID, units)
		}
	}
	c.projects(o, teams)
	c.people(o)
	for i, cl := range o.Clusters {
		c.id("clusters", i, cl.ID, cl.Name, clusters)
		c.oneOf("clusters", i, cl.ID, "kind", string(cl.Kind), []string{string(fleet.Kubernetes), string(fleet.Slurm), string(fleet.Simulated)})
	}
	c.pools(o, clusters, pools)
	c.mappings(o, map[org.ScopeKind]map[string]bool{org.UnitScope: units, org.TeamScope: teams, org.ClusterScope: clusters, org.PoolScope: pools})
	c.route(o)
	c.matching(o)
	return c.problems
}

func (c *orgCheck) projects(o Organisation, teams map[string]bool) {
	seen, subjects := map[string]bool{}, map[string]bool{}
	for _, p := range o.People {
		subjects[p.Subject] = true
	}
	for i, p := range o.Projects {
		c.id("projects", i, p.ID, p.Name, seen)
		c.known("projects", i, p.ID, "team", p.TeamID, teams)
		switch {
		case p.Owner == "":
			c.add("projects", i, p.ID, "owner", "is needed: the subject of one of the people")
		case !subjects[p.Owner]:
			c.add("projects", i, p.ID, "owner", "there is nobody with the subject %q among the people in the file", p.Owner)
		}
		if len(p.Environments) == 0 {
			c.add("projects", i, p.ID, "environments", "name at least one of %v", org.Environments)
		}
		for _, e := range p.Environments {
			c.oneOf("projects", i, p.ID, "environments", e, org.Environments)
		}
	}
}

func (c *orgCheck) people(o Organisation) {
	seen := map[[2]string]bool{}
	for _, p := range o.People {
		seen[[2]string{p.Issuer, p.Subject}] = true
	}
	twice := map[[2]string]bool{}
	for i, p := range o.People {
		key := [2]string{p.Issuer, p.Subject}
		switch {
		case p.Subject == "":
			c.add("people", i, fmt.Sprint(i+1), "subject", "is needed: who it is at the identity provider")
		case twice[key]:
			c.add("people", i, p.Subject, "subject", "is there twice")
		}
		twice[key] = true
		c.name("people", i, p.Subject, p.Name)
		if p.LinkedTo == "" {
			continue
		}
		if p.LinkedTo == p.Subject || !seen[[2]string{p.Issuer, p.LinkedTo}] {
			c.add("people", i, p.Subject, "linked_to", "name another subject of the same issuer in this file")
		}
	}
}

func (c *orgCheck) pools(o Organisation, clusters, pools map[string]bool) {
	keys := map[string]bool{}
	for i, p := range o.Pools {
		c.id("pools", i, p.ID, p.Name, pools)
		c.known("pools", i, p.ID, "cluster", p.ClusterID, clusters)
		if p.Key.Flavor == "" {
			c.add("pools", i, p.ID, "flavor", "is needed")
		}
		if p.Key.Resource == "" {
			c.add("pools", i, p.ID, "resource", "is needed, e.g. nvidia.com/gpu")
		}
		key := p.ClusterID + " " + p.Key.String()
		if keys[key] {
			c.add("pools", i, p.ID, "flavor", "another pool has the same flavor and resource on this cluster")
		}
		keys[key] = true
		if p.HourlyCents < 0 {
			c.add("pools", i, p.ID, "hourly_cents", "cannot be negative")
		}
		if p.HourlyCents > 0 && len(p.Currency) != 3 {
			c.add("pools", i, p.ID, "currency", "name it with three letters (ISO 4217), e.g. EUR")
		}
		if p.CPUPerUnit.Sign() < 0 || p.MemoryPerUnit.Sign() < 0 || (p.BorrowCeiling != nil && p.BorrowCeiling.Sign() < 0) {
			c.add("pools", i, p.ID, "", "amounts cannot be negative")
		}
	}
}

func (c *orgCheck) mappings(o Organisation, scopes map[org.ScopeKind]map[string]bool) {
	for i, m := range o.Mappings {
		if m.Group == "" {
			c.add("roles", i, fmt.Sprint(i+1), "group", "is needed")
		}
		if !m.Role.Valid() {
			c.add("roles", i, m.Group, "role", "%q is not one of %v", m.Role, org.Roles)
		}
		among, scoped := scopes[m.Scope.Kind]
		switch {
		case scoped:
			c.known("roles", i, m.Group, "scope", m.Scope.ID, among)
		case m.Scope.Kind != org.Everywhere:
			c.add("roles", i, m.Group, "scope", "%q is not one of organisation, unit, team, cluster, pool", m.Scope.Kind)
		case m.Scope.ID != "":
			c.add("roles", i, m.Group, "scope", "the organisation has no id")
		}
	}
}

func (c *orgCheck) matching(o Organisation) {
	projects := map[string]bool{"": true}
	for _, p := range o.Projects {
		projects[p.ID] = true
	}
	for i, r := range o.Matching {
		if field, message := r.Wrong(); message != "" {
			c.add("matching", i, fmt.Sprint(i+1), field, "%s", message)
		}
		c.known("matching", i, fmt.Sprint(i+1), "project", r.Project, projects)
	}
}

func (c *orgCheck) route(o Organisation) {
	seen := map[string]bool{}
	for i, t := range o.Route {
		switch {
		case t.Key == "":
			c.add("route", i, fmt.Sprint(i+1), "key", "is needed")
		case seen[t.Key]:
			c.add("route", i, t.Key, "key", "is there twice")
		}
		seen[t.Key] = true
		if !hasWords(t.Name) {
			c.add("route", i, t.Key, "name", "is needed")
		}
		if !slices.Contains([]org.Role{org.TeamManager, org.CapacityManager, org.Compliance}, t.Role) {
			c.add("route", i, t.Key, "role", "%q does not decide; use team_manager, capacity_manager or compliance_officer", t.Role)
		}
		if t.Scope != approval.OfTeam && t.Scope != approval.OfPool {
			c.add("route", i, t.Key, "scope", "use team or pools")
		}
		if t.Quorum < 1 {
			c.add("route", i, t.Key, "quorum", "at least 1")
		}
		if t.RespondWithin < 0 {
			c.add("route", i, t.Key, "respond_within", "cannot be negative")
		}
	}
}
