package k8s

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"quartermaster/internal/fleet"
)

// resourceQuota is a ResourceQuota.
type resourceQuota struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Hard          map[string]amount `json:"hard"`
		Scopes        []string          `json:"scopes"`
		ScopeSelector *struct {
			MatchExpressions []struct {
				ScopeName string   `json:"scopeName"`
				Operator  string   `json:"operator"`
				Values    []string `json:"values"`
			} `json:"matchExpressions"`
		} `json:"scopeSelector"`
	} `json:"spec"`
	Status struct {
		Used map[string]amount `json:"used"`
	} `json:"status"`
}

// devicesSuffix ends the quota key that counts devices of a DRA class.
const devicesSuffix = ".deviceclass.resource.k8s.io/devices"

// readQuota gives one entry for each key, in the order of their names. counted
// holds what was counted by hand where the cluster's own figure is not to be
// trusted; nil where nothing was.
func readQuota(q *resourceQuota, counted *deviceCount) []fleet.Quota {
	keys := make([]string, 0, len(q.Spec.Hard))
	for key := range q.Spec.Hard {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var out []fleet.Quota
	for _, key := range keys {
		quota := fleet.Quota{
			Namespace: q.Metadata.Namespace, Name: q.Metadata.Name, Key: key,
			Hard: q.Spec.Hard[key].measure(), Owner: ownerOf(q.Metadata).name, Ours: ours(q.Metadata),
		}
		if used, ok := q.Status.Used[key]; ok {
			quota.Used = used.measure()
		}
		if !quota.Hard.Known {
			quota.Notes = append(quota.Notes, fmt.Sprintf("%q cannot be counted", q.Spec.Hard[key]))
		}
		judgeKey(&quota, counted)
		quota.Notes = append(quota.Notes, scopeNotes(q)...)
		out = append(out, quota)
	}
	return out
}

// judgeKey says where a key does not do what it seems to. Kubernetes limits
// extended resources only under requests.<name>; it stores other keys and
// ignores them (Kubernetes documentation, "Resource quota for extended resources").
func judgeKey(q *fleet.Quota, counted *deviceCount) {
	name, isLimit := strings.CutPrefix(q.Key, "limits.")
	asked, isRequest := strings.CutPrefix(q.Key, "requests.")
	switch {
	case strings.HasSuffix(q.Key, devicesSuffix):
		judgeDevices(q, counted)
	case isLimit && isExtended(name):
		q.Used = fleet.Unknown
		q.Notes = append(q.Notes, "not tracked by Kubernetes")
		if misnamed(name) {
			q.Notes = append(q.Notes, "unknown resource, not enforced: no device of NVIDIA or HAMi has that name")
		}
	case isRequest && strings.HasPrefix(asked, goneDomain):
		q.Notes = append(q.Notes, "unknown resource: Kubernetes dropped it in 1.11, so it limits nothing; it is not counted as any other")
	case isRequest && misnamed(asked):
		q.Notes = append(q.Notes, "unknown resource, not enforced: no device of NVIDIA or HAMi has that name")
	case isExtended(q.Key):
		q.Used = fleet.Unknown
		q.Notes = append(q.Notes, fmt.Sprintf("not enforced by Kubernetes; use requests.%s", q.Key))
		if asked, ok := counted.podsAsk(q.Namespace, q.Key); ok && asked.Sign() > 0 {
			q.Notes = append(q.Notes, fmt.Sprintf("pods there ask for %s now", asked.Display(q.Key)))
		}
	}
}

// goneDomain held the first names of accelerators, until Kubernetes 1.11.
const goneDomain = "alpha.kubernetes.io/"

// nvidiaNames are the resources under NVIDIA's domain that something serves:
// the vendor's device plugin, or HAMi's with its parts of a card.
var nvidiaNames = []string{"gpu", "gpu.shared", "gpucores", "gpumem", "gpumem-percentage", "priority", "total-gpucores", "total-gpumem", "pgpu"}

// misnamed reports a name under NVIDIA's domain that nothing serves: a slip.
func misnamed(resource string) bool {
	name, ok := strings.CutPrefix(resource, "nvidia.com/")
	return ok && !slices.Contains(nvidiaNames, name) && !strings.HasPrefix(name, "mig-") && !strings.Contains(name, "_")
}

// judgeDevices counts the claims themselves: a claim that carries the mark of an
// automatic one is not charged by the quota, although anybody can write that mark.
func judgeDevices(q *fleet.Quota, counted *deviceCount) {
	devices, ok := counted.claimed(q.Namespace, strings.TrimSuffix(q.Key, devicesSuffix))
	if !ok {
		return
	}
	reported := q.Used
	q.Used = fleet.Known(devices)
	if reported.Known && !reported.Amount.Equal(devices) {
		q.Notes = append(q.Notes, fmt.Sprintf("the cluster charges %s; claims there hold %s", reported, devices))
	}
	if q.Hard.Known {
		if over := devices.Sub(q.Hard.Amount); over.Sign() > 0 {
			q.Notes = append(q.Notes, "over quota by "+over.String())
		}
	}
}

func scopeNotes(q *resourceQuota) []string {
	var notes []string
	for _, scope := range q.Spec.Scopes {
		notes = append(notes, "counts only pods of scope "+scope)
	}
	if q.Spec.ScopeSelector != nil {
		for _, e := range q.Spec.ScopeSelector.MatchExpressions {
			notes = append(notes, strings.TrimSpace(fmt.Sprintf("counts only pods where %s %s %s", e.ScopeName, e.Operator, strings.Join(e.Values, ", "))))
		}
	}
	return notes
}

// isExtended reports whether a name is an extended resource: it has a domain,
// and not one of Kubernetes' own.
func isExtended(name string) bool {
	domain, rest, ok := strings.Cut(name, "/")
	return ok && rest != "" && domain != "count" && !strings.HasPrefix(name, "requests.") &&
		domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") &&
		!strings.HasSuffix(domain, ".k8s.io") && !strings.Contains(name, ".storageclass.")
}
