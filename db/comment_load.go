package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/policy"
	"quartermaster/internal/portal"
)

// Comments on a request, oldest first.
func (r reader) Comments(ctx context.Context, requestID string) ([]portal.Comment, error) {
	if !isID(requestID) {
		return nil, fault.New(fault.NotFound, noRequest)
	}
	var rows []struct {
		ID         string    `db:"id"`
		PersonID   string    `db:"person_id"`
		PersonName string    `db:"person_name"`
		Text       *string   `db:"text"`
		EntryID    string    `db:"entry_id"`
		At         time.Time `db:"at"`
	}
	err := r.all(ctx, &rows, `
		SELECT c.id, c.person_id, p.name AS person_name, o.text, c.entry_id, c.at
		FROM comment c JOIN person p ON p.id = c.person_id LEFT JOIN ledger_opening o ON o.entry_id = c.entry_id AND o.name = $2
		WHERE c.request_id = $1 ORDER BY c.at, c.id`, requestID, portal.OpeningText)
	if err != nil {
		return nil, fmt.Errorf("load comments: %w", err)
	}
	out := make([]portal.Comment, 0, len(rows))
	for _, c := range rows {
		one := portal.Comment{ID: c.ID, PersonID: c.PersonID, PersonName: c.PersonName, EntryID: c.EntryID, Erased: c.Text == nil, At: c.At.UTC()}
		if c.Text != nil {
			one.Text = *c.Text
		}
		out = append(out, one)
	}
	return out, nil
}

// Checks kept of a request, oldest first.
func (r reader) Checks(ctx context.Context, requestID string) ([]portal.KeptCheck, error) {
	if !isID(requestID) {
		return nil, fault.New(fault.NotFound, noRequest)
	}
	var rows []struct {
		Digest   string          `db:"digest"`
		Phase    string          `db:"phase"`
		Policy   string          `db:"policy_id"`
		Version  string          `db:"version"`
		Title    string          `db:"title"`
		Severity policy.Severity `db:"severity"`
		Outcome  policy.Outcome  `db:"outcome"`
		Message  string          `db:"message"`
		PoolID   string          `db:"pool_id"`
		At       time.Time       `db:"at"`
	}
	err := r.all(ctx, &rows, `
		SELECT c.digest, c.phase, c.policy_id, c.version, c.title, c.severity, c.outcome, c.message, c.pool_id, c.at
		FROM check_result c WHERE c.request_id = $1 ORDER BY c.id`, requestID)
	if err != nil {
		return nil, fmt.Errorf("load checks: %w", err)
	}
	out := make([]portal.KeptCheck, 0, len(rows))
	for _, c := range rows {
		out = append(out, portal.KeptCheck{Digest: c.Digest, Phase: c.Phase, At: c.At.UTC(),
			Result: policy.Result{ID: c.Policy, Version: c.Version, Title: c.Title, Severity: c.Severity, Outcome: c.Outcome, Message: c.Message, PoolID: c.PoolID}})
	}
	return out, nil
}
