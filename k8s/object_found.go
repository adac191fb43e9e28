package k8s

import (
	"sort"
	"strings"

	"quartermaster/internal/fleet"
)

// cohort is a Cohort.
type cohort struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		ParentName     string          `json:"parentName"`
		Parent         string          `json:"parent"` // v1alpha1
		ResourceGroups []resourceGroup `json:"resourceGroups"`
	} `json:"spec"`
}

// plainObject is an object of which only the metadata counts.
type plainObject struct {
	Metadata metadata `json:"metadata"`
}

// longestMark bounds a label or annotation that is kept; kubectl keeps whole
// manifests in annotations.
const longestMark = 256

func marksOf(m metadata) fleet.Marks {
	return fleet.Marks{Labels: shortOnes(m.Labels), Annotations: shortOnes(m.Annotations)}
}

func shortOnes(all map[string]string) map[string]string {
	var out map[string]string
	for name, value := range all {
		if len(value) > longestMark || strings.HasPrefix(name, "kubectl.kubernetes.io/") {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out
}

func foundObject(kind string, m metadata) fleet.Object {
	return fleet.Object{
		Ref: fleet.ObjectRef{Kind: kind, Namespace: m.Namespace, Name: m.Name}, Marks: marksOf(m),
		Managers: m.managersOf("spec"), Owner: ownerOf(m).name, Ours: ours(m),
	}
}

func readCohort(c *cohort) fleet.Object {
	out := foundObject("Cohort", c.Metadata)
	out.Parent = c.Spec.ParentName
	if out.Parent == "" {
		out.Parent = c.Spec.Parent
	}
	for _, group := range c.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			for _, limit := range flavor.Resources {
				out.Limits = append(out.Limits, readLimit(flavor.Name, limit))
			}
		}
	}
	return out
}

// objects lists what is known besides queues and quotas, by kind and name.
func (r *reading) objects() []fleet.Object {
	var out []fleet.Object
	for i := range r.namespaces {
		out = append(out, foundObject("Namespace", r.namespaces[i].Metadata))
	}
	for i := range r.cohorts {
		out = append(out, readCohort(&r.cohorts[i]))
	}
	for i := range r.locals {
		local := foundObject("LocalQueue", r.locals[i].Metadata)
		local.Parent = r.locals[i].Spec.ClusterQueue
		out = append(out, local)
	}
	for i := range r.flavors {
		out = append(out, foundObject("ResourceFlavor", r.flavors[i].Metadata))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Ref.String() < out[j].Ref.String() })
	return out
}

// noteSharedQuota says on each queue what its cohort gives on top of the queue's
// own quota: a queue of 0 in such a cohort is no empty one.
func noteSharedQuota(queues []fleet.Queue, cohorts []cohort) {
	shared := map[string]map[fleet.PoolKey]fleet.Quantity{}
	for i := range cohorts {
		of := map[fleet.PoolKey]fleet.Quantity{}
		for _, l := range readCohort(&cohorts[i]).Limits {
			if l.Nominal.Known && l.Nominal.Amount.Sign() > 0 {
				of[l.Pool] = l.Nominal.Amount
			}
		}
		shared[cohorts[i].Metadata.Name] = of
	}
	for i := range queues {
		for j := range queues[i].Flavors {
			use := &queues[i].Flavors[j]
			if q, ok := shared[queues[i].Cohort][use.Pool]; ok {
				use.Notes = append(use.Notes, "cohort "+queues[i].Cohort+" shares "+q.Display(use.Pool.Resource)+" on top")
			}
		}
	}
}
