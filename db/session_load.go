package db

import (
	"context"
	"fmt"

	"quartermaster/internal/fault"
)

const noSession = "There is no such session."

// SessionPerson tells whose session it is and whether it is still open.
func (r reader) SessionPerson(ctx context.Context, id string) (personID string, open bool, err error) {
	if !isID(id) {
		return "", false, fault.New(fault.NotFound, noSession)
	}
	var row struct {
		PersonID string `db:"person_id"`
		Open     bool   `db:"open"`
	}
	err = r.get(ctx, &row, noSession, `SELECT s.person_id, s.ended_at IS NULL AS open FROM session_owner s WHERE s.id = $1`, id)
	if err != nil {
		return "", false, fmt.Errorf("load session: %w", err)
	}
	return row.PersonID, row.Open, nil
}

// TOTP returns the sealed keys of a person's second factor and the last step spent.
func (r reader) TOTP(ctx context.Context, personID string) (sealed, pending []byte, lastStep int64, err error) {
	if !isID(personID) {
		return nil, nil, 0, fault.New(fault.NotFound, noPerson)
	}
	var row struct {
		Sealed   []byte `db:"totp_sealed"`
		Pending  []byte `db:"totp_pending"`
		LastStep int64  `db:"totp_last_step"`
	}
	err = r.get(ctx, &row, noPerson, `SELECT p.totp_sealed, p.totp_pending, p.totp_last_step FROM person p WHERE p.id = $1`, personID)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("load second factor: %w", err)
	}
	return row.Sealed, row.Pending, row.LastStep, nil
}
