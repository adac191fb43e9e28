package db_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/internal/soak"
	"quartermaster/internal/usage"
)

// roll rolls up whatever ended by closed.
func (w *world) roll(closed time.Time) (hours int) {
	w.t.Helper()
	for {
		var done portal.RolledUsage
		w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
			done, err = tx.RollUsage(ctx, closed, time.Time{})
			return err
		})
		if done.Hours == 0 {
			return hours
		}
		hours += done.Hours
	}
}

// read keeps a reading of one place: use nil = not known.
func (w *world) read(b fleet.Binding, pool string, at time.Time, use *int64) {
	w.t.Helper()
	u := portal.UsageRow{Binding: b, PoolID: pool, At: at, Nominal: known(8)}
	if use != nil {
		u.InUse = known(*use)
	}
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.SavePoll(ctx, b.ClusterID, fleet.Observation{At: at, QueuesKnown: true}, []portal.UsageRow{u}, time.Second)
	})
}

type hourRow struct {
	At       time.Time `db:"at"`
	Expected int64     `db:"expected_ms"`
	InUse    int64     `db:"in_use_ms"`
	Known    int64     `db:"in_use_known_ms"`
	Type     string    `db:"workload_type"`
}

func (w *world) hours(b fleet.Binding) (out []hourRow) {
	w.t.Helper()
	require.NoError(w.t, w.owner.Select(&out, `SELECT at, expected_ms, in_use_ms, in_use_known_ms, workload_type FROM usage_by_hour WHERE binding_id = $1 ORDER BY at`, b.ID))
	for i := range out {
		out[i].At = out[i].At.UTC()
	}
	return out
}

const hourMS = 3_600_000

func TestAnHourIsWeighedByTimeAndAGapIsNotZero(t *testing.T) {
	w := newWorld(t)
	b := w.binding("cv", "east")
	h := noon.Truncate(time.Hour)
	// Every 30 s from 12:00: 4 GPUs until 12:20, then nothing until 12:50, then 8.
	for s := 0; s < 3600; s += 30 {
		switch at := h.Add(time.Duration(s) * time.Second); {
		case s < 1200:
			w.read(b, "east-h100", at, ptr(int64(4)))
		case s >= 3000:
			w.read(b, "east-h100", at, ptr(int64(8)))
		}
	}
	require.Zero(t, w.roll(h.Add(59*time.Minute)), "the hour is not over")
	require.Equal(t, 1, w.roll(h.Add(time.Hour)))
	// The last reading before the gap, at 12:19:30, holds a minute.
	known := int64((1170 + 60 + 600) * 1000)
	require.Equal(t, []hourRow{{At: h, Expected: hourMS, Known: known, InUse: int64((1170+60)*4000 + 600*8000)}}, w.hours(b))

	// The last one holds 30 s into the next hour, of which nothing else is known.
	require.Equal(t, 1, w.roll(h.Add(2*time.Hour)))
	require.Equal(t, hourRow{At: h.Add(time.Hour), Expected: hourMS, Known: 30_000, InUse: 8 * 30_000}, w.hours(b)[1])

	// Nobody could read the cluster for the hour after: marked, it is a gap.
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		return tx.MarkUsageDue(ctx, h.Add(2*time.Hour), h.Add(3*time.Hour))
	})
	require.Equal(t, 1, w.roll(h.Add(3*time.Hour)))
	require.Equal(t, hourRow{At: h.Add(2 * time.Hour), Expected: hourMS}, w.hours(b)[2])

	// A late reading fills part of the gap: its hour and no other is computed anew.
	w.read(b, "east-h100", h.Add(30*time.Minute), ptr(int64(2)))
	require.Equal(t, 1, w.roll(h.Add(3*time.Hour)))
	require.Equal(t, known+60_000, w.hours(b)[0].Known)
	before := w.hours(b)
	w.read(b, "east-h100", h.Add(30*time.Minute), ptr(int64(2)))
	require.Equal(t, 1, w.roll(h.Add(3*time.Hour)))
	require.Equal(t, before, w.hours(b), "twice changes nothing")
}

// What is gone from the cluster is not expected any more; what only could not be read is.
func TestWhatIsGoneIsNotMissed(t *testing.T) {
	w := newWorld(t)
	gone, stays := w.binding("cv", "east"), w.binding("asr", "east")
	noon := noon.Truncate(time.Hour)
	keep := func(at time.Time, bs ...fleet.Binding) {
		var rows []portal.UsageRow
		for _, b := range bs {
			rows = append(rows, portal.UsageRow{Binding: b, PoolID: "east-h100", At: at, InUse: known(1)})
		}
		w.tx(func(ctx context.Context, tx portal.Tx) error {
			return tx.SavePoll(ctx, "east", fleet.Observation{At: at, Every: 30 * time.Minute, QueuesKnown: true}, rows, time.Second)
		})
	}
	keep(noon.Add(30*time.Minute), gone, stays)
	keep(noon.Add(90*time.Minute), stays)
	w.roll(noon.Add(3 * time.Hour))
	require.Equal(t, []hourRow{{At: noon, Expected: hourMS / 2, Known: hourMS / 2, InUse: hourMS / 2}, {At: noon.Add(time.Hour), Expected: hourMS, Known: hourMS / 2, InUse: hourMS / 2}}, w.hours(gone), "it held until 13:30")
	require.Len(t, w.hours(stays), 3)
	require.Equal(t, int64(hourMS), w.hours(stays)[1].Known)
}

