package sim

import (
	"context"
	"fmt"
	"sort"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// wanted is one object as a binding desires it, for one manager.
type wanted struct {
	ref     fleet.ObjectRef
	manager string
	fields  []want
}

type want struct {
	path  string
	text  *string // nil = absent
	limit bool
}

// wants lists the objects of d in the order in which they are written: what others
// refer to first.
func wants(d fleet.Desired) []wanted {
	b := d.Binding
	var out []wanted
	text := func(s string) *string { return &s }
	if !b.Adopted {
		out = append(out, wanted{fleet.ObjectRef{Kind: "Namespace", Name: b.Namespace}, shapeManager, []want{{labelPath, text(b.ProjectID), false}}})
		if b.RootCohort != "" {
			out = append(out, wanted{cohortRef(b.RootCohort), shapeManager, nil})
		}
		if b.Cohort != "" {
			out = append(out, wanted{cohortRef(b.Cohort), shapeManager, []want{{parentPath, text(b.RootCohort), false}}})
		}
		out = append(out, wanted{queueRef(b.ClusterQueue), shapeManager, []want{
			{cohortPath, text(b.Cohort), false}, {selectorPath, text("kubernetes.io/metadata.name=" + b.Namespace), false},
		}})
	}
	limits := wanted{ref: queueRef(b.ClusterQueue), manager: limitsManager}
	for _, l := range append(append([]fleet.Limit{}, d.Limits...), d.Companions...) {
		nominal := l.Nominal.String()
		limits.fields = append(limits.fields,
			want{limitPath(l.Pool, nominalField), &nominal, true},
			want{limitPath(l.Pool, borrowingField), open(l.Borrowing), true},
			want{limitPath(l.Pool, lendingField), open(l.Lending), true})
	}
	switch {
	case d.Hold:
		limits.fields = append(limits.fields, want{stopPath, text("Hold"), false})
	case !b.Adopted:
		limits.fields = append(limits.fields, want{stopPath, text("None"), false})
	}
	out = append(out, limits)
	if !b.Adopted {
		out = append(out, wanted{localRef(b.Namespace, b.LocalQueue), shapeManager, []want{{queuePath, text(b.ClusterQueue), false}}})
	}
	if b.ResourceQuota != "" {
		out = append(out, quota(d))
	}
	return out
}

// quota bounds each accelerator of the namespace by the sum of nominal and
// borrowing over the pools; without a bound there is no key.
func quota(d fleet.Desired) wanted {
	sums, unbounded := map[string]fleet.Quantity{}, map[string]bool{}
	for _, l := range d.Limits {
		sum := sums[l.Pool.Resource].Add(l.Nominal)
		if l.Borrowing == nil {
			unbounded[l.Pool.Resource] = true
		} else {
			sum = sum.Add(*l.Borrowing)
		}
		sums[l.Pool.Resource] = sum
	}
	w := wanted{ref: fleet.ObjectRef{Kind: "ResourceQuota", Namespace: d.Binding.Namespace, Name: d.Binding.ResourceQuota}, manager: limitsManager}
	for resource, sum := range sums {
		f := want{path: "requests." + resource, limit: true}
		if !unbounded[resource] {
			s := sum.String()
			f.text = &s
		}
		w.fields = append(w.fields, f)
	}
	sort.Slice(w.fields, func(i, j int) bool { return w.fields[i].path < w.fields[j].path })
	return w
}

func open(q *fleet.Quantity) *string {
	if q == nil {
		return nil
	}
	s := q.String()
	return &s
}

// Plan compares what is desired with what is stored.
func (c *Cluster) Plan(ctx context.Context, d fleet.Desired) (fleet.Plan, error) {
	leave, err := c.enter(ctx, "plan")
	if err != nil {
		return fleet.Plan{}, err
	}
	defer leave()
	if err := c.check(d); err != nil {
		return fleet.Plan{}, err
	}
	p := fleet.Plan{Desired: d, At: c.cfg.Now()}
	created := map[fleet.ObjectRef]bool{}
	for _, w := range wants(d) {
		o := c.objects[w.ref]
		diff := fleet.ObjectDiff{Object: w.ref, Manager: w.manager, Version: o.resourceVersion(), Create: o == nil && !created[w.ref]}
		created[w.ref] = o == nil
		for _, f := range w.fields {
			field := fleet.Field{Path: f.path, Before: o.text(f.path), After: f.text, Limit: f.limit}
			diff.Fields = append(diff.Fields, field)
			if field.Changed() && !d.Takeover {
				if other := c.owner(o, f.path, w.manager); other != "" {
					p.Conflicts = append(p.Conflicts, fleet.Conflict{Object: w.ref, Field: f.path, Manager: other})
				}
			}
		}
		p.Objects = append(p.Objects, diff)
	}
	p.Warnings = warnings(d)
	return p, nil
}

// owner is somebody else who manages the field, or who left it out of a limit
// that they manage.
func (c *Cluster) owner(o *object, path, manager string) string {
	if o == nil {
		return ""
	}
	if v, ok := o.Fields[path]; ok && v.Manager != manager {
		return v.Manager
	}
	return ""
}

// check refuses what a real cluster would.
func (c *Cluster) check(d fleet.Desired) error {
	known := map[string]bool{}
	for _, p := range c.cfg.Pools {
		known[p.Key.Flavor] = true
	}
	if d.Binding.Adopted && c.objects[queueRef(d.Binding.ClusterQueue)] == nil {
		return fault.Newf(fault.Conflict, "The queue %s no longer exists on the cluster. It was adopted, so the portal does not make it again.", d.Binding.ClusterQueue)
	}
	for _, l := range d.Limits {
		if !known[l.Pool.Flavor] {
			return fault.Newf(fault.Invalid, "The cluster has no flavor %s.", l.Pool.Flavor)
		}
		if !l.Nominal.IsWhole() || l.Nominal.Sign() < 0 {
			return fault.Newf(fault.Invalid, "%s: %s is not a whole number of units.", l.Pool, l.Nominal)
		}
		if l.Lending != nil && l.Lending.Cmp(l.Nominal) > 0 {
			return fault.Newf(fault.Invalid, "%s: lendingLimit %s is above nominalQuota %s.", l.Pool, l.Lending, l.Nominal)
		}
		if d.Binding.Cohort == "" && !d.Binding.Adopted && l.Borrowing != nil && l.Borrowing.Sign() > 0 {
			return fault.Newf(fault.Invalid, "%s: a queue without a cohort cannot borrow.", l.Pool)
		}
	}
	return nil
}

func warnings(d fleet.Desired) []string {
	var out []string
	for _, l := range d.Limits {
		if l.Borrowing == nil {
			out = append(out, fmt.Sprintf("%s: borrowing has no limit.", l.Pool))
		}
	}
	return out
}
