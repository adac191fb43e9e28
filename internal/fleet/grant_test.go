package fleet_test

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func at(hours int) *time.Time { t := noon.Add(time.Duration(hours) * time.Hour); return &t }

func q(n int64) *fleet.Quantity { v := fleet.Count(n); return &v }

func limitText(l fleet.Limit) string {
	open := func(v *fleet.Quantity) string {
		if v == nil {
			return "no limit"
		}
		return v.String()
	}
	return fmt.Sprintf("%s + %s, lends %s", l.Nominal, open(l.Borrowing), open(l.Lending))
}

var key = fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}

// The limit at a moment, case by case: nominal + borrowing, lends.
func TestLimitAt(t *testing.T) {
	adopted := fleet.Base{Nominal: fleet.Count(8), Borrowing: q(4), Ceiling: q(16)}
	fresh := fleet.Base{Borrowing: q(0), Ceiling: q(16)}
	hard := func(seq, n int64) fleet.Grant {
		return fleet.Grant{Seq: seq, Kind: fleet.HardGrant, Amount: fleet.Count(n)}
	}
	soft := func(seq, n int64) fleet.Grant {
		return fleet.Grant{Seq: seq, Kind: fleet.SoftGrant, Amount: fleet.Count(n)}
	}
	burst := func(seq, n int64) fleet.Grant {
		return fleet.Grant{Seq: seq, Kind: fleet.BurstGrant, Amount: fleet.Count(n)}
	}
	from := func(g fleet.Grant, h int) fleet.Grant { g.Start = at(h); return g }
	until := func(g fleet.Grant, h int) fleet.Grant { g.End = at(h); return g }
	revoked := func(g fleet.Grant, h int) fleet.Grant { g.Revoked = at(h); return g }
	for name, c := range map[string]struct {
		base   fleet.Base
		grants []fleet.Grant
		want   string
	}{
		"a new binding":                         {fresh, nil, "0 + 0, lends no limit"},
		"an adopted one keeps its baseline":     {adopted, nil, "8 + 4, lends no limit"},
		"hard borrows nothing":                  {adopted, []fleet.Grant{hard(1, 16)}, "16 + 0, lends no limit"},
		"soft borrows up to the ceiling":        {adopted, []fleet.Grant{soft(1, 16)}, "16 + 16, lends no limit"},
		"soft without a ceiling has no limit":   {fleet.Base{}, []fleet.Grant{soft(1, 16)}, "16 + no limit, lends no limit"},
		"the newest supersedes":                 {fresh, []fleet.Grant{hard(2, 12), hard(1, 16)}, "12 + 0, lends no limit"},
		"a hard one after a soft one":           {fresh, []fleet.Grant{soft(1, 16), hard(2, 4)}, "4 + 0, lends no limit"},
		"burst adds borrowing":                  {fresh, []fleet.Grant{hard(1, 8), burst(2, 4)}, "8 + 4, lends no limit"},
		"bursts add up":                         {fresh, []fleet.Grant{burst(2, 4), burst(3, 2), hard(1, 8)}, "8 + 6, lends no limit"},
		"burst on the baseline":                 {adopted, []fleet.Grant{burst(1, 4)}, "8 + 8, lends no limit"},
		"burst on no limit stays no limit":      {fleet.Base{}, []fleet.Grant{burst(1, 4)}, "0 + no limit, lends no limit"},
		"not begun":                             {fresh, []fleet.Grant{from(hard(1, 16), 1)}, "0 + 0, lends no limit"},
		"begins now":                            {fresh, []fleet.Grant{from(hard(1, 16), 0)}, "16 + 0, lends no limit"},
		"ends now: half-open":                   {fresh, []fleet.Grant{until(hard(1, 16), 0)}, "0 + 0, lends no limit"},
		"ends in an hour":                       {fresh, []fleet.Grant{until(hard(1, 16), 1)}, "16 + 0, lends no limit"},
		"after an end the former counts again":  {fresh, []fleet.Grant{hard(1, 8), until(hard(2, 16), -1)}, "8 + 0, lends no limit"},
		"revoked":                               {fresh, []fleet.Grant{revoked(hard(1, 16), 0)}, "0 + 0, lends no limit"},
		"to be revoked":                         {fresh, []fleet.Grant{revoked(hard(1, 16), 1)}, "16 + 0, lends no limit"},
		"a decrease":                            {adopted, []fleet.Grant{hard(1, 2)}, "2 + 0, lends no limit"},
		"lending follows nominal down":          {fleet.Base{Nominal: fleet.Count(8), Borrowing: q(0), Lending: q(6)}, []fleet.Grant{hard(1, 2)}, "2 + 0, lends 2"},
		"lending stays below nominal":           {fleet.Base{Nominal: fleet.Count(8), Borrowing: q(0), Lending: q(6)}, []fleet.Grant{hard(1, 16)}, "16 + 0, lends 6"},
		"lending 0 stays 0":                     {fleet.Base{Nominal: fleet.Count(8), Borrowing: q(0), Lending: q(0)}, []fleet.Grant{hard(1, 16)}, "16 + 0, lends 0"},
		"a burst over while a quota goes on":    {fresh, []fleet.Grant{hard(1, 8), until(burst(2, 4), 0)}, "8 + 0, lends no limit"},
		"a scheduled raise over a standing one": {fresh, []fleet.Grant{hard(1, 8), from(until(hard(2, 16), 2), 1)}, "8 + 0, lends no limit"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 { // the order of grants does not matter
				shuffled := append([]fleet.Grant(nil), c.grants...)
				rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
				assert.Equal(t, c.want, limitText(fleet.LimitAt(noon, key, c.base, shuffled)))
			}
		})
	}
}

