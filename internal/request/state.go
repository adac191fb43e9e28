package request

import (
	"slices"
	"time"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
)

// State of a request. Frozen strings: they are stored and recorded.
type State string

const (
	Draft      State = "draft"
	Submitted  State = "submitted" // waits for the first decision
	InReview   State = "in review" // decided by some, not by all
	Approved   State = "approved"  // decided; nothing pushed yet
	Scheduled  State = "scheduled" // starts later
	Applying   State = "applying"
	Active     State = "active"
	Expired    State = "expired"
	Revoked    State = "revoked"
	Superseded State = "superseded" // a newer grant of the same limit took over
	Rejected   State = "rejected"
	Returned   State = "returned" // with questions; the requester edits and submits again
	Withdrawn  State = "withdrawn"
	Lapsed     State = "lapsed" // nobody decided in time
)

// States lists all in the order of a life.
var States = []State{Draft, Submitted, InReview, Approved, Scheduled, Applying, Active, Expired, Revoked, Superseded, Rejected, Returned, Withdrawn, Lapsed}

// next is the state machine: which states may follow which.
var next = map[State][]State{
	Draft:     {Submitted, Withdrawn},
	Submitted: {InReview, Approved, Rejected, Returned, Withdrawn, Lapsed},
	InReview:  {InReview, Approved, Rejected, Returned, Withdrawn, Lapsed},
	Returned:  {Submitted, Withdrawn, Lapsed},
	Approved:  {Scheduled, Applying, Revoked, Expired, Superseded},
	Scheduled: {Applying, Revoked, Expired, Superseded},
	Applying:  {Active, Revoked, Expired, Superseded},
	Active:    {Applying, Expired, Revoked, Superseded},
}

// Terminal reports whether nothing can follow s.
func (s State) Terminal() bool { return len(next[s]) == 0 }

// Open reports whether s waits for a decision.
func (s State) Open() bool { return s == Submitted || s == InReview }

// To moves r to state, or returns a Conflict that says where the request stands.
func (r Request) To(state State, at time.Time) (Request, error) {
	if r.State == state {
		return r, fault.Newf(fault.Conflict, "This request is %s already.", state)
	}
	if !slices.Contains(next[r.State], state) {
		return r, fault.Newf(fault.Conflict, "This request is %s, so it cannot become %s.", r.State, state)
	}
	r.State = state
	if state.Terminal() {
		r.ClosedAt = &at
	}
	return r, nil
}

// Edit replaces the content of a draft, or adds a revision to a returned one: a
// revision that somebody decided on is never rewritten. An edit that changes
// nothing returns r as it is.
func (r Request) Edit(c Content, editorID string, at time.Time) (Request, error) {
	if r.State != Draft && r.State != Returned {
		return r, fault.Newf(fault.Conflict, "This request is %s. Only a draft or a returned request can be edited.", r.State)
	}
	digest, err := c.Digest()
	if err != nil {
		return r, err
	}
	if digest == r.Revision.Digest {
		return r, nil
	}
	n := r.Revision.Number
	if n == 0 || r.decidedOn(n) {
		n++
	}
	r.Revision = Revision{Number: n, Content: c, Digest: digest, EditorID: editorID, At: at}
	if !slices.Contains(r.EditorIDs, editorID) {
		r.EditorIDs = append(slices.Clone(r.EditorIDs), editorID)
	}
	return r, nil
}

// Submit freezes the route. A returned request needs a revision that nobody decided
// on yet, in other words than any that somebody did: decisions count by digest.
func (r Request) Submit(route approval.Route, at time.Time) (Request, error) {
	same := func(d approval.Decision) bool { return d.Digest == r.Revision.Digest }
	if r.State == Returned && (r.decidedOn(r.Revision.Number) || slices.ContainsFunc(r.Decisions, same)) {
		return r, fault.New(fault.Conflict, "This request was returned. Change it before you submit it again.")
	}
	r, err := r.To(Submitted, at)
	if err != nil {
		return r, err
	}
	r.Route, r.SubmittedAt = route, &at
	return r, nil
}

func (r Request) decidedOn(revision int) bool {
	return slices.ContainsFunc(r.Decisions, func(d approval.Decision) bool { return d.Revision == revision })
}

// Withdraw takes the request back; allowed until it is decided.
func (r Request) Withdraw(at time.Time) (Request, error) { return r.To(Withdrawn, at) }

// Decide adds d to r. Who may decide was checked before (approval.MayDecide);
// here the decision must fit the revision, the stage and the figures.
func (r Request) Decide(d approval.Decision) (Request, error) {
	if !r.State.Open() {
		return r, fault.Newf(fault.Conflict, "This request is %s. There is nothing to decide.", r.State)
	}
	if d.Digest != r.Revision.Digest {
		return r, fault.New(fault.Stale, "The request changed after you opened it. Look at what changed, then decide.")
	}
	stage, ok := r.Stage()
	if !ok || stage.Key != d.StageKey {
		return r, fault.New(fault.Stale, "This step was decided in the meantime. Look at where the request stands now.")
	}
	if !d.Outcome.Valid() {
		return r, fault.New(fault.Invalid, "Choose approve, return or reject.").At("outcome", "Choose approve, return or reject.")
	}
	if d.Outcome == approval.Approve {
		if err := r.fits(d.Granted); err != nil {
			return r, err
		}
	}
	d.Revision = r.Revision.Number
	r.Decisions = append(slices.Clone(r.Decisions), d)
	switch d.Outcome {
	case approval.Reject:
		return r.To(Rejected, d.At)
	case approval.Return:
		return r.To(Returned, d.At)
	}
	if r.Route.Current(r.Decisions, r.Revision.Digest) == len(r.Route.Stages) {
		return r.To(Approved, d.At)
	}
	return r.To(InReview, d.At)
}

// fits checks that granted names each pool once and gives no more, no earlier
// and no longer than what is on the table.
func (r Request) fits(granted []approval.Granted) error {
	err := fault.New(fault.Invalid, "A grant can be lower or shorter than what was asked, not higher or longer.")
	table := r.Granted()
	if len(granted) != len(table) {
		return err.At("granted", "Say an amount for each pool of the request.")
	}
	for i, g := range granted {
		t := table[i]
		switch {
		case g.PoolID != t.PoolID:
			err.At("granted", "The pools do not match the request.")
		case g.Amount.Sign() < 0:
			err.At("granted."+g.PoolID, "The amount cannot be negative.")
		case r.raises(i) && g.Amount.Cmp(t.Amount) > 0:
			err.At("granted."+g.PoolID, "At most %s was asked.", t.Amount)
		case !r.raises(i) && !g.Amount.Equal(t.Amount):
			err.At("granted."+g.PoolID, "This lowers the limit to %s. Approve that figure, or return the request.", t.Amount)
		case t.End != nil && (g.End == nil || g.End.After(*t.End)):
			err.At("granted."+g.PoolID, "The end cannot be later than asked.")
		case t.Start != nil && (g.Start == nil || g.Start.Before(*t.Start)):
			err.At("granted."+g.PoolID, "The start cannot be earlier than asked.")
		case g.Start != nil && g.End != nil && !g.Start.Before(*g.End):
			err.At("granted."+g.PoolID, "The end has to be after the start.")
		}
	}
	return err.OrNil()
}

// raises reports whether line i asks for at least what the requester saw in force.
// "Granting less" than a decrease would cut deeper than anybody asked.
func (r Request) raises(i int) bool {
	l := r.Revision.Content.Lines[i]
	return l.Kind == Burst || !l.Current.Known || l.Asked.Cmp(l.Current.Amount) >= 0
}
