package portal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/request"
	"quartermaster/internal/work"
)

// errClosed: the change was settled by somebody else meanwhile.
var errClosed = errors.New("the change is no longer open")

// entryOf says under which type a state that a run ends in is recorded.
var entryOf = map[ChangeState]ledger.Type{
	ChangeHeld: ledger.ChangeHeld, ChangeWaiting: ledger.ChangeWaiting, ChangeStopped: ledger.ChangeStopped,
}

// save changes the locked row and appends an entry in one transaction. with returns
// the type of the entry, "" for none. It sets r.c to what was saved.
func (r *push) save(ctx context.Context, point string, with func(ctx context.Context, tx Tx, c *Change) (ledger.Type, error)) error {
	var saved Change
	err := r.p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		c, err := tx.ChangeForUpdate(ctx, r.c.ID)
		if err != nil {
			return err
		}
		if !c.State.Open() {
			return errClosed
		}
		t, err := with(ctx, tx, &c)
		if err != nil {
			return err
		}
		if err := tx.SaveChange(ctx, c); err != nil {
			return err
		}
		if t != "" {
			if err := r.record(ctx, tx, t, c); err != nil {
				return err
			}
		}
		saved = c
		r.p.reached(point + ".before")
		return nil
	})
	if err != nil {
		return fmt.Errorf("save change %s: %w", r.c.ID, err)
	}
	r.c = saved
	r.p.reached(point + ".after")
	return nil
}

// settle ends the run in a state that waits for something else. The entry is made
// once, however often the same is found again.
func (r *push) settle(ctx context.Context, state ChangeState, problem string) error {
	plan, rb := r.c.Plan, r.c.ReadBack
	return r.save(ctx, "change.settled", func(ctx context.Context, tx Tx, c *Change) (ledger.Type, error) {
		same := c.State == state && c.Problem == problem
		c.State, c.Problem, c.Plan, c.ReadBack = state, problem, plan, rb
		if same {
			return "", nil
		}
		if state == ChangeStopped {
			return entryOf[state], r.p.findStopped(ctx, tx, r.binding, *c)
		}
		return entryOf[state], nil
	})
}

// putOff leaves the change as it is, to be run again: its proof is not there yet, or
// the record is not as it was written. That is on record by itself, so it gets no entry here.
func (r *push) putOff(ctx context.Context, again time.Duration, problem string) error {
	r.again = again
	if r.c.Problem == problem {
		return nil
	}
	return r.save(ctx, "change.put_off", func(_ context.Context, _ Tx, c *Change) (ledger.Type, error) {
		c.Problem = problem
		return "", nil
	})
}

// begin saves the plan right before it is applied. held is true when writing was
// stopped in the meantime.
func (r *push) begin(ctx context.Context, plan fleet.Plan) (held bool, err error) {
	err = r.save(ctx, "change.planned", func(ctx context.Context, tx Tx, c *Change) (ledger.Type, error) {
		cluster, err := tx.Cluster(ctx, c.ClusterID)
		if err != nil {
			return "", err
		}
		if !cluster.Writes() {
			held = true
			c.State, c.Problem = ChangeHeld, "Writing to the cluster was stopped while this was planned."
			return ledger.ChangeHeld, nil
		}
		if err := r.p.moveRequest(ctx, tx, jobActor("change_apply"), c.RequestID, request.Applying, request.Approved, request.Scheduled); err != nil {
			return "", err
		}
		c.State, c.Problem = ChangeApplying, ""
		// A run before this one was cut short: what it planned and recorded stands, with
		// the values that were there before.
		if c.Receipt != nil && c.Plan != nil && continues(*c.Plan, plan) {
			return "", nil
		}
		c.Receipt, c.AppliedAt = &fleet.Receipt{}, nil
		c.Plan = &plan
		return ledger.ChangeBegun, nil
	})
	return held, err
}

func (r *push) applied(ctx context.Context, receipt fleet.Receipt) error {
	return r.save(ctx, "change.applied", func(_ context.Context, _ Tx, c *Change) (ledger.Type, error) {
		// A receipt of a run before this one says more than one that had nothing to send.
		if c.AppliedAt != nil && len(receipt.Written) == 0 {
			c.State = ChangeApplied
			return "", nil
		}
		at := r.p.Now()
		c.State, c.Receipt, c.AppliedAt = ChangeApplied, &receipt, &at
		return ledger.ChangeApplied, nil
	})
}

