package db

import (
	"context"
	"fmt"
)

// JobsWaiting counts the jobs that are not finished, by River's state and queue,
// for the metrics. Finished ones are many and say nothing about now.
func (s *Store) JobsWaiting(ctx context.Context) (map[[2]string]int64, error) {
	var rows []struct {
		State, Queue string
		N            int64
	}
	err := s.db.SelectContext(ctx, &rows, `
		SELECT state::text AS state, queue, count(*) AS n FROM river_job
		WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled')
		GROUP BY state, queue`)
	if err != nil {
		return nil, fmt.Errorf("count jobs: %w", explain(ctx, err))
	}
	out := map[[2]string]int64{}
	for _, r := range rows {
		out[[2]string{r.State, r.Queue}] = r.N
	}
	return out, nil
}
