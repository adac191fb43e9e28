package k8s

import "quartermaster/internal/fleet"

// addShape adds what the template makes for a project: cohorts, namespace and queues.
func (o *composition) addShape(d fleet.Desired, paths map[fleet.ObjectRef]string) {
	b := d.Binding
	if b.ClusterQueue != "" {
		o.addCohorts(d, paths)
	}
	namespace := o.document(namespaceRef(b), ShapeManager, paths, "v1", nil)
	namespace.onlyCreate = true
	annotate(namespace.body, d)
	o.documents = append(o.documents, namespace)
	if b.ClusterQueue == "" {
		return
	}
	o.documents = append(o.documents, o.queueShape(b, paths))
	if b.LocalQueue == "" {
		return
	}
	local := o.document(localRef(b), ShapeManager, paths, o.apiVersion(), map[string]any{"clusterQueue": b.ClusterQueue})
	local.fields = []field{{path: "clusterQueue", of: at("spec", "clusterQueue")}}
	annotate(local.body, d)
	o.documents = append(o.documents, local)
}

func (o *composition) addCohorts(d fleet.Desired, paths map[fleet.ObjectRef]string) {
	b := d.Binding
	if !o.kueue.cohorts {
		if b.RootCohort != "" {
			o.warnings = append(o.warnings, "This release of Kueue has no Cohort objects: the team's cohort is a name only and has no cohort above it.")
		}
		return
	}
	for _, cohort := range []struct{ name, parent string }{{b.RootCohort, ""}, {b.Cohort, b.RootCohort}} {
		if cohort.name == "" {
			continue
		}
		spec := map[string]any{}
		if cohort.parent != "" {
			spec["parentName"] = cohort.parent
		}
		document := o.document(cohortRef(cohort.name), ShapeManager, paths, o.apiVersion(), spec)
		if cohort.parent != "" {
			document.fields = []field{{path: "parentName", of: at("spec", "parentName")}}
		}
		document.onlyCreate = cohort.parent == ""
		annotate(document.body, d)
		o.documents = append(o.documents, document)
	}
}

// queueShape is the queue without its numbers. It takes only its own namespace's
// workloads, and what it lent out it may reclaim: nominal is a guarantee.
func (o *composition) queueShape(b fleet.Binding, paths map[fleet.ObjectRef]string) document {
	spec := map[string]any{
		"queueingStrategy":  "BestEffortFIFO",
		"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": b.Namespace}},
		"preemption":        map[string]any{"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
	}
	if b.Cohort != "" {
		spec[o.kueue.cohortField()] = b.Cohort
	}
	document := o.document(queueRef(b), ShapeManager, paths, o.apiVersion(), spec)
	document.fields = []field{
		{path: "cohort", of: at("spec", o.kueue.cohortField())},
		{path: "namespaceSelector", of: at("spec", "namespaceSelector")},
		{path: "queueingStrategy", of: at("spec", "queueingStrategy")},
		{path: "reclaimWithinCohort", of: at("spec", "preemption", "reclaimWithinCohort")},
	}
	return document
}
