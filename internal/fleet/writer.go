package fleet

import "time"

// Manager is the name under which the portal writes limits.
const Manager = "quartermaster"

// Parts of a queue that may have different writers.
const (
	PartLimits   = "limits"
	PartStop     = "stopPolicy"
	PartCohort   = "cohort"
	PartSelector = "namespaceSelector"
)

// Writer is who wrote a part of an object last, where the cluster keeps that.
type Writer struct {
	Part    string     `json:"part"`
	Manager string     `json:"manager"`
	At      *time.Time `json:"at,omitempty"` // nil = not known
}

// Writer of a part: the last that is not the portal, or else whoever is known.
func (q Queue) Writer(part string) Writer {
	out := Writer{Part: part}
	for _, w := range q.Writers {
		if w.Part != part {
			continue
		}
		foreign, known := w.Manager != Manager, out.Manager != ""
		later := w.At != nil && (out.At == nil || w.At.After(*out.At))
		if !known || foreign && (out.Manager == Manager || later) {
			out = w
		}
	}
	return out
}

// NamespaceSelector is how a Queue's Selector says one namespace.
func NamespaceSelector(namespace string) string { return "kubernetes.io/metadata.name=" + namespace }

// Loose is what one pod (or job) holds of accelerators without any queue that counts it.
type Loose struct {
	// Object is what made it: its controller, or the pod itself.
	Object   ObjectRef  `json:"object"`
	Name     string     `json:"name"` // of the pod
	Node     string     `json:"node"`
	Resource string     `json:"resource"`
	Amount   Quantity   `json:"amount"`
	Pool     PoolKey    `json:"pool"`            // zero where the node is in no one pool
	By       string     `json:"by,omitempty"`    // who made it, where the cluster keeps that
	Since    *time.Time `json:"since,omitempty"` // when it was made
}
