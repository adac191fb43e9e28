// Package usage knows the account of what was used: unit-hours with how much of
// the time they are known for, periods cut into whole hours, days and months of UTC, and
// what an account may be grouped by. The use cases of the account call it; it never adds
// units of different kinds, and never takes what is not known for 0.
package usage

import (
	"math/big"
	"strconv"
)

// hourMS are the milliseconds of an hour.
const hourMS = 3_600_000

// Figures are sums over the pools of one or more places, in milliseconds, or units
// times milliseconds. They are whole numbers, so that sums of sums are exact.
type Figures struct {
	// Expected is the time in which there was something to know; what of it is not in
	// InUseKnown is a gap. Several pools or places add up their times.
	Expected int64 `db:"expected_ms"`
	// InUse is unit-milliseconds: what was allocated times how long.
	InUse      int64 `db:"in_use_ms"`
	InUseKnown int64 `db:"in_use_known_ms"`
	// Limit is the same of what was granted as a limit.
	Limit      int64 `db:"nominal_ms"`
	LimitKnown int64 `db:"nominal_known_ms"`
}

// Add sums up.
func (f Figures) Add(g Figures) Figures {
	return Figures{f.Expected + g.Expected, f.InUse + g.InUse, f.InUseKnown + g.InUseKnown, f.Limit + g.Limit, f.LimitKnown + g.LimitKnown}
}

// Known reports whether anything at all was read of what was in use.
func (f Figures) Known() bool { return f.InUseKnown > 0 }

// Whole reports whether nothing is missing.
func (f Figures) Whole() bool { return f.InUseKnown >= f.Expected }

// Hours writes milliseconds as hours with one decimal, rounded half up: "23.4".
func Hours(ms int64) string {
	tenths := (ms + hourMS/20) / (hourMS / 10)
	return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10)
}

// Cents is what unit-milliseconds cost at a rate a unit and hour, exact.
func Cents(unitMS, hourlyCents int64) *big.Rat {
	return new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(unitMS), big.NewInt(hourlyCents)), big.NewInt(hourMS))
}

// Round is the nearest whole number of cents, half up.
func Round(cents *big.Rat) int64 {
	twice := new(big.Int).Add(new(big.Int).Lsh(cents.Num(), 1), cents.Denom())
	return new(big.Int).Div(twice, new(big.Int).Lsh(cents.Denom(), 1)).Int64()
}

// Group is what an account has a row for.
type Group string

// The groups. Frozen strings: they stand in addresses.
const (
	ByTeam        Group = "team"
	ByProject     Group = "project"
	ByPool        Group = "pool"
	ByType        Group = "type"
	ByEnvironment Group = "environment"
)

// Groups lists all in the order in which pages offer them.
var Groups = []Group{ByTeam, ByProject, ByPool, ByType, ByEnvironment}

// Label is the group as a heading.
func (g Group) Label() string {
	switch g {
	case ByProject:
		return "Project"
	case ByPool:
		return "Pool"
	case ByType:
		return "Workload type"
	case ByEnvironment:
		return "Environment"
	}
	return "Team"
}
