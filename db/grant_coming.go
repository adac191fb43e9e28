package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

// ComingOfPools sums, by pool, what was granted to places and is not enforced yet:
// the newest quota of each that runs or will run, less the limit that was last
// read. Grants are found through the lines of their requests, which are indexed by
// pool. A cut that was not pushed yet counts nothing: what is enforced is still held.
func (r reader) ComingOfPools(ctx context.Context, pools []string, except portal.PlaceKey, at time.Time) (map[string]fleet.Quantity, error) {
	var rows []struct {
		PoolID   string   `db:"pool_id"`
		Amount   quantity `db:"amount"`
		Enforced quantity `db:"enforced"`
	}
	err := r.all(ctx, &rows, `
		SELECT DISTINCT ON (g.pool_id, g.project_id, g.environment) g.pool_id, g.amount, coalesce(u.nominal, '0') AS enforced
		FROM request_line l
		JOIN grant_line g ON g.request_id = l.request_id AND g.pool_id = l.pool_id
		JOIN pool p ON p.id = g.pool_id
		LEFT JOIN binding b ON b.project_id = g.project_id AND b.environment = g.environment AND b.cluster_id = p.cluster_id
		LEFT JOIN usage_now u ON u.binding_id = b.id AND u.pool_id = g.pool_id
		WHERE l.pool_id = ANY($1) AND g.kind <> 'burst' AND (g.project_id, g.environment) <> ($2, $3)
		  AND (g.ends_at IS NULL OR g.ends_at > $4) AND NOT EXISTS (SELECT FROM grant_end e WHERE e.grant_id = g.id AND e.at <= $4)
		ORDER BY g.pool_id, g.project_id, g.environment, g.seq DESC`,
		pq.Array(pools), except.ProjectID, except.Environment, at)
	if err != nil {
		return nil, fmt.Errorf("load grants that are not enforced yet: %w", err)
	}
	out := map[string]fleet.Quantity{}
	for _, g := range rows {
		if more := g.Amount.Sub(g.Enforced.Quantity); more.Sign() > 0 {
			out[g.PoolID] = out[g.PoolID].Add(more)
		}
	}
	return out, nil
}
