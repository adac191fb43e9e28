package handlers

import (
	"net/http"
	"time"

	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/web"
)

// How much of each part Home shows before it points to the whole list.
const (
	homeWaiting  = 5
	homeMine     = 10
	homeProjects = 6
	endsWithin   = 14 * 24 * time.Hour
)

// moving are the states of a request that is not over.
var moving = []request.State{request.Draft, request.Submitted, request.InReview, request.Returned, request.Approved, request.Scheduled, request.Applying}

// home answers what waits for this person, what of theirs is moving and what ends soon.
func (s *server) home(w http.ResponseWriter, r *http.Request) error {
	a := actorOf(r)
	v := web.HomeView{CanAsk: asks.includes(a.Person), Decides: decides.includes(a.Person), Auditor: a.Person.Has(org.Auditor)}
	f := s.frame(r, "Home")
	if v.Decides {
		page, err := s.Portal.ListApprovals(r.Context(), a, portal.RequestQuery{Limit: homeWaiting, Sort: "oldest"})
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			v.Waiting = append(v.Waiting, approvalRowOf(row))
		}
		v.WaitMore = max(0, waitingIn(f)-len(v.Waiting))
	}
	if v.CanAsk {
		page, err := s.Portal.ListRequests(r.Context(), a, portal.RequestQuery{RequesterID: a.Person.ID, States: moving, Limit: homeMine})
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			v.Mine = append(v.Mine, requestRowOf(row))
		}
	}
	var err error
	if v.Findings, err = s.ownFindings(r); err != nil {
		return err
	}
	_, all := a.Person.Teams()
	projects, err := s.Portal.ListProjects(r.Context(), a, portal.ProjectQuery{Limit: homeProjects, Short: all})
	if err != nil {
		return err
	}
	if !all {
		for _, row := range projects.Rows {
			v.Projects = append(v.Projects, web.ProjectLines{Project: projectLink(row.Project), Team: row.TeamName, Lines: poolLinesOf(row.Lines)})
			v.Ending = append(v.Ending, endingOf(row, s.Now(), v.CanAsk)...)
			f = markPlaces(f, row.Lines)
		}
	}
	if operates.includes(a.Person) {
		clusters, err := s.Portal.ListClusters(r.Context(), a)
		if err != nil {
			return err
		}
		for _, row := range clusters {
			v.Connected = append(v.Connected, s.clusterRowOf(row))
			f = markSimulated(f, row.Cluster.Name, isSimulated(row.Cluster.Kind))
		}
		v.FirstDay = len(clusters) == 0 && len(projects.Rows) == 0
		if v.FirstDay {
			v.Setup = []web.Link{{Text: "Import the organisation file: quartermaster import org.yaml"}, {Text: "Connect a cluster", Href: paths.ClusterConnect}}
		}
	}
	return s.render(w, r, web.HomePage(f, v))
}

// waitingIn is the count that the navigation already shows.
func waitingIn(f web.Frame) int {
	for _, g := range f.Nav {
		for _, item := range g.Items {
			if item.Href == paths.Approvals {
				return item.Count
			}
		}
	}
	return 0
}

// endingOf are the grants of a project that end soon.
func endingOf(row portal.ProjectRow, now time.Time, canAsk bool) []web.Ending {
	var out []web.Ending
	for _, l := range row.Lines {
		if l.Ends == nil || l.Ends.Sub(now) > endsWithin || l.Ends.Before(now) {
			continue
		}
		e := web.Ending{What: measureWord(l.Granted) + " " + units(l.Unit) + " of " + l.PoolName + " for " + row.Project.Name + ", " + l.Environment, At: *l.Ends}
		if canAsk {
			e.Renew = paths.With(paths.RequestNew, "project", row.Project.ID, "environment", l.Environment, "pool", l.PoolID)
		}
		out = append(out, e)
	}
	return out
}
