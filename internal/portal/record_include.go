package portal

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

const (
	// includeWithin is how long a push waits on the spot for its proof; then it is put
	// off, which uses up no attempt.
	includeWithin = 3 * time.Second
	// includeAgain is when it looks again after that.
	includeAgain = time.Second
)

// Proof is where an entry stands in the tree, as far as that is known.
type Proof struct {
	Sequenced bool // it has a leaf
	Signed    bool // a trusted checkpoint covers it: Inclusion holds
	ledger.Inclusion
	Checkpoint ledger.Checkpoint
	SignedAt   time.Time
	Problem    string // why the proof does not hold, though it should
}

// prove finds and checks the proof of an entry.
func (p *Portal) prove(ctx context.Context, r Tree, row EntryRow) (Proof, error) {
	all, err := p.proveAll(ctx, r, []EntryRow{row})
	if err != nil {
		return Proof{}, err
	}
	return all[0], nil
}

// proveAll finds the proofs of entries under the newest checkpoint.
func (p *Portal) proveAll(ctx context.Context, r Tree, rows []EntryRow) ([]Proof, error) {
	ids := make([]string, len(rows))
	for i, e := range rows {
		ids[i] = e.Entry.ID
	}
	places, err := r.LeafIndexes(ctx, ids)
	if err != nil {
		return nil, err
	}
	last, signed, err := r.LastCheckpoint(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Proof, len(rows))
	for i, e := range rows {
		place, ok := places[e.Entry.ID]
		if !ok {
			continue
		}
		out[i].Sequenced, out[i].Index = true, place
		if !signed || place >= last.Size {
			continue
		}
		nodes, err := tlog.ProveRecord(last.Size, place, nodesOf(ctx, r))
		if err != nil {
			out[i].Problem = "The proof cannot be made: nodes of the tree are gone."
			p.Log.Error("proof of an entry", "entry", e.Entry.ID, "err", err)
			continue
		}
		out[i].Nodes, out[i].Inclusion.Checkpoint, out[i].SignedAt = nodes, last.Note, last.At
		if p.Trusted == nil {
			out[i].Problem = "The portal has no public key of the signer, so it cannot check the proof."
			continue
		}
		if out[i].Checkpoint, err = out[i].Check(e.Canonical, p.Trusted, ledger.Origin(e.Entry.Log)); err != nil {
			out[i].Problem = "The proof does not hold: " + err.Error() + "."
			continue
		}
		out[i].Signed = true
	}
	return out, nil
}

// included waits until the entries that decided c are proven to be in a signed tree.
// again > 0 says that they are not yet; problem says why they never will be as things are.
func (p *Portal) included(ctx context.Context, c Change) (again time.Duration, problem string, err error) {
	state, err := p.Store.RecordState(ctx)
	if err != nil {
		return 0, "", err
	}
	if !state.OK {
		return 0, "The record failed its check, so nothing is pushed until that is settled: " + state.Problem, nil
	}
	rows, err := p.deciding(ctx, c)
	if err != nil {
		return 0, "", err
	}
	deadline := time.NewTimer(includeWithin)
	defer deadline.Stop()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		missing, problem, err := p.unproven(ctx, rows)
		if err != nil || problem != "" || missing == 0 {
			return 0, problem, err
		}
		if wait == 5*time.Millisecond {
			if err := p.askInclusion(ctx); err != nil {
				return 0, "", err
			}
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
			continue
		case <-deadline.C:
			pause.Stop()
			return includeAgain, "", nil
		case <-ctx.Done():
			pause.Stop()
			return 0, "", ctx.Err()
		}
	}
}

func (p *Portal) unproven(ctx context.Context, rows []EntryRow) (missing int, problem string, err error) {
	proofs, err := p.proveAll(ctx, p.Store, rows)
	if err != nil {
		return 0, "", err
	}
	for _, proof := range proofs {
		switch {
		case proof.Problem != "":
			return 0, "What decided this is not proven by the record. " + proof.Problem, nil
		case !proof.Signed:
			missing++
		}
	}
	return missing, "", nil
}

// askInclusion has what was written sequenced and signed soon.
func (p *Portal) askInclusion(ctx context.Context) error {
	if p.Include != nil {
		return p.Include(ctx)
	}
	return p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error { return tx.Notify(ctx, ChannelRecord) })
}

// deciding are the entries that a push of c rests on: that it was planned, and of its
// request each counted approval and the grants made from them.
func (p *Portal) deciding(ctx context.Context, c Change) ([]EntryRow, error) {
	planned, err := p.Store.EntriesOfObject(ctx, "change", c.ID, ledger.ChangePlanned)
	if err != nil {
		return nil, err
	}
	if len(planned) == 0 {
		return nil, fault.New(fault.Conflict, "That this change was planned is not in the record. An auditor has to look before anything is pushed.")
	}
	if c.RequestID == "" {
		return planned, nil
	}
	r, err := p.Store.Request(ctx, c.RequestID)
	if err != nil {
		return nil, err
	}
	all, err := p.Store.EntriesOfRequest(ctx, c.RequestID)
	if err != nil {
		return nil, fmt.Errorf("entries of request %s: %w", c.RequestID, err)
	}
	for _, e := range all {
		decides := e.Entry.Type == ledger.RequestDecided || e.Entry.Type == ledger.GrantMade
		if decides && e.Entry.Outcome == ledger.Done && e.Entry.Object.Digest == r.Revision.Digest {
			planned = append(planned, e)
		}
	}
	return planned, nil
}
