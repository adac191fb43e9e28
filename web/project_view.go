package web

// ProjectList is "Projects". Query: q, team.
type ProjectList struct {
	Filters Filters
	Rows    []ProjectRow
	Pager   Pager
	Empty   Empty
}

// ProjectRow is one project with its pools.
type ProjectRow struct {
	Project    Link
	Team       string
	Owner      string
	CostCentre string
	Lines      []PoolLine
	Month      Money // granted, a month
}

// ProjectView is the page of one project. Query: range=24h|7d|30d, pool, env.
type ProjectView struct {
	Findings []FindingRow // open, worst first
	ID       string
	Name     string
	Facts    []Fact // team, owner, cost centre, environments, data classes
	Lines    []PoolLine
	Ask      string // address of a prefilled new request; "" hides
	Charts   []Chart
	Ranges   []Tab // periods of all charts
	Members  []Member
	Requests []RequestRow
	Grants   []GrantRow
	Pending  []Workload
	AllReqs  string // address of the list of all its requests
}

// Member is a person with their part in a project or scope.
type Member struct {
	Name string
	Role string
	From string // where it comes from: "group gpu-vision", "owner in the organisation file"
}

// GrantRow is one grant in force or ended.
type GrantRow struct {
	Request     Link
	State       Badge
	Pool        string
	Environment string
	Figure      Figure
	Unit        string
	Kind        string
	Period      string // "2 Dec 2026 to 1 Mar 2027", "no end"
}

// PoolList is "Pools".
type PoolList struct {
	Rows  []PoolRow
	Empty Empty
}

// PoolRow is one pool with its bar.
type PoolRow struct {
	Pool      Link
	Cluster   Link
	Simulated bool
	Resource  string
	Product   string
	Kind      string // "whole cards"
	Tier      string
	Rate      Money // an hour and unit
	Headroom  Headroom
	Pending   Figure
}

// PoolView is the page of one pool. Query: range=24h|7d|30d.
type PoolView struct {
	Row     PoolRow
	Facts   []Fact
	Held    []PoolHolder
	Chart   Chart
	Pending []Workload
}

// PoolHolder is what one project and environment holds of a pool.
type PoolHolder struct {
	Project Link
	Team    string
	Line    PoolLine
}
