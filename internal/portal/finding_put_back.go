package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/fault"
	"quartermaster/internal/finding"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/work"
)

// causePutBack is the Cause of a change that puts back what is granted.
const causePutBack = "put back"

// policyActor is who acts when a cluster's own policy puts drift back.
const policyActor = "put_back_policy"

// PutBackInput asks to make what is granted true again. Evidence is what the page showed.
type PutBackInput struct {
	FindingID string
	Evidence  string // FindingDigest of what was seen
	Reason    string
	Key       string
}

// FindingDigest names what somebody was shown of a finding.
func FindingDigest(f finding.Finding) string {
	return actDigest("finding", f.ID, f.Object.String(), f.Field, shown(f.Granted), shown(f.Live), f.Manager)
}

// PutBackFinding plans a change that writes what is granted over what is live, by the
// right of a capacity manager of every pool concerned. The finding closes when the
// change is read back.
func (p *Portal) PutBackFinding(ctx context.Context, actor Actor, in PutBackInput) (Change, error) {
	seen, err := p.Store.Finding(ctx, in.FindingID)
	if err != nil {
		return Change{}, err
	}
	out, err := once(ctx, p, actor, "put_back", in.Key, in, func(ctx context.Context, tx Tx) (Change, error) {
		f, err := tx.FindingForUpdate(ctx, in.FindingID)
		if err != nil {
			return Change{}, err
		}
		authority, err := p.mayPutBack(ctx, tx, actor, f)
		if err != nil {
			return Change{}, err
		}
		if in.Evidence != FindingDigest(f) {
			return Change{}, fault.New(fault.Stale, "What the cluster holds changed since this page was made. Look at it again, then put it back.")
		}
		proof, err := p.spend(ctx, tx, actor, actDigest("put_back", FindingDigest(f)))
		if err != nil {
			return Change{}, err
		}
		return p.planPutBack(ctx, tx, findingAct{actor: actor, authority: authority, proof: proof, reason: in.Reason}, f.ID)
	})
	if err != nil {
		return Change{}, p.refused(ctx, actor, ledger.FindingPutBack, "finding", in.FindingID, EntryRefs{ClusterID: seen.ClusterID, ProjectID: seen.ProjectID}, err)
	}
	p.reached("put_back.after")
	return out, nil
}

// mayPutBack is nil where f can be put back now, by this person.
func (p *Portal) mayPutBack(ctx context.Context, r Reader, actor Actor, f finding.Finding) (org.Assignment, error) {
	none := org.Assignment{}
	switch {
	case f.State != finding.Open:
		return none, fault.New(fault.Conflict, "This finding is resolved. There is nothing to put back.")
	case f.BindingID == "" || f.Kind == finding.Bypass:
		return none, fault.New(fault.Conflict, "The portal did not make this object and does not remove it. Whoever made it has to.")
	case !f.Mendable:
		return none, fault.New(fault.Conflict, "The portal does not write this field. Whoever keeps it on the cluster has to set it.")
	}
	pools, err := poolsOfChange(ctx, r, p, Change{BindingID: f.BindingID, ClusterID: f.ClusterID})
	if err != nil {
		return none, err
	}
	a, err := p.mayRestart(actor, pools)
	if err != nil {
		return none, err
	}
	last, err := r.LastChanges(ctx, f.ClusterID)
	if err != nil {
		return none, err
	}
	if c := last[f.BindingID]; c.State.Open() {
		return none, fault.Newf(fault.Conflict, "A change of these limits is %s already. Wait for what it comes to.", c.State)
	}
	c, err := r.Cluster(ctx, f.ClusterID)
	if err != nil {
		return none, err
	}
	if !c.Writes() {
		word := "in mode " + string(c.Mode)
		if c.Paused {
			word = "paused"
		}
		return none, fault.Newf(fault.Conflict, "Writing to %s is not open: it is %s. A platform admin can change that.", c.Name, word)
	}
	return a, nil
}

// planPutBack plans the change. It takes exactly the differing fields over from
// whoever wrote them: that is what putting back means, and is said where it is decided.
func (p *Portal) planPutBack(ctx context.Context, tx Tx, act findingAct, findingID string) (Change, error) {
	f, err := tx.FindingForUpdate(ctx, findingID)
	if err != nil {
		return Change{}, err
	}
	b, err := tx.Binding(ctx, f.BindingID)
	if err != nil {
		return Change{}, err
	}
	c := Change{ID: p.NewID(), BindingID: b.ID, ClusterID: b.ClusterID, Cause: causePutBack, State: ChangePlanned, Takeover: true, CreatedAt: p.Now()}
	if c.Seq, err = tx.InsertChange(ctx, c); err != nil {
		return c, fmt.Errorf("plan to put back on %s: %w", b.ClusterID, err)
	}
	e := p.entry(act.actor, ledger.ChangePlanned, "change", c.ID)
	if act.authority.Role != "" {
		e = by(e, act.authority)
	}
	e.Facts["cluster"], e.Facts["binding"], e.Facts["cause"], e.Facts["finding"], e.Facts["takeover"] = b.ClusterID, b.ID, c.Cause, f.ID, "true"
	if _, err := tx.Append(ctx, e, EntryRefs{ProjectID: b.ProjectID, ClusterID: b.ClusterID}, openingsOf(act.actor, nil)); err != nil {
		return c, err
	}
	// All that the change will put back belongs to it, not only what was looked at.
	all, err := tx.FindingsToCompare(ctx, f.ClusterID, p.Now())
	if err != nil {
		return c, err
	}
	by := act.actor.Person.ID
	if by == "" {
		by = act.actor.System
	}
	act.t, act.event, act.projectID = ledger.FindingPutBack, "put back", b.ProjectID
	for _, x := range all {
		if x.State != finding.Open || x.BindingID != b.ID || !x.Mendable {
			continue
		}
		x.ChangeID, x.By = c.ID, by
		if err := p.saveFinding(ctx, tx, x, act); err != nil {
			return c, err
		}
	}
	p.reached("put_back.before")
	return c, tx.Enqueue(ctx, work.ChangeApply{ChangeID: c.ID})
}

