package db

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"quartermaster/internal/org"
)

// held are the scopes in which somebody holds roles, as three columns.
type held struct{ roles, kinds, ids []string }

// waitingFor narrows f to what p could decide now. It repeats in SQL what
// approval.MayDecide says of one request; a test compares the two.
func (r reader) waitingFor(ctx context.Context, f *filter, p org.Person) (possible bool, err error) {
	if !p.Active || !isID(p.ID) || !isID(p.Identity) {
		return false, nil
	}
	var h held
	var units, teams, clusters, pools []string
	everywhere := false
	for _, a := range p.Roles {
		if a.Scope.Kind != org.Everywhere && a.Scope.ID == "" {
			continue
		}
		h.roles, h.kinds, h.ids = append(h.roles, string(a.Role)), append(h.kinds, string(a.Scope.Kind)), append(h.ids, a.Scope.ID)
		switch a.Scope.Kind {
		case org.Everywhere:
			everywhere = true
		case org.UnitScope:
			units = append(units, a.Scope.ID)
		case org.TeamScope:
			teams = append(teams, a.Scope.ID)
		case org.ClusterScope:
			clusters = append(clusters, a.Scope.ID)
		case org.PoolScope:
			pools = append(pools, a.Scope.ID)
		}
	}
	if len(h.roles) == 0 {
		return false, nil
	}
	// Linked accounts are the same human being.
	same := []string{}
	if err := r.all(ctx, &same, `SELECT p.id FROM person p WHERE p.identity = $1`, p.Identity); err != nil {
		return false, fmt.Errorf("load linked accounts: %w", err)
	}
	if !slices.Contains(same, p.ID) {
		same = append(same, p.ID)
	}

	f.and("r.stage_key <> '' AND r.waiting_role = ANY(?)", pq.Array(slices.Compact(slices.Sorted(slices.Values(h.roles)))))
	if !everywhere {
		// Starts from the few places somebody looks after, not from all that waits.
		f.and(`r.id IN (SELECT w.request_id FROM request_waiting_place w WHERE
			(w.team_id <> '' AND w.team_id = ANY(?)) OR (w.pool_id <> '' AND w.pool_id = ANY(?)) OR
			(w.unit_id <> '' AND w.unit_id = ANY(?)) OR (w.cluster_id <> '' AND w.cluster_id = ANY(?)))`,
			pq.Array(teams), pq.Array(pools), pq.Array(units), pq.Array(clusters))
	}
	// The role has to hold at every place of the stage; a stage without places is nobody's.
	// Asked row by row (as one value, not as a join), so that the oldest come straight from their index.
	f.and(`coalesce((SELECT bool_and(EXISTS (
			SELECT FROM unnest(?::text[], ?::text[], ?::text[]) AS h (role, kind, id)
			WHERE h.role = r.waiting_role AND CASE h.kind
				WHEN 'organisation' THEN true
				WHEN 'unit' THEN h.id = w.unit_id
				WHEN 'team' THEN h.id = w.team_id
				WHEN 'cluster' THEN h.id = w.cluster_id
				WHEN 'pool' THEN h.id = w.pool_id
				ELSE false END))
		FROM request_waiting_place w WHERE w.request_id = r.id), false)`, pq.Array(h.roles), pq.Array(h.kinds), pq.Array(h.ids))
	// Separation of duties.
	f.and(`r.requester_id <> ALL(?::uuid[]) AND (r.beneficiary_id IS NULL OR r.beneficiary_id <> ALL(?::uuid[])) AND NOT r.editor_ids && ?::uuid[]`,
		pq.Array(same), pq.Array(same), pq.Array(same))
	// Asked row by row, by its index: as NOT EXISTS, PostgreSQL joins with all decisions there are.
	f.and(`NOT coalesce((SELECT bool_or(d.identity = ? OR d.person_id = ?) FROM decision d WHERE d.request_id = r.id AND d.digest = r.digest), false)`, p.Identity, p.ID)
	return true, nil
}

// CountWaiting counts what p could decide now, up to limit.
func (r reader) CountWaiting(ctx context.Context, p org.Person, limit int) (int, error) {
	var f filter
	possible, err := r.waitingFor(ctx, &f, p)
	if err != nil || !possible {
		return 0, err
	}
	var n int
	query := `SELECT count(*) FROM (SELECT FROM request r WHERE true` + string(f.conditions) + ` LIMIT ?) waiting`
	if err := r.get(ctx, &n, "", sqlx.Rebind(sqlx.DOLLAR, query), append(f.args, limit)...); err != nil {
		return 0, fmt.Errorf("count waiting requests: %w", err)
	}
	return n, nil
}
