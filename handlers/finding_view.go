package handlers

import (
	"net/http"

	"quartermaster/internal/finding"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// findingView is the page of one finding.
func (s *server) findingView(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "finding")
	if err != nil {
		return err
	}
	d, err := s.Portal.ViewFinding(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	x := d.Row
	v := web.FindingView{
		Kind: string(x.Kind), Severity: severityBadge(x.Severity), State: findingState(x.Finding), Said: findingSaid(d), Open: x.State == finding.Open,
		Evidence: evidenceOf(x.Granted, x.Live, x.Manager), NoPutBack: d.NoPutBack, NoAccept: d.NoAccept,
		Exception: "Except: the portal cannot waive a finding for a time yet. Until it can, put it back or ask to accept it.",
	}
	v.Evidence.At = at(x.At)
	v.Facts = []web.Fact{
		{Label: "object", Text: x.Object.String(), Mono: true}, {Label: "field", Text: x.Field, Mono: true},
		{Label: "cluster", Text: x.ClusterName, Href: paths.Cluster(x.ClusterID)},
	}
	if x.ProjectID != "" {
		v.Facts = append(v.Facts, web.Fact{Label: "project", Text: x.ProjectName + ", " + x.Environment, Href: paths.Project(x.ProjectID)})
	}
	if x.PoolID != "" {
		v.Facts = append(v.Facts, web.Fact{Label: "pool", Text: x.PoolName, Href: paths.Pool(x.PoolID)})
	}
	v.Facts = append(v.Facts, web.Fact{Label: "owner", Text: ownerWord(x)}, web.Fact{Label: "since", Text: web.Exact(x.Since)}, web.Fact{Label: "last seen", Text: web.Exact(x.LastSeen)})
	if x.RequestNumber > 0 {
		v.Facts = append(v.Facts, web.Fact{Label: "asked to accept in", Text: requestWord(x.RequestNumber), Href: requestPath(x.RequestNumber)})
	}
	policy := "left for a person"
	if d.PutsBack {
		policy = "put back by itself"
	}
	v.Facts = append(v.Facts, web.Fact{Label: "drift on " + x.ClusterName + " is", Text: policy, Href: paths.ClusterPutsBack(x.ClusterID)})
	for _, o := range d.Owners {
		v.Owners = append(v.Owners, o.Name)
	}
	if v.Open && d.NoPutBack == "" {
		v.PutBack = paths.FindingPutBack(x.ID)
	}
	if v.Open && d.NoAccept == "" {
		v.Accept = paths.FindingAccept(x.ID)
	}
	for _, e := range d.Events {
		v.Events = append(v.Events, web.FindingEvent{What: e.Event, At: e.At, By: e.ByName, Evidence: evidenceOf(e.Granted, e.Live, e.Manager), Entry: paths.HistoryEntry(e.EntryID)})
	}
	if d.Change != nil {
		change := changeOf(portal.DetailChange{Change: *d.Change, ClusterName: x.ClusterName, Simulated: isSimulated(d.Cluster.Kind), ClusterMode: d.Cluster.Mode, Paused: d.Cluster.Paused}, actorOf(r).Person)
		change.Takeover = ""
		v.Change = &change
	}
	f := s.findingFrame(r, d)
	f.Badge = v.State
	return s.render(w, r, web.FindingPage(f, v))
}

func (s *server) findingFrame(r *http.Request, d portal.FindingDetail, crumbs ...web.Link) web.Frame {
	f := s.frame(r, d.Row.Object.String(), append([]web.Link{{Text: "Findings", Href: paths.Findings}}, crumbs...)...)
	return markSimulated(f, d.Row.ClusterName, isSimulated(d.Cluster.Kind))
}

// findingSaid is the finding in one sentence.
func findingSaid(d portal.FindingDetail) string {
	x := d.Row
	if x.State == finding.Resolved {
		said := "Resolved: " + howWord(x.How)
		if d.ByName != "" {
			said += ", by " + d.ByName
		}
		if x.ResolvedAt != nil {
			said += ", " + web.Exact(*x.ResolvedAt)
		}
		return said + "."
	}
	switch {
	case x.Note != "":
		return x.Note
	case x.Live == nil:
		return x.Field + " is absent; granted is " + valueWord(x.Granted) + "."
	}
	return x.Field + " is " + *x.Live + "; granted is " + valueWord(x.Granted) + "."
}
