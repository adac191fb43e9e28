package sim

import (
	"strings"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
)

// PoolsOf makes the hardware behind an organisation's pools of one cluster: eight
// cards a node, sizes by what the card is called.
func PoolsOf(clusterID string, pools []org.Pool) []Pool {
	var out []Pool
	for _, p := range pools {
		if p.ClusterID != clusterID {
			continue
		}
		nodes, product := hardware(p.Key.Flavor)
		if product == "" {
			product = p.Name
		}
		out = append(out, Pool{Key: p.Key, Product: product, Unit: fleet.Card, Nodes: nodes, PerNode: 8, CPUPerUnit: p.CPUPerUnit, MemoryPerUnit: p.MemoryPerUnit})
	}
	return out
}

func hardware(flavor string) (nodes int, product string) {
	switch strings.ToLower(flavor) {
	case "h100":
		return 12, "NVIDIA-H100-80GB-HBM3"
	case "a100":
		return 16, "NVIDIA-A100-SXM4-80GB"
	case "l40s":
		return 8, "NVIDIA-L40S"
	case "mi300x":
		return 8, "AMD-Instinct-MI300X"
	}
	return 8, ""
}

// QueuesOf are the queues that the projects of the demonstration had before the
// portal: one for each project and environment, in the cohort of its team. Two are
// somebody else's: one of Argo CD, one made by hand.
func QueuesOf(cluster org.Cluster, projects []org.Project, pools []org.Pool) []Queue {
	var out []Queue
	for i, project := range projects {
		for _, environment := range project.Environments {
			name := project.ID + "-" + environment
			q := Queue{Name: name, Cohort: project.TeamID, Parent: cluster.RootCohort, Namespace: name, LocalQueue: "main", Manager: limitsManager}
			switch i % 6 {
			case 3:
				q.Manager = "argocd-controller"
			case 5:
				q.Manager = "kubectl-client-side-apply"
			}
			for j, p := range pools {
				if p.ClusterID != cluster.ID || (i+j)%3 == 2 { // not everybody has everything
					continue
				}
				n := int64(4)
				if environment == "production" {
					n = 8 + int64(i%3)*4
				}
				q.Limits = append(q.Limits, limitsOf(p, n)...)
			}
			if len(q.Limits) > 0 {
				out = append(out, q)
			}
		}
	}
	return out
}

// limitsOf gives n units of a pool with the cpu and memory that go with them.
func limitsOf(p org.Pool, n int64) []fleet.Limit {
	borrow := n / 2
	of := func(resource string, unit fleet.Quantity) fleet.Limit {
		b := unit.Mul(borrow)
		return fleet.Limit{Pool: fleet.PoolKey{Flavor: p.Key.Flavor, Resource: resource}, Nominal: unit.Mul(n), Borrowing: &b}
	}
	return []fleet.Limit{of(p.Key.Resource, fleet.Count(1)), of("cpu", p.CPUPerUnit), of("memory", p.MemoryPerUnit)}
}

// LooseOf is what passes by the queues of the demonstration: a notebook that somebody
// started without a queue on the cluster's first pool.
func LooseOf(clusterID string, pools []org.Pool, since time.Time) []fleet.Loose {
	for _, p := range pools {
		if p.ClusterID == clusterID {
			return []fleet.Loose{{
				Object: fleet.ObjectRef{Kind: "StatefulSet", Namespace: "sandbox", Name: "notebook"}, Name: "notebook-0",
				Node: clusterID + "-" + p.Key.Flavor + "-01", Resource: p.Key.Resource, Amount: fleet.Count(2), Pool: p.Key, Since: &since,
			}}
		}
	}
	return nil
}
