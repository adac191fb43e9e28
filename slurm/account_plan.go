package slurm

import (
	"context"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// Plan compares what is desired with what the controller enforces now. Slurm has no
// dry run; it writes nothing.
func (c *Cluster) Plan(ctx context.Context, d fleet.Desired) (fleet.Plan, error) {
	o, err := c.compose(ctx, d)
	if err != nil {
		return fleet.Plan{}, err
	}
	if err := o.stillThere(d.Binding.Adopted); err != nil {
		return fleet.Plan{}, err
	}
	return fleet.Plan{Desired: d, Objects: []fleet.ObjectDiff{o.diff(d.Binding.Adopted)}, Conflicts: o.conflicts(d.Binding.Adopted), Warnings: o.warnings(), At: c.now().UTC()}, nil
}

// stillThere refuses to make an adopted account again: whoever removed it meant to.
func (o *composed) stillThere(adopted bool) error {
	if adopted && o.live == nil {
		return fault.Newf(fault.Conflict, "The account %s no longer exists on the cluster. It was adopted, so the portal does not make it again.", o.name)
	}
	return nil
}

// ReadBack reads the desired limits anew, from the controller that enforces them: what
// only stands in the accounting database is not in force.
func (c *Cluster) ReadBack(ctx context.Context, d fleet.Desired) (fleet.ReadBack, error) {
	o, err := c.compose(ctx, d)
	if err != nil {
		return fleet.ReadBack{}, err
	}
	rb := fleet.ReadBack{Objects: []fleet.ObjectDiff{o.diff(d.Binding.Adopted)}, At: c.now().UTC()}
	switch {
	case o.live == nil:
		rb.ActiveReason = "the account does not exist"
	case !o.facts.limits():
		rb.ActiveReason = notEnforced
	default:
		rb.Active = true
	}
	return rb, nil
}
