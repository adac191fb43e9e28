package k8s

import (
	"sort"
	"strings"
	"time"

	"quartermaster/internal/fleet"
)

// workload is Kueue's Workload of v1beta1 or v1beta2.
type workload struct {
	Metadata struct {
		Name              string           `json:"name"`
		Namespace         string           `json:"namespace"`
		UID               string           `json:"uid"`
		ResourceVersion   string           `json:"resourceVersion"`
		CreationTimestamp time.Time        `json:"creationTimestamp"`
		OwnerReferences   []ownerReference `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		QueueName string `json:"queueName"`
		Active    *bool  `json:"active"`
		PodSets   []struct {
			Count    int64 `json:"count"`
			Template struct {
				Spec podSpec `json:"spec"`
			} `json:"template"`
		} `json:"podSets"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
		Admission  *struct {
			ClusterQueue      string `json:"clusterQueue"`
			PodSetAssignments []struct {
				Name          string            `json:"name"`
				Flavors       map[string]string `json:"flavors"`
				ResourceUsage map[string]amount `json:"resourceUsage"`
			} `json:"podSetAssignments"`
		} `json:"admission"`
		AdmissionChecks []struct {
			Name    string `json:"name"`
			State   string `json:"state"`
			Message string `json:"message"`
		} `json:"admissionChecks"`
	} `json:"status"`
}

// podSpec is what counting needs of a pod's specification.
type podSpec struct {
	Containers     []container       `json:"containers"`
	InitContainers []container       `json:"initContainers"`
	Overhead       map[string]amount `json:"overhead"`
	ResourceClaims []struct {
		Name     string `json:"name"`
		Template string `json:"resourceClaimTemplateName"`
	} `json:"resourceClaims"`
}

type container struct {
	RestartPolicy string `json:"restartPolicy"`
	Resources     struct {
		Requests map[string]amount `json:"requests"`
		Limits   map[string]amount `json:"limits"`
	} `json:"resources"`
}

// requests is what one pod takes while it runs: the sum over its containers and
// sidecars, or the largest init container where that is more, and the overhead.
// A limit without a request counts as the request, as Kubernetes sets it.
func (p podSpec) requests() map[string]fleet.Quantity {
	sum, largest := map[string]fleet.Quantity{}, map[string]fleet.Quantity{}
	add := func(list map[string]amount) {
		for name, a := range list {
			if m := a.measure(); m.Known {
				sum[name] = sum[name].Add(m.Amount)
			}
		}
	}
	for _, c := range p.InitContainers {
		if c.RestartPolicy == "Always" {
			add(c.effective())
			continue
		}
		for name, a := range c.effective() {
			if m := a.measure(); m.Known {
				largest[name] = fleet.Max(largest[name], m.Amount)
			}
		}
	}
	for _, c := range p.Containers {
		add(c.effective())
	}
	for name, q := range largest {
		sum[name] = fleet.Max(sum[name], q)
	}
	add(p.Overhead)
	return sum
}

func (c container) effective() map[string]amount {
	all := map[string]amount{}
	for name, a := range c.Resources.Limits {
		all[name] = a
	}
	for name, a := range c.Resources.Requests {
		all[name] = a
	}
	return all
}

// readWorkload turns a Workload into what the portal keeps; queueOf names the
// ClusterQueue behind a LocalQueue, "" where it is not known.
func readWorkload(w *workload, queueOf func(namespace, localQueue string) string) fleet.Workload {
	out := fleet.Workload{
		UID: w.Metadata.UID, Namespace: w.Metadata.Namespace, Name: w.Metadata.Name,
		LocalQueue: w.Spec.QueueName, CreatedAt: w.Metadata.CreationTimestamp.UTC(),
	}
	for i, reference := range w.Metadata.OwnerReferences {
		if i == 0 || reference.Controller {
			out.Job = reference.Kind + " " + reference.Name
		}
	}
	if w.Status.Admission != nil {
		out.Queue = w.Status.Admission.ClusterQueue
	}
	if out.Queue == "" {
		out.Queue = queueOf(out.Namespace, out.LocalQueue)
	}
	out.State, out.Reason, out.Message = w.state()
	if c, ok := conditionOf(w.Status.Conditions, "Admitted"); ok && c.Status == "True" {
		out.AdmittedAt = utc(c.LastTransitionTime)
	}
	if c, ok := conditionOf(w.Status.Conditions, "Finished"); ok && c.Status == "True" {
		out.FinishedAt = utc(c.LastTransitionTime)
	}
	out.Amounts = w.amounts()
	return out
}

// state is where the workload stands, with Kueue's own words on one that waits
// or was evicted.
func (w *workload) state() (state fleet.WorkloadState, reason, message string) {
	is := func(kind string) (condition, bool) {
		c, ok := conditionOf(w.Status.Conditions, kind)
		return c, ok && c.Status == "True"
	}
	if c, ok := is("Finished"); ok {
		return fleet.Finished, c.Reason, c.Message
	}
	if _, ok := is("Admitted"); ok {
		return fleet.Admitted, "", ""
	}
	if c, ok := is("Evicted"); ok {
		if _, requeued := is("Requeued"); !requeued || w.Spec.Active != nil && !*w.Spec.Active {
			return fleet.Evicted, c.Reason, c.Message
		}
	}
	if _, ok := is("QuotaReserved"); ok {
		return fleet.Pending, "AdmissionChecks", w.openChecks()
	}
	if c, ok := conditionOf(w.Status.Conditions, "QuotaReserved"); ok {
		return fleet.Pending, c.Reason, c.Message
	}
	return fleet.Pending, "", ""
}

// openChecks names the admission checks that a workload with quota still waits for.
func (w *workload) openChecks() string {
	var open []string
	for _, check := range w.Status.AdmissionChecks {
		if check.State != "Ready" {
			open = append(open, strings.TrimSpace(check.Name+" is "+check.State+" "+check.Message))
		}
	}
	return strings.Join(open, "; ")
}

// amounts are what was assigned, by flavor, or what is asked while nothing was.
func (w *workload) amounts() []fleet.Amount {
	sum := map[fleet.PoolKey]fleet.Quantity{}
	if w.Status.Admission != nil {
		for _, set := range w.Status.Admission.PodSetAssignments {
			for resource, a := range set.ResourceUsage {
				if m := a.measure(); m.Known {
					key := fleet.PoolKey{Flavor: set.Flavors[resource], Resource: resource}
					sum[key] = sum[key].Add(m.Amount)
				}
			}
		}
	} else {
		for _, set := range w.Spec.PodSets {
			for resource, q := range set.Template.Spec.requests() {
				key := fleet.PoolKey{Resource: resource}
				sum[key] = sum[key].Add(q.Mul(set.Count))
			}
		}
	}
	out := make([]fleet.Amount, 0, len(sum))
	for key, q := range sum {
		out = append(out, fleet.Amount{Pool: key, Amount: q})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Pool.String() < out[j].Pool.String() })
	return out
}

func utc(t time.Time) *time.Time {
	t = t.UTC()
	return &t
}
