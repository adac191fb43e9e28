package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

// DecideRequest takes one person's decision on the revision that the person saw.
// Everything that follows from it, down to the queued change, is one transaction
// with its ledger entry: if that cannot be written, nothing was decided.
func (p *Portal) DecideRequest(ctx context.Context, actor Actor, in DecideInput) (DecideResult, error) {
	seen, err := p.Store.RequestByNumber(ctx, in.Number)
	if err != nil {
		return DecideResult{}, err
	}
	base, err := parseSeen(in.Base)
	if err != nil {
		return DecideResult{}, err
	}
	out, err := once(ctx, p, actor, "decide", in.Key, in, func(ctx context.Context, tx Tx) (DecideResult, error) {
		r, err := tx.RequestForUpdate(ctx, seen.ID)
		if err != nil {
			return DecideResult{}, err
		}
		if err := p.sees(ctx, tx, actor, r); err != nil {
			return DecideResult{}, err
		}
		stage, authority, err := p.standing(ctx, tx, actor, r, in)
		if err != nil {
			return DecideResult{}, err
		}
		return p.decide(ctx, tx, actor, r, stage, authority, in, base)
	})
	if err != nil {
		return DecideResult{}, p.refused(ctx, actor, ledger.RequestDecided, "request", seen.ID, refsOf(seen, nil), err)
	}
	p.reached("decision.commit.after")
	return out, nil
}

// standing checks, in this order, that the decision is on what is there now and that
// actor may take it.
func (p *Portal) standing(ctx context.Context, tx Tx, actor Actor, r request.Request, in DecideInput) (approval.Stage, org.Assignment, error) {
	none := org.Assignment{}
	if actor.Person.ID == "" {
		return approval.Stage{}, none, fault.New(fault.Forbidden, "Only a person decides.")
	}
	if err := p.same(ctx, tx, r, in.Digest); err != nil {
		return approval.Stage{}, none, err
	}
	stage, waits := r.Stage()
	if !waits && len(r.Decisions) == 0 {
		return stage, none, fault.Newf(fault.Conflict, "This request is %s. There is nothing to decide.", r.State)
	}
	if !waits || stage.Key != in.StageKey {
		return stage, none, p.moved(ctx, tx, r, in.StageKey)
	}
	a, err := p.mayDecide(ctx, tx, actor, r, stage)
	if err != nil {
		return stage, none, err
	}
	return stage, a, nil
}

func (p *Portal) decide(ctx context.Context, tx Tx, actor Actor, r request.Request, stage approval.Stage, a org.Assignment, in DecideInput, base seenLimits) (DecideResult, error) {
	now, c := p.Now(), r.Revision.Content
	at, err := p.place(ctx, tx, c)
	if err != nil {
		return DecideResult{}, err
	}
	granted := in.Granted
	if granted == nil {
		granted = r.Granted()
	}
	if in.Outcome != approval.Approve {
		granted = nil
	}
	checks := policy.Run(p.facts(at, withGranted(c, granted), true))
	if err := p.weigh(in, at, c, granted, checks); err != nil {
		return DecideResult{}, err
	}
	d := approval.Decision{ID: p.NewID(), RequestID: r.ID, Revision: r.Revision.Number, Digest: in.Digest, StageKey: stage.Key,
		PersonID: actor.Person.ID, Identity: actor.Person.Identity, Outcome: in.Outcome, Reason: in.Reason, Granted: granted, Factors: actor.AMR, At: now}
	from := r.State
	if r, err = r.Decide(d); err != nil {
		return DecideResult{}, err
	}
	// Asked last: a factor is for the decision as it will stand, not for a form to be mended.
	proof, err := p.stepUp(ctx, tx, actor, DecisionDigest(r.ID, r.Revision.Digest))
	if err != nil {
		return DecideResult{}, err
	}
	refs := refsOf(r, at.pools)
	e := provenBy(decisionEntry(by(p.entry(actor, ledger.RequestDecided, "request", r.ID), a), d, c, from, r.State), proof)
	e.Policy = policies(checks)
	if in.Acknowledged {
		e.Facts["acknowledged"] = "running workloads keep running"
	}
	row, err := tx.Append(ctx, e, refs, openingsOf(actor, map[string]string{OpeningReason: in.Reason}))
	if err != nil {
		return DecideResult{}, err
	}
	if err := tx.InsertDecision(ctx, d, row.Entry.ID); err != nil {
		return DecideResult{}, err
	}
	if err := tx.InsertChecks(ctx, r.ID, d.Digest, "decision", checks, now); err != nil {
		return DecideResult{}, fmt.Errorf("keep checks: %w", err)
	}
	out := DecideResult{Outcome: d.Outcome, DecisionID: d.ID, EntryID: row.Entry.ID}
	if r.State == request.Approved {
		if r, out.Changes, err = p.makeGrants(ctx, tx, actor, r, at, base); err != nil {
			return DecideResult{}, err
		}
	}
	if err := tx.SaveRequest(ctx, r); err != nil {
		return DecideResult{}, err
	}
	out.RequestRef = refOf(r)
	p.reached("decision.commit.before")
	return out, nil
}

