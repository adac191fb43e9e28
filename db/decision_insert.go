package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/approval"
	"quartermaster/internal/policy"
)

// InsertDecision stores one person's word; its reason is an opening of the entry.
func (t *tx) InsertDecision(ctx context.Context, d approval.Decision, entryID string) error {
	granted := d.Granted
	if granted == nil {
		granted = []approval.Granted{}
	}
	_, err := t.exec(ctx, `
		INSERT INTO decision (id, request_id, revision, digest, stage_key, person_id, identity, outcome, granted, factors, entry_id, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		d.ID, d.RequestID, d.Revision, d.Digest, d.StageKey, d.PersonID, d.Identity, d.Outcome, jsonOf(granted), pq.Array(notNil(d.Factors)), entryID, d.At)
	if err != nil {
		return fmt.Errorf("insert decision: %w", err)
	}
	return nil
}

// InsertComment stores who remarked when; the text is an opening of the entry.
func (t *tx) InsertComment(ctx context.Context, id, requestID, personID, entryID string, at time.Time) error {
	_, err := t.exec(ctx, `INSERT INTO comment (id, request_id, person_id, entry_id, at) VALUES ($1, $2, $3, $4, $5)`, id, requestID, personID, entryID, at)
	if err != nil {
		return fmt.Errorf("insert comment: %w", err)
	}
	return nil
}

type checkRecord struct {
	Policy   string          `json:"policy"`
	Version  string          `json:"version"`
	Title    string          `json:"title"`
	Severity policy.Severity `json:"severity"`
	Outcome  policy.Outcome  `json:"outcome"`
	Message  string          `json:"message"`
	Pool     string          `json:"pool"`
}

// InsertChecks keeps check results as they stood, in their order.
func (t *tx) InsertChecks(ctx context.Context, requestID, digest, phase string, results []policy.Result, at time.Time) error {
	rows := make([]checkRecord, 0, len(results))
	for _, c := range results {
		rows = append(rows, checkRecord{c.ID, c.Version, c.Title, c.Severity, c.Outcome, c.Message, c.PoolID})
	}
	_, err := t.exec(ctx, `
		INSERT INTO check_result (request_id, digest, phase, policy_id, version, title, severity, outcome, message, pool_id, at)
		SELECT $1, $2, $3, x.result->>'policy', x.result->>'version', x.result->>'title', x.result->>'severity', x.result->>'outcome',
		       x.result->>'message', x.result->>'pool', $5
		FROM jsonb_array_elements($4) WITH ORDINALITY AS x (result, n) ORDER BY x.n`, requestID, digest, phase, jsonOf(rows), at)
	if err != nil {
		return fmt.Errorf("insert checks: %w", err)
	}
	return nil
}
