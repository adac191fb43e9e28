package k8s

import (
	"context"
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
