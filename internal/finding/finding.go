// Package finding knows what is not as it should be on a cluster and somebody's to
// resolve: a limit or setting that differs from what is granted (drift), use of
// accelerators that no limit counts (bypass), and a change that stopped. It compares
// what is granted with what a poll saw, and says what becomes of a finding from one
// poll to the next. portal calls it; it never reads a cluster or a store, never
// decides who may resolve, and never takes "not read" for "not there".
package finding

import (
	"time"

	"quartermaster/internal/fleet"
)

// Kind of finding. Frozen strings.
type Kind string

const (
	// Drift: a limit, a setting or an object differs from what is granted.
	Drift Kind = "drift"
	// Bypass: accelerators are used, or could be, outside of every limit.
	Bypass Kind = "bypass"
	// Stopped: a change stopped and needs a person.
	Stopped Kind = "stopped"
)

// Kinds in the order in which a filter shows them.
var Kinds = []Kind{Drift, Bypass, Stopped}

// Severity orders findings; higher is worse. The numbers are stored.
type Severity int

const (
	Low    Severity = 1 // nothing granted is touched
	Medium Severity = 2 // less can be used than was granted, or a setting differs
	High   Severity = 3 // more can be used than was granted, or an object is gone
)

// Word of the severity.
func (s Severity) Word() string {
	switch s {
	case High:
		return "high"
	case Medium:
		return "medium"
	}
	return "low"
}

// State of a finding. Frozen strings.
type State string

const (
	Open     State = "open"
	Resolved State = "resolved"
)

// How a finding was resolved. Frozen strings.
type How string

const (
	// PutBack: a change wrote what is granted, and read it back.
	PutBack How = "put_back"
	// Accepted: a request made what is live the granted figure.
	Accepted How = "accepted"
	// Gone: a later poll saw nothing of it.
	Gone How = "gone"
)

// Owner is whose a finding is. Frozen strings; they are roles of the organisation.
type Owner string

const (
	CapacityManager Owner = "capacity_manager"
	PlatformAdmin   Owner = "platform_admin"
)

// Key names what a finding is about: at most one is open for each.
type Key struct {
	Object fleet.ObjectRef
	Field  string
}

// Fields that are no limit.
const (
	FieldExists   = "object"            // the object itself
	FieldStop     = "stopPolicy"        // whether a queue admits
	FieldCohort   = "cohort"            // the queue's cohort
	FieldSelector = "namespaceSelector" // which namespaces may use a queue
	FieldTarget   = "clusterQueue"      // where a LocalQueue leads
	FieldManager  = "field manager"     // who keeps the limits
	FieldQueue    = "queue"             // a queue that no binding carries
	FieldChange   = "change"            // a change of the object's limits
)

// Seen is one difference as one poll saw it.
type Seen struct {
	Key
	Kind      Kind
	Severity  Severity
	Owner     Owner
	BindingID string        // "" outside of every binding
	Pool      fleet.PoolKey // zero where no single pool is concerned
	// Granted and Live are nil where absent; what that means is said by the field.
	Granted, Live *string
	// Manager wrote Live and At is when; "" and nil where the cluster does not tell.
	Manager string
	At      *time.Time
	// Note says in a sentence what the values alone do not.
	Note string
	// Mendable: the portal itself writes the field, so that it can be put back.
	Mendable bool
}

// Same reports whether two sights of one key tell the same: amounts are compared as
// numbers, and the moment of writing alone is no news.
func (s Seen) Same(o Seen) bool {
	return s.Kind == o.Kind && s.Severity == o.Severity && s.Manager == o.Manager && s.Note == o.Note && s.Mendable == o.Mendable &&
		!differ(s.Granted, o.Granted) && !differ(s.Live, o.Live)
}

// differ compares numerically where both are amounts; absent differs from any value.
func differ(a, b *string) bool {
	if a == nil || b == nil {
		return (a == nil) != (b == nil)
	}
	return (fleet.Field{Before: a, After: b}).Changed()
}

// Finding is what is kept of a difference from its first sight to its end, and
// beyond: a resolved one is never deleted.
type Finding struct {
	ID        string
	ClusterID string
	PoolID    string
	Seen
	State    State
	Since    time.Time // opened, or opened again
	LastSeen time.Time
	// ResolvedAt and How are set while it is resolved. By is the id of whoever puts it
	// back or asks to accept it, job:… where the cluster's policy does; "" = nobody.
	ResolvedAt *time.Time
	How        How
	By         string
	Reopened   int // how often it came back
	// Turns counts what happened to it since TurnsFrom.
	Turns     int
	TurnsFrom time.Time
	// ChangeID is the change that puts it back; RequestID the request that would accept it.
	ChangeID  string
	RequestID string
}
