package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/request"
)

// DraftRequest stores a new draft. It may be incomplete, but what it points to has to exist.
func (p *Portal) DraftRequest(ctx context.Context, actor Actor, in DraftInput) (RequestRef, error) {
	id := p.NewID()
	refs := EntryRefs{ProjectID: in.Content.ProjectID}
	ref, err := once(ctx, p, actor, "draft", in.Key, in, func(ctx context.Context, tx Tx) (RequestRef, error) {
		at, err := p.askable(ctx, tx, actor, in.Content)
		if err != nil {
			return RequestRef{}, err
		}
		c := at.capture(in.Content, keepNone)
		c.Kind = request.Quota
		now := p.Now()
		r := request.Request{ID: id, State: request.Draft, TeamID: at.team.ID, RequesterID: actor.Person.ID, CorrectsID: in.CorrectsID, CreatedAt: now}
		if r, err = r.Edit(c, actor.Person.ID, now); err != nil {
			return RequestRef{}, err
		}
		if r.Number, err = tx.InsertRequest(ctx, r); err != nil {
			return RequestRef{}, fmt.Errorf("store a draft: %w", err)
		}
		a, _ := mayAsk(actor.Person, at.teamPlace())
		e := by(p.entry(actor, ledger.RequestDrafted, "request", id), a)
		e.Object.Revision, e.Object.Digest, e.After = fmt.Sprint(r.Revision.Number), r.Revision.Digest, r.Revision.Digest
		lineFacts(e.Facts, c)
		if _, err := tx.Append(ctx, e, refsOf(r, at.pools), openingsOf(actor, nil)); err != nil {
			return RequestRef{}, err
		}
		return refOf(r), nil
	})
	if err != nil {
		return RequestRef{}, p.refused(ctx, actor, ledger.RequestDrafted, "person", actor.Person.ID, refs, err)
	}
	return ref, nil
}

// askable loads the place of c and checks that actor may ask there and that c can be stored.
func (p *Portal) askable(ctx context.Context, r Reader, actor Actor, c request.Content) (place, error) {
	if c.ProjectID == "" {
		return place{}, fault.New(fault.Invalid, "Look at the fields that are marked.").At("project", "Choose a project.")
	}
	at, err := p.place(ctx, r, c)
	if fault.KindOf(err) == fault.NotFound {
		return at, fault.New(fault.Invalid, "Look at the fields that are marked.").At("project", "Choose a project.")
	}
	if err != nil {
		return at, err
	}
	if _, ok := mayAsk(actor.Person, at.teamPlace()); !ok {
		return at, cannotAsk(at)
	}
	return at, storable(ctx, r, actor, at, c).OrNil()
}

func refOf(r request.Request) RequestRef {
	return RequestRef{ID: r.ID, Number: r.Number, State: r.State, Revision: r.Revision.Number, Digest: r.Revision.Digest}
}

// refsOf are the search columns of an entry on r.
func refsOf(r request.Request, pools map[string]PoolState) EntryRefs {
	refs := EntryRefs{RequestID: r.ID, ProjectID: r.Revision.Content.ProjectID}
	clusters := map[string]bool{}
	for _, l := range r.Revision.Content.Lines {
		refs.PoolIDs = append(refs.PoolIDs, l.PoolID)
		if s, ok := pools[l.PoolID]; ok {
			clusters[s.ClusterID] = true
			refs.ClusterID = s.ClusterID
		}
	}
	if len(clusters) > 1 {
		refs.ClusterID = "" // several: found by pool
	}
	return refs
}

// lineFacts writes what each line asks into an entry, by pool.
func lineFacts(facts map[string]string, c request.Content) {
	facts["project"], facts["environment"] = c.ProjectID, c.Environment
	for _, l := range c.Lines {
		facts["asked."+l.PoolID] = l.Asked.String()
		facts["kind."+l.PoolID] = string(l.Kind)
		facts["current."+l.PoolID] = l.Current.String()
	}
}
