package portal

import (
	"context"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/work"
)

// TakeoverChange lets one stopped change write, once and by force, exactly the fields
// of its plan that somebody else manages. A capacity manager of every pool concerned decides
// that, on record and with a second factor.
func (p *Portal) TakeoverChange(ctx context.Context, actor Actor, in ChangeInput) (Change, error) {
	return p.restart(ctx, actor, in, ledger.ChangeTakeover, "takeover", func(c *Change) error {
		if c.Plan == nil || len(c.Plan.Conflicts) == 0 {
			return fault.New(fault.Conflict, "Nobody else manages what this change writes. There is nothing to take over.")
		}
		c.Takeover = true
		return nil
	})
}

// RetryChange starts a stopped change again, from what is live now: whoever retries
// has looked at it.
func (p *Portal) RetryChange(ctx context.Context, actor Actor, in ChangeInput) (Change, error) {
	return p.restart(ctx, actor, in, ledger.ChangeRetried, "retry", func(c *Change) error {
		c.Expected = nil
		return nil
	})
}

func (p *Portal) restart(ctx context.Context, actor Actor, in ChangeInput, t ledger.Type, useCase string, with func(*Change) error) (Change, error) {
	seen, err := p.Store.Change(ctx, in.ChangeID)
	if err != nil {
		return Change{}, err
	}
	refs := EntryRefs{RequestID: seen.RequestID, ClusterID: seen.ClusterID}
	out, err := once(ctx, p, actor, useCase, in.Key, in, func(ctx context.Context, tx Tx) (Change, error) {
		c, err := tx.ChangeForUpdate(ctx, in.ChangeID)
		if err != nil {
			return Change{}, err
		}
		pools, err := poolsOfChange(ctx, tx, p, c)
		if err != nil {
			return Change{}, err
		}
		authority, err := p.mayRestart(actor, pools)
		if err != nil {
			return Change{}, err
		}
		if err := p.restartable(ctx, tx, c); err != nil {
			return Change{}, err
		}
		if err := with(&c); err != nil {
			return Change{}, err
		}
		shown := ""
		if c.Plan != nil {
			shown = planDigest(*c.Plan)
		}
		proof, err := p.spend(ctx, tx, actor, actDigest(useCase, c.ID, shown))
		if err != nil {
			return Change{}, err
		}
		e := provenBy(by(p.entry(actor, t, "change", c.ID), authority), proof)
		e.Facts["cluster"], e.Facts["binding"], e.Facts["problem"] = c.ClusterID, c.BindingID, c.Problem
		if c.Takeover {
			for _, x := range c.Plan.Conflicts {
				e.Facts[x.Object.String()+" "+x.Field] = x.Manager
			}
			e.After = planDigest(*c.Plan)
		}
		c.State, c.Problem, c.Receipt, c.AppliedAt, c.ReadBack = ChangePlanned, "", nil, nil, nil
		if err := tx.SaveChange(ctx, c); err != nil {
			return Change{}, err
		}
		b, err := tx.Binding(ctx, c.BindingID)
		if err != nil {
			return Change{}, err
		}
		refs.ProjectID = b.ProjectID
		for _, s := range pools {
			refs.PoolIDs = append(refs.PoolIDs, s.ID)
		}
		if _, err := tx.Append(ctx, e, refs, openingsOf(actor, map[string]string{OpeningReason: in.Reason})); err != nil {
			return Change{}, err
		}
		return c, tx.Enqueue(ctx, work.ChangeApply{ChangeID: c.ID})
	})
	if err != nil {
		return Change{}, p.refused(ctx, actor, t, "change", in.ChangeID, refs, err)
	}
	return out, nil
}

// restartable: stopped, and no newer change of the same limits.
func (p *Portal) restartable(ctx context.Context, r Reader, c Change) error {
	if c.State != ChangeStopped {
		return fault.Newf(fault.Conflict, "This change is %s. Only a stopped one is started again.", c.State)
	}
	newest, err := r.ChangesOfBinding(ctx, c.BindingID, 1)
	if err != nil {
		return err
	}
	if len(newest) > 0 && newest[0].Seq > c.Seq {
		return fault.New(fault.Conflict, "A newer change of the same limits took its place. Look at that one.")
	}
	return nil
}

// mayRestart is nil for somebody who is capacity manager of every pool concerned.
func (p *Portal) mayRestart(actor Actor, pools []PoolState) (org.Assignment, error) {
	var first org.Assignment
	for i, s := range pools {
		a, ok := actor.Person.Holding(org.CapacityManager, placeOfPool(s))
		if !ok {
			return org.Assignment{}, fault.Newf(fault.Forbidden, "This is decided by a capacity manager of %s.", s.Name)
		}
		if i == 0 {
			first = a
		}
	}
	if len(pools) == 0 || !actor.Person.Active {
		return org.Assignment{}, fault.New(fault.Forbidden, "This is decided by a capacity manager of the pools concerned.")
	}
	return first, nil
}

// poolsOfChange are the pools whose limits the change writes.
func poolsOfChange(ctx context.Context, r Reader, p *Portal, c Change) ([]PoolState, error) {
	d, err := p.DesiredFor(ctx, r, c.BindingID, p.Now())
	if err != nil {
		return nil, err
	}
	all, err := r.Pools(ctx)
	if err != nil {
		return nil, err
	}
	keys := map[fleet.PoolKey]bool{}
	for _, l := range d.Limits {
		keys[l.Pool] = true
	}
	var out []PoolState
	for _, s := range all {
		if s.ClusterID == c.ClusterID && keys[s.Key] {
			out = append(out, s)
		}
	}
	return out, nil
}

// ViewChange is what the takeover page shows.
func (p *Portal) ViewChange(ctx context.Context, actor Actor, id string) (ChangeDetail, error) {
	c, err := p.Store.Change(ctx, id)
	if err != nil {
		return ChangeDetail{}, err
	}
	if err := seesClusters(actor); err != nil {
		return ChangeDetail{}, err
	}
	return p.changeDetail(ctx, actor, c)
}

func (p *Portal) changeDetail(ctx context.Context, actor Actor, c Change) (ChangeDetail, error) {
	d := ChangeDetail{Change: c}
	var err error
	if d.Binding, err = p.Store.Binding(ctx, c.BindingID); err != nil {
		return d, err
	}
	if d.Cluster, err = p.Store.Cluster(ctx, c.ClusterID); err != nil {
		return d, err
	}
	if d.Project, err = p.Store.Project(ctx, d.Binding.ProjectID); err != nil {
		return d, err
	}
	if c.RequestID != "" {
		r, err := p.Store.Request(ctx, c.RequestID)
		if err != nil {
			return d, err
		}
		d.RequestNumber = r.Number
	}
	pools, err := poolsOfChange(ctx, p.Store, p, c)
	if err != nil {
		return d, err
	}
	why := p.restartable(ctx, p.Store, c)
	if why == nil {
		_, why = p.mayRestart(actor, pools)
	}
	if why != nil {
		if fault.KindOf(why) == "" {
			return d, why
		}
		d.WhyNot = fault.As(why).Public
		return d, nil
	}
	d.MayRetry, d.MayTakeover = true, c.Plan != nil && len(c.Plan.Conflicts) > 0
	return d, nil
}
