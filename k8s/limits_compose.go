package k8s

import (
	"fmt"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// groups edits a ClusterQueue's spec.resourceGroups. The list is atomic for
// server-side apply: whoever writes it owns all of it. So it is composed from
// what is there, fields and flavors we know nothing of included, and only the
// desired numbers are changed. Kueue wants every flavor of a group to list all
// covered resources, in one order, and a flavor or resource in one group only.
type groups struct {
	list []any
	// cohort: borrowing and lending exist only inside one.
	cohort   bool
	warnings []string
}

// composeGroups returns the desired resourceGroups. live is the present list,
// nil for a new queue. Where keepOthers is false (the portal's own queue), a
// flavor or resource that is no longer desired goes to 0 and stays: removing it
// under running workloads would orphan their use.
func composeGroups(live any, d fleet.Desired, cohort, keepOthers bool) (*groups, error) {
	list, _ := copyOf(live).([]any)
	g := &groups{list: list, cohort: cohort}
	wanted := map[fleet.PoolKey]bool{}
	for _, limits := range [][]fleet.Limit{d.Companions, d.Limits} {
		for _, limit := range limits {
			if err := checkLimit(limit); err != nil {
				return nil, err
			}
			wanted[limit.Pool] = true
			if err := g.set(limit); err != nil {
				return nil, err
			}
		}
	}
	zero := fleet.Quantity{}
	g.each(func(flavor string, entry map[string]any) {
		key := fleet.PoolKey{Flavor: flavor, Resource: stringOf(entry["name"])}
		// A desired state without companions says nothing about cpu and memory.
		silent := len(d.Companions) == 0 && !IsAccelerator(key.Resource)
		if wanted[key] || keepOthers || silent {
			return
		}
		if old := amountOf(entry["nominalQuota"]); old.Known && old.Amount.Sign() > 0 {
			g.warnings = append(g.warnings, fmt.Sprintf("%s is no longer granted: its quota goes to 0. What runs keeps running.", key))
		}
		g.write(entry, fleet.Limit{Pool: key, Nominal: zero, Borrowing: &zero})
	})
	g.warnUncovered()
	return g, nil
}

// checkLimit refuses what Kueue would refuse, in words a person can act on.
func checkLimit(l fleet.Limit) error {
	wrong := fault.Newf(fault.Invalid, "The limit for %s cannot be set.", l.Pool)
	for name, q := range map[string]*fleet.Quantity{"nominal": &l.Nominal, "borrowing": l.Borrowing, "lending": l.Lending} {
		switch {
		case q == nil:
		case q.Sign() < 0:
			wrong.At(name, "It is below 0.")
		case isExtended(l.Pool.Resource) && !q.IsWhole():
			wrong.At(name, "%s are counted in whole units.", l.Pool.Resource)
		}
	}
	if l.Lending != nil && l.Lending.Cmp(l.Nominal) > 0 {
		wrong.At("lending", "It is above the guaranteed amount of %s.", l.Nominal)
	}
	return wrong.OrNil()
}

// set writes one limit, adding its flavor and resource where they are missing.
func (g *groups) set(l fleet.Limit) error {
	group := g.withFlavor(l.Pool.Flavor)
	if group == nil {
		if group = g.covering(l.Pool.Resource); group == nil {
			group = g.first()
		}
		g.addFlavor(group, l.Pool.Flavor)
	}
	if !slices.Contains(covered(group), l.Pool.Resource) {
		if other := g.covering(l.Pool.Resource); other != nil {
			return fault.Newf(fault.Invalid, "Flavor %s and resource %s are in different resource groups of the queue; Kueue cannot combine them. Change the queue's groups on the cluster first.", l.Pool.Flavor, l.Pool.Resource)
		}
		g.addResource(group, l.Pool.Resource)
	}
	for _, f := range flavors(group) {
		if stringOf(f["name"]) != l.Pool.Flavor {
			continue
		}
		for _, entry := range entries(f) {
			if stringOf(entry["name"]) == l.Pool.Resource {
				g.write(entry, l)
			}
		}
	}
	return nil
}

// write sets the numbers of one entry; an equal amount keeps its notation, so
// that 12000m for 12 is no change.
func (g *groups) write(entry map[string]any, l fleet.Limit) {
	put := func(key string, q *fleet.Quantity) {
		if q == nil {
			delete(entry, key)
			return
		}
		if old := amountOf(entry[key]); !old.Known || !old.Amount.Equal(*q) {
			entry[key] = q.String()
		}
	}
	put("nominalQuota", &l.Nominal)
	if !g.cohort {
		l.Borrowing, l.Lending = nil, nil
	}
	put("borrowingLimit", l.Borrowing)
	put("lendingLimit", l.Lending)
}

func (g *groups) addFlavor(group map[string]any, name string) {
	var resources []any
	for _, resource := range covered(group) {
		resources = append(resources, g.emptyEntry(resource))
	}
	list, _ := group["flavors"].([]any)
	group["flavors"] = append(list, map[string]any{"name": name, "resources": resources})
}

func (g *groups) addResource(group map[string]any, resource string) {
	list, _ := group["coveredResources"].([]any)
	group["coveredResources"] = append(list, resource)
	for _, f := range flavors(group) {
		list, _ := f["resources"].([]any)
		f["resources"] = append(list, g.emptyEntry(resource))
	}
}

func (g *groups) emptyEntry(resource string) map[string]any {
	entry := map[string]any{"name": resource, "nominalQuota": "0"}
	if g.cohort {
		entry["borrowingLimit"] = "0"
	}
	return entry
}

func (g *groups) first() map[string]any {
	if len(g.list) == 0 {
		g.list = append(g.list, map[string]any{})
	}
	return g.list[0].(map[string]any)
}

func (g *groups) withFlavor(name string) map[string]any {
	for _, group := range maps(g.list) {
		for _, f := range flavors(group) {
			if stringOf(f["name"]) == name {
				return group
			}
		}
	}
	return nil
}

func (g *groups) covering(resource string) map[string]any {
	for _, group := range maps(g.list) {
		if slices.Contains(covered(group), resource) {
			return group
		}
	}
	return nil
}

// each visits every entry in stored order.
func (g *groups) each(visit func(flavor string, entry map[string]any)) {
	for _, group := range maps(g.list) {
		for _, f := range flavors(group) {
			for _, entry := range entries(f) {
				visit(stringOf(f["name"]), entry)
			}
		}
	}
}

func (g *groups) warnUncovered() {
	for _, resource := range []string{"cpu", "memory"} {
		if g.covering(resource) == nil {
			g.warnings = append(g.warnings, fmt.Sprintf("The queue does not cover %s: a pod that asks for it will not be admitted.", resource))
		}
	}
}

// most is the largest use one resource can reach over all flavors: nominal plus
// borrowing. bounded is false where a flavor may borrow without limit.
func (g *groups) most(resource string) (sum fleet.Quantity, bounded bool) {
	bounded = true
	g.each(func(_ string, entry map[string]any) {
		if stringOf(entry["name"]) != resource {
			return
		}
		if q := amountOf(entry["nominalQuota"]); q.Known {
			sum = sum.Add(q.Amount)
		}
		if !g.cohort {
			return
		}
		if q := amountOf(entry["borrowingLimit"]); q.Known {
			sum = sum.Add(q.Amount)
		} else {
			bounded = false
		}
	})
	return sum, bounded
}

// fields lists every number of the groups, and what each group covers.
func (g *groups) fields() []field {
	var out []field
	for i, group := range maps(g.list) {
		out = append(out, field{path: coveredPath(i), of: func(raw map[string]any) *string {
			list := maps(listAt(raw, "spec", "resourceGroups"))
			if i >= len(list) {
				return nil
			}
			return text(list[i]["coveredResources"])
		}})
		for _, f := range flavors(group) {
			for _, entry := range entries(f) {
				for _, name := range []string{"nominalQuota", "borrowingLimit", "lendingLimit"} {
					out = append(out, quotaField(stringOf(f["name"]), stringOf(entry["name"]), name))
				}
			}
		}
	}
	return out
}

func coveredPath(group int) string {
	if group == 0 {
		return "coveredResources"
	}
	return fmt.Sprintf("coveredResources of group %d", group+1)
}

func quotaField(flavor, resource, name string) field {
	return field{path: flavor + " " + resource + " " + name, limit: true, owned: []string{"spec", "resourceGroups"}, of: func(raw map[string]any) *string {
		var found any
		(&groups{list: listAt(raw, "spec", "resourceGroups")}).each(func(f string, entry map[string]any) {
			if f == flavor && stringOf(entry["name"]) == resource {
				found = entry[name]
			}
		})
		return quantity(found)
	}}
}

func covered(group map[string]any) []string {
	list, _ := group["coveredResources"].([]any)
	var names []string
	for _, name := range list {
		names = append(names, stringOf(name))
	}
	return names
}

func flavors(group map[string]any) []map[string]any { l, _ := group["flavors"].([]any); return maps(l) }
func entries(flavor map[string]any) []map[string]any {
	l, _ := flavor["resources"].([]any)
	return maps(l)
}

func maps(list []any) []map[string]any {
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func listAt(raw map[string]any, path ...string) []any {
	list, _ := nested(raw, path...).([]any)
	return list
}

func stringOf(value any) string { s, _ := value.(string); return s }

func amountOf(value any) fleet.Measure {
	if s := quantity(value); s != nil {
		return amount(*s).measure()
	}
	return fleet.Unknown
}
