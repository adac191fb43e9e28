package web

// UsageView is the account of use of a period. Query: period, from, to, zone, by, team,
// project, environment, pool, type. The CSV address carries the same.
type UsageView struct {
	Periods []Tab
	Groups  []Tab
	Filters Filters
	Period  string   // "1 Nov 2026, 00:00 UTC to 1 Dec 2026, 00:00 UTC"
	Notes   []string // what has to be known to read the figures
	By      string   // heading of the first column
	Rows    []UsageRow
	Totals  []UsageRow
	Charts  []Chart // one a unit
	Empty   Empty
}

// UsageRow is one row of the account. Hours of different units stand in different rows.
type UsageRow struct {
	Name     Link
	Unit     string // "GPU-hours"
	Used     Figure
	Limit    Figure // what the limits allowed, unit-hours
	Coverage string // "23.4 of 24.0 h"
	Whole    bool   // nothing is missing
	Cost     string // "1,234.50 EUR"; "–" without a rate
	CostWhy  string
}
