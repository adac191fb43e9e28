package k8s

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// Annotations on each object the portal writes, and the label on those it made.
const (
	requestIDAnnotation  = "quartermaster/request-id"
	requestURLAnnotation = "quartermaster/request-url"
	managedByLabel       = "app.kubernetes.io/managed-by"
	managedByUs          = "quartermaster"
)

// document is everything one field manager owns on one object.
type document struct {
	ref     fleet.ObjectRef
	manager string
	path    string
	body    map[string]any
	fields  []field
	// onlyCreate: an object that exists is good as it is.
	onlyCreate bool
	// whole is the body together with the object's other document, for the dry
	// run of an object that does not exist or whose shape changes as well.
	whole map[string]any
}

// objects are the live ones of a binding; absent ones have no entry.
type objects map[fleet.ObjectRef]*object

// composition is what a desired state means in documents.
type composition struct {
	documents []document
	warnings  []string
	kueue     kueueAPI
	live      objects
}

// compose reads the binding's objects and writes down, in the order of applying,
// what each manager must own for the desired state to hold.
func (c *Cluster) compose(ctx context.Context, d fleet.Desired) (*composition, error) {
	kueue, err := c.detectKueue(ctx)
	if err != nil {
		return nil, err
	}
	b := d.Binding
	if b.ClusterQueue != "" && !kueue.served() {
		return nil, fault.New(fault.Invalid, "The cluster has no Kueue, so it cannot carry a queue. Bind the project to a ResourceQuota.")
	}
	if b.Namespace == "" || b.ClusterQueue == "" && b.ResourceQuota == "" {
		return nil, fault.New(fault.Invalid, "The binding names no namespace, or neither a queue nor a ResourceQuota.")
	}
	out := &composition{kueue: kueue}
	paths := out.paths(b)
	if out.live, err = c.load(ctx, paths); err != nil {
		return nil, err
	}
	if !b.Adopted {
		out.addShape(d, paths)
	}
	return out, out.addLimits(d, paths)
}

// References to the objects of a binding; "" as a name means that it has none.
func namespaceRef(b fleet.Binding) fleet.ObjectRef {
	return fleet.ObjectRef{Kind: "Namespace", Name: b.Namespace}
}
func queueRef(b fleet.Binding) fleet.ObjectRef {
	return fleet.ObjectRef{Kind: "ClusterQueue", Name: b.ClusterQueue}
}
func localRef(b fleet.Binding) fleet.ObjectRef {
	return fleet.ObjectRef{Kind: "LocalQueue", Namespace: b.Namespace, Name: b.LocalQueue}
}
func quotaRef(b fleet.Binding) fleet.ObjectRef {
	return fleet.ObjectRef{Kind: "ResourceQuota", Namespace: b.Namespace, Name: b.ResourceQuota}
}
func cohortRef(name string) fleet.ObjectRef { return fleet.ObjectRef{Kind: "Cohort", Name: name} }

func (o *composition) paths(b fleet.Binding) map[fleet.ObjectRef]string {
	paths := map[fleet.ObjectRef]string{}
	add := func(ref fleet.ObjectRef, path string) {
		if ref.Name != "" {
			paths[ref] = path
		}
	}
	add(namespaceRef(b), "/api/v1/namespaces/"+b.Namespace)
	add(quotaRef(b), "/api/v1/namespaces/"+b.Namespace+"/resourcequotas/"+b.ResourceQuota)
	if !o.kueue.served() {
		return paths
	}
	add(queueRef(b), o.kueue.path("clusterqueues", "", b.ClusterQueue))
	add(localRef(b), o.kueue.path("localqueues", b.Namespace, b.LocalQueue))
	if o.kueue.cohorts && !b.Adopted {
		add(cohortRef(b.RootCohort), o.kueue.path("cohorts", "", b.RootCohort))
		add(cohortRef(b.Cohort), o.kueue.path("cohorts", "", b.Cohort))
	}
	return paths
}

func (c *Cluster) load(ctx context.Context, paths map[fleet.ObjectRef]string) (objects, error) {
	live := objects{}
	var mu sync.Mutex
	var all sync.WaitGroup
	var first error
	for ref, path := range paths {
		all.Go(func() {
			o := &object{}
			found, err := c.get(ctx, path, o)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && first == nil {
				first = err
			}
			if found {
				live[ref] = o
			}
		})
	}
	all.Wait()
	return live, first
}

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