// TestRollUpsAgreeWithACountByTheSecond rolls up random readings in random order, with
// repeats and runs in between, and counts each second on its own beside it.
func TestRollUpsAgreeWithACountByTheSecond(t *testing.T) {
	w := newWorld(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		if round++; round > soak.Count(8, 300) {
			return
		}
		start := time.Date(2026, 10, 31, 22, 0, 0, 0, time.UTC).AddDate(0, round, 0) // over the end of a day, each round in a month of its own
		w.owner.MustExec(`TRUNCATE usage_now`)
		id := uuid.NewString()
		b := fleet.Binding{ID: id, ProjectID: "cv", Environment: fmt.Sprint("round", round), ClusterID: "east", ClusterQueue: id}
		w.tx(func(ctx context.Context, tx portal.Tx) error { return tx.InsertBinding(ctx, b) })
		w.owner.MustExec(`UPDATE binding SET created_at = $2 WHERE id = $1`, id, start.Add(-time.Hour))
		const span = 4 * 3600
		type reading struct{ at, use int } // use -1 = not known
		readings := rapid.SliceOfNDistinct(rapid.Custom(func(rt *rapid.T) reading {
			return reading{rapid.IntRange(0, span-1).Draw(rt, "second"), rapid.IntRange(-1, 16).Draw(rt, "use")}
		}), 1, 30, func(r reading) int { return r.at }).Draw(rt, "readings")
		closed := start.Add(5 * time.Hour)
		for i, r := range readings {
			at := start.Add(time.Duration(r.at) * time.Second)
			use := (*int64)(nil)
			if r.use >= 0 {
				use = ptr(int64(r.use))
			}
			w.read(b, "east-h100", at, use)
			if i%7 == 3 {
				w.roll(closed)
				w.read(b, "east-h100", at, use)
			}
		}
		w.roll(closed)
		w.roll(closed)

		bySecond := map[int]int{}
		for s := range span + 3600 {
			last := -1
			for i, r := range readings {
				if r.at <= s && s < r.at+60 && (last < 0 || readings[last].at < r.at) {
					last = i
				}
			}
			if last >= 0 && readings[last].use >= 0 {
				bySecond[s] = readings[last].use
			}
		}
		var use, seen [5]int64
		for s, n := range bySecond {
			use[s/3600] += int64(n) * 1000
			seen[s/3600] += 1000
		}
		got := map[int]hourRow{}
		var sum usage.Figures
		for _, h := range w.hours(b) {
			got[int(h.At.Sub(start).Hours())] = h
			sum = sum.Add(usage.Figures{Expected: h.Expected, InUse: h.InUse, InUseKnown: h.Known})
			if h.Expected < h.Known || h.Expected > hourMS {
				rt.Fatalf("%v expects %d and knows %d", h.At, h.Expected, h.Known)
			}
		}
		for n := range 5 {
			if got[n].InUse != use[n] || got[n].Known != seen[n] {
				rt.Fatalf("hour %d: %d known for %d, not %d for %d", n, got[n].InUse, got[n].Known, use[n], seen[n])
			}
		}
		for _, table := range []string{"usage_by_day", "usage_by_month"} {
			var f usage.Figures
			if err := w.owner.Get(&f, `SELECT coalesce(sum(expected_ms), 0) AS expected_ms, coalesce(sum(in_use_ms), 0) AS in_use_ms, coalesce(sum(in_use_known_ms), 0) AS in_use_known_ms FROM `+table+` WHERE binding_id = $1`, b.ID); err != nil {
				rt.Fatal(err)
			}
			if f != sum {
				rt.Fatalf("%s holds %v, the hours %v", table, f, sum)
			}
		}
		q := portal.UsageSumQuery{Span: usage.Span{From: start, Until: closed}, Environment: b.Environment}
		for _, by := range usage.Groups {
			q.By = by
			rows, err := w.UsageSums(t.Context(), q)
			if err != nil {
				rt.Fatal(err)
			}
			var f usage.Figures
			for _, r := range rows {
				f = f.Add(r.Figures)
			}
			f.Limit, f.LimitKnown = 0, 0
			if f != sum {
				rt.Fatalf("by %s %v, the hours %v", by, f, sum)
			}
		}
	})
}
