package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/portal"
)

// InsertSession names a session that begins, so that a logout can find it.
func (t *tx) InsertSession(ctx context.Context, id, personID, providerSession string, at time.Time) error {
	_, err := t.exec(ctx, `INSERT INTO session_owner (id, person_id, provider_sid, created_at) VALUES ($1, $2, $3, $4)`, id, personID, providerSession, at)
	if err != nil {
		return fmt.Errorf("insert session: %w", err)
	}
	return nil
}

// EndSession closes one session; false when it was closed before or never there.
func (t *tx) EndSession(ctx context.Context, id string, at time.Time) (bool, error) {
	if !isID(id) {
		return false, nil
	}
	n, err := t.exec(ctx, `UPDATE session_owner SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL`, id, at)
	if err != nil {
		return false, fmt.Errorf("end session: %w", err)
	}
	return n == 1, nil
}

// EndSessionsOf closes the open sessions that a provider names: of subject, of its
// session providerSession, or of both. Naming neither closes nothing.
func (t *tx) EndSessionsOf(ctx context.Context, issuer, subject, providerSession string, at time.Time) ([]portal.EndedSession, error) {
	if subject == "" && providerSession == "" {
		return nil, nil
	}
	var rows []struct {
		ID       string `db:"id"`
		PersonID string `db:"person_id"`
	}
	err := t.all(ctx, &rows, `
		UPDATE session_owner AS s SET ended_at = $4 FROM person p
		WHERE p.id = s.person_id AND p.issuer = $1 AND s.ended_at IS NULL
		  AND ($2 = '' OR p.subject = $2) AND ($3 = '' OR s.provider_sid = $3)
		RETURNING s.id, s.person_id`, issuer, subject, providerSession, at)
	if err != nil {
		return nil, fmt.Errorf("end sessions: %w", err)
	}
	ids := make([]string, 0, len(rows))
	for _, s := range rows {
		ids = append(ids, s.PersonID)
	}
	people, err := t.PeopleByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	ended := make([]portal.EndedSession, 0, len(rows))
	for _, s := range rows {
		ended = append(ended, portal.EndedSession{ID: s.ID, Person: people[s.PersonID]})
	}
	return ended, nil
}

// FirstLogout remembers the id of a logout token; false when it was seen before.
// Those that expired are forgotten: a provider's token is refused by its time then.
func (t *tx) FirstLogout(ctx context.Context, tokenID string, until time.Time) (bool, error) {
	n, err := t.exec(ctx, `INSERT INTO logout_token (jti, expires) VALUES ($1, $2) ON CONFLICT DO NOTHING`, tokenID, until)
	if err == nil {
		_, err = t.exec(ctx, `DELETE FROM logout_token l WHERE l.expires < now() - interval '1 day' AND l.jti <> $1`, tokenID)
	}
	if err != nil {
		return false, fmt.Errorf("remember logout token: %w", err)
	}
	return n == 1, nil
}

// ProposeTOTP keeps pending unless one is kept already, and returns the one that is:
// two open tabs show one key.
func (t *tx) ProposeTOTP(ctx context.Context, personID string, pending []byte) ([]byte, error) {
	var kept []byte
	err := t.get(ctx, &kept, noPerson, `UPDATE person SET totp_pending = coalesce(totp_pending, $2) WHERE id = $1 RETURNING totp_pending`, personID, pending)
	if err != nil {
		return nil, fmt.Errorf("propose second factor: %w", err)
	}
	return kept, nil
}

// ConfirmTOTP makes the pending key the person's, with step spent; false when
// there is none. A key in use is never replaced this way, only by
// ReplaceTOTP.
func (t *tx) ConfirmTOTP(ctx context.Context, personID string, step int64) (bool, error) {
	n, err := t.exec(ctx, `
		UPDATE person SET totp_sealed = totp_pending, totp_pending = NULL, totp_last_step = $2
		WHERE id = $1 AND totp_pending IS NOT NULL AND totp_sealed IS NULL`, personID, step)
	if err != nil {
		return false, fmt.Errorf("confirm second factor: %w", err)
	}
	return n == 1, nil
}

// ReplaceTOTP makes the pending key the person's in place of the one in force; false
// without a pending one. Its caller used up a proof for exactly that.
func (t *tx) ReplaceTOTP(ctx context.Context, personID string, step int64) (bool, error) {
	n, err := t.exec(ctx, `
		UPDATE person SET totp_sealed = totp_pending, totp_pending = NULL, totp_last_step = greatest(totp_last_step, $2)
		WHERE id = $1 AND totp_pending IS NOT NULL AND totp_sealed IS NOT NULL`, personID, step)
	if err != nil {
		return false, fmt.Errorf("replace second factor: %w", err)
	}
	return n == 1, nil
}

// RenewPendingTOTP keeps a new pending key over whatever was pending.
func (t *tx) RenewPendingTOTP(ctx context.Context, personID string, pending []byte) error {
	if _, err := t.exec(ctx, `UPDATE person SET totp_pending = $2 WHERE id = $1`, personID, pending); err != nil {
		return fmt.Errorf("propose second factor: %w", err)
	}
	return nil
}

// SpendTOTP marks a step as used; false unless it is newer than the last one. Two
// uses of one code at once cannot both succeed: the row is locked by the first.
func (t *tx) SpendTOTP(ctx context.Context, personID string, step int64) (bool, error) {
	n, err := t.exec(ctx, `UPDATE person SET totp_last_step = $2 WHERE id = $1 AND totp_last_step < $2`, personID, step)
	if err != nil {
		return false, fmt.Errorf("spend second factor: %w", err)
	}
	return n == 1, nil
}
