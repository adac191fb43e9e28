package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fleet"
)

type workloadRecord struct {
	UID        string              `json:"uid"`
	Namespace  string              `json:"namespace"`
	Name       string              `json:"name"`
	Job        string              `json:"job"`
	LocalQueue string              `json:"local_queue"`
	Queue      string              `json:"queue"`
	Submitter  string              `json:"submitter"`
	State      fleet.WorkloadState `json:"state"`
	Reason     string              `json:"reason"`
	Message    string              `json:"message"`
	Amounts    []fleet.Amount      `json:"amounts"`
	Node       string              `json:"node"`
	CreatedAt  time.Time           `json:"created_at"`
	AdmittedAt *time.Time          `json:"admitted_at"`
	FinishedAt *time.Time          `json:"finished_at"`
}

// SaveWorkload keeps one change of one workload; gone = deleted on the cluster.
func (t *tx) SaveWorkload(ctx context.Context, clusterID string, w fleet.Workload, gone bool, at time.Time) error {
	err := t.upsertWorkloads(ctx, clusterID, []fleet.Workload{w}, at)
	if err == nil && gone {
		_, err = t.exec(ctx, `UPDATE workload SET gone_at = $3 WHERE cluster_id = $1 AND uid = $2 AND seen_at <= $3`, clusterID, w.UID, at)
	}
	if err != nil {
		return fmt.Errorf("save workload: %w", err)
	}
	return nil
}

// savePolledWorkloads keeps all workloads of a poll. One that waited or ran and is
// not among them any more is gone.
func (t *tx) savePolledWorkloads(ctx context.Context, clusterID string, o fleet.Observation) error {
	if !o.WorkloadsKnown {
		return nil
	}
	if err := t.upsertWorkloads(ctx, clusterID, o.Workloads, o.At); err != nil {
		return err
	}
	uids := make([]string, 0, len(o.Workloads))
	for _, w := range o.Workloads {
		uids = append(uids, w.UID)
	}
	_, err := t.exec(ctx, `
		UPDATE workload AS w SET gone_at = $3
		WHERE w.cluster_id = $1 AND w.gone_at IS NULL AND w.state IN ('pending', 'admitted') AND w.seen_at < $3
		  AND NOT EXISTS (SELECT FROM jsonb_array_elements_text($2) AS here (uid) WHERE here.uid = w.uid)`, clusterID, jsonOf(uids), o.At)
	return err
}

// upsertWorkloads writes only rows that differ, so that a poll of a quiet cluster
// costs no disk. What was seen later is never overwritten by what was seen earlier.
func (t *tx) upsertWorkloads(ctx context.Context, clusterID string, workloads []fleet.Workload, at time.Time) error {
	if len(workloads) == 0 {
		return nil
	}
	rows := make([]workloadRecord, 0, len(workloads))
	for _, w := range workloads {
		amounts := w.Amounts
		if amounts == nil {
			amounts = []fleet.Amount{}
		}
		rows = append(rows, workloadRecord{w.UID, w.Namespace, w.Name, w.Job, w.LocalQueue, w.Queue, w.Submitter, w.State, w.Reason, w.Message,
			amounts, w.Node, w.CreatedAt, w.AdmittedAt, w.FinishedAt})
	}
	_, err := t.exec(ctx, `
		INSERT INTO workload AS w (cluster_id, uid, namespace, name, job, local_queue, queue, submitter, state, reason, message, amounts, node, created_at, admitted_at, finished_at, seen_at)
		SELECT DISTINCT ON (x.uid) $1, x.uid, x.namespace, x.name, x.job, x.local_queue, x.queue, x.submitter, x.state, x.reason, x.message, x.amounts, x.node, x.created_at, x.admitted_at, x.finished_at, $3::timestamptz
		FROM jsonb_to_recordset($2) AS x (uid text, namespace text, name text, job text, local_queue text, queue text, submitter text, state text,
			reason text, message text, amounts jsonb, node text, created_at timestamptz, admitted_at timestamptz, finished_at timestamptz)
		ON CONFLICT (cluster_id, uid) DO UPDATE SET namespace = EXCLUDED.namespace, name = EXCLUDED.name, job = EXCLUDED.job,
			local_queue = EXCLUDED.local_queue, queue = EXCLUDED.queue, submitter = EXCLUDED.submitter, state = EXCLUDED.state,
			reason = EXCLUDED.reason, message = EXCLUDED.message, amounts = EXCLUDED.amounts, node = EXCLUDED.node,
			created_at = EXCLUDED.created_at, admitted_at = EXCLUDED.admitted_at, finished_at = EXCLUDED.finished_at,
			gone_at = NULL, seen_at = EXCLUDED.seen_at
		WHERE w.seen_at <= EXCLUDED.seen_at AND (w.gone_at IS NOT NULL OR
			(w.name, w.job, w.local_queue, w.queue, w.submitter, w.state, w.reason, w.message, w.amounts, w.node, w.admitted_at, w.finished_at)
			IS DISTINCT FROM (EXCLUDED.name, EXCLUDED.job, EXCLUDED.local_queue, EXCLUDED.queue, EXCLUDED.submitter, EXCLUDED.state, EXCLUDED.reason,
				EXCLUDED.message, EXCLUDED.amounts, EXCLUDED.node, EXCLUDED.admitted_at, EXCLUDED.finished_at))`, clusterID, jsonOf(rows), at)
	return err
}
