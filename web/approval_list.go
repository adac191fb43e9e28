package web

import (
	"time"

	"quartermaster/internal/paths"
)

// ApprovalList is the queue of what waits for this person, oldest first. Query:
// q, team, project, pool, warn=yes, sort=age|due|size, before/after.
type ApprovalList struct {
	Filters Filters
	Rows    []ApprovalRow
	Pager   Pager
	Empty   Empty
	// Decided is the number of the request decided a moment ago, with a link to it:
	// the queue goes on with the next row.
	Decided Link
}

// ApprovalRow is one request that waits.
type ApprovalRow struct {
	ID       string
	Number   string
	Stage    string // "team manager" or "capacity manager of h100"
	Who      string
	For      string
	Project  string
	Team     string
	Env      string
	Purpose  string
	Lines    []RequestRowLine
	Waiting  time.Time // since when it waits in this stage
	Due      time.Time
	Warnings []string // "pool short by 4 GPUs", "policy: production needs an end"
	// Cannot says why this person may see but not decide it: "you asked for it".
	Cannot string
}

func (r ApprovalRow) href() string {
	if r.Cannot != "" {
		return paths.Request(r.ID)
	}
	return paths.RequestDecide(r.ID)
}
