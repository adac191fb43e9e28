package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

func TestHistoryFilters(t *testing.T) {
	w := newWorld(t)
	r := w.draft("ada", "cv", line("east-h100", 1))
	add := func(subject string, typ ledger.Type, refs portal.EntryRefs, change func(*ledger.Entry)) int64 {
		e := w.entry(subject, typ, "object", uuid.NewString())
		if change != nil {
			change(&e)
		}
		return w.append(e, refs, nil).Ordinal
	}
	one := add("ada", ledger.RequestDrafted, portal.EntryRefs{RequestID: r.ID, ProjectID: "cv", PoolIDs: []string{"east-h100", "east-a100"}}, nil)
	two := add("mia", ledger.RequestDecided, portal.EntryRefs{RequestID: r.ID, ProjectID: "cv"}, func(e *ledger.Entry) { e.Outcome = ledger.Refused })
	three := add("sol", ledger.SignedIn, portal.EntryRefs{}, func(e *ledger.Entry) { e.At = ledger.Time(noon.Add(time.Hour)) })
	four := add("cap", ledger.ClusterMode, portal.EntryRefs{ClusterID: "east", ProjectID: "asr"}, func(e *ledger.Entry) { e.Actor.ID = "job:usage_poll" })
	for name, x := range map[string]struct {
		q    portal.EntryQuery
		want []int64
	}{
		"all, newest first":   {portal.EntryQuery{}, []int64{four, three, two, one}},
		"person":              {portal.EntryQuery{PersonID: w.id("mia")}, []int64{two}},
		"project":             {portal.EntryQuery{ProjectID: "cv"}, []int64{two, one}},
		"pool":                {portal.EntryQuery{PoolID: "east-a100"}, []int64{one}},
		"cluster":             {portal.EntryQuery{ClusterID: "east"}, []int64{four}},
		"request":             {portal.EntryQuery{RequestID: r.ID}, []int64{two, one}},
		"of no request":       {portal.EntryQuery{RequestID: "none"}, nil},
		"types":               {portal.EntryQuery{Types: []ledger.Type{ledger.SignedIn, ledger.ClusterMode}}, []int64{four, three}},
		"outcome":             {portal.EntryQuery{Outcome: ledger.Refused}, []int64{two}},
		"from":                {portal.EntryQuery{From: noon.Add(time.Hour)}, []int64{three}},
		"to is exclusive":     {portal.EntryQuery{To: noon}, nil},
		"to":                  {portal.EntryQuery{To: noon.Add(time.Hour)}, []int64{four, two, one}},
		"one team":            {portal.EntryQuery{Teams: []string{"vision"}}, []int64{two, one}},
		"no team":             {portal.EntryQuery{Teams: []string{}}, nil},
		"search number":       {portal.EntryQuery{Search: "QM-1"}, []int64{two, one}},
		"search person":       {portal.EntryQuery{Search: "sol"}, []int64{three}},
		"search project":      {portal.EntryQuery{Search: "100%"}, []int64{four}},
		"search nothing":      {portal.EntryQuery{Search: "zzz"}, nil},
		"filters add up":      {portal.EntryQuery{ProjectID: "cv", Search: "Mia"}, []int64{two}},
		"before":              {portal.EntryQuery{Before: three}, []int64{two, one}},
		"after":               {portal.EntryQuery{After: two}, []int64{four, three}},
		"after, next page up": {portal.EntryQuery{After: one, Limit: 2}, []int64{three, two}},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := w.Entries(t.Context(), x.q)
			require.NoError(t, err)
			require.Equal(t, x.want, ordinals(rows))
			if x.q.Before == 0 && x.q.After == 0 {
				n, err := w.CountEntries(t.Context(), x.q, 100)
				require.NoError(t, err)
				require.Equal(t, len(x.want), n)
				n, err = w.CountEntries(t.Context(), x.q, 1)
				require.NoError(t, err)
				require.Equal(t, min(1, len(x.want)), n)
				var streamed []int64
				for row, err := range w.StreamEntries(t.Context(), x.q) {
					require.NoError(t, err)
					streamed = append(streamed, row.Ordinal)
				}
				require.Equal(t, x.want, streamed)
			}
		})
	}
	w.owner.MustExec(`ALTER TABLE ledger_entry DISABLE TRIGGER refuse_change; UPDATE ledger_entry SET canonical = 'broken' WHERE ordinal = 1`)
	rows, err := w.Entries(t.Context(), portal.EntryQuery{})
	require.NoError(t, err)
	require.Equal(t, "broken", string(rows[3].Canonical), "an entry that somebody broke stays visible")
}

