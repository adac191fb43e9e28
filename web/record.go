package web

import (
	"slices"
	"strings"
	"time"
)

// StepState is how far a step is.
type StepState string

// States of a step.
const (
	StepDone    StepState = "done"
	StepNow     StepState = "now"
	StepAhead   StepState = "ahead"
	StepRefused StepState = "refused"
	StepSkipped StepState = "skipped"
)

// Step is one of submitted → stages → applying → active.
type Step struct {
	Name  string // "Team manager", "Applying"
	State StepState
	Who   string    // who did it, or who can: "Ada Lovelace", "capacity manager of H100"
	At    time.Time // when it was done; zero while ahead
	Due   time.Time // until when it should be; zero if none
	Note  string    // "granted 12 of 16", "alpha does not answer: waits"
}

// Event is one line of a timeline, newest first.
type Event struct {
	At     time.Time
	Tone   Tone
	What   string // "approved 12 of 16 GPUs"
	Who    string // "Ada Lovelace", or "Quartermaster" for a job
	Role   string // in which role: "team manager of Vision"
	Factor string // factor used: "one-time code, 2 min before"
	Reason string // free text as written
	Ledger string // ledger number; "" hides the link
	Href   string // address of the ledger entry
	Small  bool   // a step that only follows from another: folded with its neighbours
}

// DiffField is one field, as the cluster would store it.
type DiffField struct {
	Field  string // "spec.resourceGroups[0].flavors[h100].resources[nvidia.com/gpu].nominalQuota"
	Short  string // "h100 nominalQuota"; "" shows Field
	Before Figure // Value "unset" for a field that is not there
	After  Figure
	Read   Figure // read back after the change; only shown where ReadBack of the object is set
	Wrong  bool   // Read differs from After
}

// DiffObject is one object of one cluster and what would change, or changed, on it.
type DiffObject struct {
	Object    string // "ClusterQueue vision-training-production"
	Cluster   string
	Created   bool // the object does not exist yet
	Manager   string
	Fields    []DiffField // what changes
	Unchanged []DiffField // folded
	ReadBack  bool        // show the column "read back"
	Note      string      // "another manager (argocd) owns this field: takeover needed"
}

// Change is the work of making one grant true on one cluster.
type Change struct {
	ID        string
	Cluster   Link
	Simulated bool
	State     Badge  // planned, waiting, applied, verified, stopped
	What      string // one sentence: "Waits: alpha does not answer since 14:02 UTC"
	PlannedAt time.Time
	AppliedAt time.Time
	ReadAt    time.Time // when it was read back; zero: not yet
	Objects   []DiffObject
	Problem   string // what stopped it, in words
	Takeover  string // address of the takeover page, for who may decide it
}

// Check is one policy or capacity check with its reason.
type Check struct {
	Tone   Tone   // Done: holds · Waiting: warns · NeedsYou: needs approval · Refused: denies · NotKnown
	Word   string // "holds", "warns", "needs approval", "refuses", "not known"
	Name   string // "Production runs in the EU"
	Reason string // why, with numbers
	Mend   Link   // who can lift it, or the form for it
}

// Workload is one job on a cluster.
type Workload struct {
	Name   string
	Queue  string // namespace/queue
	GPUs   Figure
	Unit   string // "GPUs", "MIG devices"
	Who    string // "" = the cluster does not say
	Since  time.Time
	Reason string // pending: Kueue's own words
}

// Fact is one line of a facts list.
type Fact struct {
	Label string
	Text  string
	Href  string
	Mono  bool // an identifier
}

// Option is one choice of a select or radio group.
type Option struct {
	Value string
	Text  string
}

// Pager leads through a list by key, 50 rows a page.
type Pager struct {
	Newer string // address of the page before; "" on the first
	Older string // address of the page after; "" on the last
	Shown int
	Total string // "10,412", or "more than 10,000"; "" where it was not counted
	Noun  string // "requests"
}

// noun is the noun for the number before it: "1 request", "2 requests".
func (p Pager) noun() string {
	if p.Total == "1" || p.Total == "" && p.Shown == 1 {
		if one, ok := map[string]string{"entries": "entry", "people": "person"}[p.Noun]; ok {
			return one
		}
		return strings.TrimSuffix(p.Noun, "s")
	}
	return p.Noun
}

// Filter is one field of a filter bar. Its value stands in the URL.
type Filter struct {
	Name    string
	Label   string
	Value   string
	Kind    string   // "search", "date", "select" (default with Options), "text"
	Options []Option // with the empty choice first
}

