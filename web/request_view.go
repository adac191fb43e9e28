package web

import "time"

// RequestView is the page of one request: its state, what happens next, by when,
// by whom; then figures, steps, checks, decisions, cluster changes, workloads,
// comments, timeline. Posts:
//
//	paths.RequestComment(id):  text, idempotency_key
//
// Withdrawing has its own page (ConfirmView at paths.RequestWithdraw).
type RequestView struct {
	ID        string
	Number    string // "R-1042"
	Kind      string // "quota"
	State     Badge
	Next      Next
	Facts     []Fact // project, environment, who, for whom, data class, runtime, cost …
	Purpose   string
	Why       string // justification as written
	Lines     []RequestLine
	Steps     []Step
	Checks    []Check
	Decisions []Decision
	Changes   []Change
	Pending   []Workload
	Running   []Workload
	Grants    []GrantBox
	Comments  []Comment
	Timeline  []Event
	Revision  int
	Revisions []Link // earlier revisions, if more than one

	Decide     string // address of the decide page for who may decide it now; "" hides
	Cannot     string // why this person may not decide, where they have the role
	Edit       string
	EditWord   string // "Edit draft", "Write revision 2"; "" is "Edit draft"
	Withdraw   string
	Again      string // address of a new request prefilled from this one
	CanComment bool
	CommentKey string // idempotency key of the comment form
	Comment    Field  // its text
}

// Next is what happens next.
type Next struct {
	What string    // "Capacity manager of h100 decides"
	Who  string    // people who can: "Grace Hopper or 1 other"
	By   time.Time // until when, of a deadline
	On   time.Time // when it happens by itself
	Tone Tone
	Note string // "alpha does not answer since 14:02 UTC; the change waits and is not lost"
}

// RequestLine is one pool of the request.
type RequestLine struct {
	Pool        Link
	Cluster     string
	Environment string
	Kind        string // hard, soft, burst
	Was         Figure // limit when it was submitted
	BaseChanged string // "limit is 10 now, was 8 at submission"; "" if not
	Figures     FigureLine
	Start       time.Time
	End         time.Time
	Conditions  string
}

// Decision is one person's decision in one stage.
type Decision struct {
	Stage   string
	Who     string
	Role    string
	Verdict Badge // approved, approved less, returned, rejected
	Lines   []string
	Reason  string
	At      time.Time
	Factor  string
	Ledger  string
	Href    string
	// Revision that was decided.
	Revision int
}

// GrantBox is what an active grant gives people to use it.
type GrantBox struct {
	Cluster   string
	Namespace string
	Queue     string // LocalQueue
	Account   string // on Slurm, instead of both
	Until     time.Time
	Manifest  string // a job that works there
}

// Comment is one remark.
type Comment struct {
	Who  string
	Role string
	At   time.Time
	Text string
}

func (v RequestView) editWord() string {
	if v.EditWord == "" {
		return "Edit draft"
	}
	return v.EditWord
}

// by is who decided and in which role.
func (d Decision) by() string {
	if d.Role == "" {
		return d.Who
	}
	return d.Who + ", " + d.Role
}
