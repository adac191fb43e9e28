package portal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

const (
	// replans bounds how often one run plans anew because an object changed meanwhile.
	replans = 5
	// againAfter is how long a change waits for a cluster that does not answer, if no
	// good poll releases it earlier.
	againAfter = time.Minute
)

// jobActor is who acts when a job does.
func jobActor(name string) Actor { return Actor{System: "job:" + name, Via: "job"} }

// ApplyChange makes one change true on its cluster: plan, apply, read back. It holds
// the fence of the binding, re-reads everything inside it, and leaves a change alone
// when a newer one exists, so that an older one never lands after a newer. What is
// desired is a pure function of the grants in force now, and each step is saved
// before the next begins: a run that was killed anywhere is simply run again, and
// ends in the same state with one effect and no entry doubled.
func (p *Portal) ApplyChange(ctx context.Context, changeID string) (ApplyResult, error) {
	c, err := p.Store.Change(ctx, changeID)
	if err != nil {
		return ApplyResult{}, fmt.Errorf("apply change %s: %w", changeID, err)
	}
	if !c.State.Open() {
		return resultOf(c), nil
	}
	var out ApplyResult
	err = p.Store.Lock(ctx, "binding:"+c.BindingID, func(ctx context.Context) error {
		out, err = p.applyFenced(ctx, changeID)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("apply change %s: %w", changeID, err)
	}
	return out, nil
}

func resultOf(c Change) ApplyResult {
	r := ApplyResult{State: c.State, Problem: c.Problem}
	if c.State == ChangeWaiting {
		r.Again = againAfter
	}
	return r
}

// push is one run of one change.
type push struct {
	p       *Portal
	c       Change
	binding fleet.Binding
	pools   []string // ids of the pools concerned, for the record
	remote  fleet.Cluster
	desired fleet.Desired
	again   time.Duration // > 0: what decided it is not proven yet; run again after this
}

func (p *Portal) applyFenced(ctx context.Context, changeID string) (ApplyResult, error) {
	c, err := p.Store.Change(ctx, changeID)
	if err != nil {
		return ApplyResult{}, err
	}
	if !c.State.Open() {
		return resultOf(c), nil
	}
	run := &push{p: p, c: c}
	err = run.all(ctx)
	if errors.Is(err, errClosed) { // somebody superseded it while we worked
		c, err := p.Store.Change(ctx, changeID)
		return resultOf(c), err
	}
	out := resultOf(run.c)
	if run.again > 0 {
		out.Again = run.again
	}
	return out, err
}

// all takes the steps in order. A step that settles the change (held, waiting,
// stopped, superseded) saves that and ends the run.
func (r *push) all(ctx context.Context) error {
	newest, err := r.p.Store.ChangesOfBinding(ctx, r.c.BindingID, 1)
	if err != nil {
		return err
	}
	if r.binding, err = r.p.Store.Binding(ctx, r.c.BindingID); err != nil {
		return err
	}
	if len(newest) > 0 && newest[0].Seq > r.c.Seq {
		return r.settle(ctx, ChangeSuperseded, "A newer change of the same limits took its place.")
	}
	if r.desired, err = r.p.DesiredFor(ctx, r.p.Store, r.c.BindingID, r.p.Now()); err != nil {
		return err
	}
	if err := r.name(ctx); err != nil {
		return err
	}
	cluster, err := r.p.Store.Cluster(ctx, r.c.ClusterID)
	if err != nil {
		return err
	}
	if !cluster.Writes() {
		return r.hold(ctx, cluster)
	}
	problem, err := r.p.stillAuthorised(ctx, r.c)
	if err != nil {
		return err
	}
	if problem != "" {
		return r.settle(ctx, ChangeStopped, problem)
	}
	if again, problem, err := r.p.included(ctx, r.c); err != nil {
		return r.trouble(ctx, err)
	} else if again > 0 || problem != "" {
		return r.putOff(ctx, max(again, includeAgain), problem)
	}
	if r.remote, err = r.p.Dial(ctx, r.c.ClusterID); err != nil {
		return r.trouble(ctx, err)
	}
	if done, err := r.write(ctx); done || err != nil {
		return err
	}
	return r.readBack(ctx)
}

// name fills in for whom the write is made and which pools it concerns.
func (r *push) name(ctx context.Context) error {
	r.desired.Takeover = r.c.Takeover
	if r.c.RequestID != "" {
		req, err := r.p.Store.Request(ctx, r.c.RequestID)
		if err != nil {
			return err
		}
		r.desired.RequestID, r.desired.RequestURL = req.ID, r.p.requestURL(req.Number)
	}
	pools, err := r.p.Store.Pools(ctx)
	if err != nil {
		return err
	}
	for _, l := range r.desired.Limits {
		for _, s := range pools {
			if s.ClusterID == r.c.ClusterID && s.Key == l.Pool {
				r.pools = append(r.pools, s.ID)
			}
		}
	}
	return nil
}

// hold keeps the change until the cluster may be written. In mode plan it keeps
// what would change.
func (r *push) hold(ctx context.Context, cluster Cluster) error {
	reason := "Writing to the cluster is paused."
	switch {
	case cluster.Mode == fleet.Observe:
		reason = "The cluster is in mode observe: the portal only reads it."
	case cluster.Mode == fleet.PlanOnly:
		reason = "The cluster is in mode plan: the portal shows what would change and writes nothing."
		if remote, err := r.p.Dial(ctx, r.c.ClusterID); err == nil {
			if plan, err := remote.Plan(ctx, r.desired); err == nil {
				r.c.Plan = &plan
			} else {
				r.p.Log.Warn("plan of a held change", "change", r.c.ID, "cluster", r.c.ClusterID, "err", err)
			}
		}
	}
	return r.settle(ctx, ChangeHeld, reason)
}

// write plans and applies until nothing changed in between. done says that the change
// was settled and no read-back follows.
func (r *push) write(ctx context.Context) (done bool, err error) {
	for range replans {
		plan, err := r.remote.Plan(ctx, r.desired)
		if err != nil {
			return true, r.trouble(ctx, err)
		}
		if len(plan.Conflicts) > 0 && !r.c.Takeover {
			r.c.Plan = &plan
			return true, r.settle(ctx, ChangeStopped, conflictProblem(plan.Conflicts))
		}
		if plan.Changed() {
			moved, err := r.baseMoved(ctx)
			if err != nil {
				return true, r.trouble(ctx, err)
			}
			if moved != "" {
				r.c.Plan = &plan
				return true, r.settle(ctx, ChangeStopped, moved)
			}
		}
		if held, err := r.begin(ctx, plan); err != nil || held {
			return true, err
		}
		receipt, err := r.remote.Apply(ctx, plan)
		if fault.KindOf(err) == fault.Stale {
			continue
		}
		if err != nil {
			return true, r.trouble(ctx, err)
		}
		return false, r.applied(ctx, receipt)
	}
	return true, r.settle(ctx, ChangeStopped, "The objects on the cluster keep changing while the portal plans. See who else writes them, then try again.")
}

// trouble settles what a cluster answered: one that does not answer is waited for,
// a refusal needs a person, anything else is tried again by the job queue.
func (r *push) trouble(ctx context.Context, err error) error {
	f := fault.As(err)
	if f == nil {
		return err
	}
	r.p.Log.Warn("change", "change", r.c.ID, "cluster", r.c.ClusterID, "err", err)
	switch f.Kind {
	case fault.Unavailable:
		return r.settle(ctx, ChangeWaiting, f.Public)
	case fault.Conflict:
		return r.settle(ctx, ChangeStopped, f.Public)
	case fault.Stale:
		return err
	}
	return r.settle(ctx, ChangeStopped, "The cluster refuses the change: "+f.Public)
}

func conflictProblem(conflicts []fleet.Conflict) string {
	var parts []string
	for i, c := range conflicts {
		if i == 3 && len(conflicts) > 4 {
			parts = append(parts, fmt.Sprintf("%d more fields", len(conflicts)-3))
			break
		}
		parts = append(parts, fmt.Sprintf("%s of %s is managed by %s", c.Field, c.Object, c.Manager))
	}
	return "Somebody else manages what would be written: " + strings.Join(parts, "; ") + ". A capacity manager of the pool can take these fields over."
}

// readBack reads what the cluster holds until it is as desired, or for long enough.
func (r *push) readBack(ctx context.Context) error {
	deadline := time.NewTimer(orElse(r.p.SettleFor, 10*time.Second))
	defer deadline.Stop()
	var last fleet.ReadBack
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		rb, err := r.remote.ReadBack(ctx, r.desired)
		if err != nil {
			return r.trouble(ctx, err)
		}
		last = rb
		// A stopped queue is not active, and that is what was asked for.
		if rb.Verified() && (rb.Active || r.desired.Hold) {
			return r.verified(ctx, rb)
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
			continue
		case <-deadline.C:
		case <-ctx.Done():
		}
		pause.Stop()
		break
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if last.Verified() { // the numbers hold; why the queue is not active is shown with them
		return r.verified(ctx, last)
	}
	r.c.ReadBack = &last
	return r.settle(ctx, ChangeStopped, differProblem(last))
}

func differProblem(rb fleet.ReadBack) string {
	for _, o := range rb.Differences() {
		for _, f := range o.Fields {
			if f.Changed() && f.Owner != "" {
				return fmt.Sprintf("Not converged: %s of %s owned by %s. It is %s instead of %s, and stays so until %s gives it up.", f.Path, o.Object, f.Owner, shown(f.Before), shown(f.After), f.Owner)
			}
			if f.Changed() {
				return fmt.Sprintf("Read back, %s of %s is %s instead of %s. Somebody else writes it, or the cluster did not take it.", f.Path, o.Object, shown(f.Before), shown(f.After))
			}
		}
	}
	return "Read back, the objects are not there."
}

func shown(v *string) string {
	if v == nil {
		return "absent"
	}
	return *v
}
