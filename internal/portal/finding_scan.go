package portal

import (
	"context"
	"slices"
	"time"

	"quartermaster/internal/finding"
	"quartermaster/internal/fleet"
	"quartermaster/internal/request"
)

// comparedBack is how far back a resolved finding is still the same one when its cause returns.
const comparedBack = 24 * time.Hour

// scanFindings compares what a poll saw with what is granted, in the poll's own
// transaction: a difference is a finding by the first poll that sees it, and ends with
// the first that does not. A poll that began before another one that was compared says nothing.
func (p *Portal) scanFindings(ctx context.Context, tx Tx, clusterID string, o fleet.Observation, began time.Time) error {
	name := "findings:" + clusterID
	last, err := tx.TickForUpdate(ctx, name)
	if err != nil || !began.After(last) {
		return err
	}
	s := &scan{p: p, tx: tx, clusterID: clusterID, began: began, now: p.Now(), bindings: map[string]fleet.Binding{}}
	places, kind, err := s.places(ctx)
	if err != nil {
		return err
	}
	c := finding.Compare(kind, places, o)
	stopped, err := tx.StoppedChanges(ctx, clusterID)
	if err != nil {
		return err
	}
	for _, x := range stopped {
		c.Seen = append(c.Seen, finding.OfChange(kind, s.bindings[x.BindingID], x.Problem, x.CreatedAt))
	}
	if err := s.step(ctx, c); err != nil {
		return err
	}
	if err := s.putBack(ctx); err != nil {
		return err
	}
	return tx.SaveTick(ctx, name, began)
}

// scan is one comparison under way.
type scan struct {
	p         *Portal
	tx        Tx
	clusterID string
	began     time.Time
	now       time.Time
	bindings  map[string]fleet.Binding
	pools     map[fleet.PoolKey]string // pool ids of the cluster
	opened    []finding.Finding        // drift that this poll opened
}

// places are the bindings of the cluster with what is desired there now.
func (s *scan) places(ctx context.Context) ([]finding.Place, fleet.Kind, error) {
	all, err := s.tx.Pools(ctx)
	if err != nil {
		return nil, "", err
	}
	kind := fleet.Kubernetes
	s.pools = map[fleet.PoolKey]string{}
	for _, x := range all {
		if x.ClusterID == s.clusterID {
			s.pools[x.Key], kind = x.ID, x.ClusterKind
		}
	}
	bindings, err := s.tx.Bindings(ctx, BindingQuery{ClusterID: s.clusterID})
	if err != nil || len(bindings) == 0 {
		return nil, kind, err
	}
	var ids, projects []string
	for _, b := range bindings {
		s.bindings[b.ID] = b
		ids = append(ids, b.ID)
		projects = append(projects, b.ProjectID)
	}
	slices.Sort(projects)
	bases, err := s.tx.BaselinesOf(ctx, ids)
	if err != nil {
		return nil, kind, err
	}
	grants, err := s.tx.GrantsStanding(ctx, slices.Compact(projects), s.now)
	if err != nil {
		return nil, kind, err
	}
	of := map[PlaceKey][]GrantRow{}
	for _, g := range grants {
		of[PlaceKey{g.ProjectID, g.Environment}] = append(of[PlaceKey{g.ProjectID, g.Environment}], g)
	}
	changes, err := s.tx.LastChanges(ctx, s.clusterID)
	if err != nil {
		return nil, kind, err
	}
	here := slices.DeleteFunc(slices.Clone(all), func(x PoolState) bool { return x.ClusterID != s.clusterID })
	out := make([]finding.Place, 0, len(bindings))
	for _, b := range bindings {
		change, any := changes[b.ID]
		// What a change is making true is no drift; a poll that began before it was verified saw the world before it.
		settling := any && (change.State != ChangeVerified || change.VerifiedAt != nil && !s.began.After(*change.VerifiedAt))
		out = append(out, finding.Place{
			Desired: desiredOf(b, bases[b.ID], of[PlaceKey{b.ProjectID, b.Environment}], here, s.now), Written: any && change.Wrote,
			Settling: settling || !any && !b.Adopted, // the objects of a template come with its first change
		})
	}
	return out, kind, nil
}