// weigh refuses a decision whose reason or acknowledgement is missing, and an
// approval that a check denies.
func (p *Portal) weigh(in DecideInput, at place, c request.Content, granted []approval.Granted, checks []policy.Result) error {
	if !in.Outcome.Valid() {
		return fault.New(fault.Invalid, "Choose approve, return or reject.").At("outcome", "Choose approve, return or reject.")
	}
	err := fault.New(fault.Invalid, "Something is missing for this decision.")
	reasoned := hasWords(in.Reason)
	switch {
	case in.Outcome != approval.Approve && !reasoned:
		err.At("reason", "Say why. The requester reads it.")
	case in.Outcome == approval.Approve:
		if e := denied(checks); e != nil {
			return e
		}
		if why := mustReason(checks); why != "" && !reasoned {
			err.At("reason", "Say why it is approved all the same: %s.", why)
		}
		grantsSomething(err, c, granted)
		if !in.Acknowledged {
			for _, l := range at.lowerings(c, granted) {
				err.At("acknowledge", "%s goes to %s, with %s in use. Confirm that what runs keeps running.", l.PoolName, l.To, l.InUse)
			}
		}
	}
	return err.OrNil()
}

// grantsSomething refuses an approval that gives nothing to somebody who asked for
// something: that is a rejection, which says its reason and takes nothing away.
func grantsSomething(err *fault.Error, c request.Content, granted []approval.Granted) {
	if len(granted) == 0 {
		return
	}
	for i, g := range granted {
		if g.Amount.Sign() != 0 || i >= len(c.Lines) || c.Lines[i].Asked.Sign() == 0 {
			return
		}
	}
	err.At("granted."+granted[0].PoolID, "This grants nothing. Reject or return the request, and say why.")
}

// mustReason names the checks over which an approval needs a reason; "" if none.
func mustReason(checks []policy.Result) string {
	w := policy.Warned(checks)
	switch len(w) {
	case 0:
		return ""
	case 1:
		return "a check warns: " + w[0].Title
	}
	return fmt.Sprintf("%d checks warn: %s and others", len(w), w[0].Title)
}

// lowerings are the lines whose granted limit is below what is in use, or lower
// than the present one with the use unknown.
func (at place) lowerings(c request.Content, granted []approval.Granted) []Lowering {
	var out []Lowering
	for i, g := range granted {
		if i >= len(c.Lines) || c.Lines[i].Kind == request.Burst {
			continue
		}
		n := at.now(g.PoolID)
		lower := !n.Current.Known || g.Amount.Cmp(n.Current.Amount) < 0
		if lower && (!n.InUse.Known || g.Amount.Cmp(n.InUse.Amount) < 0) {
			out = append(out, Lowering{PoolID: g.PoolID, PoolName: n.PoolName, To: g.Amount, InUse: n.InUse})
		}
	}
	return out
}

// withGranted is c with the figures of a decision in place of those asked.
func withGranted(c request.Content, granted []approval.Granted) request.Content {
	lines := append([]request.Line(nil), c.Lines...)
	for i := range lines {
		if i < len(granted) && granted[i].PoolID == lines[i].PoolID {
			lines[i].Asked, lines[i].Start, lines[i].End = granted[i].Amount, granted[i].Start, granted[i].End
		}
	}
	c.Lines = lines
	return c
}

func decisionEntry(e ledger.Entry, d approval.Decision, c request.Content, from, to request.State) ledger.Entry {
	e.Object.Revision, e.Object.Digest = fmt.Sprint(d.Revision), d.Digest
	lineFacts(e.Facts, c)
	e.Facts["decision"], e.Facts["outcome"], e.Facts["stage"] = d.ID, string(d.Outcome), d.StageKey
	e.Facts["from"], e.Facts["to"] = string(from), string(to)
	for _, g := range d.Granted {
		e.Facts["granted."+g.PoolID] = g.Amount.String()
		if g.End != nil {
			e.Facts["end."+g.PoolID] = ledger.Time(*g.End)
		}
	}
	return e
}
