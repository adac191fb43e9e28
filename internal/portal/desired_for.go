package portal

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
)

// DesiredFor is what a binding must look like at the given time, from its
// baseline and the grants in force then. RequestID and RequestURL name the newest
// grant that counts; whoever pushes for another request overwrites them.
func (p *Portal) DesiredFor(ctx context.Context, r Reader, bindingID string, at time.Time) (fleet.Desired, error) {
	b, err := r.Binding(ctx, bindingID)
	if err != nil {
		return fleet.Desired{}, err
	}
	grants, err := r.GrantsOfPlace(ctx, b.ProjectID, b.Environment)
	if err != nil {
		return fleet.Desired{}, fmt.Errorf("grants of %s %s: %w", b.ProjectID, b.Environment, err)
	}
	bases, err := r.Baselines(ctx, b.ID)
	if err != nil {
		return fleet.Desired{}, fmt.Errorf("baselines of binding %s: %w", b.ID, err)
	}
	pools, err := r.Pools(ctx)
	if err != nil {
		return fleet.Desired{}, fmt.Errorf("pools: %w", err)
	}
	d := desiredOf(b, bases, grants, pools, at)
	if id := newestGrant(grants, pools, b.ClusterID, at); id != "" {
		req, err := r.Request(ctx, id)
		if err != nil {
			return fleet.Desired{}, fmt.Errorf("request of the newest grant: %w", err)
		}
		d.RequestID, d.RequestURL = req.ID, p.requestURL(req.Number)
	}
	return d, nil
}

// desiredOf puts the rows together; grants may hold ones that do not exist yet.
func desiredOf(b fleet.Binding, bases map[string]fleet.Base, grants []GrantRow, pools []PoolState, at time.Time) fleet.Desired {
	of := map[string][]fleet.Grant{}
	for _, g := range grants {
		of[g.PoolID] = append(of[g.PoolID], g.Grant)
	}
	var terms []fleet.PoolTerms
	for _, s := range pools {
		base, based := bases[s.ID]
		if s.ClusterID != b.ClusterID || (!based && len(of[s.ID]) == 0) {
			continue
		}
		if !based {
			base = emptyBase()
		}
		base.Ceiling = s.BorrowCeiling
		terms = append(terms, fleet.PoolTerms{Key: s.Key, Base: base, Grants: of[s.ID], CPUPerUnit: s.CPUPerUnit, MemoryPerUnit: s.MemoryPerUnit})
	}
	return fleet.DesiredAt(at, b, terms)
}

// emptyBase is what a new binding starts from: nothing of its own and nothing borrowed.
func emptyBase() fleet.Base {
	none := fleet.Quantity{}
	return fleet.Base{Borrowing: &none}
}

// newestGrant is the request of the newest grant on the cluster that is in force,
// or of the newest at all.
func newestGrant(grants []GrantRow, pools []PoolState, clusterID string, at time.Time) string {
	on := map[string]bool{}
	for _, s := range pools {
		on[s.ID] = s.ClusterID == clusterID
	}
	var inForce, any GrantRow
	for _, g := range grants {
		if !on[g.PoolID] {
			continue
		}
		if g.Seq >= any.Seq {
			any = g
		}
		if g.InForce(at) && g.Seq >= inForce.Seq {
			inForce = g
		}
	}
	if inForce.RequestID != "" {
		return inForce.RequestID
	}
	return any.RequestID
}

func (p *Portal) requestURL(number int64) string {
	return p.BaseURL + paths.Request(strconv.FormatInt(number, 10))
}