func (r *push) verified(ctx context.Context, rb fleet.ReadBack) error {
	r.p.reached("change.read")
	return r.save(ctx, "change.verified", func(ctx context.Context, tx Tx, c *Change) (ledger.Type, error) {
		at := r.p.Now()
		c.State, c.Problem, c.ReadBack, c.VerifiedAt = ChangeVerified, "", &rb, &at
		if err := tx.SaveChange(ctx, *c); err != nil { // before requests look at it
			return "", err
		}
		// Read at once, so that no page shows the limit from before beside "verified".
		if err := tx.Enqueue(ctx, work.UsagePoll{ClusterID: c.ClusterID}); err != nil {
			return "", err
		}
		if err := r.p.putBackVerified(ctx, tx, *c); err != nil {
			return "", err
		}
		return ledger.ChangeVerified, r.p.activate(ctx, tx, jobActor("change_apply"), r.binding.ProjectID, r.binding.Environment)
	})
}

// continues reports whether next is what is left of plan: the same values wanted, each
// field as it was or already as wanted.
func continues(plan, next fleet.Plan) bool {
	type key struct{ object, manager, path string }
	before := map[key]fleet.Field{}
	for _, o := range plan.Objects {
		for _, f := range o.Fields {
			before[key{o.Object.String(), o.Manager, f.Path}] = f
		}
	}
	for _, o := range next.Objects {
		for _, f := range o.Fields {
			was, known := before[key{o.Object.String(), o.Manager, f.Path}]
			if !known || differ(was.After, f.After) || (differ(f.Before, was.Before) && differ(f.Before, f.After)) {
				return false
			}
		}
	}
	return true
}

func differ(a, b *string) bool { return (fleet.Field{Before: a, After: b}).Changed() }

// record appends the entry of what the change came to.
func (r *push) record(ctx context.Context, tx Tx, t ledger.Type, c Change) error {
	e := r.p.entry(jobActor("change_apply"), t, "change", c.ID)
	e.Facts["cluster"], e.Facts["binding"], e.Facts["state"], e.Facts["cause"] = c.ClusterID, c.BindingID, string(c.State), c.Cause
	if t == ledger.ChangeStopped || t == ledger.ChangeWaiting {
		e.Outcome = ledger.Failed
	}
	if c.Problem != "" {
		e.Facts["problem"] = c.Problem
	}
	if c.Takeover {
		e.Facts["takeover"] = "true"
	}
	if c.Plan != nil {
		e.After = planDigest(*c.Plan)
	}
	switch t {
	case ledger.ChangeBegun:
		limitFacts(e.Facts, c.Plan.Objects, func(f fleet.Field) string { return shown(f.Before) + " → " + shown(f.After) })
	case ledger.ChangeApplied:
		e.Facts["objects_written"] = strconv.Itoa(len(c.Receipt.Written))
	case ledger.ChangeVerified:
		e.Facts["queue_active"] = strconv.FormatBool(c.ReadBack.Active)
		limitFacts(e.Facts, c.ReadBack.Objects, func(f fleet.Field) string { return shown(f.Before) })
	}
	_, err := tx.Append(ctx, e, EntryRefs{RequestID: c.RequestID, ProjectID: r.binding.ProjectID, ClusterID: c.ClusterID, PoolIDs: r.pools}, nil)
	return err
}

// factLimits bounds the limits written into one entry; the digest covers all.
const factLimits = 100

func limitFacts(facts map[string]string, objects []fleet.ObjectDiff, text func(fleet.Field) string) {
	n := 0
	for _, o := range objects {
		for _, f := range o.Fields {
			if f.Limit && n < factLimits {
				facts[o.Object.String()+" "+f.Path] = text(f)
				n++
			}
		}
	}
}

// planDigest is over what would change, without times and object versions.
func planDigest(plan fleet.Plan) string {
	type object struct {
		Object  fleet.ObjectRef
		Create  bool
		Manager string
		Fields  []fleet.Field
	}
	var all []object
	for _, o := range plan.Objects {
		all = append(all, object{o.Object, o.Create, o.Manager, o.Fields})
	}
	raw, err := json.Marshal(all)
	if err != nil {
		panic(err) // strings and bools only
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
