package handlers

import (
	"net/http"

	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// clusterList is "Clusters".
func (s *server) clusterList(w http.ResponseWriter, r *http.Request) error {
	rows, err := s.Portal.ListClusters(r.Context(), actorOf(r))
	if err != nil {
		return err
	}
	v := web.ClusterList{
		CanConnect: admin.includes(actorOf(r).Person),
		Empty:      web.Empty{Icon: "clusters", Title: "No clusters yet", Text: "A cluster is connected with its address, its CA and a token, and starts in mode observe."},
	}
	if v.CanConnect {
		v.Empty.Action = web.Link{Text: "Connect a cluster", Href: paths.ClusterConnect}
	}
	f := s.frame(r, "Clusters")
	for _, row := range rows {
		v.Rows = append(v.Rows, s.clusterRowOf(row))
		f = markSimulated(f, row.Cluster.Name, isSimulated(row.Cluster.Kind))
	}
	return s.render(w, r, web.ClusterListPage(f, v))
}

func (s *server) clusterRowOf(row portal.ClusterRow) web.ClusterRow {
	c := row.Cluster
	v := web.ClusterRow{
		ID: c.ID, Name: c.Name, Kind: kindWord(c.Kind), Simulated: isSimulated(c.Kind), Mode: modeBadge(c), Polled: at(c.LastGoodAt), Problem: c.Problem,
		Nodes: figure(row.Nodes, "not read yet"), GPUs: figure(row.Units, "not read yet"), Changes: row.Open + row.Stopped,
	}
	v.State, _ = s.stateOf(c)
	if c.Discovery != nil {
		v.Version, v.Kueue = c.Discovery.Version, c.Discovery.KueueVersion
	}
	return v
}

func kindWord(k fleet.Kind) string {
	switch k {
	case fleet.Kubernetes:
		return "Kubernetes"
	case fleet.Slurm:
		return "Slurm"
	}
	return string(k)
}

func modeBadge(c portal.Cluster) web.Badge {
	if c.Paused {
		return web.Badge{Tone: web.Waiting, Word: "paused"}
	}
	return web.ModeBadge(string(c.Mode))
}

// stateOf says whether a cluster answers and how old is what is known of it.
func (s *server) stateOf(c portal.Cluster) (web.Badge, string) {
	now := s.Now()
	switch {
	case c.LastPollAt == nil:
		return web.Badge{Tone: web.NotKnown, Word: "not read yet"}, "This cluster was not read yet. The first poll is due within " + web.Span(s.PollEvery) + "."
	case c.Problem != "" && c.LastGoodAt == nil:
		return web.Badge{Tone: web.Refused, Word: "never answered"}, "Never answered: " + c.Problem
	case c.Problem != "":
		return web.Badge{Tone: web.Refused, Word: "does not answer"}, "Does not answer: " + c.Problem + " Figures are of " + web.Exact(*c.LastGoodAt) + "."
	case c.LastGoodAt != nil && now.Sub(*c.LastGoodAt) > 4*s.PollEvery:
		return web.Badge{Tone: web.NotKnown, Word: "stale"}, "Last read " + agedText(*c.LastGoodAt, now) + "; polls are due every " + web.Span(s.PollEvery) + "."
	}
	return web.Badge{Tone: web.Done, Word: "answers"}, "Answered " + agedText(*c.LastPollAt, now) + "."
}
