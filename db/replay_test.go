package db_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

func TestReplayIsPerPersonKeyAndUseCase(t *testing.T) {
	w := newWorld(t)
	type result struct {
		Number int64  `json:"number"`
		Text   string `json:"text"`
	}
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		_, found, err := tx.Replay(ctx, w.id("ada"), "k", "draft")
		require.False(t, found)
		require.NoError(t, err)
		return tx.SaveReplay(ctx, w.id("ada"), "k", "draft", result{1 << 60, `ä"\`})
	})
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		raw, found, err := tx.Replay(ctx, w.id("ada"), "k", "draft")
		require.True(t, found)
		var got result
		require.NoError(t, json.Unmarshal(raw, &got))
		require.Equal(t, result{1 << 60, `ä"\`}, got, "no figure is rounded")
		for _, other := range [][2]string{{w.id("mia"), "k"}, {w.id("ada"), "K"}} {
			_, found, err := tx.Replay(ctx, other[0], other[1], "draft")
			require.NoError(t, err)
			require.False(t, found)
		}
		return err
	})
	w.fails(fault.Conflict, func(ctx context.Context, tx portal.Tx) error {
		_, _, err := tx.Replay(ctx, w.id("ada"), "k", "decide")
		return err
	})
}

// A hundred clicks at once are one.
func TestManyClicksAtOnceDoOneThing(t *testing.T) {
	w := newWorld(t)
	for _, look := range []bool{true, false} { // also for a caller that only saves
		key := map[bool]string{true: "looks", false: "saves"}[look]
		var did atomic.Int32
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				err := w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
					if look {
						if _, found, err := tx.Replay(ctx, w.id("ada"), key, "draft"); found || err != nil {
							return err
						}
					}
					if _, err := tx.Append(ctx, w.entry("ada", ledger.RequestDrafted, "request", key), portal.EntryRefs{}, nil); err != nil {
						return err
					}
					return tx.SaveReplay(ctx, w.id("ada"), key, "draft", 1)
				})
				if err == nil {
					did.Add(1)
				} else if look || fault.KindOf(err) != fault.Conflict {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var entries int
		require.NoError(t, w.owner.Get(&entries, `SELECT count(*) FROM ledger_entry WHERE object_id = $1`, key))
		require.Equal(t, 1, entries)
		require.NotZero(t, did.Load())
	}
	require.Empty(t, verify(t, w).Breaks)
}
