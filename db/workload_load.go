package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fleet"
)

type workloadRow struct {
	UID        string                   `db:"uid"`
	Namespace  string                   `db:"namespace"`
	Name       string                   `db:"name"`
	Job        string                   `db:"job"`
	LocalQueue string                   `db:"local_queue"`
	Queue      string                   `db:"queue"`
	Submitter  string                   `db:"submitter"`
	State      fleet.WorkloadState      `db:"state"`
	Reason     string                   `db:"reason"`
	Message    string                   `db:"message"`
	Amounts    document[[]fleet.Amount] `db:"amounts"`
	Node       string                   `db:"node"`
	CreatedAt  time.Time                `db:"created_at"`
	AdmittedAt *time.Time               `db:"admitted_at"`
	FinishedAt *time.Time               `db:"finished_at"`
}

func (w workloadRow) toDomain() fleet.Workload {
	return fleet.Workload{UID: w.UID, Namespace: w.Namespace, Name: w.Name, Job: w.Job, LocalQueue: w.LocalQueue, Queue: w.Queue,
		Submitter: w.Submitter, State: w.State, Reason: w.Reason, Message: w.Message, Amounts: *w.Amounts.Doc, Node: w.Node,
		CreatedAt: w.CreatedAt.UTC(), AdmittedAt: utc(w.AdmittedAt), FinishedAt: utc(w.FinishedAt)}
}

// Workloads of a namespace that wait or run, newest first.
func (r reader) Workloads(ctx context.Context, clusterID, namespace string, limit int) ([]fleet.Workload, error) {
	return r.workloads(ctx, selectWorkload+`
		WHERE w.cluster_id = $1 AND w.namespace = $2 AND w.state IN ('pending', 'admitted') AND w.gone_at IS NULL
		ORDER BY w.created_at DESC, w.uid LIMIT $3`, clusterID, namespace, pageSize(limit))
}

// PendingWorkloads of namespaces, longest waiting first.
func (r reader) PendingWorkloads(ctx context.Context, clusterID string, namespaces []string, limit int) ([]fleet.Workload, error) {
	return r.workloads(ctx, selectWorkload+`
		WHERE w.cluster_id = $1 AND w.namespace = ANY($2) AND w.state = 'pending' AND w.gone_at IS NULL
		ORDER BY w.created_at, w.uid LIMIT $3`, clusterID, pq.Array(namespaces), limit)
}

const selectWorkload = `
	SELECT w.uid, w.namespace, w.name, w.job, w.local_queue, w.queue, w.submitter, w.state, w.reason, w.message, w.amounts, w.node,
	       w.created_at, w.admitted_at, w.finished_at
	FROM workload w `

func (r reader) workloads(ctx context.Context, query string, args ...any) ([]fleet.Workload, error) {
	var rows []workloadRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load workloads: %w", err)
	}
	out := make([]fleet.Workload, 0, len(rows))
	for _, w := range rows {
		out = append(out, w.toDomain())
	}
	return out, nil
}
