// Package request knows what somebody asks for: kinds, revisions, their digests
// and the state machine from draft to expiry. Pure: portal loads a request, calls
// one of its commands and saves what comes back; nothing here reads a clock or a store.
package request

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/gowebpki/jcs"
	"golang.org/x/text/unicode/norm"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
)

// Kind of request.
type Kind string

const (
	Quota       Kind = "quota"
	Reservation Kind = "reservation"
	Exception   Kind = "exception"
)

// LimitKind says what a line does to a limit.
type LimitKind string

const (
	// Hard: the amount and nothing borrowed.
	Hard LimitKind = "hard"
	// Soft: the amount, and borrowing up to the pool's ceiling with an alert above it.
	Soft LimitKind = "soft"
	// Burst: extra borrowing on top of what is in force, until End.
	Burst LimitKind = "burst"
)

// Valid reports whether k is a limit kind.
func (k LimitKind) Valid() bool { return k == Hard || k == Soft || k == Burst }

// Line is one pool of a quota request.
type Line struct {
	PoolID string `json:"pool"`
	// Current and InUse are what the requester saw; unknown stays unknown.
	Current fleet.Measure `json:"current"`
	InUse   fleet.Measure `json:"in_use"`
	// Asked is the absolute amount for hard and soft, the extra amount for burst.
	Asked fleet.Quantity `json:"asked"`
	Kind  LimitKind      `json:"kind"`
	Start *time.Time     `json:"start,omitempty"` // UTC; nil = at once
	End   *time.Time     `json:"end,omitempty"`   // UTC, exclusive; nil = until changed
}

// Content is one revision's wording. Text is NFC-normalised when digested.
type Content struct {
	Kind          Kind   `json:"kind"`
	ProjectID     string `json:"project"`
	Environment   string `json:"environment"`
	DataClass     string `json:"data_class"`
	WorkloadType  string `json:"workload_type"`
	Purpose       string `json:"purpose"`
	Justification string `json:"justification"`
	RuntimeHours  int    `json:"runtime_hours"` // expected runtime of one job, in hours; 0 = not said
	BeneficiaryID string `json:"beneficiary,omitempty"`
	Lines         []Line `json:"lines"`
}

// Digest is SHA-256 over the JCS (RFC 8785) form of the content, in hex. Two
// revisions with one digest say the same; a decision names the digest its decider saw.
func (c Content) Digest() (string, error) {
	c.Purpose, c.Justification = norm.NFC.String(c.Purpose), norm.NFC.String(c.Justification)
	raw, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	canonical, err := jcs.Transform(raw)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// Revision is one version of a request's content.
type Revision struct {
	Number   int
	Content  Content
	Digest   string
	EditorID string
	At       time.Time
}

// Request is one ask through its whole life. It is never deleted.
type Request struct {
	ID     string
	Number int64 // what people call it: QM-42
	State  State
	TeamID string
	// RequesterID asked; the beneficiary, if another, is in the content.
	RequesterID string
	Revision    Revision // the current one
	Route       approval.Route
	// Decisions on every revision, oldest first; only those on Revision.Digest count.
	Decisions []approval.Decision
	// EditorIDs of all revisions.
	EditorIDs []string
	// CorrectsID links a change, extension or revocation to the request it changes.
	CorrectsID  string
	CreatedAt   time.Time
	SubmittedAt *time.Time
	ClosedAt    *time.Time
	// Version counts saves, for optimistic locking.
	Version int
}

// Subject is whom separation of duties looks at.
func (r Request) Subject() approval.Subject {
	return approval.Subject{RequesterID: r.RequesterID, BeneficiaryID: r.Revision.Content.BeneficiaryID, EditorIDs: r.EditorIDs}
}

// Stage returns the stage that waits for a decision.
func (r Request) Stage() (approval.Stage, bool) {
	if r.State != Submitted && r.State != InReview {
		return approval.Stage{}, false
	}
	i := r.Route.Current(r.Decisions, r.Revision.Digest)
	if i >= len(r.Route.Stages) {
		return approval.Stage{}, false
	}
	return r.Route.Stages[i], true
}

// Granted returns, per line of the current revision, what the approvals so far
// give: the asked amount until somebody grants less. Later stages see the reduced figure.
func (r Request) Granted() []approval.Granted {
	out := make([]approval.Granted, 0, len(r.Revision.Content.Lines))
	for _, l := range r.Revision.Content.Lines {
		g := approval.Granted{PoolID: l.PoolID, Amount: l.Asked, Start: l.Start, End: l.End}
		for _, d := range r.Decisions {
			if d.Outcome != approval.Approve || d.Digest != r.Revision.Digest {
				continue
			}
			for _, x := range d.Granted {
				if x.PoolID == l.PoolID {
					g = x
				}
			}
		}
		out = append(out, g)
	}
	return out
}
