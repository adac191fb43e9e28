package portal

import (
	"context"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// foundNow is what exists on a cluster: read from it now, or, for one that the portal
// has no address of, from the file of its objects that was kept last.
type foundNow struct {
	fleet.Discovery
	// Source says where from, in words: "read now", or the file's name.
	Source string
}

func (p *Portal) findObjects(ctx context.Context, c Cluster) (foundNow, error) {
	if !c.Reachable() {
		kept, err := p.Store.NewestImport(ctx, c.ID)
		if err != nil {
			return foundNow{}, err
		}
		if kept != nil {
			return foundNow{kept.Dump.Discovery, "file " + kept.FileName}, nil
		}
	}
	limited, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	remote, err := p.Dial(limited, c.ID)
	if err != nil {
		return foundNow{}, err
	}
	d, err := remote.Discover(limited)
	return foundNow{d, "read now"}, err
}

// observeQueues is what a baseline is taken from: read now, never from a poll that may be old.
func (p *Portal) observeQueues(ctx context.Context, c Cluster) (fleet.Observation, error) {
	if !c.Reachable() {
		kept, err := p.Store.NewestImport(ctx, c.ID)
		if err != nil {
			return fleet.Observation{}, err
		}
		if kept != nil {
			return fleet.Observation{At: kept.At, Queues: kept.Dump.Queues, QueuesKnown: true}, nil
		}
	}
	limited, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	remote, err := p.Dial(limited, c.ID)
	if err != nil {
		return fleet.Observation{}, err
	}
	return remote.Observe(limited)
}

// Reachable reports whether the portal can ask the cluster itself.
func (c Cluster) Reachable() bool { return c.HasToken || c.Kind == fleet.Simulated }

// adoptable is "" for a queue that may be adopted, or else why not.
func adoptable(kind fleet.Kind, q fleet.Queue) string {
	if q.Owner != "" {
		return q.Owner + " keeps it and would set back whatever is written. It stays theirs: change it there."
	}
	gives := false
	for _, f := range q.Flavors {
		gives = gives || f.Pool.Accelerator()
		if !f.Nominal.Known {
			return "The limit of " + f.Pool.String() + " could not be counted."
		}
	}
	switch {
	case kind == fleet.Slurm:
		return ""
	case !gives:
		return "It limits no accelerators."
	case len(q.LocalQueues) == 0:
		return "No LocalQueue points to it, so nobody can use it."
	}
	return ""
}

// subjectOf is what rules are tried on: the queue, and the marks of the queue, its
// LocalQueues and their namespaces.
func subjectOf(q fleet.Queue, objects map[fleet.ObjectRef]fleet.Object) org.MatchSubject {
	s := org.MatchSubject{Queue: q.Name, Namespaces: q.Namespaces}
	s.Marked = append(s.Marked, org.MarkedObject{Object: "ClusterQueue " + q.Name, Marks: q.Marks})
	for _, l := range q.LocalQueues {
		if o, ok := objects[localRef(l)]; ok {
			s.Marked = append(s.Marked, org.MarkedObject{Object: o.Ref.String(), Marks: o.Marks})
		}
	}
	for _, n := range q.Namespaces {
		if o, ok := objects[fleet.ObjectRef{Kind: "Namespace", Name: n}]; ok {
			s.Marked = append(s.Marked, org.MarkedObject{Object: o.Ref.String(), Marks: o.Marks})
		}
	}
	return s
}
