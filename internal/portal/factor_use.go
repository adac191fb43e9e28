package portal

import (
	"context"
	"strconv"
	"time"

	"quartermaster/internal/ledger"
	"quartermaster/internal/signin"
)

func factorContext(personID string) string { return "totp:" + personID }

// TOTPOf returns a person's confirmed second-factor key, "" without one, and the last step spent.
func (p *Portal) TOTPOf(ctx context.Context, personID string) (secret string, lastStep int64, err error) {
	sealed, _, lastStep, err := p.Store.TOTP(ctx, personID)
	if err != nil || sealed == nil {
		return "", lastStep, err
	}
	plain, err := p.Open(sealed, factorContext(personID))
	return string(plain), lastStep, err
}

// ProposeTOTP keeps a key that was not confirmed yet, or returns the one that is kept already.
// An empty proposal only asks for the one that is kept.
func (p *Portal) ProposeTOTP(ctx context.Context, personID, proposed string) (secret string, err error) {
	if proposed == "" {
		_, pending, _, err := p.Store.TOTP(ctx, personID)
		if err != nil || pending == nil {
			return "", err
		}
		plain, err := p.Open(pending, factorContext(personID))
		return string(plain), err
	}
	sealed, err := p.Seal([]byte(proposed), factorContext(personID))
	if err != nil {
		return "", err
	}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		kept, err := tx.ProposeTOTP(ctx, personID, sealed)
		if err != nil {
			return err
		}
		plain, err := p.Open(kept, factorContext(personID))
		secret = string(plain)
		return err
	})
	return secret, err
}

// ConfirmTOTP makes the proposed key the person's and returns their first recovery
// codes, to be shown once; done is false when another request was faster.
func (p *Portal) ConfirmTOTP(ctx context.Context, s signin.Session, step int64) (codes []string, done bool, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if done, err = tx.ConfirmTOTP(ctx, s.PersonID, step); err != nil || !done {
			return err
		}
		if codes, err = p.newCodes(ctx, tx, s.PersonID); err != nil {
			return err
		}
		return p.recordSession(ctx, tx, s, ledger.FactorEnrolled, map[string]string{"factor": "totp", "codes": strconv.Itoa(len(codes))})
	})
	if err != nil || !done {
		return nil, false, err
	}
	return codes, true, nil
}

// SpendTOTP marks a step as used; false when it was used before.
func (p *Portal) SpendTOTP(ctx context.Context, personID string, step int64) (ok bool, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		ok, err = tx.SpendTOTP(ctx, personID, step)
		return err
	})
	return ok && err == nil, err
}

// FirstLogout remembers a logout token's id; false when it was seen before.
func (p *Portal) FirstLogout(ctx context.Context, tokenID string, until time.Time) (first bool, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		first, err = tx.FirstLogout(ctx, tokenID, until)
		return err
	})
	return first && err == nil, err
}
