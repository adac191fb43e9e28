package k8s

import (
	"context"
	"time"

	"quartermaster/internal/fleet"
)

// Marks that Kueue leaves on the pods of admitted workloads (its constants package).
// Anybody may write them, so that they count only together with a Workload that exists.
const (
	workloadMark = "kueue.x-k8s.io/workload" // annotation: the Workload's name
	podSetMark   = "kueue.x-k8s.io/podset"   // label: the pod set's name
)

// gpuPod is a pod that runs and holds accelerators.
type gpuPod struct {
	namespace, name, uid, node string
	labels                     map[string]string
	workload                   string // as the pod says
	owners                     []ownerReference
	amounts                    map[string]fleet.Quantity
	created                    time.Time
}

// countedWork is what Workloads stand for: a pod of theirs is counted by a queue.
type countedWork struct {
	owners  map[string]bool     // uids of the objects that own a Workload
	names   map[namespaced]bool // Workloads
	podSets map[namespaced]bool // pod sets of admitted Workloads, by namespace
}

func (c *countedWork) add(w *workload) {
	if c.owners == nil {
		*c = countedWork{map[string]bool{}, map[namespaced]bool{}, map[namespaced]bool{}}
	}
	for _, o := range w.Metadata.OwnerReferences {
		c.owners[o.UID] = true
	}
	c.names[namespaced{w.Metadata.Namespace, w.Metadata.Name}] = true
	if w.Status.Admission == nil {
		return
	}
	for _, set := range w.Status.Admission.PodSetAssignments {
		c.podSets[namespaced{w.Metadata.Namespace, set.Name}] = true
	}
}

// counts reports whether a Workload stands for the pod: one that the pod or its owner
// owns, or that the pod names, or, for kinds whose pods have another owner than the
// Workload, an admitted one of its namespace with its pod set.
func (c *countedWork) counts(p gpuPod) bool {
	if c.owners[p.uid] {
		return true
	}
	for _, o := range p.owners {
		if c.owners[o.UID] {
			return true
		}
	}
	if p.workload != "" && c.names[namespaced{p.namespace, p.workload}] {
		return true
	}
	set := p.labels[podSetMark]
	return set != "" && c.podSets[namespaced{p.namespace, set}]
}

// readGPUPods lists the pods that were given a node and hold accelerators. Only they
// are kept: the list of all pods is long.
func (c *Cluster) readGPUPods(ctx context.Context) ([]gpuPod, error) {
	var out []gpuPod
	_, err := list(ctx, c, "/api/v1/pods", func(p livePod) {
		if kept, ok := p.gpuPod(); ok {
			out = append(out, kept)
		}
	})
	return out, err
}

// livePod is what is read of any pod to see whether it holds accelerators.
type livePod struct {
	Metadata struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               string            `json:"uid"`
		CreationTimestamp time.Time         `json:"creationTimestamp"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
		OwnerReferences   []ownerReference  `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		podSpec
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

func (p livePod) gpuPod() (gpuPod, bool) {
	if p.Spec.NodeName == "" || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
		return gpuPod{}, false
	}
	out := gpuPod{namespace: p.Metadata.Namespace, name: p.Metadata.Name, uid: p.Metadata.UID, node: p.Spec.NodeName, labels: p.Metadata.Labels,
		workload: p.Metadata.Annotations[workloadMark], owners: p.Metadata.OwnerReferences, amounts: map[string]fleet.Quantity{}, created: p.Metadata.CreationTimestamp}
	for name, q := range p.Spec.requests() {
		if IsAccelerator(name) && q.Sign() > 0 {
			out.amounts[name] = q
		}
	}
	return out, len(out.amounts) > 0
}

// loose are the accelerators that pods hold without a Workload.
func (r *reading) loose() []fleet.Loose {
	var out []fleet.Loose
	flavors := r.flavorsOfNodes()
	for _, p := range r.pods {
		if r.counted.counts(p) {
			continue
		}
		of := fleet.ObjectRef{Kind: "Pod", Namespace: p.namespace, Name: p.name}
		for _, o := range p.owners {
			if o.Controller {
				of.Kind, of.Name = o.Kind, o.Name
			}
		}
		for resource, q := range p.amounts {
			l := fleet.Loose{Object: of, Name: p.name, Node: p.node, Resource: resource, Amount: q, Since: utc(p.created)}
			if f := flavors[p.node]; len(f) == 1 {
				l.Pool = fleet.PoolKey{Flavor: f[0], Resource: resource}
			}
			out = append(out, l)
		}
	}
	return out
}

// flavorsOfNodes names, for each node that holds a loose pod, the flavors that it is in.
func (r *reading) flavorsOfNodes() map[string][]string {
	wanted := map[string]bool{}
	for _, p := range r.pods {
		if !r.counted.counts(p) {
			wanted[p.node] = true
		}
	}
	out := map[string][]string{}
	if len(wanted) == 0 {
		return out
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		if !wanted[n.Metadata.Name] {
			continue
		}
		for j := range r.flavors {
			if r.flavors[j].matches(n) {
				out[n.Metadata.Name] = append(out[n.Metadata.Name], r.flavors[j].Metadata.Name)
			}
		}
	}
	return out
}
