package portal

import (
	"context"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/finding"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

// FindingUse is what people do with findings: Portal implements it.
type FindingUse interface {
	// ListFindings pages through findings, worst and newest first.
	ListFindings(ctx context.Context, actor Actor, q FindingQuery, mine bool) (FindingPage, error)
	// CountOwnFindings counts what is open and actor's to resolve, up to limit.
	CountOwnFindings(ctx context.Context, actor Actor, limit int) (int, error)
	// ProjectFindings are those open on a project that actor may see.
	ProjectFindings(ctx context.Context, actor Actor, projectID string) ([]FindingRow, error)
	ViewFinding(ctx context.Context, actor Actor, id string) (FindingDetail, error)
	// PutBackFinding plans a change that writes what is granted over what is live.
	PutBackFinding(ctx context.Context, actor Actor, in PutBackInput) (Change, error)
	// AcceptFinding submits a request for what is live.
	AcceptFinding(ctx context.Context, actor Actor, in AcceptFindingInput) (RequestRef, error)
	// SetPutsBack says whether a cluster puts drift back by itself.
	SetPutsBack(ctx context.Context, actor Actor, in SetPutsBackInput) (Cluster, error)
	// ViewPutsBack is a cluster's policy on drift, and whether actor may change it.
	ViewPutsBack(ctx context.Context, actor Actor, clusterID string) (on, may bool, err error)
}

var _ FindingUse = (*Portal)(nil)

// FindingPage is one page of findings.
type FindingPage struct {
	Rows  []FindingRow
	More  bool
	Count int // at most CountLimit
	Over  bool
}

// FindingDetail is the page of one finding.
type FindingDetail struct {
	Row    FindingRow
	Digest string // FindingDigest, for the forms
	Events []FindingEvent
	ByName string // who puts it back or asks to accept it
	Owners []PersonName
	// Why not, in a sentence; "" = actor may.
	NoPutBack, NoAccept string
	Line                request.Line // what accepting asks for
	DataClasses         []string     // of the project
	Change              *Change      // that puts it back
	PutsBack            bool         // by the cluster's policy
	Cluster             Cluster
}

// seesFindings: findings are the business of those who see clusters.
func seesFindings(actor Actor) error {
	if actor.System != "" || actor.Person.SeesEverything() {
		return nil
	}
	return fault.New(fault.Forbidden, "Findings are for capacity managers, platform admins, compliance and auditors. A project's page shows its own.")
}

// ownedBy are the owners that actor stands for.
func ownedBy(actor Actor) []FindingOwner {
	out := []FindingOwner{}
	if !actor.Person.Active {
		return out
	}
	for _, a := range actor.Person.Roles {
		o := FindingOwner{Role: finding.Owner(a.Role)}
		if a.Role != org.CapacityManager && a.Role != org.PlatformAdmin {
			continue
		}
		switch a.Scope.Kind {
		case org.Everywhere, "":
			o.Everywhere = true
		case org.ClusterScope:
			o.ClusterID = a.Scope.ID
		case org.PoolScope:
			o.PoolID = a.Scope.ID
		default:
			continue
		}
		out = append(out, o)
	}
	return out
}

// ListFindings pages through findings, worst first, then newest.
func (p *Portal) ListFindings(ctx context.Context, actor Actor, q FindingQuery, mine bool) (FindingPage, error) {
	if err := seesFindings(actor); err != nil {
		return FindingPage{}, err
	}
	if mine {
		if q.Owned = ownedBy(actor); len(q.Owned) == 0 {
			return FindingPage{}, nil
		}
	}
	if q.Limit <= 0 || q.Limit > 199 {
		q.Limit = pageSize
	}
	shown := q.Limit
	q.Limit++
	rows, err := p.Store.Findings(ctx, q)
	if err != nil {
		return FindingPage{}, err
	}
	page := FindingPage{Rows: rows[:min(shown, len(rows))], More: len(rows) > shown}
	q.AfterID = ""
	n, err := p.Store.CountFindings(ctx, q, CountLimit+1)
	page.Count, page.Over = min(n, CountLimit), n > CountLimit
	return page, err
}

// CountOwnFindings counts what is open and actor's to resolve, up to limit.
func (p *Portal) CountOwnFindings(ctx context.Context, actor Actor, limit int) (int, error) {
	own := ownedBy(actor)
	if len(own) == 0 {
		return 0, nil
	}
	return p.Store.CountFindings(ctx, FindingQuery{State: finding.Open, Owned: own}, limit)
}

// ProjectFindings are those open on a project that actor may see.
func (p *Portal) ProjectFindings(ctx context.Context, actor Actor, projectID string) ([]FindingRow, error) {
	if _, err := p.ViewProjectName(ctx, actor, projectID); err != nil {
		return nil, err
	}
	return p.Store.Findings(ctx, FindingQuery{State: finding.Open, ProjectID: projectID, Limit: pageSize})
}

// ViewProjectName is the project, for somebody who may see it.
func (p *Portal) ViewProjectName(ctx context.Context, actor Actor, projectID string) (org.Project, error) {
	project, err := p.Store.Project(ctx, projectID)
	if err != nil {
		return project, err
	}
	if teams := teamsOf(actor); teams != nil && !slices.Contains(teams, project.TeamID) {
		return org.Project{}, fault.New(fault.NotFound, "There is no such project that you may see.")
	}
	return project, nil
}

// ViewFinding is the page of one finding.
func (p *Portal) ViewFinding(ctx context.Context, actor Actor, id string) (FindingDetail, error) {
	if err := seesFindings(actor); err != nil {
		return FindingDetail{}, err
	}
	var d FindingDetail
	var err error
	if d.Row, err = p.Store.Finding(ctx, id); err != nil {
		return d, err
	}
	f := d.Row.Finding
	d.Digest = FindingDigest(f)
	if d.Events, err = p.Store.FindingEvents(ctx, id); err != nil {
		return d, err
	}
	if d.Cluster, err = p.Store.Cluster(ctx, f.ClusterID); err != nil {
		return d, err
	}
	if d.PutsBack, err = p.Store.PutsBack(ctx, f.ClusterID); err != nil {
		return d, err
	}
	owners, err := p.Store.PeopleHoldingAt(ctx, org.Role(f.Owner), []org.Place{{ClusterID: f.ClusterID, PoolID: f.PoolID}})
	if err != nil {
		return d, err
	}
	for _, who := range owners {
		if who.Active {
			d.Owners = append(d.Owners, PersonName{ID: who.ID, Name: who.Name})
		}
	}
	switch f.By {
	case "":
	case jobActor(policyActor).System:
		d.ByName = "the cluster's policy"
	default:
		people, err := p.Store.PeopleByID(ctx, []string{f.By})
		if err != nil {
			return d, err
		}
		d.ByName = people[f.By].Name
	}
	if f.ChangeID != "" {
		c, err := p.Store.Change(ctx, f.ChangeID)
		if err != nil {
			return d, err
		}
		d.Change = &c
	}
	if d.Row.ProjectID != "" {
		project, err := p.Store.Project(ctx, d.Row.ProjectID)
		if err != nil {
			return d, err
		}
		d.DataClasses = project.DataClasses
	}
	if d.NoPutBack, err = why(second(p.mayPutBack(ctx, p.Store, actor, f))); err != nil {
		return d, err
	}
	line, _, err := p.mayAccept(ctx, p.Store, actor, f)
	d.Line = line
	d.NoAccept, err = why(err)
	return d, err
}

func second(_ org.Assignment, err error) error { return err }

// why is the sentence of a refusal; an error of the portal's own stays one.
func why(err error) (string, error) {
	if f := fault.As(err); f != nil && (f.Kind == fault.Forbidden || f.Kind == fault.Conflict) {
		return f.Public, nil
	}
	return "", err
}

// ViewPutsBack is a cluster's policy on drift, and whether actor may change it.
func (p *Portal) ViewPutsBack(ctx context.Context, actor Actor, clusterID string) (on, may bool, err error) {
	if err := seesClusters(actor); err != nil {
		return false, false, err
	}
	_, may = actor.Person.Holding(org.CapacityManager, org.Place{ClusterID: clusterID})
	on, err = p.Store.PutsBack(ctx, clusterID)
	return on, may && actor.Person.Active, err
}
