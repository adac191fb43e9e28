package k8s

import (
	"fmt"
	"strings"

	"quartermaster/internal/fleet"
)

// clusterQuota is OpenShift's ClusterResourceQuota: one quota over several namespaces.
type clusterQuota struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Quota struct {
			Hard map[string]amount `json:"hard"`
		} `json:"quota"`
	} `json:"spec"`
	Status struct {
		Namespaces []struct {
			Namespace string `json:"namespace"`
		} `json:"namespaces"`
		Total struct {
			Used map[string]amount `json:"used"`
		} `json:"total"`
	} `json:"status"`
}

// readClusterQuota: what it counts is its own total, never the sum of what one namespace shows.
func readClusterQuota(c *clusterQuota) []fleet.Quota {
	q := &resourceQuota{Metadata: c.Metadata}
	q.Spec.Hard, q.Status.Used = c.Spec.Quota.Hard, c.Status.Total.Used
	out := readQuota(q, nil)
	var names []string
	for _, n := range c.Status.Namespaces {
		names = append(names, n.Namespace)
	}
	for i := range out {
		if len(names) > 0 {
			out[i].Notes = append(out[i].Notes, "counts the namespaces "+strings.Join(names, ", ")+" together")
		} else {
			out[i].Notes = append(out[i].Notes, "counts several namespaces together")
		}
	}
	return out
}

// profile is Kubeflow's Profile: its controller makes a namespace of the same name
// and in it the ResourceQuota kf-resource-quota.
type profile struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		ResourceQuotaSpec struct {
			Hard map[string]amount `json:"hard"`
		} `json:"resourceQuotaSpec"`
	} `json:"spec"`
}

func readProfile(p *profile) []fleet.Quota {
	q := &resourceQuota{}
	q.Metadata.Namespace, q.Metadata.Name = p.Metadata.Name, "kf-resource-quota"
	q.Metadata.OwnerReferences = []ownerReference{{Kind: "Profile", Name: p.Metadata.Name, Controller: true}}
	q.Spec.Hard = p.Spec.ResourceQuotaSpec.Hard
	return readQuota(q, nil)
}

// claimTemplate is a ResourceClaimTemplate.
type claimTemplate struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Spec claimSpec `json:"spec"`
	} `json:"spec"`
}

// promised are the claims that the pods of a file will have made for them from its
// templates: a manifest shows the template, never the claim.
func (d *dump) promised() []resourceClaim {
	made := map[string]bool{}
	for _, c := range d.claims {
		for _, o := range c.Metadata.OwnerReferences {
			if o.Kind == "Pod" {
				made[c.Metadata.Namespace+"/"+o.Name] = true
			}
		}
	}
	var out []resourceClaim
	for _, p := range d.pods {
		if made[p.Metadata.Namespace+"/"+p.Metadata.Name] {
			continue
		}
		for _, want := range p.Spec.ResourceClaims {
			for _, t := range d.templates {
				if want.Template == t.Metadata.Name && t.Metadata.Namespace == p.Metadata.Namespace {
					c := resourceClaim{Spec: t.Spec.Spec}
					c.Metadata.Namespace, c.Metadata.Name = p.Metadata.Namespace, fmt.Sprintf("%s-%s", p.Metadata.Name, want.Name)
					out = append(out, c)
				}
			}
		}
	}
	return out
}
