package k8s

import (
	"encoding/json"

	"quartermaster/internal/fleet"
)

// labelSelector is a Kubernetes label selector, as much of it as is compared.
type labelSelector struct {
	MatchLabels      map[string]string `json:"matchLabels,omitempty"`
	MatchExpressions []json.RawMessage `json:"matchExpressions,omitempty"`
}

// text says a selector of namespaces as fleet.NamespaceSelector does where it names
// one; null matches nothing, {} everything.
func (s *labelSelector) text() *string {
	out := "no namespace"
	switch {
	case s == nil:
	case len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0:
		out = "every namespace"
	case len(s.MatchLabels) == 1 && len(s.MatchExpressions) == 0 && s.MatchLabels["kubernetes.io/metadata.name"] != "":
		out = fleet.NamespaceSelector(s.MatchLabels["kubernetes.io/metadata.name"])
	default:
		raw, err := json.Marshal(s)
		if err != nil {
			return nil
		}
		out = string(raw)
	}
	return &out
}

// queueWriters says who wrote each part of a ClusterQueue's specification, and when.
func queueWriters(m metadata) []fleet.Writer {
	var out []fleet.Writer
	for _, fields := range m.ManagedFields {
		if fields.Subresource != "" {
			continue
		}
		var owned struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		if json.Unmarshal(fields.FieldsV1, &owned) != nil {
			continue
		}
		for _, part := range []struct{ part, field string }{
			{fleet.PartLimits, "f:resourceGroups"}, {fleet.PartStop, "f:stopPolicy"}, {fleet.PartSelector, "f:namespaceSelector"},
			{fleet.PartCohort, "f:cohortName"}, {fleet.PartCohort, "f:cohort"},
		} {
			if _, owns := owned.Spec[part.field]; !owns {
				continue
			}
			w := fleet.Writer{Part: part.part, Manager: fields.Manager}
			if w.Manager == ShapeManager {
				w.Manager = LimitsManager // both are the portal
			}
			if fields.Time != nil {
				w.At = utc(*fields.Time)
			}
			out = append(out, w)
		}
	}
	return out
}
