package db

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"quartermaster/internal/approval"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

type mappingRow struct {
	Group     string        `db:"group_name"`
	Role      org.Role      `db:"role"`
	ScopeKind org.ScopeKind `db:"scope_kind"`
	ScopeID   string        `db:"scope_id"`
}

func (m mappingRow) toDomain() org.Mapping {
	return org.Mapping{Group: m.Group, Role: m.Role, Scope: org.Scope{Kind: m.ScopeKind, ID: m.ScopeID}}
}

const selectMapping = `SELECT m.group_name, m.role, m.scope_kind, m.scope_id FROM role_mapping m `

// Mappings in force, and the version of the organisation that made them.
func (r reader) Mappings(ctx context.Context) ([]org.Mapping, int64, error) {
	var version int64
	if err := r.get(ctx, &version, "", `SELECT coalesce(max(version), 0) FROM org_version`); err != nil {
		return nil, 0, fmt.Errorf("load organisation version: %w", err)
	}
	var rows []mappingRow
	if err := r.all(ctx, &rows, selectMapping+`ORDER BY m.group_name, m.role, m.scope_kind, m.scope_id`); err != nil {
		return nil, 0, fmt.Errorf("load role mappings: %w", err)
	}
	out := make([]org.Mapping, 0, len(rows))
	for _, m := range rows {
		out = append(out, m.toDomain())
	}
	return out, version, nil
}

// RouteInForce returns the newest stage templates. Before any import they are the
// built-in route, version 0.
func (r reader) RouteInForce(ctx context.Context) ([]approval.Template, int, error) {
	var rows []struct {
		Version int                           `db:"version"`
		Stages  document[[]approval.Template] `db:"stages"`
	}
	if err := r.all(ctx, &rows, `SELECT version, stages FROM route ORDER BY version DESC LIMIT 1`); err != nil {
		return nil, 0, fmt.Errorf("load route: %w", err)
	}
	if len(rows) == 0 {
		return approval.Default, 0, nil
	}
	return *rows[0].Stages.Doc, rows[0].Version, nil
}

// Units by name.
func (r reader) Units(ctx context.Context) ([]org.Unit, error) {
	var rows []struct {
		ID   string `db:"id"`
		Name string `db:"name"`
	}
	if err := r.all(ctx, &rows, `SELECT id, name FROM unit ORDER BY name, id`); err != nil {
		return nil, fmt.Errorf("load units: %w", err)
	}
	out := make([]org.Unit, 0, len(rows))
	for _, u := range rows {
		out = append(out, org.Unit(u))
	}
	return out, nil
}

type teamRow struct {
	ID     string `db:"id"`
	Name   string `db:"name"`
	UnitID string `db:"unit_id"`
}

const selectTeam = `SELECT t.id, t.name, coalesce(t.unit_id, '') AS unit_id FROM team t `

// Teams by name.
func (r reader) Teams(ctx context.Context) ([]org.Team, error) {
	var rows []teamRow
	if err := r.all(ctx, &rows, selectTeam+`ORDER BY t.name, t.id`); err != nil {
		return nil, fmt.Errorf("load teams: %w", err)
	}
	out := make([]org.Team, 0, len(rows))
	for _, t := range rows {
		out = append(out, org.Team(t))
	}
	return out, nil
}

// Team by id.
func (r reader) Team(ctx context.Context, id string) (org.Team, error) {
	var row teamRow
	if err := r.get(ctx, &row, "There is no such team.", selectTeam+`WHERE t.id = $1`, id); err != nil {
		return org.Team{}, fmt.Errorf("load team: %w", err)
	}
	return org.Team(row), nil
}

type projectRow struct {
	ID           string         `db:"id"`
	Name         string         `db:"name"`
	TeamID       string         `db:"team_id"`
	Owner        string         `db:"owner_subject"`
	CostCentre   string         `db:"cost_centre"`
	Environments pq.StringArray `db:"environments"`
	DataClasses  pq.StringArray `db:"data_classes"`
}

func (p projectRow) toDomain() org.Project {
	return org.Project{ID: p.ID, Name: p.Name, TeamID: p.TeamID, Owner: p.Owner, CostCentre: p.CostCentre,
		Environments: p.Environments, DataClasses: p.DataClasses}
}

const selectProject = `SELECT p.id, p.name, p.team_id, p.owner_subject, p.cost_centre, p.environments, p.data_classes FROM project p `

// Projects of the given teams by name; teams nil = all.
func (r reader) Projects(ctx context.Context, teams []string) ([]org.Project, error) {
	return r.projects(ctx, selectProject+`WHERE ($1::text[] IS NULL OR p.team_id = ANY($1)) ORDER BY p.name, p.id`, pq.Array(teams))
}

func (r reader) projects(ctx context.Context, query string, args ...any) ([]org.Project, error) {
	var rows []projectRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load projects: %w", err)
	}
	out := make([]org.Project, 0, len(rows))
	for _, p := range rows {
		out = append(out, p.toDomain())
	}
	return out, nil
}

// ProjectsByID returns those of ids that exist.
func (r reader) ProjectsByID(ctx context.Context, ids []string) (map[string]org.Project, error) {
	rows, err := r.projects(ctx, selectProject+`WHERE p.id = ANY($1)`, pq.Array(ids))
	out := make(map[string]org.Project, len(rows))
	for _, p := range rows {
		out[p.ID] = p
	}
	return out, err
}

// ProjectList is a page by name and id, both in the order of their bytes, which
// is the same in every locale.
func (r reader) ProjectList(ctx context.Context, teams []string, q portal.ProjectQuery) ([]org.Project, error) {
	return r.projects(ctx, selectProject+`
		WHERE ($1::text[] IS NULL OR p.team_id = ANY($1)) AND ($2 = '' OR p.team_id = $2)
		  AND ($3 = '' OR p.id ILIKE $3 OR p.name ILIKE $3 OR p.owner_subject ILIKE $3 OR p.cost_centre ILIKE $3)
		  AND ($4 = '' OR (p.name COLLATE "C", p.id COLLATE "C") > ($4, $5))
		ORDER BY p.name COLLATE "C", p.id COLLATE "C" LIMIT $6`,
		pq.Array(teams), q.TeamID, contains(q.Search), q.AfterName, q.AfterID, q.Limit)
}

// DataClassesOf the projects of teams, in order.
func (r reader) DataClassesOf(ctx context.Context, teams []string) ([]string, error) {
	var out []string
	if err := r.all(ctx, &out, `SELECT DISTINCT c.name FROM project p, unnest(p.data_classes) AS c (name) WHERE p.team_id = ANY($1) ORDER BY c.name`, pq.Array(teams)); err != nil {
		return nil, fmt.Errorf("load data classes: %w", err)
	}
	return out, nil
}

// Project by id.
func (r reader) Project(ctx context.Context, id string) (org.Project, error) {
	var row projectRow
	if err := r.get(ctx, &row, "There is no such project.", selectProject+`WHERE p.id = $1`, id); err != nil {
		return org.Project{}, fmt.Errorf("load project: %w", err)
	}
	return row.toDomain(), nil
}
