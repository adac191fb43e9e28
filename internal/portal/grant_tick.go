package portal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"quartermaster/internal/ledger"
	"quartermaster/internal/request"
)

const (
	tickName = "grants"
	// tickOverlap is how far each tick looks back behind the last one: a grant whose
	// decision committed late, after its own start, is still found. What was handled
	// is marked, so that nothing is handled twice.
	tickOverlap = 10 * time.Minute
)

// GrantsDue reports whether a grant started or ended that no tick handled yet.
func (p *Portal) GrantsDue(ctx context.Context) (bool, error) {
	last, err := p.Store.TickedAt(ctx, tickName)
	if err != nil {
		return false, err
	}
	places, err := p.Store.GrantsDue(ctx, lookBack(last), p.Now())
	return len(places) > 0, err
}

func lookBack(last time.Time) time.Time {
	if last.IsZero() {
		return last
	}
	return last.Add(-tickOverlap)
}

// ends: its own end has come and nobody handled it.
func ends(g GrantRow, now time.Time) bool {
	return g.End != nil && !g.End.After(now) && g.EndCause == "" && g.Revoked == nil
}

func starts(g GrantRow, after, now time.Time) bool {
	return g.Start != nil && g.Start.After(g.MadeAt) && g.Start.After(after) && !g.Start.After(now) && (g.Revoked == nil || g.Revoked.After(*g.Start))
}

// TickGrants handles the starts and ends of grants since it last ran, however long ago
// that was. Each boundary is handled once: the tick holds a lock, and marks what it
// did in the same transaction as the changes that follow.
func (p *Portal) TickGrants(ctx context.Context) (int, error) {
	handled := 0
	err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		handled = 0
		last, err := tx.TickForUpdate(ctx, tickName)
		if err != nil {
			return err
		}
		now := p.Now()
		if now.Before(last) {
			return nil // a clock that went back
		}
		places, err := tx.GrantsDue(ctx, lookBack(last), now)
		if err != nil {
			return err
		}
		for _, place := range places {
			n, err := p.tickPlace(ctx, tx, place, lookBack(last), now)
			if err != nil {
				return fmt.Errorf("%s %s: %w", place.ProjectID, place.Environment, err)
			}
			handled += n
		}
		p.reached("grants.ticked.before")
		return tx.SaveTick(ctx, tickName, now)
	})
	if err != nil {
		return 0, fmt.Errorf("tick of grants: %w", err)
	}
	p.reached("grants.ticked.after")
	return handled, nil
}

// boundary is one start or end that was handled.
type boundary struct {
	grant GrantRow
	start bool
	at    time.Time
}

func (p *Portal) tickPlace(ctx context.Context, tx Tx, place PlaceKey, after, now time.Time) (int, error) {
	grants, err := tx.GrantsOfPlace(ctx, place.ProjectID, place.Environment)
	if err != nil {
		return 0, err
	}
	var done []boundary
	for _, g := range grants {
		if starts(g, after, now) {
			first, err := tx.StartGrant(ctx, g.ID, now)
			if err != nil {
				return 0, err
			}
			if first {
				done = append(done, boundary{g, true, *g.Start})
			}
		}
		if ends(g, now) {
			if err := tx.EndGrant(ctx, g.ID, "expired", *g.End); err != nil {
				return 0, err
			}
			done = append(done, boundary{g, false, *g.End})
		}
	}
	slices.SortStableFunc(done, func(a, b boundary) int { return a.at.Compare(b.at) })
	for _, b := range done {
		if err := p.recordBoundary(ctx, tx, b); err != nil {
			return 0, err
		}
	}
	if len(done) == 0 {
		return 0, nil
	}
	if err := p.moveWithGrants(ctx, tx, done, now); err != nil {
		return 0, err
	}
	// What the starting grants take over for good was ended when they were made, as of now.
	var taken []string
	for _, g := range grants {
		if g.EndCause == "superseded" && !runs(g, now) {
			taken = append(taken, g.RequestID)
		}
	}
	if err := p.takeOver(ctx, tx, jobActor("grant_tick"), unique(taken)); err != nil {
		return 0, err
	}
	return len(done), p.changesFor(ctx, tx, done)
}

