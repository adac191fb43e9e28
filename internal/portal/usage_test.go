package portal_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/usage"
)

// bound is a place that readings are of.
func (d *desk) bound(project, environment string) fleet.Binding {
	d.t.Helper()
	b := fleet.Binding{ID: uuid.NewString(), ProjectID: project, Environment: environment, ClusterID: "east", ClusterQueue: project + "-" + environment}
	d.tx(func(ctx context.Context, tx portal.Tx) error { return tx.InsertBinding(ctx, b) })
	return b
}

// usedFor keeps what each place used of H100 at noon and every half minute of two hours:
// 12:00 to 14:00, without 12:30 to 12:59.
func (d *desk) usedFor(use map[string]int64, places ...fleet.Binding) {
	d.t.Helper()
	for s := 0; s < 7200; s += 30 {
		if s >= 1800 && s < 3540 {
			continue
		}
		at := noon.Add(time.Duration(s) * time.Second)
		var rows []portal.UsageRow
		for _, b := range places {
			rows = append(rows, portal.UsageRow{Binding: b, PoolID: "h100", At: at, Nominal: fleet.Known(fleet.Count(8)), InUse: fleet.Known(fleet.Count(use[b.ProjectID+" "+b.Environment]))})
		}
		d.tx(func(ctx context.Context, tx portal.Tx) error {
			return tx.SavePoll(ctx, "east", fleet.Observation{At: at, QueuesKnown: true}, rows, time.Millisecond)
		})
	}
}

func span(from, until time.Time) usage.Span { return usage.Span{From: from, Until: until} }

func (d *desk) account(subject string, ask portal.UsageAsk) portal.UsageView {
	d.t.Helper()
	v, err := d.ViewUsage(d.t.Context(), d.as(subject), ask)
	require.NoError(d.t, err)
	return v
}

func TestTheAccountOfUse(t *testing.T) {
	d := newDesk(t)
	ref := d.submitted(quota(ask("h100", 16)))
	d.decide("ben", approve(ref, "team"))
	d.decide("cleo", approve(ref, "capacity", 12))
	street, asr := d.grantedAt("street", "production"), d.bound("asr", "development")
	d.usedFor(map[string]int64{"street production": 6, "asr development": 3}, street, asr)
	d.pass(2*time.Hour + time.Minute)
	n, err := d.RollUsage(t.Context())
	require.NoError(t, err)
	require.Positive(t, n)

	whole := portal.UsageAsk{By: usage.ByProject, Span: span(noon.Truncate(24*time.Hour), noon.Add(24*time.Hour))}
	v := d.account("finn", whole)
	require.Equal(t, noon.Add(2*time.Hour), v.Span.Until, "no further than the last full hour")
	require.Zero(t, v.Due)
	require.Len(t, v.Rows, 2)
	// Known: 12:00 to 12:30:30 (a reading holds a minute), and 12:59 to 14:00.
	known := int64((1830 + 3660) * 1000)
	require.Equal(t, "Street Scenes", v.Rows[0].Name)
	require.Equal(t, usage.Figures{Expected: 2 * 3_600_000, InUse: 6 * known, InUseKnown: known, Limit: 8 * known, LimitKnown: known}, v.Rows[0].Figures)
	require.Equal(t, []portal.Money{{Cents: usage.Round(usage.Cents(6*known, 320)), Currency: "EUR"}}, v.Rows[0].Cost)
	require.Len(t, v.Totals, 1)
	require.Equal(t, 9*known, v.Totals[0].InUse)
	require.False(t, v.Totals[0].Whole())

	for _, by := range usage.Groups {
		whole.By = by
		g := d.account("otto", whole)
		require.Equal(t, v.Totals[0].Figures, g.Totals[0].Figures, "the sum is the same by %s", by)
	}
	whole.By = usage.ByType
	types := d.account("otto", whole)
	require.Equal(t, []string{"training", ""}, []string{types.Rows[0].Key, types.Rows[1].Key}, "of the grant in force, or not known")
	whole.WorkloadType, whole.By = "training", usage.ByProject
	require.Len(t, d.account("otto", whole).Rows, 1)
	whole.WorkloadType = ""

	for subject, projects := range map[string][]string{"ana": {"street"}, "ben": {"street"}, "tom": {"asr"}, "cleo": {"street", "asr"}, "otto": {"street", "asr"}} {
		var got []string
		for _, row := range d.account(subject, whole).Rows {
			got = append(got, row.Key)
		}
		require.Equal(t, projects, got, subject)
	}

	rows := d.exportedUsage("finn", whole)
	require.Len(t, rows, 2)
	sum := 0.0
	for _, row := range rows {
		assert.Equal(t, "2026-12-02T00:00:00Z", row["from"])
		assert.Equal(t, "2026-12-02T14:00:00Z", row["to"])
		assert.Equal(t, "card", row["unit"])
		assert.Equal(t, "2.000000", row["expected_hours"])
		hours, err := strconv.ParseFloat(row["unit_hours"], 64)
		require.NoError(t, err)
		sum += hours
	}
	assert.InDelta(t, float64(9*known)/3_600_000, sum, 0.00001)
	assert.Len(t, d.exportedUsage("tom", whole), 1)
	page, err := d.SearchHistory(t.Context(), d.as("otto"), portal.EntryQuery{Types: []ledger.Type{ledger.Exported}})
	require.NoError(t, err)
	require.Len(t, page.Rows, 2)
	require.Equal(t, "exported the usage", page.Rows[0].Entry.Words())
	d.intact()
}

