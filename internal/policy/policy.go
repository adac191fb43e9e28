// Package policy runs the checks on a request: what the rules of the place say
// about it, with reasons. Evaluated at preview, submission, decision and
// dispatch; each result is kept with its version. Pure.
package policy

// Severity is what a check that does not pass means.
type Severity string

const (
	Deny          Severity = "deny"           // cannot be submitted or approved
	NeedsApproval Severity = "needs approval" // allowed, but people have to look
	Warn          Severity = "warn"           // an approver has to give a reason
)

// Outcome of one check.
type Outcome string

const (
	Pass    Outcome = "pass"
	Fails   Outcome = "fails"
	Unknown Outcome = "unknown" // a figure it needs is not known; never a pass
)

// Result is one check on one request.
type Result struct {
	ID       string   `json:"id"`
	Version  string   `json:"version"`
	Title    string   `json:"title"` // what was checked: "Fits into the pool"
	Severity Severity `json:"severity"`
	Outcome  Outcome  `json:"outcome"`
	Message  string   `json:"message"` // why, with the figures
	PoolID   string   `json:"pool,omitempty"`
}

// Blocks reports whether r forbids going on.
func (r Result) Blocks() bool { return r.Severity == Deny && r.Outcome == Fails }

// Warns reports whether approving in spite of r needs a reason.
func (r Result) Warns() bool { return r.Outcome != Pass && r.Severity != NeedsApproval && !r.Blocks() }
