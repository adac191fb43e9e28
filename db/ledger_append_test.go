package db_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/db/dbtest"
	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/soak"
)

// verify reads the whole record at one moment and returns what is wrong with it.
func verify(t *testing.T, w *world) *ledger.Chain {
	t.Helper()
	chain := &ledger.Chain{}
	require.NoError(t, w.Snapshot(t.Context(), func(ctx context.Context, r portal.Reader) error {
		for s, err := range r.StreamStored(ctx) {
			if err != nil {
				return err
			}
			chain.Add(s)
		}
		heads, err := r.Heads(ctx)
		chain.Close(heads)
		return err
	}))
	return chain
}

func (w *world) append(e ledger.Entry, refs portal.EntryRefs, openings map[string]string) portal.EntryRow {
	w.t.Helper()
	var row portal.EntryRow
	w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
		row, err = tx.Append(ctx, e, refs, openings)
		return err
	})
	return row
}

func TestAnEntryBindsWhatItDoesNotSay(t *testing.T) {
	w := newWorld(t)
	r := w.draft("ada", "cv", line("east-h100", 1))
	e := w.entry("mia", ledger.RequestDecided, "request", r.ID)
	e.Facts = map[string]string{"stage": "te\u0301am"} // not normalised
	refs := portal.EntryRefs{RequestID: r.ID, ProjectID: "cv", PoolIDs: []string{"east-h100", "east-a100"}}
	texts := map[string]string{portal.OpeningReason: "because of <Bob>", portal.OpeningActor: "issuer\nmia\nMia", "explanation": "refu\u0301sed"}
	row := w.append(e, refs, texts)

	require.Equal(t, map[string]string{"stage": "te\u0301am"}, e.Facts, "the caller's entry stays as it was")
	require.Equal(t, ledger.Digest(row.Canonical), row.Digest)
	parsed, err := ledger.Parse(row.Canonical)
	require.NoError(t, err)
	require.Equal(t, parsed, row.Entry)
	require.Equal(t, "téam", parsed.Facts["stage"])
	require.Empty(t, parsed.Prev)
	require.Equal(t, ledger.Version, parsed.V)
	name, err := w.LogName(t.Context())
	require.NoError(t, err)
	require.Equal(t, name, parsed.Log)
	require.NotContains(t, string(row.Canonical), "Bob")
	require.NotContains(t, string(row.Canonical), "Mia")

	var opened []struct {
		Name string `db:"name"`
		Salt []byte `db:"salt"`
		Text string `db:"text"`
	}
	require.NoError(t, w.owner.Select(&opened, `SELECT name, salt, text FROM ledger_opening WHERE entry_id = $1 ORDER BY name`, e.ID))
	require.Len(t, opened, 3)
	for _, o := range opened {
		require.Len(t, o.Salt, 32)
		want := map[string]string{portal.OpeningReason: parsed.Reason, portal.OpeningActor: parsed.Actor.Commitment, "explanation": parsed.Facts["explanation"]}[o.Name]
		require.NotEmpty(t, want)
		require.Equal(t, want, ledger.Commit(o.Salt, o.Text), o.Name)
	}

	loaded, err := w.Entry(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, row.Ordinal, loaded.Ordinal)
	require.Equal(t, row.Canonical, loaded.Canonical)
	require.Equal(t, "Mia", loaded.ActorName)
	require.EqualValues(t, 1, loaded.RequestNumber)
	require.Equal(t, "CV training", loaded.ProjectName)
	require.Equal(t, refs.PoolIDs, loaded.PoolIDs)
	require.Equal(t, "because of <Bob>", loaded.Openings[portal.OpeningReason])
	require.Equal(t, noon, loaded.At)

	second := w.append(w.entry("cap", ledger.RequestDecided, "request", r.ID), refs, nil)
	require.Equal(t, row.Digest, second.Entry.Prev)
	job := w.entry("cap", ledger.ChangeApplied, "change", uuid.NewString())
	job.Actor.ID = "job:change_apply"
	w.append(job, portal.EntryRefs{RequestID: r.ID}, nil)
	before, after, err := w.Neighbours(t.Context(), loaded)
	require.NoError(t, err)
	require.Nil(t, before)
	require.Equal(t, second.Entry.ID, after.Entry.ID)
	before, after, err = w.Neighbours(t.Context(), second)
	require.NoError(t, err)
	require.Equal(t, e.ID, before.Entry.ID)
	require.Nil(t, after)
	of, err := w.EntriesOfRequest(t.Context(), r.ID)
	require.NoError(t, err)
	require.Len(t, of, 3)
	require.Empty(t, of[2].ActorName, "a job has no name of a person")
	require.Empty(t, verify(t, w).Breaks)
}

