package policy

import (
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

// Facts are what the checks look at: the request and what the portal knows of its
// pools. All figures come from the server; an unread one is unknown.
type Facts struct {
	Now     time.Time
	Content request.Content
	Project org.Project
	Lines   []LineFacts // one a line of the content, in its order
	// Deciding is set at decision and dispatch: a start that came meanwhile is then no fault.
	Deciding bool
}

// LineFacts are what is known of one line's pool.
type LineFacts struct {
	Pool org.Pool
	Unit fleet.Unit // of the pool, as observed
	// Current is the limit in force of the project and environment, InUse what it uses.
	Current, InUse fleet.Measure
	// Capacity of the pool and the sum of all limits on it.
	Capacity, Committed fleet.Measure
}

// rule is one check: what it is called and what it looks at.
type rule struct {
	id, version, title string
	severity           Severity
	// whole judges the request, line one of its lines; one of them is set.
	whole func(Facts) verdict
	line  func(Facts, request.Line, LineFacts) verdict
}

// verdict is what a rule found; the zero value means that the rule does not apply.
type verdict struct {
	outcome Outcome
	message string
}

func pass(m string) verdict    { return verdict{Pass, m} }
func fails(m string) verdict   { return verdict{Fails, m} }
func unknown(m string) verdict { return verdict{Unknown, m} }

// rules in the order in which pages show them. A change of what a rule says gets
// a new version: results are kept with it.
var rules = []rule{
	{"environment", "1", "Environment belongs to the project", Deny, environment, nil},
	{"data-class-project", "1", "Data class belongs to the project", Deny, dataClassOfProject, nil},
	{"amount", "1", "Amount can be enforced", Deny, nil, amount},
	{"period", "1", "Period is in order", Deny, nil, period},
	{"burst-ends", "1", "Burst has an end", Deny, nil, burstEnds},
	{"data-class-pool", "1", "Data class may be processed on the pool", Deny, nil, dataClassOnPool},
	{"capacity", "1", "Fits into the pool", Deny, nil, capacity},
	{"headroom", "1", "Pool has room beside all commitments", Warn, nil, headroom},
	{"borrow-ceiling", "1", "Borrowing stays below the pool's ceiling", Warn, nil, borrowCeiling},
	{"use", "1", "Present limit is used", Warn, nil, use},
	{"lowering", "1", "Limit stays above what is in use", Warn, nil, lowering},
	{"runtime", "1", "Expected runtime is plausible", Warn, runtime, nil},
}

// Run runs all checks that apply, in a fixed order.
func Run(f Facts) []Result {
	var out []Result
	add := func(r rule, v verdict, pool string) {
		if v.outcome != "" {
			out = append(out, Result{ID: r.id, Version: r.version, Title: r.title, Severity: r.severity, Outcome: v.outcome, Message: v.message, PoolID: pool})
		}
	}
	for _, r := range rules {
		if r.whole != nil {
			add(r, r.whole(f), "")
			continue
		}
		for i, l := range f.Content.Lines {
			if i < len(f.Lines) {
				add(r, r.line(f, l, f.Lines[i]), l.PoolID)
			}
		}
	}
	return out
}

// Denied returns the first result that forbids going on.
func Denied(results []Result) (Result, bool) {
	for _, r := range results {
		if r.Blocks() {
			return r, true
		}
	}
	return Result{}, false
}

// Warned returns the results over which an approval needs a reason.
func Warned(results []Result) []Result {
	var out []Result
	for _, r := range results {
		if r.Warns() {
			out = append(out, r)
		}
	}
	return out
}
