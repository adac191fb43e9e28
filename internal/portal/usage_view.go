package portal

import (
	"cmp"
	"context"
	"io"
	"math/big"
	"slices"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/usage"
)

// UsageUse is what people do with the account of use.
type UsageUse interface {
	// ViewUsage is the account of a period, of what actor may see.
	ViewUsage(ctx context.Context, actor Actor, ask UsageAsk) (UsageView, error)
	// ExportUsage writes the same as CSV, one row a day; begin is called before the first byte.
	ExportUsage(ctx context.Context, actor Actor, ask UsageAsk, w io.Writer, begin func()) error
}

// UsageAsk is a period, a grouping and filters; empty fields do not filter.
type UsageAsk struct {
	Span                           usage.Span
	By                             usage.Group
	TeamID, ProjectID, Environment string
	PoolID, WorkloadType           string
	UnknownType                    bool
}

// UsageView is an account: rows largest first, sums by unit, and the course over time.
type UsageView struct {
	Span   usage.Span // as answered: whole hours that are over
	Bucket usage.Bucket
	Rows   []UsageRowOf
	Totals []UsageRowOf // one a unit; figures of different units are never added
	Course []UsageBucket
	// WholeDays: an end of the period was taken back to the start of its day, because
	// hours that old are not kept.
	WholeDays bool
	// Due is how many hours of the period are not summed up yet.
	Due   int
	Types []string
	Pools []PoolState
	Teams []org.Team
}

// UsageRowOf is one row of an account.
type UsageRowOf struct {
	Key  string
	Name string // "" = not known
	Unit fleet.Unit
	usage.Figures
	Cost []Money // at the pools' present rates; one a currency
	// Unpriced: some of it lies in pools without a rate.
	Unpriced bool
}

// usageQuery narrows what is asked to what actor may see and what is over.
func (p *Portal) usageQuery(actor Actor, ask UsageAsk) (q UsageSumQuery, whole bool, err error) {
	span := ask.Span.Before(p.Now().Truncate(time.Hour))
	if p.Retention.Hours > 0 {
		span, whole = span.WholeDays(Retention{}.before(p.Now(), p.Retention.Hours))
	}
	if ask.Span.Until.Sub(ask.Span.From) > longestAccount {
		return q, whole, fault.New(fault.Invalid, "This period is too long.").At("from", "At most ten years fit into one account.")
	}
	return UsageSumQuery{Span: span, By: ask.By, Teams: teamsOf(actor), TeamID: ask.TeamID, ProjectID: ask.ProjectID, Environment: ask.Environment,
		PoolID: ask.PoolID, WorkloadType: ask.WorkloadType, UnknownType: ask.UnknownType}, whole, nil
}

const longestAccount = 3660 * 24 * time.Hour

// ViewUsage is the account of a period. Its figures are the time-weighted readings of
// what was allocated; a gap between readings is unknown and shown as missing time.
func (p *Portal) ViewUsage(ctx context.Context, actor Actor, ask UsageAsk) (UsageView, error) {
	var v UsageView
	q, whole, err := p.usageQuery(actor, ask)
	if err != nil {
		return v, err
	}
	v.Span, v.WholeDays, v.Bucket = q.Span, whole, q.Span.Bucket()
	names, teams, err := teamNames(ctx, p.Store)
	if err != nil {
		return v, err
	}
	for _, t := range teams {
		if q.Teams == nil || slices.Contains(q.Teams, t.ID) {
			v.Teams = append(v.Teams, t)
		}
	}
	if v.Pools, err = p.Store.Pools(ctx); err != nil {
		return v, err
	}
	if v.Types, err = p.Store.UsageTypes(ctx); err != nil {
		return v, err
	}
	if v.Span.Empty() {
		return v, nil
	}
	sums, err := p.Store.UsageSums(ctx, q)
	if err != nil {
		return v, err
	}
	pools := make(map[string]PoolState, len(v.Pools))
	for _, s := range v.Pools {
		pools[s.ID] = s
	}
	if ask.By == usage.ByProject {
		if names, err = p.projectNames(ctx, sums); err != nil {
			return v, err
		}
	}
	v.Rows, v.Totals = account(sums, pools, ask.By, names)
	if v.Course, err = p.Store.UsageOverTime(ctx, q, v.Bucket); err != nil {
		return v, err
	}
	v.Due, err = p.Store.UsageDue(ctx, v.Span)
	return v, err
}

func (p *Portal) projectNames(ctx context.Context, sums []UsageSum) (map[string]string, error) {
	var ids []string
	for _, s := range sums {
		if len(ids) == 0 || ids[len(ids)-1] != s.Key { // they come in order
			ids = append(ids, s.Key)
		}
	}
	projects, err := p.Store.ProjectsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	names := make(map[string]string, len(projects))
	for id, project := range projects {
		names[id] = project.Name
	}
	return names, nil
}

// account folds sums into rows by key and unit, and into one total a unit.
func account(sums []UsageSum, pools map[string]PoolState, by usage.Group, names map[string]string) (rows, totals []UsageRowOf) {
	type place struct {
		key  string
		unit fleet.Unit
	}
	byPlace, byUnit := map[place]*folded{}, map[fleet.Unit]*folded{}
	for _, s := range sums {
		pool := pools[s.PoolID]
		at := place{s.Key, pool.Unit}
		if byPlace[at] == nil {
			byPlace[at] = &folded{row: UsageRowOf{Key: s.Key, Name: nameOfKey(s.Key, by, pool, names), Unit: pool.Unit}}
		}
		if byUnit[pool.Unit] == nil {
			byUnit[pool.Unit] = &folded{row: UsageRowOf{Unit: pool.Unit}}
		}
		byPlace[at].add(s, pool)
		byUnit[pool.Unit].add(s, pool)
	}
	for _, f := range byPlace {
		rows = append(rows, f.done())
	}
	for _, f := range byUnit {
		totals = append(totals, f.done())
	}
	largest := func(a, b UsageRowOf) int {
		return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(b.InUse, a.InUse), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	}
	slices.SortFunc(rows, largest)
	slices.SortFunc(totals, largest)
	return rows, totals
}

func nameOfKey(key string, by usage.Group, pool PoolState, names map[string]string) string {
	switch by {
	case usage.ByPool:
		return pool.Name + " · " + pool.ClusterName
	case usage.ByType, usage.ByEnvironment:
		return key
	}
	if names[key] != "" {
		return names[key]
	}
	return key
}

// folded adds up one row; money stays exact until the end.
type folded struct {
	row   UsageRowOf
	cents map[string]*big.Rat
}

func (f *folded) add(s UsageSum, pool PoolState) {
	f.row.Figures = f.row.Figures.Add(s.Figures)
	if pool.HourlyCents <= 0 || pool.Currency == "" {
		f.row.Unpriced = true
		return
	}
	if f.cents == nil {
		f.cents = map[string]*big.Rat{}
	}
	if f.cents[pool.Currency] == nil {
		f.cents[pool.Currency] = new(big.Rat)
	}
	f.cents[pool.Currency].Add(f.cents[pool.Currency], usage.Cents(s.InUse, pool.HourlyCents))
}

func (f *folded) done() UsageRowOf {
	for currency, cents := range f.cents {
		f.row.Cost = append(f.row.Cost, Money{Cents: usage.Round(cents), Currency: currency})
	}
	slices.SortFunc(f.row.Cost, func(a, b Money) int { return cmp.Compare(a.Currency, b.Currency) })
	return f.row
}