// step takes each known finding, and each new sight, to where it is after this poll.
func (s *scan) step(ctx context.Context, c *finding.Comparison) error {
	known, err := s.tx.FindingsToCompare(ctx, s.clusterID, s.now.Add(-comparedBack))
	if err != nil {
		return err
	}
	byKey := map[finding.Key]finding.Finding{}
	for _, f := range known { // oldest first: an open or newer one counts
		if old, ok := byKey[f.Key]; !ok || old.State != finding.Open {
			byKey[f.Key] = f
		}
	}
	actor := jobActor("usage_poll")
	seen := map[finding.Key]bool{}
	var same []string
	for _, x := range c.Seen {
		if seen[x.Key] {
			continue
		}
		seen[x.Key] = true
		f, event := byKey[x.Key], finding.Opened
		if f.ID != "" && f.Continues(s.now) {
			f, event = f.See(x, s.now)
		} else {
			f = finding.New(s.p.NewID(), s.clusterID, s.pools[x.Pool], x, s.now)
		}
		if event == finding.None {
			same = append(same, f.ID)
			continue
		}
		if err := s.p.settleFinding(ctx, s.tx, actor, f, event, s.bindings[f.BindingID].ProjectID); err != nil {
			return err
		}
		if event != finding.Changed || f.ChangeID == "" {
			s.opened = append(s.opened, f)
		}
	}
	if len(same) > 0 {
		if err := s.tx.TouchFindings(ctx, same, s.now); err != nil {
			return err
		}
	}
	for _, f := range byKey {
		if seen[f.Key] || f.State != finding.Open || !c.Judged(f) {
			continue
		}
		accepted, err := s.accepted(ctx, f)
		if err != nil {
			return err
		}
		f, event := f.Miss(s.now, accepted)
		if err := s.p.settleFinding(ctx, s.tx, actor, f, event, s.bindings[f.BindingID].ProjectID); err != nil {
			return err
		}
	}
	return nil
}

// accepted reports whether the request that would accept f was approved.
func (s *scan) accepted(ctx context.Context, f finding.Finding) (bool, error) {
	if f.RequestID == "" {
		return false, nil
	}
	r, err := s.tx.Request(ctx, f.RequestID)
	if err != nil {
		return false, err
	}
	return slices.Contains([]request.State{request.Approved, request.Scheduled, request.Applying, request.Active}, r.State), nil
}

// putBack plans the changes that the cluster's own policy asks for: one a binding, and
// none for what somebody keeps writing again.
func (s *scan) putBack(ctx context.Context) error {
	done := map[string]bool{}
	for _, f := range s.opened {
		if f.Kind != finding.Drift || !f.Mendable || f.Restless(s.now) || f.BindingID == "" || f.ChangeID != "" {
			continue
		}
		if len(done) == 0 {
			on, err := s.tx.PutsBack(ctx, s.clusterID)
			if err != nil || !on {
				return err
			}
			c, err := s.tx.Cluster(ctx, s.clusterID)
			if err != nil || !c.Writes() {
				return err
			}
		}
		if done[f.BindingID] {
			continue
		}
		done[f.BindingID] = true
		if _, err := s.p.planPutBack(ctx, s.tx, policyAct(s.clusterID), f.ID); err != nil {
			return err
		}
	}
	return nil
}

// findStopped makes a change that stops a finding at once, in the transaction that
// stops it: the cluster it stopped on may not answer polls for long.
func (p *Portal) findStopped(ctx context.Context, tx Tx, b fleet.Binding, c Change) error {
	now := p.Now()
	x := finding.OfChange(kindOf(b), b, c.Problem, c.CreatedAt)
	old, err := tx.FindingOf(ctx, c.ClusterID, x.Key)
	if err != nil {
		return err
	}
	f, event := finding.New(p.NewID(), c.ClusterID, "", x, now), finding.Opened
	if old != nil && old.Continues(now) {
		f, event = old.See(x, now)
	}
	return p.settleFinding(ctx, tx, jobActor("change_apply"), f, event, b.ProjectID)
}

// kindOf tells the schedulers apart by what carries the limits.
func kindOf(b fleet.Binding) fleet.Kind {
	if b.Account != "" {
		return fleet.Slurm
	}
	return fleet.Kubernetes
}
