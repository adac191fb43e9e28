package portal

import (
	"context"
	"fmt"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

// SubmitRequest hands a request to the first stage. The figures that the deciders
// will compare with are read here, from what the cluster last said; the route and
// who could decide are frozen here.
func (p *Portal) SubmitRequest(ctx context.Context, actor Actor, in SubmitInput) (RequestRef, error) {
	seen, err := p.Store.RequestByNumber(ctx, in.Number)
	if err != nil {
		return RequestRef{}, err
	}
	ref, err := once(ctx, p, actor, "submit", in.Key, in, func(ctx context.Context, tx Tx) (RequestRef, error) {
		r, err := tx.RequestForUpdate(ctx, seen.ID)
		if err != nil {
			return RequestRef{}, err
		}
		if err := p.sees(ctx, tx, actor, r); err != nil {
			return RequestRef{}, err
		}
		return p.submit(ctx, tx, actor, r, in.Digest)
	})
	if err != nil {
		return RequestRef{}, p.refused(ctx, actor, ledger.RequestSubmitted, "request", seen.ID, refsOf(seen, nil), err)
	}
	return ref, nil
}

func (p *Portal) submit(ctx context.Context, tx Tx, actor Actor, r request.Request, digest string) (RequestRef, error) {
	at, err := p.place(ctx, tx, r.Revision.Content)
	if err != nil {
		return RequestRef{}, err
	}
	a, ok := mayAsk(actor.Person, at.teamPlace())
	if !ok {
		return RequestRef{}, cannotAsk(at)
	}
	if err := p.same(ctx, tx, r, digest); err != nil {
		return RequestRef{}, err
	}
	return p.submitBy(ctx, tx, actor, a, at, r)
}

// submitBy submits r, which was asked by the right of a.
func (p *Portal) submitBy(ctx context.Context, tx Tx, actor Actor, a org.Assignment, at place, r request.Request) (RequestRef, error) {
	now, c := p.Now(), r.Revision.Content
	if _, err := r.Submit(r.Route, now); err != nil {
		return RequestRef{}, err
	}
	c = at.capture(c, keepNone)
	fields := storable(ctx, tx, actor, at, c)
	complete(fields, c, at.project)
	if err := fields.OrNil(); err != nil {
		return RequestRef{}, err
	}
	checks := policy.Run(p.facts(at, c, false))
	if err := denied(checks); err != nil {
		return RequestRef{}, err
	}
	from, before := r.State, r.Revision.Digest
	r, err := r.Edit(c, actor.Person.ID, now)
	if err != nil {
		return RequestRef{}, err
	}
	s, err := loadStaff(ctx, tx, at, c, r.Subject())
	if err != nil {
		return RequestRef{}, err
	}
	if err := s.staffed(ctx, tx); err != nil {
		return RequestRef{}, err
	}
	if r, err = r.Submit(s.route, now); err != nil {
		return RequestRef{}, err
	}
	if err := tx.SaveRequest(ctx, r); err != nil {
		return RequestRef{}, err
	}
	if err := tx.InsertChecks(ctx, r.ID, r.Revision.Digest, "submission", checks, now); err != nil {
		return RequestRef{}, fmt.Errorf("keep checks: %w", err)
	}
	e := by(p.entry(actor, ledger.RequestSubmitted, "request", r.ID), a)
	e.Object.Revision, e.Object.Digest = fmt.Sprint(r.Revision.Number), r.Revision.Digest
	e.Before, e.After = before, r.Revision.Digest
	e.Policy = policies(checks)
	lineFacts(e.Facts, c)
	e.Facts["from"], e.Facts["to"] = string(from), string(r.State)
	e.Facts["route_version"] = fmt.Sprint(r.Route.Version)
	var stages []string
	for _, st := range r.Route.Stages {
		stages = append(stages, st.Key)
	}
	e.Facts["stages"] = strings.Join(stages, ",")
	if _, err := tx.Append(ctx, e, refsOf(r, at.pools), openingsOf(actor, nil)); err != nil {
		return RequestRef{}, err
	}
	return refOf(r), nil
}

// denied is the fault for checks that forbid going on; nil if none does.
func denied(checks []policy.Result) error {
	err := fault.New(fault.Invalid, "A check refuses this request.")
	for _, c := range checks {
		if c.Blocks() {
			err.At("checks", "%s: %s", c.Title, c.Message)
		}
	}
	if len(err.Fields) == 0 {
		return nil
	}
	return err.Because(errDenied)
}

// policies are the checks that counted, as an entry names them. Those that did
// not pass carry their outcome in place of a digest of the rule.
func policies(checks []policy.Result) []ledger.Policy {
	var out []ledger.Policy
	for _, c := range checks {
		id := c.ID
		if c.PoolID != "" {
			id += "/" + c.PoolID
		}
		out = append(out, ledger.Policy{ID: id + ":" + string(c.Outcome), Version: c.Version})
	}
	return out
}
