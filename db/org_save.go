package db

import (
	"context"
	"fmt"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// SaveOrg makes the organisation what o says. Rows that o no longer names stay:
// requests and the record refer to them. Role mappings alone are replaced as a
// whole, since one that was taken out of the file must give no authority.
func (t *tx) SaveOrg(ctx context.Context, o portal.Organisation, digest, by string) (int64, error) {
	// Two imports at once would mix their mappings.
	if _, err := t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('organisation', 0))`); err != nil {
		return 0, fmt.Errorf("save organisation: %w", err)
	}
	var version int64
	err := t.get(ctx, &version, "", `INSERT INTO org_version (digest, imported_by) VALUES ($1, $2) RETURNING version`, digest, by)
	if err != nil {
		return 0, fmt.Errorf("save organisation: %w", err)
	}
	for _, part := range []struct {
		name string
		save func(context.Context, portal.Organisation) error
	}{
		{"units", t.saveUnits}, {"teams", t.saveTeams}, {"projects", t.saveProjects}, {"clusters", t.saveClusters},
		{"pools", t.savePools}, {"people", t.savePeople}, {"route", t.saveRoute}, {"matching", t.saveMatching},
	} {
		if err := part.save(ctx, o); err != nil {
			return 0, fmt.Errorf("save organisation: %s: %w", part.name, err)
		}
	}
	if err := t.saveMappings(ctx, o.Mappings, version); err != nil {
		return 0, fmt.Errorf("save organisation: roles: %w", err)
	}
	return version, nil
}

type unitRecord struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (t *tx) saveUnits(ctx context.Context, o portal.Organisation) error {
	rows := make([]unitRecord, 0, len(o.Units))
	for _, u := range o.Units {
		rows = append(rows, unitRecord(u))
	}
	_, err := t.exec(ctx, `
		INSERT INTO unit (id, name) SELECT x.id, x.name FROM jsonb_to_recordset($1) AS x (id text, name text)
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name`, jsonOf(rows))
	return err
}

type teamRecord struct {
	ID   string  `json:"id"`
	Name string  `json:"name"`
	Unit *string `json:"unit"`
}

func (t *tx) saveTeams(ctx context.Context, o portal.Organisation) error {
	rows := make([]teamRecord, 0, len(o.Teams))
	for _, m := range o.Teams {
		row := teamRecord{ID: m.ID, Name: m.Name}
		if m.UnitID != "" {
			row.Unit = &m.UnitID
		}
		rows = append(rows, row)
	}
	_, err := t.exec(ctx, `
		INSERT INTO team (id, name, unit_id) SELECT x.id, x.name, x.unit FROM jsonb_to_recordset($1) AS x (id text, name text, unit text)
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, unit_id = EXCLUDED.unit_id`, jsonOf(rows))
	return err
}

type projectRecord struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Team         string   `json:"team"`
	Owner        string   `json:"owner"`
	CostCentre   string   `json:"cost_centre"`
	Environments []string `json:"environments"`
	DataClasses  []string `json:"data_classes"`
}

func (t *tx) saveProjects(ctx context.Context, o portal.Organisation) error {
	rows := make([]projectRecord, 0, len(o.Projects))
	for _, p := range o.Projects {
		rows = append(rows, projectRecord{p.ID, p.Name, p.TeamID, p.Owner, p.CostCentre, notNil(p.Environments), notNil(p.DataClasses)})
	}
	_, err := t.exec(ctx, `
		INSERT INTO project (id, name, team_id, owner_subject, cost_centre, environments, data_classes)
		SELECT x.id, x.name, x.team, x.owner, x.cost_centre, x.environments, x.data_classes
		FROM jsonb_to_recordset($1) AS x (id text, name text, team text, owner text, cost_centre text, environments text[], data_classes text[])
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, team_id = EXCLUDED.team_id, owner_subject = EXCLUDED.owner_subject,
			cost_centre = EXCLUDED.cost_centre, environments = EXCLUDED.environments, data_classes = EXCLUDED.data_classes`, jsonOf(rows))
	return err
}

type clusterRecord struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	RootCohort string `json:"root_cohort"`
}

// saveClusters names clusters; how to reach one and what may be written there is
// never part of an organisation file.
func (t *tx) saveClusters(ctx context.Context, o portal.Organisation) error {
	rows := make([]clusterRecord, 0, len(o.Clusters))
	for _, c := range o.Clusters {
		rows = append(rows, clusterRecord{c.ID, c.Name, string(c.Kind), c.RootCohort})
	}
	_, err := t.exec(ctx, `
		INSERT INTO cluster (id, name, kind, root_cohort)
		SELECT x.id, x.name, x.kind, x.root_cohort FROM jsonb_to_recordset($1) AS x (id text, name text, kind text, root_cohort text)
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, kind = EXCLUDED.kind, root_cohort = EXCLUDED.root_cohort`, jsonOf(rows))
	return err
}

func (t *tx) savePools(ctx context.Context, o portal.Organisation) error {
	return t.upsertPools(ctx, o.Pools)
}

type orgPersonRecord struct {
	Issuer   string   `json:"issuer"`
	Subject  string   `json:"subject"`
	Name     string   `json:"name"`
	Email    string   `json:"email"`
	Groups   []string `json:"groups"`
	LinkedTo string   `json:"linked_to"`
}

// savePeople announces people. Whoever signed in already has the groups that the
// provider said, and keeps them.
func (t *tx) savePeople(ctx context.Context, o portal.Organisation) error {
	rows := make([]orgPersonRecord, 0, len(o.People))
	linked := 0
	for _, p := range o.People {
		if p.Issuer == "" || p.Subject == "" {
			return fault.New(fault.Invalid, "A person needs an issuer and a subject.")
		}
		if p.LinkedTo != "" {
			linked++
		}
		rows = append(rows, orgPersonRecord{p.Issuer, p.Subject, p.Name, p.Email, notNil(p.Groups), p.LinkedTo})
	}
	_, err := t.exec(ctx, `
		INSERT INTO person AS p (issuer, subject, name, email, groups)
		SELECT x.issuer, x.subject, x.name, x.email, x.groups
		FROM jsonb_to_recordset($1) AS x (issuer text, subject text, name text, email text, groups text[])
		ON CONFLICT (issuer, subject) DO UPDATE SET name = EXCLUDED.name, email = EXCLUDED.email,
			groups = CASE WHEN p.last_sign_in IS NULL THEN EXCLUDED.groups ELSE p.groups END`, jsonOf(rows))
	if err != nil || linked == 0 {
		return err
	}
	// Linked accounts take the identity of the one they name, of the same provider.
	n, err := t.exec(ctx, `
		UPDATE person AS p SET identity = target.identity
		FROM jsonb_to_recordset($1) AS x (issuer text, subject text, linked_to text)
		JOIN person target ON target.issuer = x.issuer AND target.subject = x.linked_to
		WHERE x.linked_to <> '' AND p.issuer = x.issuer AND p.subject = x.subject`, jsonOf(rows))
	if err == nil && n != int64(linked) {
		err = fault.New(fault.Invalid, "linked_to names a subject that is not among the people.")
	}
	return err
}

// saveRoute keeps a new version only when the stages differ from those in force.
func (t *tx) saveRoute(ctx context.Context, o portal.Organisation) error {
	stages := o.Route
	if len(stages) == 0 {
		stages = approval.Default
	}
	_, err := t.exec(ctx, `
		INSERT INTO route (stages) SELECT $1::jsonb
		WHERE $1::jsonb IS DISTINCT FROM (SELECT r.stages FROM route r ORDER BY r.version DESC LIMIT 1)`, jsonOf(stages))
	return err
}

type mappingRecord struct {
	Group string `json:"group"`
	Role  string `json:"role"`
	Kind  string `json:"kind"`
	ID    string `json:"id"`
}

func (t *tx) saveMappings(ctx context.Context, mappings []org.Mapping, version int64) error {
	rows := make([]mappingRecord, 0, len(mappings))
	for _, m := range mappings {
		rows = append(rows, mappingRecord{m.Group, string(m.Role), string(m.Scope.Kind), m.Scope.ID})
	}
	// Insert first: a mapping that stays keeps the version that made it.
	_, err := t.exec(ctx, `
		INSERT INTO role_mapping (group_name, role, scope_kind, scope_id, version)
		SELECT DISTINCT x."group", x.role, x.kind, x.id, $2::bigint
		FROM jsonb_to_recordset($1) AS x ("group" text, role text, kind text, id text)
		ON CONFLICT DO NOTHING`, jsonOf(rows), version)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `
		DELETE FROM role_mapping m WHERE NOT EXISTS (
			SELECT FROM jsonb_to_recordset($1) AS x ("group" text, role text, kind text, id text)
			WHERE x."group" = m.group_name AND x.role = m.role AND x.kind = m.scope_kind AND x.id = m.scope_id)`, jsonOf(rows))
	return err
}
