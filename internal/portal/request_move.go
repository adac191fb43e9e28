package portal

import (
	"context"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/request"
)

// moveRequest moves a request that stands in one of from to another state, on record;
// one that stands elsewhere is left alone. id "" is no request.
func (p *Portal) moveRequest(ctx context.Context, tx Tx, actor Actor, id string, to request.State, from ...request.State) error {
	if id == "" {
		return nil
	}
	r, err := tx.RequestForUpdate(ctx, id)
	if err != nil {
		return err
	}
	if !slices.Contains(from, r.State) {
		return nil
	}
	if r, err = p.move(ctx, tx, actor, r, to, refsOf(r, nil)); err != nil {
		return err
	}
	return tx.SaveRequest(ctx, r)
}

// activate makes the requests of a place active that were being applied and of which
// now every cluster holds what is desired.
func (p *Portal) activate(ctx context.Context, tx Tx, actor Actor, projectID, environment string) error {
	grants, err := tx.GrantsOfPlace(ctx, projectID, environment)
	if err != nil {
		return err
	}
	var seen []string
	for _, g := range grants {
		if slices.Contains(seen, g.RequestID) {
			continue
		}
		seen = append(seen, g.RequestID)
		r, err := tx.Request(ctx, g.RequestID)
		if err != nil {
			return err
		}
		if r.State != request.Applying {
			continue
		}
		var own []GrantRow
		inForce := false
		for _, x := range grants {
			if x.RequestID == r.ID {
				own = append(own, x)
				inForce = inForce || x.InForce(p.Now())
			}
		}
		all, err := p.heldEverywhere(ctx, tx, own)
		if err != nil {
			return err
		}
		if all && inForce {
			if err := p.moveRequest(ctx, tx, actor, r.ID, request.Active, request.Applying); err != nil {
				return err
			}
		}
	}
	return nil
}

// heldEverywhere reports whether on each cluster that grants name the newest change
// of their place was read back as desired.
func (p *Portal) heldEverywhere(ctx context.Context, tx Tx, grants []GrantRow) (bool, error) {
	for _, g := range grants {
		pool, err := tx.Pool(ctx, g.PoolID)
		if err != nil {
			return false, err
		}
		b, err := tx.BindingAt(ctx, g.ProjectID, g.Environment, pool.ClusterID)
		if fault.KindOf(err) == fault.NotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		newest, err := tx.ChangesOfBinding(ctx, b.ID, 1)
		if err != nil {
			return false, err
		}
		if len(newest) == 0 || newest[0].State != ChangeVerified {
			return false, nil
		}
	}
	return true, nil
}
