package web

import "time"

// RequestList is "Requests": own ones or all, by the tab. Query: tab=mine|team|all,
// q, state, project, pool, sort, before/after (key of the page).
type RequestList struct {
	Tabs    []Tab
	Filters Filters
	Rows    []RequestRow
	Pager   Pager
	CanAsk  bool
	Empty   Empty // shown without rows; differs for "none yet" and "none that fit the filter"
}

// RequestRow is one request in a list.
type RequestRow struct {
	ID          string
	Number      string // "R-1042"
	State       Badge
	Project     string
	Team        string
	Environment string
	Purpose     string
	Who         string // who asked
	For         string // beneficiary, if another person
	Lines       []RequestRowLine
	Next        string // who acts next: "capacity manager of h100"
	Submitted   time.Time
	Changed     time.Time
	Simulated   bool
}

// RequestRowLine is one pool of a request in a list.
type RequestRowLine struct {
	Pool    string
	Figures FigureLine
}
