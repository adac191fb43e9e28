package web

import "time"

// FindingList is "Findings": open ones by severity and owner, since when.
type FindingList struct {
	Rows    []FindingRow
	Filters Filters
	Empty   Empty
	Pager   Pager
}

// FindingRow is one finding in short.
type FindingRow struct {
	Href     string // "" for somebody who may not open it
	Object   string
	Field    string
	Kind     string
	Severity Badge
	State    Badge
	Evidence FindingEvidence
	Cluster  Link
	Project  Link
	Env      string
	Owner    string // "capacity manager of H100"
	Since    time.Time
}

// FindingEvidence is granted → live, and who wrote it.
type FindingEvidence struct {
	Granted string
	Live    string
	Manager string
	At      time.Time
}

// FindingView is the page of one finding.
type FindingView struct {
	Kind     string
	Severity Badge
	State    Badge
	Said     string // what is wrong, or how it ended, in a sentence
	Evidence FindingEvidence
	Facts    []Fact
	Owners   []string
	Events   []FindingEvent
	// PutBack and Accept are addresses; where "", NoPutBack and NoAccept say why.
	PutBack, Accept     string
	NoPutBack, NoAccept string
	Exception           string // what is not there yet, said plainly
	Change              *Change
	Open                bool
}

// FindingEvent is one line of its history.
type FindingEvent struct {
	What     string
	At       time.Time
	By       string
	Evidence FindingEvidence
	Entry    string // address of the ledger entry
}

// FindingAccept asks for a request that makes what is live the granted figure. It posts
// evidence, data_class, workload_type, justification and idempotency_key to Action.
type FindingAccept struct {
	Action         string
	IdempotencyKey string
	Evidence       string
	Text           []string
	DataClass      Field
	Workload       Field
	Justification  Field
	Errors         []string
	Verb           string
	Cancel         Link
}
