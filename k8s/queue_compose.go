package k8s

import (
	"fmt"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// addLimits adds the numbers: the queue's, then the namespace's ResourceQuota.
func (o *composition) addLimits(d fleet.Desired, paths map[fleet.ObjectRef]string) error {
	b := d.Binding
	cohort := b.Cohort != ""
	var present any
	if live := o.live[queueRef(b)]; live != nil {
		present = nested(live.raw, "spec", "resourceGroups")
		if b.Adopted {
			cohort = stringOf(nested(live.raw, "spec", o.kueue.cohortField())) != ""
		}
	} else if b.Adopted && b.ClusterQueue != "" {
		return fault.Newf(fault.NotFound, "The adopted queue %s is gone from the cluster.", b.ClusterQueue)
	}
	if b.ClusterQueue == "" {
		cohort = true // without a queue the limits' own borrowing is what may be reached
	}
	groups, err := composeGroups(present, d, cohort, b.Adopted)
	if err != nil {
		return err
	}
	if b.ClusterQueue != "" {
		o.warnings = append(o.warnings, groups.warnings...)
		if !cohort {
			o.warnBorrowing(d)
		}
		o.documents = insertAfterShape(o.documents, o.queueLimits(d, groups, paths))
	}
	if b.ResourceQuota != "" {
		o.addQuota(d, groups, paths)
	}
	return nil
}

func (o *composition) warnBorrowing(d fleet.Desired) {
	for _, l := range d.Limits {
		if l.Borrowing != nil && l.Borrowing.Sign() > 0 {
			o.warnings = append(o.warnings, fmt.Sprintf("The queue is in no cohort: borrowing %s of %s has no effect.", l.Borrowing, l.Pool))
		}
	}
}

func (o *composition) queueLimits(d fleet.Desired, groups *groups, paths map[fleet.ObjectRef]string) document {
	b := d.Binding
	spec := map[string]any{"resourceGroups": groups.list}
	live := o.live[queueRef(b)]
	document := o.document(queueRef(b), LimitsManager, paths, o.apiVersion(), spec)
	document.fields = groups.fields()
	// Somebody else's stop stays theirs; ours is lifted by leaving the field out.
	if d.Hold || live != nil && slices.Contains(live.meta.managersOf("spec", "stopPolicy"), LimitsManager) {
		document.fields = append(document.fields, field{path: "stopPolicy", of: at("spec", "stopPolicy"), limit: true, fallback: "None"})
		if d.Hold {
			spec["stopPolicy"] = "Hold"
		}
	}
	annotate(document.body, d)
	if shape := o.find(queueRef(b), ShapeManager); shape != nil && (live == nil || shape.changes(live)) {
		document.whole = overlay(shape.body, document.body)
	}
	return document
}

// insertAfterShape puts the queue's numbers right behind its shape, before the
// LocalQueue lets workloads in.
func insertAfterShape(documents []document, limits document) []document {
	for i := range documents {
		if documents[i].ref == limits.ref {
			return append(documents[:i+1], append([]document{limits}, documents[i+1:]...)...)
		}
	}
	return append(documents, limits)
}
