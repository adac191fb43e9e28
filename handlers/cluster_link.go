package handlers

import (
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/web"
)

// clusterLink names a cluster, and leads to its page whoever may open that.
func clusterLink(me org.Person, id, name string) web.Link {
	l := web.Link{Text: orElse(name, id)}
	if operates.includes(me) {
		l.Href = paths.Cluster(id)
	}
	return l
}
