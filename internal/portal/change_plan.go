package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/work"
)

// planChange puts the work of making a binding's limits true on record and in the
// queue. The change carries no figures of its own: whoever applies it computes
// what is desired then. expected are the limits that a decider saw live.
func (p *Portal) planChange(ctx context.Context, tx Tx, actor Actor, b fleet.Binding, requestID, cause string, expected []fleet.Limit, refs EntryRefs) (Change, error) {
	c := Change{ID: p.NewID(), BindingID: b.ID, ClusterID: b.ClusterID, RequestID: requestID, Cause: cause,
		State: ChangePlanned, Expected: expected, CreatedAt: p.Now()}
	var err error
	if c.Seq, err = tx.InsertChange(ctx, c); err != nil {
		return c, fmt.Errorf("plan a change on %s: %w", b.ClusterID, err)
	}
	e := p.entry(actor, ledger.ChangePlanned, "change", c.ID)
	e.Facts["cluster"], e.Facts["binding"], e.Facts["cause"] = b.ClusterID, b.ID, cause
	if requestID != "" {
		e.Facts["request"] = requestID
	}
	refs.ClusterID = b.ClusterID
	if _, err := tx.Append(ctx, e, refs, nil); err != nil {
		return c, err
	}
	// The push will wait for the proof of what decided it.
	if err := tx.Notify(ctx, ChannelRecord); err != nil {
		return c, err
	}
	return c, tx.Enqueue(ctx, work.ChangeApply{ChangeID: c.ID})
}
