package portal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/request"
)

// stillAuthorised checks once more, right before a push, what made the change: the
// request approved on the digest it has now, by people who still hold the role of
// their stage, each decision on record. It returns a sentence when that is not so.
// A change without a request follows from the clock or from a mode, and a request whose grants
// ended only takes away.
func (p *Portal) stillAuthorised(ctx context.Context, c Change) (string, error) {
	if c.RequestID == "" {
		return p.putBackStands(ctx, c)
	}
	r, err := p.Store.Request(ctx, c.RequestID)
	if err != nil {
		return "", err
	}
	switch r.State {
	case request.Approved, request.Scheduled, request.Applying, request.Active:
	case request.Expired, request.Revoked, request.Superseded:
		return "", nil
	default:
		return fmt.Sprintf("The request is %s, so nothing may be pushed for it.", r.State), nil
	}
	digest := r.Revision.Digest
	if r.Route.Current(r.Decisions, digest) != len(r.Route.Stages) {
		return "The approvals of the request do not cover the revision it has now.", nil
	}
	grants, err := p.Store.GrantsOfRequest(ctx, r.ID)
	if err != nil {
		return "", err
	}
	for _, g := range grants {
		if g.Digest != digest {
			return "The grant was made from another revision than the one that was approved.", nil
		}
	}
	for _, d := range r.Decisions {
		if d.Outcome != approval.Approve || d.Digest != digest {
			continue
		}
		person, err := p.Store.Person(ctx, d.PersonID)
		if err != nil {
			return "", err
		}
		if !stillHolds(r.Route, d, person.Active, func(s approval.Stage) bool { _, ok := s.Holds(person); return ok }) {
			return fmt.Sprintf("%s approved this and no longer holds the role of that step. Somebody who holds it has to approve a new request.", person.Name), nil
		}
	}
	return p.onRecord(ctx, r)
}

func stillHolds(route approval.Route, d approval.Decision, active bool, holds func(approval.Stage) bool) bool {
	for _, s := range route.Stages {
		if s.Key == d.StageKey {
			return active && holds(s)
		}
	}
	return false
}

// onRecord checks that each counted approval stands in the ledger.
func (p *Portal) onRecord(ctx context.Context, r request.Request) (string, error) {
	entries, err := p.Store.EntriesOfRequest(ctx, r.ID)
	if err != nil {
		return "", err
	}
	recorded := map[string]bool{}
	for _, e := range entries {
		if e.Entry.Type == ledger.RequestDecided && e.Entry.Outcome == ledger.Done && e.Entry.Object.Digest == r.Revision.Digest {
			recorded[e.Entry.Actor.ID] = true
		}
	}
	var missing []string
	for _, d := range r.Decisions {
		if d.Outcome == approval.Approve && d.Digest == r.Revision.Digest && !recorded[d.PersonID] {
			missing = append(missing, d.ID)
		}
	}
	if len(missing) > 0 {
		p.Log.Error("approved without a ledger entry", "request", r.ID, "decisions", strings.Join(missing, " "))
		return "An approval of this request is not in the record. An auditor has to look before anything is pushed.", nil
	}
	return "", nil
}

// GiveUpChange stops a change whose job failed too often, so that a person sees it.
func (p *Portal) GiveUpChange(ctx context.Context, changeID string, cause error) error {
	c, err := p.Store.Change(ctx, changeID)
	if err != nil {
		return err
	}
	run := &push{p: p, c: c}
	if run.binding, err = p.Store.Binding(ctx, c.BindingID); err != nil {
		return err
	}
	problem := "The portal failed at this several times. The log has the cause; try again once it is mended."
	if f := fault.As(cause); f != nil {
		problem = f.Public
	}
	err = run.settle(ctx, ChangeStopped, problem)
	if errors.Is(err, errClosed) {
		return nil
	}
	return err
}
