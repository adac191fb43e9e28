package k8s

import (
	"fmt"
	"slices"

	"quartermaster/internal/fleet"
)

// convertQueue brings a ClusterQueue of Kueue's first two versions into the present
// shape. v1alpha1 lists requestableResources with guaranteed and ceiling, v1alpha2
// resources with min and max; the upper figure includes the lower one, so that
// what may be borrowed is their difference, and none is no limit.
// Source: Kueue's API at v0.1 and v0.2, and its conversion to v1beta1.
func convertQueue(raw map[string]any) error {
	list, flavorKey, low, high := listAt(raw, "spec", "requestableResources"), "resourceFlavor", "guaranteed", "ceiling"
	if list == nil {
		list, flavorKey, low, high = listAt(raw, "spec", "resources"), "name", "min", "max"
	}
	spec, _ := raw["spec"].(map[string]any)
	if list == nil || spec == nil {
		return fmt.Errorf("it has neither requestableResources nor resources, so its quota is not known")
	}
	var groups []any
	at := map[string]map[string]any{} // by the flavors they have
	for _, resource := range maps(list) {
		name := stringOf(resource["name"])
		var names []string
		for _, f := range flavors(resource) {
			names = append(names, stringOf(f[flavorKey]))
		}
		key := fmt.Sprint(names)
		group := at[key]
		if group == nil {
			var all []any
			for _, n := range names {
				all = append(all, map[string]any{"name": n, "resources": []any{}})
			}
			group = map[string]any{"coveredResources": []any{}, "flavors": all}
			at[key] = group
			groups = append(groups, group)
		}
		group["coveredResources"] = append(group["coveredResources"].([]any), name)
		for i, f := range flavors(resource) {
			entry, err := convertEntry(name, f, low, high)
			if err != nil {
				return err
			}
			flavor := group["flavors"].([]any)[i].(map[string]any)
			flavor["resources"] = append(flavor["resources"].([]any), entry)
		}
	}
	spec["resourceGroups"] = groups
	delete(spec, "resources")
	delete(spec, "requestableResources")
	return nil
}

func convertEntry(name string, flavor map[string]any, low, high string) (map[string]any, error) {
	quota, _ := flavor["quota"].(map[string]any)
	nominal := quantity(quota[low])
	if nominal == nil {
		return nil, fmt.Errorf("the quota of %s names no %s", name, low)
	}
	entry := map[string]any{"name": name, "nominalQuota": *nominal}
	most := quantity(quota[high])
	if most == nil {
		return entry, nil
	}
	a, errA := fleet.ParseQuantity(*nominal)
	b, errB := fleet.ParseQuantity(*most)
	if errA != nil || errB != nil || b.Cmp(a) < 0 {
		return nil, fmt.Errorf("the %s of %s is %s, below its %s of %s or not countable", high, name, *most, low, *nominal)
	}
	entry["borrowingLimit"] = b.Sub(a).String()
	return entry, nil
}

// convertFlavor moves the node labels of the first versions to where they stand now.
func convertFlavor(raw map[string]any) {
	for _, key := range []string{"labels", "nodeSelector"} {
		if labels, ok := raw[key].(map[string]any); ok {
			raw["spec"] = map[string]any{"nodeLabels": labels}
		}
	}
}

// uncountable names the first amount of the groups that nobody can count.
func uncountable(groups []resourceGroup) string {
	for _, group := range groups {
		for _, flavor := range group.Flavors {
			for _, r := range flavor.Resources {
				for name, a := range map[string]*amount{"nominalQuota": &r.NominalQuota, "borrowingLimit": r.BorrowingLimit, "lendingLimit": r.LendingLimit} {
					if a != nil && !a.measure().Known {
						return fmt.Sprintf("%s %q of %s %s cannot be counted", name, *a, flavor.Name, r.Name)
					}
				}
				if !slices.Contains(group.CoveredResources, r.Name) {
					return fmt.Sprintf("flavor %s has %s, which coveredResources does not name", flavor.Name, r.Name)
				}
			}
		}
	}
	return ""
}