// addQuota bounds the namespace by what its queue may reach at most. All flavors
// share one key there, and a key that borrowing leaves unbounded is not written.
func (o *composition) addQuota(d fleet.Desired, groups *groups, paths map[fleet.ObjectRef]string) {
	b := d.Binding
	hard := map[string]any{}
	var fields []field
	seen := map[string]bool{}
	for _, l := range d.Limits {
		if seen[l.Pool.Resource] {
			continue
		}
		seen[l.Pool.Resource] = true
		key := "requests." + l.Pool.Resource
		most, bounded := groups.most(l.Pool.Resource)
		if bounded {
			hard[key] = most.String()
		} else {
			o.warnings = append(o.warnings, fmt.Sprintf("Borrowing of %s has no limit, so the namespace's ResourceQuota gets no key for it: pods outside the queue are not limited.", l.Pool.Resource))
		}
		fields = append(fields, hardField(key))
	}
	live := o.live[quotaRef(b)]
	if live == nil && len(hard) == 0 {
		return
	}
	document := o.document(quotaRef(b), LimitsManager, paths, "v1", map[string]any{"hard": hard})
	document.fields = append(fields, strayKeys(live, seen)...)
	annotate(document.body, d)
	o.documents = append(o.documents, document)
}

// strayKeys are keys of the portal's own object that are not desired. One that
// another manager also owns survives an apply, and must then not read as done.
func strayKeys(live *object, known map[string]bool) []field {
	if live == nil || live.meta.Labels[managedByLabel] != managedByUs {
		return nil
	}
	hard, _ := nested(live.raw, "spec", "hard").(map[string]any)
	var keys []string
	for key := range hard {
		if resource, ok := strings.CutPrefix(key, "requests."); !ok || !known[resource] {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	var fields []field
	for _, key := range keys {
		fields = append(fields, hardField(key))
	}
	return fields
}

func hardField(key string) field {
	return field{path: "hard " + key, limit: true, of: func(raw map[string]any) *string {
		return quantity(nested(raw, "spec", "hard", key))
	}}
}

func (o *composition) apiVersion() string { return kueueGroup + "/" + o.kueue.version }

func (o *composition) document(ref fleet.ObjectRef, manager string, paths map[fleet.ObjectRef]string, apiVersion string, spec map[string]any) document {
	meta := map[string]any{"name": ref.Name}
	if ref.Namespace != "" {
		meta["namespace"] = ref.Namespace
	}
	// The label says that the portal made the object, so that it may judge all of it.
	live := o.live[ref]
	foreign := live != nil && live.meta.Labels[managedByLabel] != managedByUs
	if manager == ShapeManager || ref.Kind == "ResourceQuota" && !foreign {
		meta["labels"] = map[string]any{managedByLabel: managedByUs}
	}
	body := map[string]any{"apiVersion": apiVersion, "kind": ref.Kind, "metadata": meta}
	if spec != nil {
		body["spec"] = spec
	}
	return document{ref: ref, manager: manager, path: paths[ref], body: body}
}

func (o *composition) find(ref fleet.ObjectRef, manager string) *document {
	for i := range o.documents {
		if o.documents[i].ref == ref && o.documents[i].manager == manager {
			return &o.documents[i]
		}
	}
	return nil
}

// annotate says on the object which request asked for it.
func annotate(body map[string]any, d fleet.Desired) {
	annotations := map[string]any{}
	if d.RequestID != "" {
		annotations[requestIDAnnotation] = d.RequestID
	}
	if d.RequestURL != "" {
		annotations[requestURLAnnotation] = d.RequestURL
	}
	body["metadata"].(map[string]any)["annotations"] = annotations
}

// changes reports whether the live object differs from what the document writes.
func (d *document) changes(live *object) bool {
	if live == nil {
		return true
	}
	if d.onlyCreate {
		return false
	}
	for _, f := range d.diff(live.raw, d.body) {
		if f.Changed() {
			return true
		}
	}
	return false
}

// diff lists the document's fields in two states of its object.
func (d *document) diff(before, after map[string]any) []fleet.Field {
	out := make([]fleet.Field, 0, len(d.fields))
	for _, f := range d.fields {
		values := fleet.Field{Path: f.path, Before: f.value(before), After: f.value(after), Limit: f.limit}
		if values.Before != nil || values.After != nil {
			out = append(out, values)
		}
	}
	return out
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
