package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func in(d time.Duration) *time.Time { t := noon.Add(d); return &t }

const day = 24 * time.Hour

func known(n int64) fleet.Measure { return fleet.Known(fleet.Count(n)) }

// facts: 16 asked, 8 there, 8 in use, 20 of 32 committed.
func facts() policy.Facts {
	ceiling := fleet.Count(4)
	return policy.Facts{
		Now:     noon,
		Project: org.Project{Name: "Street Scenes", Environments: []string{"development", "production"}, DataClasses: []string{"internal"}},
		Content: request.Content{Environment: "production", DataClass: "internal", RuntimeHours: 20,
			Lines: []request.Line{{PoolID: "h100", Asked: fleet.Count(16), Kind: request.Hard}}},
		Lines: []policy.LineFacts{{Pool: org.Pool{Name: "H100", Key: fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}, BorrowCeiling: &ceiling},
			Unit: fleet.Card, Current: known(8), InUse: known(8), Capacity: known(32), Committed: known(20)}},
	}
}

// Each check, with the figures it says. "" means that the check does not apply.
func TestChecks(t *testing.T) {
	for name, c := range map[string]struct {
		edit    func(*policy.Facts)
		check   string
		outcome policy.Outcome
		says    string
	}{
		"fits":                   {func(*policy.Facts) {}, "capacity", policy.Pass, "H100: 16 of 32 GPUs."},
		"more than the pool has": {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.Count(33) }, "capacity", policy.Fails, "33 GPUs in all, but the pool has 32"},
		"capacity not known":     {func(f *policy.Facts) { f.Lines[0].Capacity = fleet.Unknown }, "capacity", policy.Unknown, "not known"},
		"burst on top of the present limit": {func(f *policy.Facts) {
			f.Content.Lines[0].Kind = request.Burst
			f.Content.Lines[0].Asked = fleet.Count(25)
		}, "capacity", policy.Fails, "33 GPUs in all"},
		"less than before fits always": {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.Count(4); f.Lines[0].Capacity = known(2) }, "capacity", "", ""},
		"room beside commitments":      {func(*policy.Facts) {}, "headroom", policy.Pass, "28 of 32 GPUs committed afterwards"},
		"just enough room":             {func(f *policy.Facts) { f.Lines[0].Committed = known(24) }, "headroom", policy.Pass, "32 of 32 GPUs"},
		"4 short":                      {func(f *policy.Facts) { f.Lines[0].Committed = known(28) }, "headroom", policy.Fails, "28 committed already, 8 more makes 36 of 32 GPUs: 4 short"},
		"commitments not known":        {func(f *policy.Facts) { f.Lines[0].Committed = fleet.Unknown }, "headroom", policy.Unknown, "not known"},
		"giving back needs no room":    {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.Count(4) }, "headroom", "", ""},
		"half a card":                  {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.MustQuantity("500m") }, "amount", policy.Fails, "counted in whole units"},
		"half a core is fine": {func(f *policy.Facts) {
			f.Content.Lines[0].Asked = fleet.MustQuantity("500m")
			f.Lines[0].Pool.Key.Resource = "cpu"
		}, "amount", policy.Pass, ""},
		"below zero":                 {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.MustQuantity("-1") }, "amount", policy.Fails, "below 0"},
		"zero gives everything back": {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.Quantity{} }, "amount", policy.Pass, ""},
		"a burst of nothing": {func(f *policy.Facts) {
			f.Content.Lines[0].Asked = fleet.Quantity{}
			f.Content.Lines[0].Kind = request.Burst
		}, "amount", policy.Fails, "adds nothing"},
		"burst without end":                 {func(f *policy.Facts) { f.Content.Lines[0].Kind = request.Burst }, "burst-ends", policy.Fails, "has to end"},
		"burst with end":                    {func(f *policy.Facts) { f.Content.Lines[0].Kind = request.Burst; f.Content.Lines[0].End = in(day) }, "burst-ends", policy.Pass, "3 Dec 2026"},
		"hard needs no end":                 {func(*policy.Facts) {}, "burst-ends", "", ""},
		"no period":                         {func(*policy.Facts) {}, "period", "", ""},
		"end in the past":                   {func(f *policy.Facts) { f.Content.Lines[0].End = in(-time.Minute) }, "period", policy.Fails, "is over"},
		"end now":                           {func(f *policy.Facts) { f.Content.Lines[0].End = in(0) }, "period", policy.Fails, "is over"},
		"end before start":                  {func(f *policy.Facts) { f.Content.Lines[0].Start, f.Content.Lines[0].End = in(2*day), in(day) }, "period", policy.Fails, "not after the start"},
		"end at start":                      {func(f *policy.Facts) { f.Content.Lines[0].Start, f.Content.Lines[0].End = in(day), in(day) }, "period", policy.Fails, "not after the start"},
		"start this morning":                {func(f *policy.Facts) { f.Content.Lines[0].Start = in(-12 * time.Hour) }, "period", policy.Pass, ""},
		"start last week":                   {func(f *policy.Facts) { f.Content.Lines[0].Start = in(-7 * day) }, "period", policy.Fails, "Leave it empty"},
		"start came while deciders thought": {func(f *policy.Facts) { f.Content.Lines[0].Start = in(-7 * day); f.Deciding = true }, "period", policy.Pass, ""},
		"environment of the project":        {func(*policy.Facts) {}, "environment", policy.Pass, ""},
		"another environment":               {func(f *policy.Facts) { f.Content.Environment = "staging" }, "environment", policy.Fails, "no environment staging, only development, production"},
		"another data class":                {func(f *policy.Facts) { f.Content.DataClass = "secret" }, "data-class-project", policy.Fails, "may not process secret data, only internal"},
		"pool for all data":                 {func(*policy.Facts) {}, "data-class-pool", policy.Pass, ""},
		"pool for public data":              {func(f *policy.Facts) { f.Lines[0].Pool.DataClasses = []string{"public"} }, "data-class-pool", policy.Fails, "takes public data, not internal"},
		"burst under the ceiling": {func(f *policy.Facts) {
			f.Content.Lines[0].Kind = request.Burst
			f.Content.Lines[0].Asked = fleet.Count(4)
		}, "borrow-ceiling", policy.Pass, "4 of 4 GPUs"},
		"burst over the ceiling": {func(f *policy.Facts) {
			f.Content.Lines[0].Kind = request.Burst
			f.Content.Lines[0].Asked = fleet.Count(5)
		}, "borrow-ceiling", policy.Fails, "above the ceiling of 4"},
		"no ceiling":                      {func(f *policy.Facts) { f.Content.Lines[0].Kind = request.Burst; f.Lines[0].Pool.BorrowCeiling = nil }, "borrow-ceiling", "", ""},
		"all in use, asks for more":       {func(*policy.Facts) {}, "use", policy.Pass, "8 of 8 GPUs in use"},
		"a quarter in use, asks for more": {func(f *policy.Facts) { f.Lines[0].InUse = known(2) }, "use", policy.Fails, "2 of 8 GPUs in use now"},
		"half in use":                     {func(f *policy.Facts) { f.Lines[0].InUse = known(4) }, "use", policy.Pass, ""},
		"use not known":                   {func(f *policy.Facts) { f.Lines[0].InUse = fleet.Unknown }, "use", policy.Unknown, ""},
		"nothing there yet":               {func(f *policy.Facts) { f.Lines[0].Current, f.Lines[0].InUse = known(0), known(0) }, "use", "", ""},
		"goes below what runs":            {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.Count(4) }, "lowering", policy.Fails, "4 asked, 8 GPUs in use. What runs keeps running."},
		"goes down to what runs":          {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.Count(4); f.Lines[0].InUse = known(4) }, "lowering", policy.Pass, ""},
		"goes down, use not known":        {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.Count(4); f.Lines[0].InUse = fleet.Unknown }, "lowering", policy.Unknown, "not known"},
		"goes up":                         {func(*policy.Facts) {}, "lowering", "", ""},
		"a job of 20 h":                   {func(*policy.Facts) {}, "runtime", policy.Pass, ""},
		"a job of 31 days":                {func(f *policy.Facts) { f.Content.RuntimeHours = 744 }, "runtime", policy.Fails, "744 h is longer than 30 days"},
		"a job longer than the period":    {func(f *policy.Facts) { f.Content.Lines[0].End = in(10 * time.Hour) }, "runtime", policy.Fails, "takes 20 h, but the period asked for lasts 10 h"},
		"runtime not said":                {func(f *policy.Facts) { f.Content.RuntimeHours = 0 }, "runtime", "", ""},
		"one GPU is one GPU": {func(f *policy.Facts) {
			f.Content.Lines[0].Asked = fleet.Count(1)
			f.Lines[0].Current, f.Lines[0].InUse = known(0), known(0)
		}, "amount", policy.Pass, "H100: 1 GPU."},
		"12000m reads as 12": {func(f *policy.Facts) { f.Content.Lines[0].Asked = fleet.MustQuantity("12000m") }, "amount", policy.Pass, "H100: 12 GPUs."},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			c.edit(&f)
			var got []policy.Result
			for _, r := range policy.Run(f) {
				assert.NotEmpty(t, r.Version)
				assert.NotEmpty(t, r.Title)
				if r.ID == c.check {
					got = append(got, r)
				}
			}
			if c.outcome == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Equal(t, c.outcome, got[0].Outcome, got[0].Message)
			assert.Contains(t, got[0].Message, c.says)
		})
	}
}

