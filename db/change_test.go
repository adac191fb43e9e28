package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

func (w *world) change(b fleet.Binding, state portal.ChangeState) portal.Change {
	w.t.Helper()
	c := portal.Change{ID: uuid.NewString(), BindingID: b.ID, ClusterID: b.ClusterID, Cause: "grant", State: state, CreatedAt: noon}
	w.tx(func(ctx context.Context, tx portal.Tx) (err error) {
		c.Seq, err = tx.InsertChange(ctx, c)
		return err
	})
	return c
}

func TestAChangeComesBackAsItWasSaved(t *testing.T) {
	w := newWorld(t)
	r := w.draft("ada", "cv", line("east-h100", 4))
	b := w.binding("cv", "east")
	none := fleet.MustQuantity("0")
	c := portal.Change{ID: uuid.NewString(), BindingID: b.ID, ClusterID: "east", RequestID: r.ID, Cause: "grant", State: portal.ChangePlanned, CreatedAt: noon,
		Expected: []fleet.Limit{{Pool: h100, Nominal: fleet.MustQuantity("4"), Borrowing: &none}}}
	w.tx(func(ctx context.Context, tx portal.Tx) (err error) { c.Seq, err = tx.InsertChange(ctx, c); return err })
	got, err := w.Change(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, c, got)
	require.Nil(t, got.Expected[0].Lending, "no limit is not 0")

	c.State, c.Takeover, c.Problem, c.AppliedAt, c.VerifiedAt = portal.ChangeVerified, true, "held", ptr(noon), ptr(noon.Add(time.Second))
	c.Plan = &fleet.Plan{Objects: []fleet.ObjectDiff{{Object: fleet.ObjectRef{Kind: "ClusterQueue", Name: "q"}, Create: true, Fields: []fleet.Field{{Path: "x", After: ptr("1")}}}}, At: noon}
	c.Receipt = &fleet.Receipt{At: noon, Written: []fleet.Written{{Version: "7"}}}
	c.ReadBack = &fleet.ReadBack{Active: true, At: noon}
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		if _, err := tx.ChangeForUpdate(ctx, c.ID); err != nil {
			return err
		}
		return tx.SaveChange(ctx, c)
	})
	of, err := w.ChangesOfRequest(t.Context(), r.ID)
	require.NoError(t, err)
	require.Len(t, of, 1)
	require.Equal(t, c.Plan.Objects, of[0].Plan.Objects)
	require.Equal(t, c.Receipt, of[0].Receipt)
	require.Equal(t, c.ReadBack, of[0].ReadBack)
	require.Equal(t, c.VerifiedAt, of[0].VerifiedAt)
	require.True(t, of[0].Takeover)
	require.Equal(t, "held", of[0].Problem)
	c.ID = uuid.NewString()
	w.fails(fault.NotFound, func(ctx context.Context, tx portal.Tx) error { return tx.SaveChange(ctx, c) })
}

func TestOpenChangesAreListedReleasedAndSuperseded(t *testing.T) {
	w := newWorld(t)
	cv, asr := w.binding("cv", "east"), w.binding("asr", "east")
	first := w.change(cv, portal.ChangeHeld)
	second := w.change(cv, portal.ChangeWaiting)
	stopped := w.change(asr, portal.ChangeStopped)
	w.change(cv, portal.ChangeVerified)
	third := w.change(cv, portal.ChangePlanned)
	ids := func(changes []portal.Change, err error) (out []string) {
		t.Helper()
		require.NoError(t, err)
		for _, c := range changes {
			out = append(out, c.ID)
		}
		return out
	}
	ctx := t.Context()
	require.Equal(t, []string{first.ID, second.ID, third.ID}, ids(w.OpenChanges(ctx, "east")))
	require.Equal(t, []string{stopped.ID}, ids(w.StoppedChanges(ctx, "east")))
	require.Len(t, ids(w.ChangesOfBinding(ctx, cv.ID, 2)), 2)
	require.Equal(t, third.ID, ids(w.ChangesOfBinding(ctx, cv.ID, 10))[0], "newest first")
	counts, err := w.ChangeCounts(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]portal.ChangeCount{"east": {Open: 3, Stopped: 1}}, counts)

	w.tx(func(ctx context.Context, tx portal.Tx) error {
		released, err := tx.ReleaseChanges(ctx, "east", []portal.ChangeState{portal.ChangeHeld, portal.ChangeWaiting})
		require.Equal(t, []string{first.ID, second.ID}, released)
		return err
	})
	w.tx(func(ctx context.Context, tx portal.Tx) error {
		older, err := tx.SupersedeOlder(ctx, cv.ID, third.Seq)
		require.Equal(t, []string{first.ID, second.ID}, ids(older, err))
		require.Equal(t, portal.ChangeSuperseded, older[0].State)
		return err
	})
	require.Equal(t, []string{third.ID}, ids(w.OpenChanges(ctx, "east")))
	// A newer change of the binding overtakes a stopped one.
	w.change(asr, portal.ChangeVerified)
	require.Empty(t, ids(w.StoppedChanges(ctx, "east")))
	counts, err = w.ChangeCounts(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]portal.ChangeCount{"east": {Open: 1}}, counts)
}

func TestATickIsTakenByOneAtATime(t *testing.T) {
	w := newWorld(t)
	at, err := w.TickedAt(t.Context(), "grants")
	require.NoError(t, err)
	require.True(t, at.IsZero())
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			err := w.InTx(t.Context(), func(ctx context.Context, tx portal.Tx) error {
				at, err := tx.TickForUpdate(ctx, "grants")
				if err != nil {
					return err
				}
				if at.IsZero() {
					at = noon
				}
				return tx.SaveTick(ctx, "grants", at.Add(time.Second))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	at, err = w.TickedAt(t.Context(), "grants")
	require.NoError(t, err)
	require.Equal(t, noon.Add(10*time.Second), at, "none overwrote another")
}
