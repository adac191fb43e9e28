package k8s

import (
	"encoding/json"
	"strings"
	"time"

	"quartermaster/internal/fleet"
)

// metadata is what this package needs of any object. The lists of a large
// cluster are long: each struct here names only what is read.
type metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion"`
	Generation        int64             `json:"generation"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	OwnerReferences   []ownerReference  `json:"ownerReferences"`
	ManagedFields     []managedFields   `json:"managedFields"`
}

type ownerReference struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// managedFields says which fields one manager owns (server-side apply).
type managedFields struct {
	Manager     string          `json:"manager"`
	Operation   string          `json:"operation"`
	Time        *time.Time      `json:"time"`
	Subresource string          `json:"subresource"`
	FieldsV1    json.RawMessage `json:"fieldsV1"`
}

// owns reports whether the manager owns the field at path or something below it.
func (m managedFields) owns(path ...string) bool {
	at := m.FieldsV1
	for _, name := range path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(at, &fields) != nil {
			return false
		}
		next, ok := fields["f:"+name]
		if !ok {
			return false
		}
		at = next
	}
	return true
}

// managersOf lists who owns the field at path, each once, in the order stored.
func (m metadata) managersOf(path ...string) []string {
	var names []string
	seen := map[string]bool{}
	for _, fields := range m.ManagedFields {
		if fields.Subresource == "" && !seen[fields.Manager] && fields.owns(path...) {
			seen[fields.Manager] = true
			names = append(names, fields.Manager)
		}
	}
	return names
}

// condition is one entry of status.conditions.
type condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
	ObservedGeneration int64     `json:"observedGeneration"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

func conditionOf(all []condition, kind string) (condition, bool) {
	for _, c := range all {
		if c.Type == kind {
			return c, true
		}
	}
	return condition{}, false
}

// amount is a quantity as written; the API serves strings, older objects and
// hand-written YAML also have bare numbers.
type amount string

func (a *amount) UnmarshalJSON(text []byte) error {
	var s string
	if json.Unmarshal(text, &s) == nil {
		*a = amount(strings.TrimSpace(s))
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	*a = amount(n.String())
	return nil
}

// measure is unknown for an amount that is absent or that nobody can count.
func (a amount) measure() fleet.Measure {
	q, err := fleet.ParseQuantity(string(a))
	if a == "" || err != nil {
		return fleet.Unknown
	}
	return fleet.Known(q)
}

// optional is nil where the field is absent.
func (a *amount) optional() *fleet.Quantity {
	if a == nil {
		return nil
	}
	if m := a.measure(); m.Known {
		return &m.Amount
	}
	return nil
}