func TestNextChangeIsTheNearestBoundary(t *testing.T) {
	grants := []fleet.Grant{{Start: at(-5), End: at(3)}, {Start: at(1)}, {End: at(-1)}, {Revoked: at(2)}}
	next, ok := fleet.NextChange(noon, grants)
	require.True(t, ok)
	assert.Equal(t, *at(1), next)
	_, ok = fleet.NextChange(*at(3), grants)
	assert.False(t, ok, "a boundary that is now has been passed")
}

func TestDesiredBringsCompanions(t *testing.T) {
	hardOf := func(n int64) []fleet.Grant {
		return []fleet.Grant{{Kind: fleet.HardGrant, Amount: fleet.Count(n)}}
	}
	mig := fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/mig-1g.10gb"}
	a100 := fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"}
	pools := []fleet.PoolTerms{
		{Key: key, Base: fleet.Base{Borrowing: q(0), Ceiling: q(4)}, Grants: []fleet.Grant{{Kind: fleet.SoftGrant, Amount: fleet.Count(12)}}, CPUPerUnit: fleet.Count(8), MemoryPerUnit: fleet.MustQuantity("64Gi")},
		{Key: mig, Base: fleet.Base{Borrowing: q(0)}, Grants: hardOf(2), CPUPerUnit: fleet.Count(1), MemoryPerUnit: fleet.MustQuantity("8Gi")},
		{Key: a100, Base: fleet.Base{Borrowing: q(0)}, Grants: hardOf(4)},
	}
	var got []string
	d := fleet.DesiredAt(noon, fleet.Binding{}, pools)
	for _, l := range append(append([]fleet.Limit(nil), d.Limits...), d.Companions...) {
		got = append(got, l.Pool.String()+": "+limitText(l))
	}
	assert.Equal(t, []string{
		"a100 nvidia.com/gpu: 4 + 0, lends no limit",
		"h100 nvidia.com/gpu: 12 + 4, lends no limit",
		"h100 nvidia.com/mig-1g.10gb: 2 + 0, lends no limit",
		"a100 cpu: 0 + 0, lends no limit", // every flavor lists what one of them covers
		"a100 memory: 0 + 0, lends no limit",
		"h100 cpu: 98 + 32, lends no limit", // 12 × 8 + 2 × 1
		"h100 memory: 784Gi + 256Gi, lends no limit",
	}, got)
	assert.False(t, d.Hold)
	reversed := []fleet.PoolTerms{pools[2], pools[1], pools[0]}
	assert.Equal(t, d, fleet.DesiredAt(noon, fleet.Binding{}, reversed), "the order of pools does not matter")
}

// A queue of the template that may admit nothing is held; an adopted one keeps its shape.
func TestDesiredHoldsAnEmptyQueue(t *testing.T) {
	terms := func(b fleet.Base, g ...fleet.Grant) []fleet.PoolTerms {
		return []fleet.PoolTerms{{Key: key, Base: b, Grants: g, CPUPerUnit: fleet.Count(1)}}
	}
	hard := fleet.Grant{Kind: fleet.HardGrant, Amount: fleet.Count(1)}
	burst := fleet.Grant{Kind: fleet.BurstGrant, Amount: fleet.Count(1)}
	none := fleet.Base{Borrowing: q(0)}
	assert.True(t, fleet.DesiredAt(noon, fleet.Binding{}, terms(none)).Hold)
	assert.False(t, fleet.DesiredAt(noon, fleet.Binding{}, terms(none, hard)).Hold)
	assert.False(t, fleet.DesiredAt(noon, fleet.Binding{}, terms(none, burst)).Hold)
	assert.False(t, fleet.DesiredAt(noon, fleet.Binding{}, terms(fleet.Base{})).Hold, "may borrow without limit")
	assert.False(t, fleet.DesiredAt(noon, fleet.Binding{}, nil).Hold)
	adopted := fleet.DesiredAt(noon, fleet.Binding{Adopted: true}, terms(none))
	assert.False(t, adopted.Hold)
	assert.Empty(t, adopted.Companions)
}

func TestPlanBaseIsWhatWasLive(t *testing.T) {
	text := func(s string) *string { return &s }
	p := fleet.Plan{
		Desired: fleet.Desired{Limits: []fleet.Limit{{Pool: key}, {Pool: fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"}}, {Pool: fleet.PoolKey{Flavor: "new", Resource: "nvidia.com/gpu"}}}},
		Objects: []fleet.ObjectDiff{{Fields: []fleet.Field{
			{Path: "h100 nvidia.com/gpu nominalQuota", Limit: true, Before: text("12000m"), After: text("16")},
			{Path: "h100 nvidia.com/gpu borrowingLimit", Limit: true, Before: nil, After: text("0")},
			{Path: "h100 nvidia.com/gpu lendingLimit", Limit: true, Before: text("0")},
			{Path: "h100 cpu nominalQuota", Limit: true, Before: text("96")},
			{Path: "a100 nvidia.com/gpu borrowingLimit", Limit: true, Before: text("4")},
			{Path: "a100 nvidia.com/gpu nominalQuota", Limit: true, Before: nil, After: text("4")},
			{Path: "stopPolicy", Before: text("None")},
		}}},
	}
	base := p.Base()
	require.Len(t, base, 1, "a pool that is not there, or not named, has no base; cpu is no pool")
	assert.Equal(t, key, base[0].Pool)
	assert.Equal(t, "12 + no limit, lends 0", limitText(base[0]))
	assert.True(t, fleet.SameLimits(base[0], fleet.Limit{Pool: key, Nominal: fleet.Count(12), Lending: q(0)}))
	assert.False(t, fleet.SameLimits(base[0], fleet.Limit{Pool: key, Nominal: fleet.Count(12), Borrowing: q(0), Lending: q(0)}), "no limit is not 0")
}
