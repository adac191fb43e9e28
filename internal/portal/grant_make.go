package portal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/request"
)

// makeGrants turns a fully approved request into grants, ends those that the new
// ones take over for good, makes sure that each cluster has a binding, and plans one change a
// binding for what is in force at once. What starts later is scheduled: the limits
// at a time follow from the grants, so nothing else has to be remembered.
func (p *Portal) makeGrants(ctx context.Context, tx Tx, actor Actor, r request.Request, at place, base seenLimits) (request.Request, []string, error) {
	c, now := r.Revision.Content, p.Now()
	refs := refsOf(r, at.pools)
	existing, err := tx.GrantsOfPlace(ctx, c.ProjectID, c.Environment)
	if err != nil {
		return r, nil, fmt.Errorf("grants of %s %s: %w", c.ProjectID, c.Environment, err)
	}
	pools := map[string][]string{} // by cluster
	var clusters []string
	starting := map[string]bool{} // clusters on which something is in force at once
	var taken []string            // requests that may be taken over
	for i, g := range r.Granted() {
		row := grantRow(p.NewID(), r, i, g, now)
		if row.Seq, err = tx.InsertGrant(ctx, row); err != nil {
			return r, nil, fmt.Errorf("store a grant: %w", err)
		}
		e := p.entry(actor, ledger.GrantMade, "grant", row.ID)
		e.Object.Digest = r.Revision.Digest
		grantFacts(e.Facts, row)
		if _, err := tx.Append(ctx, e, refs, nil); err != nil {
			return r, nil, err
		}
		ended, err := p.supersede(ctx, tx, actor, row, existing, now)
		if err != nil {
			return r, nil, err
		}
		taken = append(taken, ended...)
		cluster := at.pools[g.PoolID].ClusterID
		if _, seen := pools[cluster]; !seen {
			clusters = append(clusters, cluster)
		}
		pools[cluster] = append(pools[cluster], g.PoolID)
		starting[cluster] = starting[cluster] || row.InForce(now)
	}
	var changes []string
	for _, cluster := range clusters {
		b, err := p.ensureBinding(ctx, tx, actor, at.project, c.Environment, cluster, pools[cluster], refs)
		if err != nil {
			return r, nil, err
		}
		if !starting[cluster] {
			continue
		}
		change, err := p.planChange(ctx, tx, actor, b, r.ID, fmt.Sprintf("request %d approved", r.Number), base[cluster], refs)
		if err != nil {
			return r, nil, err
		}
		changes = append(changes, change.ID)
	}
	if err := p.takeOver(ctx, tx, actor, unique(taken)); err != nil {
		return r, nil, err
	}
	next := request.Scheduled
	if len(changes) > 0 {
		next = request.Applying
	}
	r, err = p.move(ctx, tx, actor, r, next, refs)
	return r, changes, err
}

// move takes r to a state and records it; the caller saves r.
func (p *Portal) move(ctx context.Context, tx Tx, actor Actor, r request.Request, to request.State, refs EntryRefs) (request.Request, error) {
	from := r.State
	r, err := r.To(to, p.Now())
	if err != nil {
		return r, err
	}
	e := p.entry(actor, ledger.RequestState, "request", r.ID)
	e.Object.Revision, e.Object.Digest = fmt.Sprint(r.Revision.Number), r.Revision.Digest
	e.Facts["from"], e.Facts["to"] = string(from), string(to)
	_, err = tx.Append(ctx, e, refs, nil)
	return r, err
}

// grantRow is what g gives of line i of r. Seq is given by the store.
func grantRow(id string, r request.Request, i int, g approval.Granted, now time.Time) GrantRow {
	c := r.Revision.Content
	return GrantRow{
		Grant: fleet.Grant{ID: id, RequestID: r.ID, PoolID: g.PoolID, Kind: fleet.GrantKind(c.Lines[i].Kind),
			Amount: g.Amount, Start: g.Start, End: g.End},
		ProjectID: c.ProjectID, Environment: c.Environment, Asked: c.Lines[i].Asked, Digest: r.Revision.Digest, MadeAt: now,
	}
}

func grantFacts(facts map[string]string, g GrantRow) {
	facts["pool"], facts["kind"], facts["amount"], facts["asked"] = g.PoolID, string(g.Kind), g.Amount.String(), g.Asked.String()
	facts["project"], facts["environment"], facts["request"] = g.ProjectID, g.Environment, g.RequestID
	if g.Start != nil {
		facts["start"] = ledger.Time(*g.Start)
	}
	if g.End != nil {
		facts["end"] = ledger.Time(*g.End)
	}
}

// supersede ends those grants that g takes over for good. One that outlasts g is
// left alone: it counts again when g ends. Bursts add up and take nothing over.
func (p *Portal) supersede(ctx context.Context, tx Tx, actor Actor, g GrantRow, existing []GrantRow, now time.Time) ([]string, error) {
	if g.Kind == fleet.BurstGrant {
		return nil, nil
	}
	from := now
	if g.Start != nil && g.Start.After(now) {
		from = *g.Start
	}
	var requests []string
	for _, old := range existing {
		over := old.End != nil && !old.End.After(from)
		outlasts := g.End != nil && (old.End == nil || old.End.After(*g.End))
		if old.PoolID != g.PoolID || old.Kind == fleet.BurstGrant || old.Revoked != nil || over || outlasts {
			continue
		}
		if err := tx.EndGrant(ctx, old.ID, "superseded", from); err != nil {
			return nil, fmt.Errorf("end grant %s: %w", old.ID, err)
		}
		e := p.entry(actor, ledger.GrantEnded, "grant", old.ID)
		grantFacts(e.Facts, old)
		e.Facts["cause"], e.Facts["by"], e.Facts["from"] = "superseded", g.ID, ledger.Time(from)
		refs := EntryRefs{RequestID: old.RequestID, ProjectID: old.ProjectID, PoolIDs: []string{old.PoolID}}
		if _, err := tx.Append(ctx, e, refs, nil); err != nil {
			return nil, err
		}
		if !from.After(now) {
			requests = append(requests, old.RequestID)
		}
	}
	return requests, nil
}

// takeOver marks those requests superseded of which no grant runs any more.
func (p *Portal) takeOver(ctx context.Context, tx Tx, actor Actor, ids []string) error {
	slices.Sort(ids) // one order of locks
	now := p.Now()
	for _, id := range ids {
		grants, err := tx.GrantsOfRequest(ctx, id)
		if err != nil {
			return fmt.Errorf("grants of request %s: %w", id, err)
		}
		if slices.ContainsFunc(grants, func(g GrantRow) bool { return runs(g, now) }) {
			continue
		}
		old, err := tx.RequestForUpdate(ctx, id)
		if err != nil {
			return err
		}
		moved, err := p.move(ctx, tx, actor, old, request.Superseded, refsOf(old, nil))
		if fault.KindOf(err) == fault.Conflict {
			continue // it is over already
		}
		if err != nil {
			return err
		}
		if err := tx.SaveRequest(ctx, moved); err != nil {
			return err
		}
	}
	return nil
}

// runs reports whether g counts now or will.
func runs(g GrantRow, now time.Time) bool {
	return (g.End == nil || g.End.After(now)) && (g.Revoked == nil || g.Revoked.After(now))
}
