package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/portal"
	"quartermaster/internal/signin"
)

const noStepUp = "There is no such proof."

type stepUpRow struct {
	ID        string         `db:"id"`
	SessionID string         `db:"session_id"`
	PersonID  string         `db:"person_id"`
	By        string         `db:"proven_by"`
	Digests   pq.StringArray `db:"digests"`
	At        time.Time      `db:"at"`
	Spent     *time.Time     `db:"spent_at"`
}

func (r stepUpRow) toDomain() portal.StepUp {
	return portal.StepUp{ID: r.ID, SessionID: r.SessionID, PersonID: r.PersonID, By: signin.Proof(r.By), Digests: r.Digests, At: r.At, Spent: r.Spent}
}

const stepUpColumns = `s.id, s.session_id, s.person_id, s.proven_by, s.digests, s.at, s.spent_at`

// StepUp returns one proof of two factors.
func (r reader) StepUp(ctx context.Context, id string) (portal.StepUp, error) {
	if !isID(id) {
		return portal.StepUp{}, fault.New(fault.NotFound, noStepUp)
	}
	var row stepUpRow
	if err := r.get(ctx, &row, noStepUp, `SELECT `+stepUpColumns+` FROM step_up s WHERE s.id = $1`, id); err != nil {
		return portal.StepUp{}, fmt.Errorf("load step-up: %w", err)
	}
	return row.toDomain(), nil
}

// StepUpsOf returns the unspent proofs of a person's session since a moment, newest first.
func (r reader) StepUpsOf(ctx context.Context, personID, sessionID string, since time.Time) ([]portal.StepUp, error) {
	if !isID(personID) || sessionID == "" {
		return nil, nil
	}
	var rows []stepUpRow
	err := r.all(ctx, &rows, `
		SELECT `+stepUpColumns+` FROM step_up s
		WHERE s.session_id = $1 AND s.person_id = $2 AND s.at >= $3 AND s.spent_at IS NULL ORDER BY s.at DESC`, sessionID, personID, since)
	if err != nil {
		return nil, fmt.Errorf("load step-ups: %w", err)
	}
	out := make([]portal.StepUp, 0, len(rows))
	for _, row := range rows {
		out = append(out, row.toDomain())
	}
	return out, nil
}

// InsertStepUp keeps a proof of two factors.
func (t *tx) InsertStepUp(ctx context.Context, s portal.StepUp) error {
	_, err := t.exec(ctx, `INSERT INTO step_up (id, session_id, person_id, proven_by, digests, at) VALUES ($1, $2, $3, $4, $5, $6)`,
		s.ID, s.SessionID, s.PersonID, string(s.By), pq.Array(s.Digests), s.At)
	if err != nil {
		return fmt.Errorf("insert step-up: %w", err)
	}
	return nil
}

// SpendStepUp uses a proof up; false when it was before. Of two acts at once the
// second waits for the first one's transaction and then finds it spent.
func (t *tx) SpendStepUp(ctx context.Context, id string, at time.Time) (bool, error) {
	n, err := t.exec(ctx, `UPDATE step_up SET spent_at = $2 WHERE id = $1 AND spent_at IS NULL`, id, at)
	if err != nil {
		return false, fmt.Errorf("spend step-up: %w", err)
	}
	return n == 1, nil
}
