package k8s

import (
	"slices"
	"strings"

	"quartermaster/internal/fleet"
)

// implausibleCount is an amount of things that are counted in pieces which no
// cluster has: a size was written where a count was meant.
var implausibleCount = fleet.Count(1_000_000)

// resourceNotes say what a number of a resource is, where its name misleads.
func resourceNotes(resource string, nominal fleet.Measure) []string {
	var notes []string
	switch {
	case resource == "nvidia.com/total-gpucores":
		notes = append(notes, "percent points of a card: 100 are one card")
	case resource == "nvidia.com/total-gpumem":
		notes = append(notes, "MiB of card memory")
	case !strings.Contains(resource, "/") && !nodeResource(resource):
		notes = append(notes, "no resource of nodes: only a transformation in Kueue's configuration charges it, and it may hold others below their own quota")
	}
	if nominal.Known && nominal.Amount.Cmp(implausibleCount) >= 0 && !measured(resource) {
		notes = append(notes, nominal.Amount.Display(resource)+" pieces are implausible: is the number right?")
	}
	return notes
}

// nodeResource reports whether Kubernetes itself has a resource of that name.
func nodeResource(name string) bool {
	return slices.Contains([]string{"cpu", "memory", "pods", "ephemeral-storage"}, name) || strings.HasPrefix(name, "hugepages-")
}

// measured resources are sizes or shares, not pieces.
func measured(name string) bool {
	for _, part := range []string{"memory", "storage", "hugepages", "mem", "cores", "cpu"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// noteSlots: where parts of a card are given beside it, the count of cards is one of
// slots on them, several a card.
func noteSlots(uses []fleet.FlavorUse) {
	parts := map[string]bool{}
	for _, u := range uses {
		if u.Pool.Resource == "nvidia.com/total-gpucores" || u.Pool.Resource == "nvidia.com/total-gpumem" {
			parts[u.Pool.Flavor] = true
		}
	}
	for i := range uses {
		if u := &uses[i]; u.Pool.Resource == "nvidia.com/gpu" && parts[u.Pool.Flavor] {
			u.Notes = append(u.Notes, "vGPU slots, several a card")
		}
	}
}