func (p *Portal) recordBoundary(ctx context.Context, tx Tx, b boundary) error {
	t := ledger.GrantEnded
	if b.start {
		t = ledger.GrantStarted
	}
	e := p.entry(jobActor("grant_tick"), t, "grant", b.grant.ID)
	e.Facts["due"], e.Facts["pool"], e.Facts["amount"] = ledger.Time(b.at), b.grant.PoolID, b.grant.Amount.String()
	if !b.start {
		e.Facts["cause"] = "expired"
	}
	_, err := tx.Append(ctx, e, EntryRefs{RequestID: b.grant.RequestID, ProjectID: b.grant.ProjectID, PoolIDs: []string{b.grant.PoolID}}, nil)
	return err
}

// moveWithGrants moves the requests behind the boundaries: one whose grants all
// ended has expired, one that waited for its start is applied now.
func (p *Portal) moveWithGrants(ctx context.Context, tx Tx, done []boundary, now time.Time) error {
	for _, id := range requestsOf(done) {
		grants, err := tx.GrantsOfRequest(ctx, id)
		if err != nil {
			return err
		}
		over, inForce := true, false
		for _, g := range grants {
			over = over && (g.EndCause != "" || g.End != nil && !g.End.After(now))
			inForce = inForce || g.InForce(now)
		}
		switch {
		case over:
			err = p.moveRequest(ctx, tx, jobActor("grant_tick"), id, request.Expired, request.Approved, request.Scheduled, request.Applying, request.Active)
		case inForce:
			err = p.moveRequest(ctx, tx, jobActor("grant_tick"), id, request.Applying, request.Scheduled)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func requestsOf(done []boundary) []string {
	var ids []string
	for _, b := range done {
		if !slices.Contains(ids, b.grant.RequestID) {
			ids = append(ids, b.grant.RequestID)
		}
	}
	return ids
}

// changesFor plans one change for each binding that the boundaries concern.
func (p *Portal) changesFor(ctx context.Context, tx Tx, done []boundary) error {
	byCluster := map[string][]boundary{}
	for _, b := range done {
		pool, err := tx.Pool(ctx, b.grant.PoolID)
		if err != nil {
			return err
		}
		byCluster[pool.ClusterID] = append(byCluster[pool.ClusterID], b)
	}
	clusters := make([]string, 0, len(byCluster))
	for id := range byCluster {
		clusters = append(clusters, id)
	}
	slices.Sort(clusters)
	for _, id := range clusters {
		group := byCluster[id]
		place := group[0].grant
		binding, err := tx.BindingAt(ctx, place.ProjectID, place.Environment, id)
		if err != nil {
			return err // a grant is never made without one
		}
		refs := EntryRefs{RequestID: causeRequest(group), ProjectID: binding.ProjectID, ClusterID: id}
		for _, b := range group {
			refs.PoolIDs = append(refs.PoolIDs, b.grant.PoolID)
		}
		refs.PoolIDs = unique(refs.PoolIDs)
		if _, err := p.planChange(ctx, tx, jobActor("grant_tick"), binding, causeRequest(group), causeOf(group), nil, refs); err != nil {
			return err
		}
	}
	return nil
}

// causeRequest is the request whose page shows the change: one that starts rather
// than one that ends.
func causeRequest(group []boundary) string {
	return slices.MaxFunc(group, func(a, b boundary) int {
		if a.start != b.start {
			if a.start {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.grant.Seq, b.grant.Seq)
	}).grant.RequestID
}

func causeOf(group []boundary) string {
	var parts []string
	for _, b := range group {
		word := "end"
		if b.start {
			word = "start"
		}
		if !slices.Contains(parts, word) {
			parts = append(parts, word)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " and ") + " of a grant"
}
