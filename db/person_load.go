package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

const noPerson = "There is no such person."

type personRow struct {
	ID       string         `db:"id"`
	Issuer   string         `db:"issuer"`
	Subject  string         `db:"subject"`
	Name     string         `db:"name"`
	Email    string         `db:"email"`
	Identity string         `db:"identity"`
	Active   bool           `db:"active"`
	Groups   pq.StringArray `db:"groups"`
	SignedIn *time.Time     `db:"last_sign_in"`
}

func (r personRow) toDomain(mappings []org.Mapping) org.Person {
	return org.Person{ID: r.ID, Issuer: r.Issuer, Subject: r.Subject, Name: r.Name, Email: r.Email, Identity: r.Identity,
		Active: r.Active, Groups: r.Groups, Roles: org.Resolve(r.Groups, mappings), LastSignIn: utc(r.SignedIn)}
}

const selectPerson = `SELECT p.id, p.issuer, p.subject, p.name, p.email, p.identity, p.active, p.groups, p.last_sign_in FROM person p `

// Person by id, with the roles in force.
func (r reader) Person(ctx context.Context, id string) (org.Person, error) {
	if !isID(id) {
		return org.Person{}, fault.New(fault.NotFound, noPerson)
	}
	return r.person(ctx, selectPerson+`WHERE p.id = $1`, id)
}

// PersonBySubject finds who an identity provider means.
func (r reader) PersonBySubject(ctx context.Context, issuer, subject string) (org.Person, error) {
	return r.person(ctx, selectPerson+`WHERE p.issuer = $1 AND p.subject = $2`, issuer, subject)
}

func (r reader) person(ctx context.Context, query string, args ...any) (org.Person, error) {
	var row personRow
	if err := r.get(ctx, &row, noPerson, query, args...); err != nil {
		return org.Person{}, fmt.Errorf("load person: %w", err)
	}
	people, err := r.withRoles(ctx, []personRow{row})
	if err != nil {
		return org.Person{}, err
	}
	return people[0], nil
}

// PeopleHolding returns active people who hold role anywhere.
func (r reader) PeopleHolding(ctx context.Context, role org.Role) ([]org.Person, error) {
	return r.people(ctx, selectPerson+`
		WHERE p.active AND p.groups && ARRAY(SELECT m.group_name FROM role_mapping m WHERE m.role = $1)
		ORDER BY p.name, p.id`, role)
}

// PeopleHoldingAt returns active people who hold role at one of places: in an
// organisation of 500 teams a page wants the managers of one.
func (r reader) PeopleHoldingAt(ctx context.Context, role org.Role, places []org.Place) ([]org.Person, error) {
	return r.people(ctx, selectPerson+holdingAt+`ORDER BY p.name, p.id`, role, org.Everywhere, pq.Array(scopesOf(places)))
}

// PeopleHoldingNamed are the first of them by name, for a list to choose from.
func (r reader) PeopleHoldingNamed(ctx context.Context, role org.Role, places []org.Place, search, exceptIdentity string, limit int) ([]org.Person, error) {
	return r.people(ctx, selectPerson+holdingAt+`AND ($4 = '' OR p.name ILIKE $4) AND p.identity <> $5 ORDER BY p.name, p.id LIMIT $6`,
		role, org.Everywhere, pq.Array(scopesOf(places)), contains(search), afterID(exceptIdentity), limit)
}

const holdingAt = `
	WHERE p.active AND p.groups && ARRAY(
		SELECT m.group_name FROM role_mapping m
		WHERE m.role = $1 AND (m.scope_kind = $2 OR m.scope_kind || ' ' || m.scope_id = ANY($3))) `

// scopesOf are the scopes that hold at one of places, each as kind, a space and id.
func scopesOf(places []org.Place) []string {
	var scopes []string
	seen := map[string]bool{}
	for _, at := range places {
		for kind, id := range map[org.ScopeKind]string{org.UnitScope: at.UnitID, org.TeamScope: at.TeamID, org.ClusterScope: at.ClusterID, org.PoolScope: at.PoolID} {
			if scope := string(kind) + " " + id; id != "" && !seen[scope] {
				seen[scope] = true
				scopes = append(scopes, scope)
			}
		}
	}
	return scopes
}

