package k8s

import (
	"encoding/json"
	"fmt"
	"strings"

	"quartermaster/internal/fleet"
)

// take decides by group, version and kind what becomes of an object, and returns
// what it adds. An error refuses it.
func (d *dump) take(doc *fleet.Document, raw map[string]any) (add func(), err error) {
	group, version, grouped := strings.Cut(doc.APIVersion, "/")
	if !grouped {
		group, version = "", doc.APIVersion
	}
	doc.State = fleet.DocumentRead
	switch group {
	case kueueGroup:
		return d.takeKueue(doc, version, raw)
	case "":
		return d.takeCore(doc, raw)
	case "quota.openshift.io":
		if doc.Object.Kind == "ClusterResourceQuota" {
			return d.takeClusterQuota(raw)
		}
	case "kubeflow.org":
		if doc.Object.Kind == "Profile" {
			return keep(raw, &d.profiles)
		}
	case "resource.k8s.io":
		return d.takeDevices(doc, raw)
	case "scheduling.volcano.sh":
		return nil, fmt.Errorf("%s %s is of Volcano: queues of Kueue and ResourceQuotas are read", doc.Object.Kind, doc.Object.Name)
	}
	doc.State, doc.Reason = fleet.DocumentSkipped, "It carries no limit that the portal reads."
	return nil, nil
}

// keep decodes raw and returns what appends it to all.
func keep[T any](raw map[string]any, all *[]T) (add func(), err error) {
	v, err := decoded[T](raw)
	return func() { *all = append(*all, v) }, err
}

func decoded[T any](raw map[string]any) (v T, err error) {
	text, err := json.Marshal(raw)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	return v, err
}

// kueueVersions in order of age; the first two have shapes of their own.
var kueueVersions = map[string]int{"v1alpha1": 1, "v1alpha2": 2, "v1beta1": 3, "v1beta2": 4}

func (d *dump) takeKueue(doc *fleet.Document, version string, raw map[string]any) (func(), error) {
	age, known := kueueVersions[version]
	if !known {
		return nil, fmt.Errorf("%s is a version of Kueue that is not known here: v1alpha1 to v1beta2 are", doc.APIVersion)
	}
	old := age < 3
	if old {
		doc.State, doc.Reason = fleet.DocumentConverted, "Converted from "+version+"."
	}
	switch kind := doc.Object.Kind; {
	case kind == "ClusterQueue":
		if old && nested(raw, "spec", "resourceGroups") == nil {
			if err := convertQueue(raw); err != nil {
				return nil, err
			}
			doc.Reason = "Converted from " + version + ": its guaranteed amounts are nominalQuota."
		}
		return d.takeQueue(version, raw)
	case kind == "LocalQueue", kind == "Queue" && old:
		doc.Object.Kind = "LocalQueue"
		if doc.Object.Namespace == "" {
			doc.Reason = "It names no namespace."
		}
		return keep(raw, &d.locals)
	case kind == "Cohort":
		c, err := decoded[cohort](raw)
		if err == nil {
			if wrong := uncountable(c.Spec.ResourceGroups); wrong != "" {
				return nil, fmt.Errorf("%s", wrong)
			}
		}
		return func() { d.cohorts = append(d.cohorts, c) }, err
	case kind == "ResourceFlavor":
		if old {
			convertFlavor(raw)
		}
		return keep(raw, &d.flavors)
	}
	doc.State, doc.Reason = fleet.DocumentSkipped, "It carries no limit that the portal reads."
	return nil, nil
}

func (d *dump) takeQueue(version string, raw map[string]any) (func(), error) {
	q, err := decoded[clusterQueue](raw)
	if err != nil {
		return nil, err
	}
	if wrong := uncountable(q.Spec.ResourceGroups); wrong != "" {
		return nil, fmt.Errorf("%s", wrong)
	}
	return func() {
		d.queues = append(d.queues, q)
		if kueueVersions[version] > kueueVersions[d.version] {
			d.version = version
		}
	}, nil
}

func (d *dump) takeCore(doc *fleet.Document, raw map[string]any) (func(), error) {
	switch doc.Object.Kind {
	case "ResourceQuota":
		q, err := decoded[resourceQuota](raw)
		if err != nil {
			return nil, err
		}
		for key, a := range q.Spec.Hard {
			if !a.measure().Known {
				return nil, fmt.Errorf("%q of %s cannot be counted", a, key)
			}
			if strings.HasSuffix(key, devicesSuffix) || isExtended(key) {
				d.counting[q.Metadata.Namespace] = true
			}
		}
		if doc.Object.Namespace == "" {
			doc.Reason = "It names no namespace."
		}
		return func() { d.quotas = append(d.quotas, q) }, nil
	case "ClusterResourceQuota":
		doc.State, doc.Reason = fleet.DocumentConverted, "Converted from the group that OpenShift had first; it is quota.openshift.io/v1 now."
		return d.takeClusterQuota(raw)
	case "Namespace":
		doc.Object.Namespace = ""
		return keep(raw, &d.namespaces)
	case "Node":
		return keep(raw, &d.nodes)
	case "Pod":
		doc.Reason = "Counted where a quota needs it."
		return keep(raw, &d.pods)
	}
	doc.State, doc.Reason = fleet.DocumentSkipped, "It carries no limit that the portal reads."
	return nil, nil
}

func (d *dump) takeClusterQuota(raw map[string]any) (func(), error) {
	return keep(raw, &d.clusters)
}

// takeDevices keeps what device quotas are counted from.
func (d *dump) takeDevices(doc *fleet.Document, raw map[string]any) (func(), error) {
	doc.Reason = "Counted where a quota needs it."
	switch doc.Object.Kind {
	case "ResourceClaim":
		return keep(raw, &d.claims)
	case "ResourceClaimTemplate":
		return keep(raw, &d.templates)
	case "DeviceClass":
		return keep(raw, &d.classes)
	}
	doc.State, doc.Reason = fleet.DocumentSkipped, "It carries no limit that the portal reads."
	return nil, nil
}