// grantedAt is the binding that a grant made.
func (d *desk) grantedAt(project, environment string) fleet.Binding {
	d.t.Helper()
	b, err := d.store.BindingAt(d.t.Context(), project, environment, "east")
	require.NoError(d.t, err)
	return b
}

func (d *desk) exportedUsage(subject string, ask portal.UsageAsk) []map[string]string {
	d.t.Helper()
	var b bytes.Buffer
	require.NoError(d.t, d.ExportUsage(d.t.Context(), d.as(subject), ask, &b, nil))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(d.t, err)
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// A roll-up that dies leaves the old figure or the new one, never a half.
func TestAKilledRollUpLeavesOldOrNew(t *testing.T) {
	d := newDesk(t)
	b := d.bound("asr", "development")
	d.usedFor(map[string]int64{"asr development": 3}, b)
	ask := portal.UsageAsk{By: usage.ByProject, Span: span(noon, noon.Add(2*time.Hour))}
	d.pass(3 * time.Hour)
	job := childJob{Database: dbtest.AppURL(t, d.owner), Now: d.clock(), SimFile: t.TempDir() + "/east.json", Roll: true}
	job.KillAt = "usage.rolled.before"
	require.True(t, child(t, job))
	require.Empty(t, d.account("otto", ask).Rows, "nothing of it stands")
	require.Positive(t, d.account("otto", ask).Due)
	job.KillAt = "usage.rolled.after"
	require.True(t, child(t, job))
	job.KillAt = ""
	require.False(t, child(t, job))
	first := d.account("otto", ask)
	require.Len(t, first.Rows, 1)
	require.Equal(t, int64((1830+3660)*1000), first.Rows[0].InUseKnown)
	require.Zero(t, first.Due)
	require.False(t, child(t, job))
	require.Equal(t, first.Rows, d.account("otto", ask).Rows)
}

func TestOldReadingsGoOnceADayAndOnRecord(t *testing.T) {
	d := newDesk(t)
	d.Retention = portal.Retention{Readings: 30, Hours: 400}
	b := d.bound("asr", "development")
	d.usedFor(map[string]int64{"asr development": 3}, b)
	d.pass(3 * time.Hour)
	_, err := d.TidyUsage(t.Context())
	require.NoError(t, err)
	_, err = d.RollUsage(t.Context())
	require.NoError(t, err)
	ask := portal.UsageAsk{By: usage.ByProject, Span: span(noon, noon.Add(2*time.Hour))}
	before := d.account("otto", ask)
	entries := func() []portal.EntryRow {
		page, err := d.SearchHistory(t.Context(), d.as("otto"), portal.EntryQuery{Types: []ledger.Type{ledger.UsagePruned}})
		require.NoError(t, err)
		return page.Rows
	}
	require.Empty(t, entries(), "nothing was old")

	d.pass(40 * 24 * time.Hour)
	// Nobody rolled up meanwhile: what is due keeps its readings.
	d.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.MarkUsageDue(ctx, noon, noon.Add(2*time.Hour))
	})
	out, err := d.TidyUsage(t.Context())
	require.NoError(t, err)
	require.Zero(t, out.Samples)
	require.Positive(t, out.Polls)
	_, err = d.RollUsage(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Rows, d.account("otto", ask).Rows)
	d.pass(24 * time.Hour)
	out, err = d.TidyUsage(t.Context())
	require.NoError(t, err)
	require.Positive(t, out.Samples)
	again, err := d.TidyUsage(t.Context())
	require.NoError(t, err)
	require.Equal(t, portal.UsagePruned{}, again, "once a day")
	require.Len(t, entries(), 2)
	require.Equal(t, strconv.FormatInt(out.Samples, 10), entries()[0].Entry.Facts["readings"])

	// A hour whose readings are gone stays what it is, whoever asks to have it computed anew.
	d.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.MarkUsageDue(ctx, noon, noon.Add(2*time.Hour))
	})
	_, err = d.RollUsage(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Rows, d.account("otto", ask).Rows)
	d.intact()
}