// NamesOfSubjects returns the names of active people by their subject.
func (r reader) NamesOfSubjects(ctx context.Context, subjects []string) (map[string]string, error) {
	var rows []struct {
		Subject string `db:"subject"`
		Name    string `db:"name"`
	}
	err := r.all(ctx, &rows, `SELECT p.subject, p.name FROM person p WHERE p.active AND p.subject = ANY($1) ORDER BY p.last_sign_in NULLS FIRST, p.id`, pq.Array(subjects))
	if err != nil {
		return nil, fmt.Errorf("load names: %w", err)
	}
	out := make(map[string]string, len(rows))
	for _, p := range rows {
		out[p.Subject] = p.Name
	}
	return out, nil
}

// People pages through everybody by name.
func (r reader) People(ctx context.Context, q portal.PeopleQuery) ([]org.Person, error) {
	return r.people(ctx, selectPerson+`
		WHERE ($1 = '' OR p.name ILIKE $1 OR p.email ILIKE $1 OR p.subject ILIKE $1)
		  AND ($2 = '' OR (p.name, p.id) > ($2, $3::uuid))
		ORDER BY p.name, p.id LIMIT $4`, contains(q.Search), q.AfterName, afterID(q.AfterID), pageSize(q.Limit))
}

// PeopleByID returns those of ids that exist.
func (r reader) PeopleByID(ctx context.Context, ids []string) (map[string]org.Person, error) {
	valid := make([]string, 0, len(ids))
	for _, id := range ids {
		if isID(id) {
			valid = append(valid, id)
		}
	}
	out := make(map[string]org.Person, len(valid))
	if len(valid) == 0 {
		return out, nil
	}
	people, err := r.people(ctx, selectPerson+`WHERE p.id = ANY($1::uuid[])`, pq.Array(valid))
	for _, p := range people {
		out[p.ID] = p
	}
	return out, err
}

func (r reader) people(ctx context.Context, query string, args ...any) ([]org.Person, error) {
	var rows []personRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load people: %w", err)
	}
	return r.withRoles(ctx, rows)
}

// withRoles resolves roles from the mappings of just the groups that occur.
func (r reader) withRoles(ctx context.Context, rows []personRow) ([]org.Person, error) {
	var groups []string
	seen := map[string]bool{}
	for _, row := range rows {
		for _, g := range row.Groups {
			if !seen[g] {
				seen[g] = true
				groups = append(groups, g)
			}
		}
	}
	var found []mappingRow
	if len(groups) > 0 {
		err := r.all(ctx, &found, selectMapping+`WHERE m.group_name = ANY($1) ORDER BY m.group_name, m.role, m.scope_kind, m.scope_id`, pq.Array(groups))
		if err != nil {
			return nil, fmt.Errorf("load role mappings: %w", err)
		}
	}
	byGroup := map[string][]org.Mapping{}
	for _, m := range found {
		byGroup[m.Group] = append(byGroup[m.Group], m.toDomain())
	}
	people := make([]org.Person, 0, len(rows))
	for _, row := range rows {
		var own []org.Mapping
		for _, g := range row.Groups {
			own = append(own, byGroup[g]...)
		}
		people = append(people, row.toDomain(own))
	}
	return people, nil
}

// contains is the ILIKE pattern for texts with s in them; "" matches all.
func contains(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return ""
	}
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s) + "%"
}

func afterID(id string) any {
	if !isID(id) {
		return "00000000-0000-0000-0000-000000000000"
	}
	return id
}

// pageSize of a list: 50 unless asked, 200 at most.
func pageSize(limit int) int {
	if limit <= 0 {
		return 50
	}
	return min(limit, 200)
}