func TestTheSaltOfEachOpeningIsItsOwn(t *testing.T) {
	w := newWorld(t)
	text := map[string]string{portal.OpeningReason: "ok"}
	a := w.append(w.entry("mia", ledger.RequestDecided, "request", "1"), portal.EntryRefs{}, text)
	b := w.append(w.entry("mia", ledger.RequestDecided, "request", "2"), portal.EntryRefs{}, text)
	require.NotEqual(t, a.Entry.Reason, b.Entry.Reason, "equal texts do not show as equal")
}

func TestWhatCannotBeRecordedDoesNotHappen(t *testing.T) {
	w := newWorld(t)
	e := w.entry("mia", ledger.RequestDecided, "request", "1")
	for name, spoil := range map[string]func(*ledger.Entry){
		"too large": func(e *ledger.Entry) { e.Facts = map[string]string{"x": strings.Repeat("x", ledger.MaxBytes)} },
		"a NUL":     func(e *ledger.Entry) { e.Object.ID = "a\x00b" },
	} {
		bad := e
		spoil(&bad)
		err := w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
			if err := tx.SaveReplay(ctx, w.id("ada"), name, "test", 1); err != nil {
				return err
			}
			_, err := tx.Append(ctx, bad, portal.EntryRefs{}, nil)
			return err
		})
		require.Equal(t, fault.Invalid, fault.KindOf(err), "%s: %v", name, err)
	}
	bad := e
	bad.At = "yesterday"
	require.Error(t, w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
		_, err := tx.Append(ctx, bad, portal.EntryRefs{}, nil)
		return err
	}))
	var n int
	require.NoError(t, w.owner.Get(&n, `SELECT (SELECT count(*) FROM idempotency) + (SELECT count(*) FROM ledger_entry) + (SELECT count(*) FROM ledger_head)`))
	require.Zero(t, n)
}

// However many write about the same objects at once, each object has one
// unbroken chain.
func TestChainsStayWholeUnderContention(t *testing.T) {
	w := newWorld(t)
	const writers = 12
	each := soak.Count(15, 1000)
	second := dbtest.StoreAt(t, w.address) // another process
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := range each {
				store := w.Store
				if i%2 == 0 {
					store = second
				}
				err := store.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
					for _, object := range []string{[]string{"a", "b"}[(i+n)%2], "c"} {
						if _, err := tx.Append(ctx, w.entry("mia", ledger.JobAction, "test", object), portal.EntryRefs{}, map[string]string{portal.OpeningReason: "r"}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	chain := verify(t, w)
	require.Empty(t, chain.Breaks)
	require.EqualValues(t, writers*each*2, chain.Count)
}

func TestVerificationSeesWhatTheOwnerChanged(t *testing.T) {
	for name, tamper := range map[string]string{
		"content":      `UPDATE ledger_entry SET canonical = convert_to(replace(convert_from(canonical, 'UTF8'), 'done', 'gone'), 'UTF8') WHERE ordinal = 2`,
		"column":       `UPDATE ledger_entry SET actor = 'somebody else' WHERE ordinal = 2`,
		"time":         `UPDATE ledger_entry SET at = at + interval '1 second' WHERE ordinal = 2`,
		"middle gone":  `DELETE FROM ledger_entry WHERE ordinal = 2`,
		"tail gone":    `DELETE FROM ledger_entry WHERE ordinal = 3`,
		"all gone":     `DELETE FROM ledger_entry`,
		"head rewound": `UPDATE ledger_head SET digest = (SELECT digest FROM ledger_entry WHERE ordinal = 2)`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for range 3 {
				w.append(w.entry("mia", ledger.JobAction, "test", "1"), portal.EntryRefs{}, nil)
			}
			require.Empty(t, verify(t, w).Breaks)
			w.owner.MustExec(`ALTER TABLE ledger_entry DISABLE TRIGGER refuse_change`)
			w.owner.MustExec(tamper)
			require.NotEmpty(t, verify(t, w).Breaks)
		})
	}
}
