package portal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

const (
	// planTimeout bounds how long the decide page waits for a cluster. One that does
	// not answer is shown as such; the decision binds limits, not the diff.
	planTimeout = 2 * time.Second
	// recentSpan is the span of the project's use on the decide page.
	recentSpan = 30 * 24 * time.Hour
)

// ViewDecision is what the decide page shows. Whoever may not decide gets the
// fault that says why.
func (p *Portal) ViewDecision(ctx context.Context, actor Actor, number int64, entered []approval.Granted) (DecisionDetail, error) {
	r, err := p.Store.RequestByNumber(ctx, number)
	if err != nil {
		return DecisionDetail{}, err
	}
	if err := p.sees(ctx, p.Store, actor, r); err != nil {
		return DecisionDetail{}, err
	}
	stage, waits := r.Stage()
	if !waits {
		return DecisionDetail{}, fault.Newf(fault.Conflict, "This request is %s. There is nothing to decide.", r.State)
	}
	if _, err := p.mayDecide(ctx, p.Store, actor, r, stage); err != nil {
		return DecisionDetail{}, err
	}
	c := r.Revision.Content
	at, err := p.place(ctx, p.Store, c)
	if err != nil {
		return DecisionDetail{}, err
	}
	v := DecisionDetail{Stage: stage, Table: r.Granted(), Entered: entered}
	if len(v.Entered) != len(v.Table) {
		v.Entered = v.Table
	}
	if v.Detail, err = p.viewRequest(ctx, p.Store, actor, r, at); err != nil {
		return v, fmt.Errorf("view decision on request %d: %w", number, err)
	}
	asEntered := withGranted(c, v.Entered)
	v.Pools = at.headroom(asEntered)
	v.Checks = policy.Run(p.facts(at, asEntered, true))
	v.MustReason = mustReason(v.Checks)
	if bad, is := policy.Denied(v.Checks); is {
		v.Blocked = bad.Title + ": " + bad.Message
	}
	if err := p.factorFor(ctx, &v, actor, DecisionDigest(r.ID, r.Revision.Digest)); err != nil {
		return v, fmt.Errorf("second factor for request %d: %w", number, err)
	}
	if err := p.planDecision(ctx, &v, r, at); err != nil {
		return v, fmt.Errorf("plan decision on request %d: %w", number, err)
	}
	if err := p.recentUse(ctx, &v, at); err != nil {
		return v, fmt.Errorf("recent use for request %d: %w", number, err)
	}
	v.NextNumber, err = p.nextApproval(ctx, actor, number)
	return v, err
}

// factorFor says whether two factors were proven for what is shown, or how they would be.
func (p *Portal) factorFor(ctx context.Context, v *DecisionDetail, actor Actor, digest string) error {
	actor.Proof = ""
	proof, err := p.stepUp(ctx, p.Store, actor, digest)
	if err == nil {
		until := proof.At.Add(StepUpWindow)
		v.FreshUntil = &until
		return nil
	}
	if !errors.Is(err, ErrStepUp) {
		return err
	}
	sealed, _, _, err := p.Store.TOTP(ctx, actor.Person.ID)
	v.OwnFactor = sealed != nil
	return err
}

// planDecision asks each cluster, at the same time, what approving would change there.
func (p *Portal) planDecision(ctx context.Context, v *DecisionDetail, r request.Request, at place) error {
	c, now := r.Revision.Content, p.Now()
	grants, err := p.Store.GrantsOfPlace(ctx, c.ProjectID, c.Environment)
	if err != nil {
		return err
	}
	var seq int64
	for _, g := range grants {
		seq = max(seq, g.Seq)
	}
	begins := map[string]time.Time{} // by cluster: when the first line takes effect
	var order []string
	for i, g := range v.Entered {
		row := grantRow("", r, i, g, now)
		row.Seq = seq + 1 + int64(i)
		grants = append(grants, row)
		from := now
		if g.Start != nil && g.Start.After(now) {
			from = *g.Start
		}
		cluster := at.pools[g.PoolID].ClusterID
		if first, seen := begins[cluster]; !seen {
			order = append(order, cluster)
			begins[cluster] = from
		} else if from.Before(first) {
			begins[cluster] = from
		}
	}
	plans := make([]ClusterPlan, len(order))
	var all sync.WaitGroup
	for i, id := range order {
		cp, desired, err := p.desiredDecision(ctx, r, at, id, grants, begins[id])
		if err != nil {
			return err
		}
		all.Add(1)
		go func() {
			defer all.Done()
			cp.Plan, cp.Problem = p.askPlan(ctx, id, cp.ClusterName, desired)
			plans[i] = cp
		}()
	}
	all.Wait()
	v.Plans = plans
	base := seenLimits{}
	for _, cp := range plans {
		if cp.Plan != nil {
			if limits := cp.Plan.Base(); len(limits) > 0 {
				base[cp.ClusterID] = limits
			}
		}
	}
	v.Base = base.String()
	return nil
}

