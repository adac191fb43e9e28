package k8s

import (
	"fmt"
	"sort"
	"strings"

	"quartermaster/internal/fleet"
)

// addQuota bounds the namespace by what its queue may reach at most. All flavors
// share one key there, and a key that borrowing leaves unbounded is not written.
func (o *composition) addQuota(d fleet.Desired, groups *groups, paths map[fleet.ObjectRef]string) {
	b := d.Binding
	hard := map[string]any{}
	var fields []field
	seen := map[string]bool{}
	for _, l := range d.Limits {
		if seen[l.Pool.Resource] {
			continue
		}
		seen[l.Pool.Resource] = true
		key := "requests." + l.Pool.Resource
		most, bounded := groups.most(l.Pool.Resource)
		if bounded {
			hard[key] = most.String()
		} else {
			o.warnings = append(o.warnings, fmt.Sprintf("Borrowing of %s has no limit, so the namespace's ResourceQuota gets no key for it: pods outside the queue are not limited.", l.Pool.Resource))
		}
		fields = append(fields, hardField(key))
	}
	live := o.live[quotaRef(b)]
	if live == nil && len(hard) == 0 {
		return
	}
	document := o.document(quotaRef(b), LimitsManager, paths, "v1", map[string]any{"hard": hard})
	document.fields = append(fields, strayKeys(live, seen)...)
	annotate(document.body, d)
	o.documents = append(o.documents, document)
}

// strayKeys are keys of the portal's own object that are not desired. One that
// another manager also owns survives an apply, and must then not read as done.
func strayKeys(live *object, known map[string]bool) []field {
	if live == nil || live.meta.Labels[managedByLabel] != managedByUs {
		return nil
	}
	hard, _ := nested(live.raw, "spec", "hard").(map[string]any)
	var keys []string
	for key := range hard {
		if resource, ok := strings.CutPrefix(key, "requests."); !ok || !known[resource] {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	var fields []field
	for _, key := range keys {
		fields = append(fields, hardField(key))
	}
	return fields
}

func hardField(key string) field {
	return field{path: "hard " + key, limit: true, owned: []string{"spec", "hard", key}, of: func(raw map[string]any) *string {
		return quantity(nested(raw, "spec", "hard", key))
	}}
}
