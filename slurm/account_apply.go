package slurm

import (
	"context"
	"strconv"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// clearLimit is what sacctmgr takes a limit away with; 0 would be a limit of 0.
const clearLimit = "-1"

// Apply makes the plan true with sacctmgr. What is already so is not sent. It stops before the
// first write when anything differs from what the plan saw. That the command ends
// well proves nothing: whoever applies reads back.
func (c *Cluster) Apply(ctx context.Context, p fleet.Plan) (fleet.Receipt, error) {
	adopted := p.Desired.Binding.Adopted
	o, err := c.compose(ctx, p.Desired)
	if err != nil {
		return fleet.Receipt{}, err
	}
	if err := o.stillThere(adopted); err != nil {
		return fleet.Receipt{}, err
	}
	now := o.diff(adopted)
	receipt := fleet.Receipt{At: c.now().UTC()}
	if !now.Changed() {
		return receipt, nil
	}
	if err := same(p, now); err != nil {
		return receipt, err
	}
	if found := o.conflicts(adopted); len(found) > 0 && !(p.Desired.Takeover && len(p.Conflicts) > 0) {
		return receipt, fault.Newf(fault.Conflict, "The account %s exists, and the portal neither made nor adopted it. A capacity manager of the pool may take it over, on record; or adopt it for the project that uses it.", o.name)
	}
	for _, args := range o.commands(now) {
		if _, err := c.run(ctx, "sacctmgr", args...); err != nil {
			return receipt, err
		}
	}
	receipt.Written, receipt.At = []fleet.Written{{Object: now.Object}}, c.now().UTC()
	return receipt, nil
}

// same refuses a plan that saw other values than are live now: an older plan thereby
// never lands after a newer one, nor over what somebody changed by hand.
func same(p fleet.Plan, now fleet.ObjectDiff) error {
	stale := fault.Newf(fault.Stale, "%s changed on the cluster since the plan was made. Look at the plan again.", now.Object)
	if len(p.Objects) != 1 || p.Objects[0].Object != now.Object || p.Objects[0].Create != now.Create || len(p.Objects[0].Fields) != len(now.Fields) {
		return stale
	}
	for i, f := range now.Fields {
		seen := p.Objects[0].Fields[i]
		if seen.Path != f.Path || (fleet.Field{Before: seen.Before, After: f.Before}).Changed() {
			return stale
		}
	}
	return nil
}

// commands are sacctmgr's arguments, each value its own. A new account is made
// with its limits in one step, so that it is never there without them.
func (o *composed) commands(d fleet.ObjectDiff) [][]string {
	var limits []string
	mark := false
	for i, f := range d.Fields {
		switch {
		case !f.Changed():
		case !f.Limit:
			mark = true
		case f.After != nil:
			limits = append(limits, o.wants[i].pool.Resource+"="+strconv.FormatInt(*o.wants[i].total, 10))
		case !d.Create:
			limits = append(limits, o.wants[i].pool.Resource+"="+clearLimit)
		}
	}
	grpTRES := "GrpTRES=" + strings.Join(limits, ",")
	if d.Create {
		args := []string{"-i", "add", "account", "name=" + o.name, "cluster=" + o.facts.name, "description=" + Mark, "organization=" + Mark}
		if len(limits) > 0 {
			args = append(args, grpTRES)
		}
		return [][]string{args}
	}
	var out [][]string
	if len(limits) > 0 {
		out = append(out, []string{"-i", "modify", "account", "where", "name=" + o.name, "cluster=" + o.facts.name, "set", grpTRES})
	}
	if mark {
		out = append(out, []string{"-i", "modify", "account", "where", "name=" + o.name, "set", "description=" + Mark})
	}
	return out
}
