package portal

import (
	"time"

	"quartermaster/internal/fleet"
)

// ChangeCount is how many changes of a cluster are open, and stopped as in StoppedChanges.
type ChangeCount struct{ Open, Stopped int }

// ChangeState is where a change stands. Frozen strings.
type ChangeState string

const (
	ChangePlanned    ChangeState = "planned"
	ChangeHeld       ChangeState = "held"    // the cluster is not in enforce, or writing is paused
	ChangeWaiting    ChangeState = "waiting" // the cluster does not answer
	ChangeApplying   ChangeState = "applying"
	ChangeApplied    ChangeState = "applied" // sent, not read back yet
	ChangeVerified   ChangeState = "verified"
	ChangeStopped    ChangeState = "stopped" // needs a person: another base, another owner, refused
	ChangeSuperseded ChangeState = "superseded"
)

// Open reports whether the change still has to come true.
func (s ChangeState) Open() bool {
	return s == ChangePlanned || s == ChangeHeld || s == ChangeWaiting || s == ChangeApplying || s == ChangeApplied
}

// Change is the work of making limits true on one binding.
type Change struct {
	ID         string
	Seq        int64
	BindingID  string
	ClusterID  string
	RequestID  string // "" when caused by an end or a mode change
	Cause      string
	State      ChangeState
	Takeover   bool
	Expected   []fleet.Limit // what the decider saw live; empty = not compared
	Plan       *fleet.Plan
	Receipt    *fleet.Receipt // without a time: begun, and no answer kept yet
	ReadBack   *fleet.ReadBack
	Problem    string
	CreatedAt  time.Time
	AppliedAt  *time.Time
	VerifiedAt *time.Time
}