// An unknown figure never passes: it warns, and a failed deny blocks.
func TestOutcomesWeigh(t *testing.T) {
	f := facts()
	f.Lines[0].Capacity = fleet.Unknown
	results := policy.Run(f)
	_, denied := policy.Denied(results)
	assert.False(t, denied)
	warned := map[string]bool{}
	for _, r := range policy.Warned(results) {
		warned[r.ID] = true
	}
	assert.Equal(t, map[string]bool{"capacity": true, "headroom": true}, warned)
	f.Content.Environment = "moon"
	r, denied := policy.Denied(policy.Run(f))
	assert.True(t, denied)
	assert.Equal(t, "environment", r.ID)
}

// C015: a count of nodes stored as cores.
func TestQuotaSanity(t *testing.T) {
	for name, c := range map[string]struct {
		quota, capacity fleet.Measure
		outcome         policy.Outcome
		says            string
	}{
		"nodes in place of cores": {known(1024), known(1024 * 32), policy.Fails, "quota is 3.1 percent of capacity 32768"},
		"half":                    {known(16384), known(32768), policy.Pass, "50.0 percent"},
		"all":                     {known(32768), known(32768), policy.Pass, "100.0 percent"},
		"more than there is":      {known(40000), known(32768), policy.Fails, "122.1 percent"},
		"quota not known":         {fleet.Unknown, known(32768), policy.Unknown, "not known"},
		"capacity not known":      {known(1024), fleet.Unknown, policy.Unknown, "not known"},
		"no capacity":             {known(1024), known(0), policy.Unknown, ""},
	} {
		r := policy.QuotaSanity("east-cpu", "cpu", c.quota, c.capacity)
		assert.Equal(t, c.outcome, r.Outcome, name)
		assert.Contains(t, strings.ToLower(r.Message), c.says, name)
	}
}
