package web

import "time"

// PeopleList is "People": roles in force and where they come from. Query: q, role.
type PeopleList struct {
	Filters Filters
	Rows    []PersonRow
	Pager   Pager
	Empty   Empty
}

// PersonRow is one person.
type PersonRow struct {
	Name     string
	Login    string
	Identity string // issuer and subject, short
	Roles    []Member
	LastSeen time.Time // last sign-in; zero: never
}