func ordinals(rows []portal.EntryRow) (out []int64) {
	for _, r := range rows {
		out = append(out, r.Ordinal)
	}
	return out
}

// fill adds n made-up entries that are not chained, as a long history to read.
func (w *world) fill(n int) {
	w.owner.MustExec(`
		INSERT INTO ledger_entry (id, digest, canonical, type, outcome, at, actor, object_kind, object_id, prev, project_id)
		SELECT gen_random_uuid(), md5(n::text), '{}', 'job.action', 'done', now(), 'job:test', 'test', n::text, '', 'cv' FROM generate_series(1, $1) n`, n)
}

func TestStreamsCrossTheirBatchesAndStopWhenTheReaderStops(t *testing.T) {
	w := newWorld(t)
	w.fill(2500)
	count := 0
	last := int64(1 << 62)
	for row, err := range w.StreamEntries(t.Context(), portal.EntryQuery{ProjectID: "cv"}) {
		require.NoError(t, err)
		require.Less(t, row.Ordinal, last)
		last = row.Ordinal
		count++
	}
	require.Equal(t, 2500, count)
	count = 0
	for s, err := range w.StreamStored(t.Context()) {
		require.NoError(t, err)
		count++
		require.EqualValues(t, count, s.Ordinal)
		if count == 1500 {
			break
		}
	}
	require.Equal(t, 1500, count)
	require.Zero(t, w.DB().Stats().InUse, "a reader that stops gives its connection back")

	// In a transaction other statements run between two rows.
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		for s, err := range tx.StreamStored(ctx) {
			if err != nil {
				return err
			}
			if s.Ordinal == 1001 {
				_, err := tx.Units(ctx)
				return err
			}
		}
		return errors.New("never got there")
	})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var failed error
	for _, err := range w.StreamStored(ctx) {
		cancel()
		failed = err
	}
	require.ErrorIs(t, failed, context.Canceled)
}

// An entry may get its ordinal early and be committed late: a stream shows one
// moment and neither misses it nor shows half of a transaction.
func TestAStreamShowsOneMoment(t *testing.T) {
	w := newWorld(t)
	w.fill(1500)
	late := w.owner.MustBegin()
	defer late.Rollback()
	late.MustExec(`INSERT INTO ledger_entry (id, digest, canonical, type, outcome, at, actor, object_kind, object_id, prev)
		VALUES (gen_random_uuid(), 'late', '{}', 'job.action', 'done', now(), 'job:test', 'test', 'late', '')`)
	w.append(w.entry("mia", ledger.JobAction, "test", "early"), portal.EntryRefs{}, nil)
	count := 0
	for s, err := range w.StreamStored(t.Context()) {
		require.NoError(t, err)
		if count++; count == 1 {
			require.NoError(t, late.Commit())
		}
		require.NotEqual(t, "late", s.Digest)
	}
	require.Equal(t, 1501, count)
	n, err := w.CountEntries(t.Context(), portal.EntryQuery{}, 10000)
	require.NoError(t, err)
	require.Equal(t, 1502, n)
}

func TestHistoryIsPagedBothWaysWithoutGapOrRepeat(t *testing.T) {
	w := newWorld(t)
	w.fill(23)
	var down []int64
	q := portal.EntryQuery{Limit: 5}
	for {
		page, err := w.Entries(t.Context(), q)
		require.NoError(t, err)
		down = append(down, ordinals(page)...)
		if len(page) < 5 {
			break
		}
		q.Before = page[4].Ordinal
	}
	require.Len(t, down, 23)
	var up []int64
	for last := int64(1); ; {
		page, err := w.Entries(t.Context(), portal.EntryQuery{Limit: 5, After: last})
		require.NoError(t, err)
		up = append(ordinals(page), up...)
		if len(page) < 5 {
			break
		}
		last = page[0].Ordinal
	}
	require.Equal(t, down[:22], up)
}
