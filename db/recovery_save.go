package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/portal"
)

// RecoveryCodes counts a person's codes in force and those of them not used yet.
func (r reader) RecoveryCodes(ctx context.Context, personID string) (portal.RecoveryCount, error) {
	if !isID(personID) {
		return portal.RecoveryCount{}, nil
	}
	var row struct {
		Made int        `db:"made"`
		Left int        `db:"remaining"`
		At   *time.Time `db:"made_at"`
	}
	err := r.get(ctx, &row, noPerson, `
		SELECT count(*) AS made, count(*) FILTER (WHERE c.used_at IS NULL) AS remaining, max(c.made_at) AS made_at
		FROM recovery_code c WHERE c.person_id = $1 AND c.retired_at IS NULL`, personID)
	if err != nil {
		return portal.RecoveryCount{}, fmt.Errorf("count recovery codes: %w", err)
	}
	return portal.RecoveryCount{Made: row.Made, Left: row.Left, At: row.At}, nil
}

// ReplaceRecoveryCodes retires a person's codes and keeps the digests of new ones.
func (t *tx) ReplaceRecoveryCodes(ctx context.Context, personID string, digests []string, at time.Time) error {
	_, err := t.exec(ctx, `UPDATE recovery_code SET retired_at = $2 WHERE person_id = $1 AND retired_at IS NULL`, personID, at)
	if err == nil {
		_, err = t.exec(ctx, `INSERT INTO recovery_code (person_id, digest, made_at) SELECT $1, d, $3 FROM unnest($2::text[]) AS d`, personID, pq.Array(digests), at)
	}
	if err != nil {
		return fmt.Errorf("replace recovery codes: %w", err)
	}
	return nil
}

// UseRecoveryCode marks a code as used; false when it is not one in force, or was used before.
func (t *tx) UseRecoveryCode(ctx context.Context, personID, digest string, at time.Time) (bool, error) {
	n, err := t.exec(ctx, `
		UPDATE recovery_code SET used_at = $3
		WHERE person_id = $1 AND digest = $2 AND used_at IS NULL AND retired_at IS NULL`, personID, digest, at)
	if err != nil {
		return false, fmt.Errorf("use recovery code: %w", err)
	}
	return n == 1, nil
}
