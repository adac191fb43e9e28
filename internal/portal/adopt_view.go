package portal

import (
	"context"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// AdoptDesk is what exists on a cluster beside the projects it may be adopted for.
type AdoptDesk struct {
	Cluster Cluster
	Source  string // "read now", or the file
	At      time.Time
	// Problem says why what is shown is older than now; "" = it is of now.
	Problem  string
	Rows     []AdoptRow
	Objects  []fleet.Object
	Quotas   []fleet.Quota
	Rules    []org.MatchRule
	Projects []org.Project
	MayAdopt bool
	WhyNot   string
}

// AdoptRow is one queue and what may become of it.
type AdoptRow struct {
	Queue fleet.Queue
	Match org.Match
	// Bound is set for a queue that carries limits of a project already.
	Bound *fleet.Binding
	// WhyNot says why it cannot be adopted; "" = it can.
	WhyNot string
	// LocalQueue is the one that the match points to, namespace/name; "" = has to be chosen.
	LocalQueue string
}

// Ready reports whether the rules alone decide everything about the row.
func (r AdoptRow) Ready() bool {
	return r.Bound == nil && r.WhyNot == "" && r.Match.Decided() && (r.LocalQueue != "" || len(r.Queue.LocalQueues) == 0)
}

// ViewAdopt lists every object of a cluster with who keeps it, and matches queues to projects.
func (p *Portal) ViewAdopt(ctx context.Context, actor Actor, clusterID string) (AdoptDesk, error) {
	if err := seesClusters(actor); err != nil {
		return AdoptDesk{}, err
	}
	c, err := p.Store.Cluster(ctx, clusterID)
	if err != nil {
		return AdoptDesk{}, err
	}
	d := AdoptDesk{Cluster: c, MayAdopt: true}
	if _, err := p.manages(actor, clusterID); err != nil {
		d.MayAdopt, d.WhyNot = false, fault.As(err).Public
	}
	found, err := p.findObjects(ctx, c)
	switch {
	case err == nil:
		d.Source, d.At = found.Source, found.At
	case fault.KindOf(err) == "":
		return d, err
	case c.Discovery != nil:
		// The last good reading, said to be that.
		found.Discovery, d.Problem = *c.Discovery, fault.As(err).Public
		d.Source, d.At = "read "+c.Discovery.At.UTC().Format("2 Jan 2006, 15:04 UTC"), c.Discovery.At
	default:
		d.Problem = fault.As(err).Public
	}
	d.Objects, d.Quotas = found.Objects, found.Quotas
	if d.Projects, err = p.Store.Projects(ctx, nil); err != nil {
		return d, err
	}
	if d.Rules, err = p.Store.MatchRules(ctx); err != nil {
		return d, err
	}
	if len(d.Rules) == 0 {
		d.Rules = org.DefaultRules
	}
	bindings, err := p.Store.Bindings(ctx, BindingQuery{ClusterID: clusterID})
	if err != nil {
		return d, err
	}
	d.Rows = matchRows(c.Kind, found.Discovery, d.Rules, d.Projects, bindings)
	return d, nil
}

// matchRows tries the rules on each queue. Of several queues that fit one place the
// first gets it: a place has one binding a cluster.
func matchRows(kind fleet.Kind, found fleet.Discovery, rules []org.MatchRule, projects []org.Project, bindings []fleet.Binding) []AdoptRow {
	objects := map[fleet.ObjectRef]fleet.Object{}
	for _, o := range found.Objects {
		objects[o.Ref] = o
	}
	bound, taken := map[string]*fleet.Binding{}, map[org.MatchPlace]string{}
	for i := range bindings {
		b := &bindings[i]
		bound[b.Queue()] = b
		taken[org.MatchPlace{ProjectID: b.ProjectID, Environment: b.Environment}] = b.Queue()
	}
	m := org.NewMatcher(rules, projects)
	rows := make([]AdoptRow, 0, len(found.Queues))
	for _, q := range found.Queues {
		row := AdoptRow{Queue: q, Bound: bound[q.Name], WhyNot: adoptable(kind, q)}
		if row.Bound != nil {
			row.WhyNot = ""
			rows = append(rows, row)
			continue
		}
		row.Match = m.Match(subjectOf(q, objects))
		if row.Match.Decided() && row.WhyNot == "" {
			at := row.Match.Places[0]
			if by, ok := taken[at]; ok {
				row.Match = org.Match{Reason: by + " carries " + at.ProjectID + ", " + at.Environment + " already: " + row.Match.Reason}
			} else {
				taken[at] = q.Name
			}
		}
		row.LocalQueue = localFor(q, row.Match)
		rows = append(rows, row)
	}
	return rows
}

// localFor is the LocalQueue that belongs to a match: the only one, or the only one in
// a namespace named after the place.
func localFor(q fleet.Queue, m org.Match) string {
	if len(q.LocalQueues) == 1 {
		return q.LocalQueues[0]
	}
	if !m.Decided() {
		return ""
	}
	var fits []string
	for _, l := range q.LocalQueues {
		namespace, _, _ := strings.Cut(l, "/")
		if strings.Contains(namespace, m.Places[0].ProjectID) && strings.Contains(namespace, m.Places[0].Environment) {
			fits = append(fits, l)
		}
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return ""
}

func localRef(local string) fleet.ObjectRef {
	namespace, name, _ := strings.Cut(local, "/")
	return fleet.ObjectRef{Kind: "LocalQueue", Namespace: namespace, Name: name}
}
