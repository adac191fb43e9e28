package web

import "github.com/a-h/templ"

// RequestEdit is the form for a new quota request, a draft, or the next revision
// of a returned one. It posts to Action as application/x-www-form-urlencoded:
//
//	project, environment, data_class, workload_type, purpose, runtime_hours,
//	justification, on_behalf_of
//	project_find, person_find   a part of a name: what the two lists offer
//	lines               how many lines follow
//	line.N.pool         pool id           (N from 0)
//	line.N.asked        whole number of units, the absolute figure asked for
//	line.N.kind         hard | soft | burst
//	line.N.start        date, YYYY-MM-DD or empty (00:00 UTC of that day)
//	line.N.end          date, YYYY-MM-DD or empty
//	idempotency_key     made by the server for this form
//	revision_digest     digest of the revision that the form was filled from; empty for a new one
//	action              add_line | remove_line.N | preview | save_draft | submit
//
// Any action but save_draft and submit answers the same form again (200). The same
// body posted to paths.RequestChecks answers only RequestChecksFragment.
type RequestEdit struct {
	Action         string // paths.Requests or paths.RequestEdit(id)
	Cancel         string
	Number         string // of the request being edited; "" for a new one
	Revision       int    // number of the revision this form will become; 0 for a new one
	Returned       string // why the last revision was returned, by whom
	ReturnedBy     string
	Prefilled      string // where the values come from: "R-1042", "project page"; "" hides it
	IdempotencyKey string
	RevisionDigest string

	Project       Field // Options: the projects this person may ask for
	Environment   Field
	DataClass     Field
	WorkloadType  Field
	Purpose       Field
	RuntimeHours  Field
	Justification Field
	OnBehalfOf    Field // Options; empty choice = for myself; no Options hides it
	ProjectFind   Field // searches what Project offers; no name hides it
	PersonFind    Field // the same for OnBehalfOf

	Lines    []RequestEditLine
	MaxLines int // 0: 20

	Checks RequestChecks
	Errors []string // errors that belong to no field
}

// RequestEditLine is one pool row of the form. Name the fields line.N.….
type RequestEditLine struct {
	Pool    Field // Options: pools
	Asked   Field
	Kind    Field
	Start   Field
	End     Field
	Unit    string // of the pool chosen: "GPUs"
	Current Figure // limit in force now
	InUse   Figure
}

// RequestChecks is the live column: what the portal would say to this request now.
type RequestChecks struct {
	// Waiting says that there is not enough in the form to check; shown instead.
	Waiting  string
	Checks   []Check
	Deciders []Decider
	Cost     Money // a month of 730 h, at the pools' hourly rates
	CostNote string
	Headroom []PoolHeadroom
	// Refuses counts checks that stop submission.
	Refuses int
}

// Decider is one stage that the request will need.
type Decider struct {
	Stage    string // "Team manager of Vision"
	People   string // "Ada Lovelace or 2 others"
	Within   string // "2 d"
	Eligible int    // people who may decide and are not barred; 0 is a refusal
	Missing  string // what is missing and who can mend it
}

// PoolHeadroom is a bar with its pool.
type PoolHeadroom struct {
	Pool     Link
	Cluster  string
	Headroom Headroom
}

func (v RequestEdit) maxLines() int {
	if v.MaxLines == 0 {
		return 20
	}
	return v.MaxLines
}

func (v RequestEdit) submitWord() string {
	if v.Revision > 1 {
		return "Submit revision " + Count(int64(v.Revision))
	}
	return "Submit request"
}

// swapped marks an element that replaces its namesake on the page (htmx).
func swapped(oob bool) templ.Attributes {
	if oob {
		return templ.Attributes{"hx-swap-oob": "true"}
	}
	return nil
}
