package portal

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

// EditRequest replaces the wording of a draft, or writes the next revision of a
// returned request. Whoever edits can no longer decide on it.
func (p *Portal) EditRequest(ctx context.Context, actor Actor, in EditInput) (RequestRef, error) {
	seen, err := p.Store.RequestByNumber(ctx, in.Number)
	if err != nil {
		return RequestRef{}, err
	}
	ref, err := once(ctx, p, actor, "edit", in.Key, in, func(ctx context.Context, tx Tx) (RequestRef, error) {
		r, err := tx.RequestForUpdate(ctx, seen.ID)
		if err != nil {
			return RequestRef{}, err
		}
		if err := p.sees(ctx, tx, actor, r); err != nil {
			return RequestRef{}, err
		}
		before, err := loadPlace(ctx, tx, r.Revision.Content.ProjectID, "", nil)
		if err != nil {
			return RequestRef{}, err
		}
		a, ok := mayAsk(actor.Person, before.teamPlace())
		if !ok {
			return RequestRef{}, cannotAsk(before)
		}
		if err := p.same(ctx, tx, r, in.Digest); err != nil {
			return RequestRef{}, err
		}
		if in.Content.ProjectID == "" {
			in.Content.ProjectID = r.Revision.Content.ProjectID
		}
		at, err := p.askable(ctx, tx, actor, in.Content)
		if err != nil {
			return RequestRef{}, err
		}
		if at.team.ID != r.TeamID {
			return RequestRef{}, fault.New(fault.Invalid, "A request stays with its team.").At("project", "Choose a project of the same team, or write a new request.")
		}
		old := r.Revision
		c := at.capture(in.Content, func(l request.Line) (request.Line, bool) { return figuresOf(old.Content, in.Content, l) })
		c.Kind = old.Content.Kind
		next, err := r.Edit(c, actor.Person.ID, p.Now())
		if err != nil {
			return RequestRef{}, err
		}
		if next.Revision.Digest == old.Digest {
			return refOf(r), nil
		}
		if err := tx.SaveRequest(ctx, next); err != nil {
			return RequestRef{}, err
		}
		e := by(p.entry(actor, ledger.RequestEdited, "request", r.ID), a)
		e.Object.Revision, e.Object.Digest = fmt.Sprint(next.Revision.Number), next.Revision.Digest
		e.Before, e.After = old.Digest, next.Revision.Digest
		lineFacts(e.Facts, c)
		if _, err := tx.Append(ctx, e, refsOf(next, at.pools), openingsOf(actor, nil)); err != nil {
			return RequestRef{}, err
		}
		return refOf(next), nil
	})
	if err != nil {
		return RequestRef{}, p.refused(ctx, actor, ledger.RequestEdited, "request", seen.ID, refsOf(seen, nil), err)
	}
	return ref, nil
}

// figuresOf keeps the figures that were captured for a line whose pool and place
// did not change, so that an edit that changes no word makes no revision.
func figuresOf(old, edited request.Content, l request.Line) (request.Line, bool) {
	if old.ProjectID != edited.ProjectID || old.Environment != edited.Environment {
		return request.Line{}, false
	}
	i := slices.IndexFunc(old.Lines, func(o request.Line) bool { return o.PoolID == l.PoolID })
	if i < 0 {
		return request.Line{}, false
	}
	return old.Lines[i], true
}

// sees is nil when actor may know of r: the own team's, one's own, or everything
// for those whose work is the whole. To all others it does not exist.
func (p *Portal) sees(_ context.Context, _ Reader, actor Actor, r request.Request) error {
	teams, all := actor.Person.Teams()
	id := actor.Person.ID
	if all || actor.System != "" || slices.Contains(teams, r.TeamID) {
		return nil
	}
	if id != "" && (id == r.RequesterID || id == r.Revision.Content.BeneficiaryID || slices.Contains(r.EditorIDs, id)) {
		return nil
	}
	if stage, ok := r.Stage(); ok {
		if _, holds := stage.Holds(actor.Person); holds {
			return nil
		}
	}
	for _, a := range actor.Person.Roles { // a role on the unit reaches its teams
		if a.Scope.Kind == org.UnitScope && routeNamesUnit(r, a.Scope.ID) {
			return nil
		}
	}
	return fault.Newf(fault.NotFound, "There is no request %d that you may see.", r.Number).Because(errHidden)
}

func routeNamesUnit(r request.Request, unitID string) bool {
	for _, s := range r.Route.Stages {
		for _, at := range s.Places {
			if at.UnitID != "" && at.UnitID == unitID {
				return true
			}
		}
	}
	return false
}