// policyAct is the cluster's own policy acting.
func policyAct(clusterID string) findingAct {
	return findingAct{actor: jobActor(policyActor), authority: org.Assignment{Role: "policy", Scope: org.Scope{Kind: org.ClusterScope, ID: clusterID}}}
}

// putBackStands checks right before a push that whoever put back still may: the
// person still holds the role, the cluster's policy is still on.
func (p *Portal) putBackStands(ctx context.Context, c Change) (string, error) {
	if c.Cause != causePutBack {
		return "", nil
	}
	of, err := p.Store.FindingsOfChange(ctx, c.ID)
	if err != nil || len(of) == 0 {
		return "", err
	}
	if of[0].By == jobActor(policyActor).System {
		on, err := p.Store.PutsBack(ctx, c.ClusterID)
		if err == nil && !on {
			return "The cluster's policy no longer puts drift back by itself. A capacity manager can put it back.", nil
		}
		return "", err
	}
	person, err := p.Store.Person(ctx, of[0].By)
	if err != nil {
		return "", err
	}
	pools, err := poolsOfChange(ctx, p.Store, p, c)
	if err != nil {
		return "", err
	}
	if _, err := p.mayRestart(Actor{Person: person}, pools); err != nil {
		return person.Name + " put this back and is no longer capacity manager of these pools. Somebody who is has to put it back again.", nil
	}
	return "", nil
}

// putBackVerified closes, in the transaction that verifies a change, what the change
// put back and what its request accepted.
func (p *Portal) putBackVerified(ctx context.Context, tx Tx, c Change) error {
	how := finding.PutBack
	of, err := tx.FindingsOfChange(ctx, c.ID)
	if err == nil && c.RequestID != "" {
		how = finding.Accepted
		of, err = tx.FindingsOfRequest(ctx, c.RequestID)
	}
	if err != nil || len(of) == 0 {
		return err
	}
	b, err := tx.Binding(ctx, c.BindingID)
	if err != nil {
		return err
	}
	for _, f := range of {
		if f.BindingID != b.ID {
			continue
		}
		f, event := f.Resolve(how, p.Now())
		if err := p.settleFinding(ctx, tx, jobActor("change_apply"), f, event, b.ProjectID); err != nil {
			return err
		}
	}
	return nil
}

// SetPutsBackInput changes a cluster's policy on drift. Reason is kept in the record.
type SetPutsBackInput struct {
	ClusterID string
	On        bool
	Reason    string
	Key       string
}

// SetPutsBack says whether a cluster puts drift back by itself. A capacity manager of
// the whole cluster decides that, on record and with a second factor.
func (p *Portal) SetPutsBack(ctx context.Context, actor Actor, in SetPutsBackInput) (Cluster, error) {
	out, err := once(ctx, p, actor, "puts_back", in.Key, in, func(ctx context.Context, tx Tx) (Cluster, error) {
		c, err := tx.Cluster(ctx, in.ClusterID)
		if err != nil {
			return c, err
		}
		a, ok := actor.Person.Holding(org.CapacityManager, org.Place{ClusterID: c.ID})
		if !ok || !actor.Person.Active {
			return c, fault.Newf(fault.Forbidden, "This is decided by a capacity manager of %s as a whole.", c.Name)
		}
		was, err := tx.PutsBack(ctx, c.ID)
		if err != nil || was == in.On {
			return c, err
		}
		proof, err := p.spend(ctx, tx, actor, actDigest("puts_back", c.ID, fmt.Sprint(in.On)))
		if err != nil {
			return c, err
		}
		if err := tx.SavePutsBack(ctx, c.ID, in.On); err != nil {
			return c, err
		}
		e := provenBy(by(p.entry(actor, ledger.ClusterPutsBack, "cluster", c.ID), a), proof)
		e.Facts["before"], e.Facts["puts_back"] = fmt.Sprint(was), fmt.Sprint(in.On)
		_, err = tx.Append(ctx, e, EntryRefs{ClusterID: c.ID}, openingsOf(actor, map[string]string{OpeningReason: in.Reason}))
		return c, err
	})
	if err != nil {
		return Cluster{}, p.refused(ctx, actor, ledger.ClusterPutsBack, "cluster", in.ClusterID, EntryRefs{ClusterID: in.ClusterID}, err)
	}
	return out, nil
}
