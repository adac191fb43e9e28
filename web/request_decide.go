package web

import (
	"strconv"
	"strings"
	"time"
)

// RequestDecide is the page on which one stage is decided. It posts to
// paths.RequestDecide(id):
//
//	revision_digest       the revision that this page shows
//	stage                 id of the stage decided
//	idempotency_key       made by the server for this form
//	base                  the live limits that this page shows, opaque
//	grant.N               granted figure of line N (N from 0); read for approve only
//	until.N               end of the grant of line N, YYYY-MM-DD, empty = as asked
//	reason                required to return, to reject, and to approve over a warning
//	acknowledge_running   "yes": lowering below current use, the named workloads keep running
//	action                preview | approve | return | reject
//
// preview answers the page again with the figures entered (200), so that "approve
// less" shows its own diff before it is decided.
type RequestDecide struct {
	ID             string
	Number         string
	Stage          string // shown: "Capacity manager of h100"
	StageID        string
	RevisionDigest string
	Revision       int
	IdempotencyKey string
	Base           string
	FactorFresh    string // "proven for this revision, good for another 8 min"; "" = asked for before it counts
	// AskCode shows the field code; CodeError is what was wrong with it. Proof names the
	// proof that was given for this form.
	AskCode   bool
	CodeError string
	Proof     string

	Who     string
	For     string
	Project Link
	Env     string
	Purpose string
	Why     string
	Facts   []Fact
	Cost    Money // a month, as asked

	Lines       []DecideLine
	BaseChanged []string // "limit of h100 is 10 now, was 8 when asked"
	Objects     []DiffObject
	PlanProblem string // why no diff can be shown: "alpha does not answer; …"
	Simulated   []string
	Headroom    []PoolHeadroom
	Checks      []Check
	Chart       Chart // the project's use over 30 days
	Earlier     []Decision
	AlsoDecides []Decider // the other stages
	Steps       []Step

	Lowering *Lowering // set when a granted figure is below current use
	Reason   Field     // name "reason"
	Errors   []string
	// MustReason says why a reason is needed to approve: "a check warns"; "" if not.
	MustReason string
	// Next is the request after this one in the queue, to go on with.
	Next Link
}

// DecideLine is one pool to decide on.
type DecideLine struct {
	Pool    Link
	Cluster string
	Kind    string
	Unit    string
	Was     Figure // limit in force
	Figures FigureLine
	Grant   Field // name grant.N, value as asked or as last entered
	Until   Field // name until.N
	Start   time.Time
	End     time.Time
}

// Lowering is what keeps running when the limit goes below what is in use.
type Lowering struct {
	Text         string // "h100: 12 granted, 16 in use. Nothing is evicted; …"
	Running      []Workload
	Acknowledged bool
	Error        string
}

// RequestConflict is the answer (409) to a form that was filled from an older
// state: what changed since, side by side. Nothing was saved.
type RequestConflict struct {
	Number  string
	What    string // "Ada Lovelace wrote revision 3 at 2 Dec 2026, 14:00 UTC, after you opened revision 2"
	Rows    []ConflictRow
	Entered []Fact // what this person entered, so that it is not lost
	Go      Link   // "Decide revision 3"
	Back    Link
}

// ConflictRow is one value then and now.
type ConflictRow struct {
	Field string
	Then  string // what the form showed
	Now   string
}

// approveWord names what the button does: "Approve 12 GPUs".
func (v RequestDecide) approveWord() string {
	var total int64
	for _, l := range v.Lines {
		n, err := strconv.ParseInt(strings.TrimSpace(l.Grant.Value), 10, 64)
		if err != nil || n < 0 {
			return "Approve request"
		}
		total += n
	}
	switch len(v.Lines) {
	case 0:
		return "Approve request"
	case 1:
		return "Approve " + Count(total) + " " + unitFor(Count(total), v.Lines[0].Unit)
	default:
		return "Approve " + Count(total) + " " + v.Lines[0].Unit + " in " + Count(int64(len(v.Lines))) + " pools"
	}
}

func (v RequestDecide) reasonField() Field {
	f := v.Reason
	f.Name = "reason"
	if f.Label == "" {
		f.Label = "Reason"
	}
	if f.Rows == 0 {
		f.Rows = 3
	}
	if f.Hint == "" {
		f.Hint = "Needed to return and to reject."
		if v.MustReason != "" {
			f.Hint = "Needed for every decision here: " + v.MustReason + "."
		}
	}
	f.Required, f.Depends = v.MustReason != "", true
	return f
}

// Short is the beginning of a digest, enough to tell two apart by eye.
func Short(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(len(digest), 12)]
}

func (v RequestDecide) factorAsked() string {
	if v.AskCode {
		return "Without a code here, it is asked for before the decision counts."
	}
	return "Two factors are asked for before the decision counts."
}
