package db

import (
	"context"
	"encoding/json"
	"fmt"

	"quartermaster/internal/fault"
)

// Replay returns what came of the person's key. It first waits for a transaction
// that works under the same key, so that of two clicks at once the second finds
// the first one's result.
func (t *tx) Replay(ctx context.Context, personID, key, useCase string) (json.RawMessage, bool, error) {
	if _, err := t.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 1))`, personID+"\x1f"+key); err != nil {
		return nil, false, fmt.Errorf("wait for the same key: %w", err)
	}
	var rows []struct {
		UseCase string `db:"use_case"`
		Result  string `db:"result"`
	}
	err := t.all(ctx, &rows, `SELECT i.use_case, i.result FROM idempotency i WHERE i.person_id = $1 AND i.key = $2`, personID, key)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	if rows[0].UseCase != useCase {
		return nil, false, fault.New(fault.Conflict, "This form was sent before, for something else. Load the page again.")
	}
	return json.RawMessage(rows[0].Result), true, nil
}

// SaveReplay keeps the result under the person's key.
func (t *tx) SaveReplay(ctx context.Context, personID, key, useCase string, result any) error {
	_, err := t.exec(ctx, `INSERT INTO idempotency (person_id, key, use_case, result, at) VALUES ($1, $2, $3, $4, now())`,
		personID, key, useCase, jsonOf(result))
	if err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	return nil
}
