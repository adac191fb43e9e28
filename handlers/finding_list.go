package handlers

import (
	"net/http"

	"quartermaster/internal/finding"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// findingsShown is how many findings stand on the page of something else.
const findingsShown = 10

// findingList is "Findings". The filters stand in the address.
func (s *server) findingList(w http.ResponseWriter, r *http.Request) error {
	state := oneOf(r, "state", "open", "resolved", "all")
	severity := oneOf(r, "severity", "", "high", "medium", "low")
	kind := oneOf(r, "kind", "", "drift", "bypass", "stopped")
	whose := oneOf(r, "owner", "", "me")
	q := portal.FindingQuery{Kind: finding.Kind(kind), ClusterID: r.URL.Query().Get("cluster"), ProjectID: r.URL.Query().Get("project"), AfterID: r.URL.Query().Get("after"), Limit: pageSize}
	if state != "all" {
		q.State = finding.State(state)
	}
	q.Severity = map[string]finding.Severity{"high": finding.High, "medium": finding.Medium, "low": finding.Low}[severity]
	page, err := s.Portal.ListFindings(r.Context(), actorOf(r), q, whose == "me")
	if err != nil {
		return err
	}
	clusters, err := s.Portal.ListClusters(r.Context(), actorOf(r))
	if err != nil {
		return err
	}
	f := s.frame(r, "Findings")
	v := web.FindingList{Empty: web.Empty{Icon: "done", Title: "Nothing is found", Text: "A difference between what is granted and what a cluster holds, or use outside of every queue, stands here by the next poll."}}
	var names []web.Option
	for _, c := range clusters {
		names = append(names, web.Option{Value: c.Cluster.ID, Text: c.Cluster.Name})
	}
	v.Filters = web.Filters{Action: paths.Findings, Clear: clearLink(r), Fields: []web.Filter{
		{Name: "state", Label: "State", Value: state, Options: sameWords("open", "resolved", "all")},
		{Name: "severity", Label: "Severity", Value: severity, Options: options("any", sameWords("high", "medium", "low")...)},
		{Name: "kind", Label: "Kind", Value: kind, Options: options("any", sameWords("drift", "bypass", "stopped")...)},
		{Name: "owner", Label: "Owner", Value: whose, Options: options("anybody", web.Option{Value: "me", Text: "me"})},
		{Name: "cluster", Label: "Cluster", Value: q.ClusterID, Options: options("any", names...)},
	}}
	for _, x := range page.Rows {
		v.Rows = append(v.Rows, findingRowOf(x, actorOf(r).Person))
	}
	for _, c := range clusters {
		f = markSimulated(f, c.Cluster.Name, isSimulated(c.Cluster.Kind))
	}
	v.Pager = web.Pager{Shown: len(v.Rows), Noun: "findings", Total: web.Count(int64(page.Count))}
	if page.Over {
		v.Pager.Total = "more than " + web.Count(int64(page.Count))
	}
	if page.More {
		v.Pager.Older = address(r, "after", page.Rows[len(page.Rows)-1].ID)
	}
	if q.AfterID != "" {
		v.Pager.Newer = address(r, "after", "")
	}
	return s.render(w, r, web.FindingListPage(f, v))
}

func findingRowOf(x portal.FindingRow, me org.Person) web.FindingRow {
	v := web.FindingRow{
		Object: x.Object.String(), Field: x.Field, Kind: string(x.Kind), Severity: severityBadge(x.Severity), Evidence: evidenceOf(x.Granted, x.Live, x.Manager),
		Cluster: clusterLink(me, x.ClusterID, x.ClusterName), Env: x.Environment, Owner: ownerWord(x), Since: x.Since,
	}
	v.Evidence.At = at(x.At)
	if operates.includes(me) {
		v.Href = paths.Finding(x.ID)
	}
	if x.ProjectID != "" {
		v.Project = web.Link{Text: x.ProjectName, Href: paths.Project(x.ProjectID)}
	}
	if x.State == finding.Resolved {
		v.State = findingState(x.Finding)
	}
	return v
}

func ownerWord(x portal.FindingRow) string {
	word := lowerFirst(org.Role(x.Owner).Label())
	if x.PoolName != "" && x.Owner == finding.CapacityManager {
		return word + " of " + x.PoolName
	}
	return word
}

func severityBadge(s finding.Severity) web.Badge {
	switch s {
	case finding.High:
		return web.Badge{Tone: web.Refused, Word: "high"}
	case finding.Medium:
		return web.Badge{Tone: web.Waiting, Word: "medium"}
	}
	return web.Badge{Tone: web.Neutral, Word: "low"}
}

func findingState(f finding.Finding) web.Badge {
	if f.State == finding.Open {
		return web.Badge{Tone: web.NeedsYou, Word: "open"}
	}
	return web.Badge{Tone: web.Done, Word: howWord(f.How)}
}

func howWord(h finding.How) string {
	switch h {
	case finding.PutBack:
		return "put back"
	case finding.Accepted:
		return "accepted"
	}
	return "no longer so"
}

func evidenceOf(granted, live *string, manager string) web.FindingEvidence {
	return web.FindingEvidence{Granted: valueWord(granted), Live: valueWord(live), Manager: manager}
}

// valueWord: what is absent is said, never left out.
func valueWord(v *string) string {
	if v == nil {
		return "absent"
	}
	return *v
}

// ownFindings are the first that are open and this person's to resolve.
func (s *server) ownFindings(r *http.Request) ([]web.FindingRow, error) {
	me := actorOf(r)
	if !operates.includes(me.Person) {
		return nil, nil
	}
	page, err := s.Portal.ListFindings(r.Context(), me, portal.FindingQuery{State: finding.Open, Limit: findingsShown}, true)
	return findingRowsOf(page.Rows, me.Person), err
}

func findingRowsOf(rows []portal.FindingRow, me org.Person) []web.FindingRow {
	var out []web.FindingRow
	for _, x := range rows[:min(len(rows), findingsShown)] {
		out = append(out, findingRowOf(x, me))
	}
	return out
}
