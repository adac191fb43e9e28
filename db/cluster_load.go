package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

const noCluster = "There is no such cluster."

type clusterRow struct {
	ID          string                      `db:"id"`
	Name        string                      `db:"name"`
	Kind        fleet.Kind                  `db:"kind"`
	RootCohort  string                      `db:"root_cohort"`
	Mode        fleet.Mode                  `db:"mode"`
	Paused      bool                        `db:"paused"`
	Server      string                      `db:"server"`
	HasToken    bool                        `db:"has_token"`
	TokenSetAt  *time.Time                  `db:"token_set_at"`
	Discovery   document[fleet.Discovery]   `db:"discovery"`
	Observation document[fleet.Observation] `db:"observation"`
	LastPollAt  *time.Time                  `db:"last_poll_at"`
	LastGoodAt  *time.Time                  `db:"last_good_at"`
	Problem     string                      `db:"last_problem"`
	CreatedAt   time.Time                   `db:"created_at"`
}

func (c clusterRow) toDomain() portal.Cluster {
	return portal.Cluster{Cluster: org.Cluster{ID: c.ID, Name: c.Name, Kind: c.Kind, RootCohort: c.RootCohort}, Mode: c.Mode, Paused: c.Paused,
		Server: c.Server, HasToken: c.HasToken, TokenSetAt: utc(c.TokenSetAt), Discovery: c.Discovery.Doc, Observation: c.Observation.Doc,
		LastPollAt: utc(c.LastPollAt), LastGoodAt: utc(c.LastGoodAt), Problem: c.Problem, CreatedAt: c.CreatedAt.UTC()}
}

const clusterColumns = `c.id, c.name, c.kind, c.root_cohort, c.mode, c.paused, c.server, c.token_sealed IS NOT NULL AS has_token, c.token_set_at,
		c.last_poll_at, c.last_good_at, c.last_problem, c.created_at`

// Clusters by name. What grows with a cluster is left out: queues and quotas of
// the discovery, and the whole observation. Cluster has them.
func (r reader) Clusters(ctx context.Context) ([]portal.Cluster, error) {
	var rows []clusterRow
	err := r.all(ctx, &rows, `SELECT `+clusterColumns+`, c.discovery - 'queues' - 'quotas' AS discovery FROM cluster c ORDER BY c.name, c.id`)
	if err != nil {
		return nil, fmt.Errorf("load clusters: %w", err)
	}
	out := make([]portal.Cluster, 0, len(rows))
	for _, c := range rows {
		out = append(out, c.toDomain())
	}
	return out, nil
}

// Cluster by id.
func (r reader) Cluster(ctx context.Context, id string) (portal.Cluster, error) {
	var row clusterRow
	if err := r.get(ctx, &row, noCluster, `SELECT `+clusterColumns+`, c.discovery, c.observation FROM cluster c WHERE c.id = $1`, id); err != nil {
		return portal.Cluster{}, fmt.Errorf("load cluster: %w", err)
	}
	return row.toDomain(), nil
}

// ClusterToken returns the sealed token.
func (r reader) ClusterToken(ctx context.Context, id string) ([]byte, error) {
	var sealed []byte
	if err := r.get(ctx, &sealed, noCluster, `SELECT c.token_sealed FROM cluster c WHERE c.id = $1`, id); err != nil {
		return nil, fmt.Errorf("load cluster token: %w", err)
	}
	if sealed == nil {
		return nil, fault.New(fault.NotFound, "This cluster has no token. A platform admin connects it under Clusters.")
	}
	return sealed, nil
}
