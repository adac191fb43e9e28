package portal

import (
	"context"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
)

// adoptAtOnce bounds one confirmation.
const adoptAtOnce = 500

// AdoptResult is what became of one row.
type AdoptResult struct {
	Input   AdoptInput
	Binding fleet.Binding // zero where it was not adopted
	Problem string        // "" = adopted
}

// AdoptBindings adopts many queues of one reading. Each is a transaction and an entry
// of its own, so that one that fails is said and fails none of the others; sending the
// same rows again adopts none twice.
func (p *Portal) AdoptBindings(ctx context.Context, actor Actor, clusterID string, rows []AdoptInput) ([]AdoptResult, error) {
	refs := EntryRefs{ClusterID: clusterID}
	authority, err := p.manages(actor, clusterID)
	if err != nil {
		return nil, p.refused(ctx, actor, ledger.BindingAdopted, "cluster", clusterID, refs, err)
	}
	switch {
	case len(rows) == 0:
		return nil, fault.New(fault.Invalid, "Choose at least one queue.").At("row", "Choose at least one queue.")
	case len(rows) > adoptAtOnce:
		return nil, fault.Newf(fault.Invalid, "At most %d queues are adopted at once.", adoptAtOnce)
	}
	// One proof serves the rows that were shown, all of them. It is used up first: rows
	// are kept one by one, and a second click finds each as it is.
	parts := []string{clusterID}
	for _, in := range rows {
		parts = append(parts, in.Queue, in.Namespace, in.LocalQueue, in.ProjectID, in.Environment)
	}
	shown := actDigest("adopt_many", parts...)
	proof, err := once(ctx, p, actor, "adopt_many", rows[0].Key, parts, func(ctx context.Context, tx Tx) (StepUp, error) {
		return p.spendUnlessSystem(ctx, tx, actor, shown)
	})
	if err == nil && actor.System == "" && !proof.Covers(shown) {
		err = stepUpNeeded(shown, "spent") // the form came again with other rows
	}
	if err != nil {
		return nil, p.refused(ctx, actor, ledger.BindingAdopted, "cluster", clusterID, refs, err)
	}
	c, err := p.Store.Cluster(ctx, clusterID)
	if err != nil {
		return nil, err
	}
	now, err := p.findObjects(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(now.Queues) == 0 && len(now.Problems) > 0 {
		return nil, fault.New(fault.Unavailable, now.Problems[0])
	}
	matched, err := p.matchedBy(ctx, c, now)
	if err != nil {
		return nil, err
	}
	o := fleet.Observation{At: now.At, Queues: now.Queues, QueuesKnown: true}
	out := make([]AdoptResult, 0, len(rows))
	for _, in := range rows {
		in.ClusterID = clusterID
		if in.Key != "" {
			in.Key += ":" + in.Queue
		}
		in.Matched = matched[in.Queue+"\x00"+in.ProjectID+"\x00"+in.Environment]
		r := AdoptResult{Input: in}
		r.Binding, err = p.adoptFrom(ctx, actor, authority, c, o, in, func(context.Context, Tx) (StepUp, error) { return proof, nil })
		if err != nil {
			err = p.refused(ctx, actor, ledger.BindingAdopted, "cluster", clusterID, refs, err)
			r.Problem = p.problemOf(ctx, in, err)
		}
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		out = append(out, r)
	}
	return out, nil
}

// matchedBy says by which rule each queue goes to a place: what the record keeps of a
// choice is what the rules say, not what a form says.
func (p *Portal) matchedBy(ctx context.Context, c Cluster, now foundNow) (map[string]string, error) {
	rules, err := p.Store.MatchRules(ctx)
	if err != nil {
		return nil, err
	}
	projects, err := p.Store.Projects(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, row := range matchRows(c.Kind, now.Discovery, rules, projects, nil) {
		if row.Match.Decided() {
			at := row.Match.Places[0]
			out[row.Queue.Name+"\x00"+at.ProjectID+"\x00"+at.Environment] = row.Match.Reason
		}
	}
	return out, nil
}

// problemOf is what a person may read of an error; what is no fault is for the log.
func (p *Portal) problemOf(ctx context.Context, in AdoptInput, err error) string {
	f := fault.As(err)
	if f == nil {
		p.Log.ErrorContext(ctx, "adopt", "cluster", in.ClusterID, "queue", in.Queue, "err", err)
		return "The portal failed at this row; the log has the cause. Try it again."
	}
	s := f.Public
	for _, field := range f.Fields {
		if field.Message != f.Public {
			s += " " + field.Message
		}
	}
	return s
}
