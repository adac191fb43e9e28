package k8s

import (
	"fmt"
	"slices"
	"sort"

	"quartermaster/internal/fleet"
)

// clusterQueue is a ClusterQueue of v1beta1 or v1beta2; the two differ, for us,
// only in the name of the cohort's field.
type clusterQueue struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		ResourceGroups []resourceGroup `json:"resourceGroups"`
		Cohort         string          `json:"cohort"`     // v1beta1
		CohortName     string          `json:"cohortName"` // v1beta2
		StopPolicy     string          `json:"stopPolicy"`
		Selector       *labelSelector  `json:"namespaceSelector"`
	} `json:"spec"`
	Status struct {
		Conditions         []condition   `json:"conditions"`
		FlavorsReservation []flavorUsage `json:"flavorsReservation"`
		FlavorsUsage       []flavorUsage `json:"flavorsUsage"`
		PendingWorkloads   *int64        `json:"pendingWorkloads"`
		AdmittedWorkloads  *int64        `json:"admittedWorkloads"`
	} `json:"status"`
}

type resourceGroup struct {
	CoveredResources []string       `json:"coveredResources"`
	Flavors          []flavorQuotas `json:"flavors"`
}

type flavorQuotas struct {
	Name      string          `json:"name"`
	Resources []resourceLimit `json:"resources"`
}

type resourceLimit struct {
	Name           string  `json:"name"`
	NominalQuota   amount  `json:"nominalQuota"`
	BorrowingLimit *amount `json:"borrowingLimit,omitempty"`
	LendingLimit   *amount `json:"lendingLimit,omitempty"`
}

type flavorUsage struct {
	Name      string `json:"name"`
	Resources []struct {
		Name     string `json:"name"`
		Total    amount `json:"total"`
		Borrowed amount `json:"borrowed"`
	} `json:"resources"`
}

// localQueue is a LocalQueue.
type localQueue struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		ClusterQueue string `json:"clusterQueue"`
	} `json:"spec"`
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

func (q *clusterQueue) cohort() string {
	if q.Spec.CohortName != "" {
		return q.Spec.CohortName
	}
	return q.Spec.Cohort
}

// usage finds what the status says about one flavor and resource. A queue whose
// status does not name it has not been judged yet: unknown, not 0.
func usage(of []flavorUsage, key fleet.PoolKey) (total, borrowed fleet.Measure) {
	for _, flavor := range of {
		if flavor.Name != key.Flavor {
			continue
		}
		for _, r := range flavor.Resources {
			if r.Name == key.Resource {
				return r.Total.measure(), r.Borrowed.measure()
			}
		}
	}
	return fleet.Unknown, fleet.Unknown
}

// readQueue turns a ClusterQueue into what the portal knows of a queue.
func readQueue(q *clusterQueue, locals []*localQueue) fleet.Queue {
	out := fleet.Queue{
		Name: q.Metadata.Name, Cohort: q.cohort(), StopPolicy: q.Spec.StopPolicy,
		Pending: counted(q.Status.PendingWorkloads), Admitted: counted(q.Status.AdmittedWorkloads),
		Managers: q.Metadata.managersOf("spec", "resourceGroups"),
		Owner:    ownerOf(q.Metadata).name, Ours: ours(q.Metadata), Marks: marksOf(q.Metadata),
		Selector: q.Spec.Selector.text(), Writers: queueWriters(q.Metadata),
	}
	if out.StopPolicy == "" {
		out.StopPolicy = "None"
	}
	out.Active, out.Inactive = activeQueue(q)
	for _, local := range locals {
		if local.Spec.ClusterQueue != q.Metadata.Name {
			continue
		}
		out.LocalQueues = append(out.LocalQueues, local.Metadata.Namespace+"/"+local.Metadata.Name)
		if !slices.Contains(out.Namespaces, local.Metadata.Namespace) {
			out.Namespaces = append(out.Namespaces, local.Metadata.Namespace)
		}
	}
	sort.Strings(out.LocalQueues)
	sort.Strings(out.Namespaces)
	for _, group := range q.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			for _, limit := range flavor.Resources {
				out.Flavors = append(out.Flavors, readFlavorUse(q, flavor.Name, limit))
			}
		}
	}
	noteSlots(out.Flavors)
	out.Notes = queueNotes(q)
	return out
}

// readFlavorUse reads limit and use of one flavor and resource.
func readFlavorUse(q *clusterQueue, flavor string, limit resourceLimit) fleet.FlavorUse {
	use := readLimit(flavor, limit)
	key := use.Pool
	use.Reserved, _ = usage(q.Status.FlavorsReservation, key)
	use.InUse, use.Borrowed = usage(q.Status.FlavorsUsage, key)
	if q.cohort() == "" {
		withoutCohort(&use)
	}
	return use
}

// readLimit reads what one flavor and resource is held to.
func readLimit(flavor string, limit resourceLimit) fleet.FlavorUse {
	use := fleet.FlavorUse{
		Pool: fleet.PoolKey{Flavor: flavor, Resource: limit.Name}, Nominal: limit.NominalQuota.measure(),
		Borrowing: limit.BorrowingLimit.optional(), Lending: limit.LendingLimit.optional(),
	}
	if !use.Nominal.Known {
		use.Notes = append(use.Notes, fmt.Sprintf("nominalQuota %q cannot be counted", limit.NominalQuota))
	}
	use.Notes = append(use.Notes, resourceNotes(limit.Name, use.Nominal)...)
	return use
}

// withoutCohort corrects what only a cohort can give. Older releases of Kueue
// called any use above the quota borrowed.
func withoutCohort(use *fleet.FlavorUse) {
	none := fleet.Quantity{}
	use.Borrowing, use.Lending = &none, &none
	if !use.InUse.Known || !use.Nominal.Known {
		return
	}
	reported := use.Borrowed
	use.Borrowed = fleet.Known(none)
	if over := use.InUse.Amount.Sub(use.Nominal.Amount); over.Sign() > 0 {
		use.Notes = append(use.Notes, "over quota by "+over.Display(use.Pool.Resource))
	}
	if reported.Known && reported.Amount.Sign() > 0 {
		use.Notes = append(use.Notes, "source says borrowed "+reported.Amount.Display(use.Pool.Resource))
	}
}

// activeQueue is Kueue's own word on whether the queue admits, and why not.
func activeQueue(q *clusterQueue) (active bool, reason string) {
	c, ok := conditionOf(q.Status.Conditions, "Active")
	switch {
	case !ok:
		return false, "Kueue has not judged the queue yet"
	case c.ObservedGeneration != 0 && c.ObservedGeneration < q.Metadata.Generation:
		return false, "Kueue has not judged the queue since its last change"
	case c.Status == "True":
		return true, ""
	case c.Message != "":
		return false, c.Reason + ": " + c.Message
	}
	return false, c.Reason
}

func queueNotes(q *clusterQueue) []string {
	if len(q.Spec.ResourceGroups) == 0 {
		return []string{"no resourceGroups: the queue has no quota and admits nothing"}
	}
	covered := map[string]bool{}
	for _, group := range q.Spec.ResourceGroups {
		for _, name := range group.CoveredResources {
			covered[name] = true
		}
	}
	var notes []string
	for _, name := range []string{"cpu", "memory"} {
		if !covered[name] {
			notes = append(notes, fmt.Sprintf("%s is not covered: a pod that asks for it is not admitted", name))
		}
	}
	return notes
}

func counted(n *int64) fleet.Measure {
	if n == nil {
		return fleet.Unknown
	}
	return fleet.Known(fleet.Count(*n))
}
