package portal

import (
	"context"

	"quartermaster/internal/fault"
	"quartermaster/internal/org"
)

// manages is nil when actor may change how the portal treats a cluster ("" = one not
// connected yet), with the assignment by which. The command line acts as the system.
func (p *Portal) manages(actor Actor, clusterID string) (org.Assignment, error) {
	if actor.System != "" {
		return org.Assignment{}, nil
	}
	if a, ok := actor.Person.Holding(org.PlatformAdmin, org.Place{ClusterID: clusterID}); ok && actor.Person.Active {
		return a, nil
	}
	return org.Assignment{}, fault.New(fault.Forbidden, "Clusters are managed by platform admins. One of them can map you to that role.")
}

// mayWrite says by which assignment actor may change what is written to a cluster.
type mayWrite func(ctx context.Context, r Reader, actor Actor, clusterID string) (org.Assignment, error)

// enforces: that limits become true on a cluster is decided by whoever answers for all of its pools.
func (p *Portal) enforces(ctx context.Context, r Reader, actor Actor, clusterID string) (org.Assignment, error) {
	if actor.System != "" {
		return org.Assignment{}, nil
	}
	if a, ok := actor.Person.Holding(org.CapacityManager, org.Place{ClusterID: clusterID}); ok && actor.Person.Active {
		return a, nil
	}
	all, err := r.Pools(ctx)
	if err != nil {
		return org.Assignment{}, err
	}
	var pools []PoolState
	for _, s := range all {
		if s.ClusterID == clusterID {
			pools = append(pools, s)
		}
	}
	if a, err := p.mayRestart(actor, pools); err == nil {
		return a, nil
	}
	return org.Assignment{}, fault.New(fault.Forbidden, "Enforcing is decided by a capacity manager of the cluster's pools.")
}

// steers: to write less is open to those who connect clusters as well.
func (p *Portal) steers(ctx context.Context, r Reader, actor Actor, clusterID string) (org.Assignment, error) {
	if a, err := p.manages(actor, clusterID); err == nil {
		return a, nil
	}
	if a, err := p.enforces(ctx, r, actor, clusterID); err == nil || fault.KindOf(err) == "" {
		return a, err
	}
	return org.Assignment{}, fault.New(fault.Forbidden, "What is written to a cluster is changed by platform admins and by capacity managers of its pools.")
}

// seesClusters: clusters are the business of those whose work is the whole.
func seesClusters(actor Actor) error {
	if actor.System != "" || actor.Person.SeesEverything() {
		return nil
	}
	return fault.New(fault.Forbidden, "The pages of clusters are for capacity managers, platform admins, compliance, auditors and finance.")
}

// placeOfPool is where a pool is, for roles that hold on it.
func placeOfPool(s PoolState) org.Place { return org.Place{ClusterID: s.ClusterID, PoolID: s.ID} }

// teamsOf are the ids of the teams whose projects actor may see; nil = all.
func teamsOf(actor Actor) []string {
	ids, all := actor.Person.Teams()
	if all || actor.System != "" {
		return nil
	}
	if ids == nil {
		ids = []string{}
	}
	return ids
}

// teamNames by id.
func teamNames(ctx context.Context, r Reader) (map[string]string, []org.Team, error) {
	teams, err := r.Teams(ctx)
	if err != nil {
		return nil, nil, err
	}
	names := make(map[string]string, len(teams))
	for _, t := range teams {
		names[t.ID] = t.Name
	}
	return names, teams, nil
}
