package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/work"
)

// ResumeChanges starts every change that is under way anew, after a process died or
// was updated. What still runs elsewhere is not disturbed: the fence of the binding
// lets one run after the other, and the second finds it done.
func (p *Portal) ResumeChanges(ctx context.Context) (int, error) {
	clusters, err := p.Store.PollTimes(ctx)
	if err != nil {
		return 0, fmt.Errorf("resume changes: %w", err)
	}
	n := 0
	for id := range clusters {
		err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
			open, err := tx.OpenChanges(ctx, id)
			if err != nil {
				return err
			}
			for _, c := range open {
				if c.State == ChangeHeld || c.State == ChangeWaiting {
					continue // released by a mode or by a good poll
				}
				if err := tx.Enqueue(ctx, work.ChangeApply{ChangeID: c.ID}); err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			return n, fmt.Errorf("resume changes of cluster %s: %w", id, err)
		}
	}
	return n, nil
}