// Filters is a GET form above a list.
type Filters struct {
	Action string
	Fields []Filter
	Keep   []Filter // hidden fields: sort order and the like
	Clear  string   // address without filters; "" when none is set
	Sorts  []Tab    // orders of the list
	Saved  []Tab    // often-used filters as links
	CSV    string   // address of the download of what is filtered; "" hides it
}

// Tab is one of several views of the same thing.
type Tab struct {
	Text    string
	Href    string
	Current bool
	Count   string // "" hides it
}

// Field is one input with what is wrong with it.
type Field struct {
	Name     string
	Label    string
	Value    string
	Hint     string
	Error    string // what to do about it
	Unit     string // shown behind the input
	Options  []Option
	Required bool
	Depends  bool   // needed in some cases that Hint names: neither required nor marked optional
	Type     string // "text" (default), "number", "date", "datetime-local", "url", "password"
	Rows     int    // > 0: a text area
	Min      string
	Max      string
	Mono     bool
	Digits   bool   // a text of digits (a code): phones show the number pad
	Complete string // autocomplete attribute; "" is "off"
}

// Empty is what a page says when it has nothing to show.
type Empty struct {
	Icon   string
	Title  string // what will stand here: "No requests yet"
	Text   string // how to begin
	Action Link   // "" hides it
}

func (f DiffField) name() string {
	if f.Short != "" {
		return f.Short
	}
	return f.Field
}

// workloadsShown and workloadsFolded bound a list of jobs: so many are in
// sight, so many more open on demand, and the rest is only counted.
const (
	workloadsShown  = 10
	workloadsFolded = 100
)

// fold cuts a list of jobs into what is in sight, what opens, and how many are left.
func fold(jobs []Workload) (seen, folded []Workload, left int) {
	seen = jobs[:min(len(jobs), workloadsShown)]
	rest := jobs[len(seen):]
	folded = rest[:min(len(rest), workloadsFolded)]
	return seen, folded, len(rest) - len(folded)
}

func holdsOrAsks(pending bool) string {
	if pending {
		return "Asks for"
	}
	return "Holds"
}

// holding counts the checks that hold, and says so: "9 checks hold".
func holding(checks []Check) (others, hold []Check) {
	for _, c := range checks {
		if c.Tone == Done {
			hold = append(hold, c)
		} else {
			others = append(others, c)
		}
	}
	order := map[Tone]int{Refused: 0, NeedsYou: 1, Waiting: 2, NotKnown: 3}
	slices.SortStableFunc(others, func(a, b Check) int { return order[a.Tone] - order[b.Tone] })
	return others, hold
}

func holdWord(others, hold []Check) string {
	if len(others) == 0 && len(hold) > 1 {
		return "All " + Count(int64(len(hold))) + " checks hold"
	}
	return Many(int64(len(hold)), "check holds", "checks hold")
}

// eventRun is a stretch of a timeline: one event in sight, or small steps folded into one line.
type eventRun struct {
	event Event
	small []Event
}

// story folds neighbouring small steps, so that what people did reads on.
func story(events []Event) []eventRun {
	var out []eventRun
	for _, e := range events {
		switch last := len(out) - 1; {
		case !e.Small:
			out = append(out, eventRun{event: e})
		case last >= 0 && len(out[last].small) > 0:
			out[last].small = append(out[last].small, e)
		default:
			out = append(out, eventRun{small: []Event{e}})
		}
	}
	return out
}

// span is the ledger numbers of folded steps: "ledger 30 to 57".
func (r eventRun) span() string {
	first, last := r.small[len(r.small)-1].Ledger, r.small[0].Ledger
	if first == last {
		return "ledger " + first
	}
	return "ledger " + first + " to " + last
}

func waitingOrRunning(pending bool) string {
	if pending {
		return "Waiting for"
	}
	return "Running for"
}

func stepIcon(s StepState) string {
	return map[StepState]string{StepDone: "done", StepNow: "waiting", StepRefused: "refused", StepSkipped: "withdrawn", StepAhead: "neutral"}[s]
}

func stepWord(s StepState) string {
	return map[StepState]string{StepDone: "done", StepNow: "now", StepRefused: "refused", StepSkipped: "not needed", StepAhead: "ahead"}[s]
}

func stepCurrent(s Step) string {
	if s.State == StepNow {
		return "step"
	}
	return "false"
}

func (f Filter) kind() string {
	if f.Kind == "" {
		if len(f.Options) > 0 {
			return "select"
		}
		return "text"
	}
	return f.Kind
}

func tabCurrent(t Tab) string {
	if t.Current {
		return "page"
	}
	return "false"
}
