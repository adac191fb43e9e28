package portal

import (
	"cmp"
	"context"
	"math"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// ListProjects pages through the projects that actor may see, by name.
func (p *Portal) ListProjects(ctx context.Context, actor Actor, q ProjectQuery) (ProjectPage, error) {
	if q.Limit <= 0 || q.Limit > 200 {
		q.Limit = 50
	}
	page := ProjectPage{}
	teams := teamsOf(actor)
	names, all, err := teamNames(ctx, p.Store)
	if err != nil {
		return page, err
	}
	for _, t := range all {
		if teams == nil || slices.Contains(teams, t.ID) {
			page.Teams = append(page.Teams, t)
		}
	}
	shown := q.Limit
	q.Limit++
	projects, err := p.Store.ProjectList(ctx, teams, q)
	if err != nil {
		return page, err
	}
	if len(projects) > shown {
		projects = projects[:shown]
		last := projects[len(projects)-1]
		page.NextName, page.NextID = last.Name, last.ID
	}
	load := lineLoad{}
	if !q.Short && len(projects) > 0 {
		ids := make([]string, 0, len(projects))
		for _, project := range projects {
			ids = append(ids, project.ID)
		}
		if load, err = p.loadLines(ctx, BindingQuery{ProjectIDs: ids}); err != nil {
			return page, err
		}
	}
	for _, project := range projects {
		page.Rows = append(page.Rows, load.row(project, names))
	}
	if q.Short {
		return page, nil
	}
	return page, p.nameOwners(ctx, page.Rows)
}

func (l lineLoad) row(project org.Project, teams map[string]string) ProjectRow {
	row := ProjectRow{Project: project, TeamName: teams[project.TeamID], OwnerName: project.Owner}
	row.Lines = l.of(project, "")
	for _, line := range row.Lines {
		i := slices.IndexFunc(l.pools, func(s PoolState) bool { return s.ID == line.PoolID })
		if i < 0 || !line.Granted.Known || l.pools[i].HourlyCents <= 0 || l.pools[i].Currency == "" {
			continue
		}
		month := line.Granted.Amount.Mul(l.pools[i].HourlyCents).Mul(hoursAMonth)
		if month.Cmp(fleet.Count(math.MaxInt64)) < 0 {
			row.Month = addMoney(row.Month, Money{Cents: month.Int64(), Currency: l.pools[i].Currency})
		}
	}
	return row
}

// nameOwners writes the names of owners over their subjects, where they are known.
func (p *Portal) nameOwners(ctx context.Context, rows []ProjectRow) error {
	if len(rows) == 0 {
		return nil
	}
	subjects := make([]string, 0, len(rows))
	for _, row := range rows {
		subjects = append(subjects, row.Project.Owner)
	}
	names, err := p.Store.NamesOfSubjects(ctx, subjects)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if name := names[row.Project.Owner]; name != "" {
			rows[i].OwnerName = name
		}
	}
	return nil
}

// ViewProject is the page of one project. To those who may not see it, it is not there.
func (p *Portal) ViewProject(ctx context.Context, actor Actor, id string, r Range) (ProjectDetail, error) {
	now := p.Now()
	d := ProjectDetail{From: now.Add(-r.Length()), To: now, At: now, Pools: map[string]PoolState{}}
	project, err := p.Store.Project(ctx, id)
	if err != nil {
		return d, err
	}
	if teams := teamsOf(actor); teams != nil && !slices.Contains(teams, project.TeamID) {
		return d, fault.New(fault.NotFound, "There is no such project, or it belongs to a team that is not yours.")
	}
	team, err := p.Store.Team(ctx, project.TeamID)
	if err != nil {
		return d, err
	}
	load, err := p.loadLines(ctx, BindingQuery{ProjectID: id})
	if err != nil {
		return d, err
	}
	for _, s := range load.pools {
		d.Pools[s.ID] = s
	}
	rows := []ProjectRow{load.row(project, load.teams)}
	if err := p.nameOwners(ctx, rows); err != nil {
		return d, err
	}
	d.Row = rows[0]
	at := org.Place{UnitID: team.UnitID, TeamID: team.ID}
	_, asks := actor.Person.Holding(org.Requester, at)
	_, leads := actor.Person.Holding(org.TeamManager, at)
	d.MayAsk = asks || leads
	if d.Members, err = p.members(ctx, project, at); err != nil {
		return d, err
	}
	if d.Requests, err = p.Store.RequestList(ctx, RequestQuery{ProjectID: id, Teams: teamsOf(actor), Limit: 10}); err != nil {
		return d, err
	}
	for _, environment := range project.Environments {
		grants, err := p.Store.GrantsOfPlace(ctx, id, environment)
		if err != nil {
			return d, err
		}
		d.Grants = append(d.Grants, grants...)
	}
	slices.SortStableFunc(d.Grants, func(a, b GrantRow) int { return cmp.Compare(b.Seq, a.Seq) })
	return d, p.projectUse(ctx, &d, load)
}

// projectUse adds the charts and what waits.
func (p *Portal) projectUse(ctx context.Context, d *ProjectDetail, load lineLoad) error {
	for _, line := range d.Row.Lines {
		samples, err := p.Store.BindingSamples(ctx, line.Usage.Binding.ID, line.PoolID, d.From, d.To)
		if err != nil {
			return err
		}
		d.Charts = append(d.Charts, PlaceSamples{Environment: line.Environment, PoolID: line.PoolID, PoolName: line.PoolName, Unit: line.Unit, Samples: samples})
	}
	for _, b := range load.bindings[d.Row.Project.ID] {
		if b.Home() == "" {
			continue
		}
		all, err := p.Store.Workloads(ctx, b.ClusterID, b.Home(), pendingShown)
		if err != nil {
			return err
		}
		for _, w := range all {
			if w.State == fleet.Pending {
				d.Pending = append(d.Pending, ClusterWorkload{Workload: w, ClusterID: b.ClusterID, ClusterName: load.clusterName(b.ClusterID)})
			}
		}
	}
	slices.SortStableFunc(d.Pending, func(a, b ClusterWorkload) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return nil
}

func (l lineLoad) clusterName(id string) string {
	for _, s := range l.pools {
		if s.ClusterID == id {
			return s.ClusterName
		}
	}
	return id
}

// members are those whose roles hold on the project's team itself, and its owner.
func (p *Portal) members(ctx context.Context, project org.Project, at org.Place) ([]ProjectMember, error) {
	var out []ProjectMember
	for _, role := range []org.Role{org.Requester, org.TeamManager} {
		people, err := p.Store.PeopleHoldingAt(ctx, role, []org.Place{at})
		if err != nil {
			return nil, err
		}
		for _, x := range people {
			a, ok := x.Holding(role, at)
			if !ok {
				continue
			}
			i := slices.IndexFunc(out, func(m ProjectMember) bool { return m.Person.ID == x.ID })
			if i < 0 {
				out = append(out, ProjectMember{Person: PersonName{x.ID, x.Name}, Owner: x.Subject == project.Owner})
				i = len(out) - 1
			}
			out[i].Roles = append(out[i].Roles, a)
		}
	}
	slices.SortStableFunc(out, func(a, b ProjectMember) int { return cmp.Compare(a.Person.Name, b.Person.Name) })
	return out, nil
}