// desiredDecision is what the binding would look like from begin on.
func (p *Portal) desiredDecision(ctx context.Context, r request.Request, at place, clusterID string, grants []GrantRow, begin time.Time) (ClusterPlan, fleet.Desired, error) {
	cl, err := p.Store.Cluster(ctx, clusterID)
	if err != nil {
		return ClusterPlan{}, fleet.Desired{}, err
	}
	cp := ClusterPlan{ClusterID: clusterID, ClusterName: cl.Name, Simulated: cl.Kind == fleet.Simulated, Mode: cl.Mode, Paused: cl.Paused}
	bases := map[string]fleet.Base{}
	b, bound := at.bindings[clusterID]
	if bound {
		if bases, err = p.Store.Baselines(ctx, b.ID); err != nil {
			return cp, fleet.Desired{}, err
		}
	} else {
		b = templateBinding("", at.project, r.Revision.Content.Environment, cl.Cluster)
	}
	cp.Binding, cp.NewBinding = b, !bound
	d := desiredOf(b, bases, grants, at.poolList, begin)
	d.RequestID, d.RequestURL = r.ID, p.requestURL(r.Number)
	return cp, d, nil
}

// askPlan returns the plan, or why there is none.
func (p *Portal) askPlan(ctx context.Context, clusterID, clusterName string, d fleet.Desired) (*fleet.Plan, string) {
	ctx, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	cluster, err := p.Dial(ctx, clusterID)
	if err == nil {
		var plan fleet.Plan
		if plan, err = cluster.Plan(ctx, d); err == nil {
			return &plan, ""
		}
	}
	if f := fault.As(err); f != nil && f.Public != "" {
		return nil, f.Public
	}
	if p.Log != nil {
		p.Log.WarnContext(ctx, "plan for the decide page", "cluster", clusterID, "error", err)
	}
	return nil, clusterName + " did not answer in time. What would change cannot be shown; an approval waits until it answers."
}

// recentUse adds the last 30 days of each line's pool, and what keeps running below a lowered limit.
func (p *Portal) recentUse(ctx context.Context, v *DecisionDetail, at place) error {
	now := p.Now()
	for _, l := range v.Detail.Request.Revision.Content.Lines {
		b, bound := at.bindings[at.pools[l.PoolID].ClusterID]
		if !bound {
			continue
		}
		samples, err := p.Store.BindingSamples(ctx, b.ID, l.PoolID, now.Add(-recentSpan), now)
		if err != nil {
			return err
		}
		v.Samples = append(v.Samples, LineSamples{PoolID: l.PoolID, From: now.Add(-recentSpan), To: now, Samples: samples})
	}
	v.Lowering = at.lowerings(v.Detail.Request.Revision.Content, v.Entered)
	for i, low := range v.Lowering {
		s := at.pools[low.PoolID]
		b, bound := at.bindings[s.ClusterID]
		if !bound || b.Home() == "" {
			continue
		}
		workloads, err := p.Store.Workloads(ctx, s.ClusterID, b.Home(), workloadsShown)
		if err != nil {
			return err
		}
		for _, w := range workloads {
			if w.State == fleet.Admitted && takes(w, s.Key) {
				v.Lowering[i].Running = append(v.Lowering[i].Running, ClusterWorkload{Workload: w, ClusterID: s.ClusterID, ClusterName: s.ClusterName})
			}
		}
	}
	return nil
}

func takes(w fleet.Workload, pool fleet.PoolKey) bool {
	for _, a := range w.Amounts {
		if pool.Counts(a.Pool) || (a.Pool.Flavor == "" && a.Pool.Resource == pool.Resource) {
			return true
		}
	}
	return false
}

// nextApproval is the number of another request that waits for actor; 0 = none.
func (p *Portal) nextApproval(ctx context.Context, actor Actor, but int64) (int64, error) {
	rows, err := p.Store.RequestList(ctx, RequestQuery{WaitingFor: &actor.Person, Limit: 2})
	if err != nil {
		return 0, fmt.Errorf("next approval: %w", err)
	}
	for _, r := range rows {
		if r.Number != but {
			return r.Number, nil
		}
	}
	return 0, nil
}
