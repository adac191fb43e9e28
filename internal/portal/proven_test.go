package portal_test

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
	"quartermaster/internal/signin"
)

// The desk's people answer each step-up at once, except in a session named "tired". What
// the use cases themselves do without an answer is tested through d.Portal.

func proven[T any](ctx context.Context, p *portal.Portal, who portal.Actor, do func() (T, error)) (T, error) {
	out, err := do()
	var need *portal.StepUpNeeded
	if who.SessionID == "tired" || !errors.As(err, &need) {
		return out, err
	}
	if _, err := p.RecordStepUp(ctx, who, portal.StepUpInput{By: signin.ProofTOTP, Digests: need.Digests}); err != nil {
		return out, err
	}
	return do()
}

func (d *desk) DecideRequest(ctx context.Context, a portal.Actor, in portal.DecideInput) (portal.DecideResult, error) {
	return proven(ctx, d.Portal, a, func() (portal.DecideResult, error) { return d.Portal.DecideRequest(ctx, a, in) })
}

func (d *desk) ChangeClusterMode(ctx context.Context, a portal.Actor, in portal.ModeInput) (portal.Cluster, error) {
	return proven(ctx, d.Portal, a, func() (portal.Cluster, error) { return d.Portal.ChangeClusterMode(ctx, a, in) })
}

func (d *desk) PauseCluster(ctx context.Context, a portal.Actor, in portal.PauseInput) (portal.Cluster, error) {
	return proven(ctx, d.Portal, a, func() (portal.Cluster, error) { return d.Portal.PauseCluster(ctx, a, in) })
}

func (d *desk) ConnectCluster(ctx context.Context, a portal.Actor, in portal.ConnectInput) (portal.Tested, error) {
	return proven(ctx, d.Portal, a, func() (portal.Tested, error) { return d.Portal.ConnectCluster(ctx, a, in) })
}

func (d *desk) AdoptBinding(ctx context.Context, a portal.Actor, in portal.AdoptInput) (fleet.Binding, error) {
	return proven(ctx, d.Portal, a, func() (fleet.Binding, error) { return d.Portal.AdoptBinding(ctx, a, in) })
}

func (d *desk) AdoptBindings(ctx context.Context, a portal.Actor, clusterID string, rows []portal.AdoptInput) ([]portal.AdoptResult, error) {
	return proven(ctx, d.Portal, a, func() ([]portal.AdoptResult, error) { return d.Portal.AdoptBindings(ctx, a, clusterID, rows) })
}

func (d *desk) KeepImport(ctx context.Context, a portal.Actor, in portal.ImportInput) (portal.ImportReport, error) {
	return proven(ctx, d.Portal, a, func() (portal.ImportReport, error) { return d.Portal.KeepImport(ctx, a, in) })
}

func (d *desk) TakeoverChange(ctx context.Context, a portal.Actor, in portal.ChangeInput) (portal.Change, error) {
	return proven(ctx, d.Portal, a, func() (portal.Change, error) { return d.Portal.TakeoverChange(ctx, a, in) })
}

func (d *desk) RetryChange(ctx context.Context, a portal.Actor, in portal.ChangeInput) (portal.Change, error) {
	return proven(ctx, d.Portal, a, func() (portal.Change, error) { return d.Portal.RetryChange(ctx, a, in) })
}

func (d *desk) ExportHistory(ctx context.Context, a portal.Actor, q portal.EntryQuery, w io.Writer, begin func()) error {
	_, err := proven(ctx, d.Portal, a, func() (struct{}, error) { return struct{}{}, d.Portal.ExportHistory(ctx, a, q, w, begin) })
	return err
}

// tired is subject in a session in which nothing was proven.
func (d *desk) tired(subject string) portal.Actor {
	a := d.as(subject)
	a.SessionID = "tired"
	return a
}

// count is how many entries of a type there are, with any of the outcomes; none = all.
func (d *desk) count(t ledger.Type, outcomes ...ledger.Outcome) int {
	d.t.Helper()
	n := 0
	for row, err := range d.store.StreamEntries(d.t.Context(), portal.EntryQuery{Types: []ledger.Type{t}}) {
		require.NoError(d.t, err)
		if len(outcomes) == 0 || slices.Contains(outcomes, row.Entry.Outcome) {
			n++
		}
	}
	return n
}
