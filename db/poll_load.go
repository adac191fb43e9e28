package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/portal"
)

// Polls of a cluster, newest first.
func (r reader) Polls(ctx context.Context, clusterID string, limit int) ([]portal.Poll, error) {
	var rows []struct {
		At      time.Time `db:"at"`
		OK      bool      `db:"ok"`
		TookMS  int64     `db:"took_ms"`
		Problem string    `db:"problem"`
	}
	err := r.all(ctx, &rows, `SELECT p.at, p.ok, p.took_ms, p.problem FROM poll p WHERE p.cluster_id = $1 ORDER BY p.id DESC LIMIT $2`,
		clusterID, pageSize(limit))
	if err != nil {
		return nil, fmt.Errorf("load polls: %w", err)
	}
	out := make([]portal.Poll, 0, len(rows))
	for _, p := range rows {
		out = append(out, portal.Poll{At: p.At.UTC(), OK: p.OK, Took: time.Duration(p.TookMS) * time.Millisecond, Problem: p.Problem})
	}
	return out, nil
}

// PollTimes says when each cluster was last polled, well or not; nil = never.
func (r reader) PollTimes(ctx context.Context) (map[string]*time.Time, error) {
	var rows []struct {
		ID string     `db:"id"`
		At *time.Time `db:"last_poll_at"`
	}
	if err := r.all(ctx, &rows, `SELECT c.id, c.last_poll_at FROM cluster c`); err != nil {
		return nil, fmt.Errorf("load poll times: %w", err)
	}
	out := make(map[string]*time.Time, len(rows))
	for _, c := range rows {
		out[c.ID] = utc(c.At)
	}
	return out, nil
}
