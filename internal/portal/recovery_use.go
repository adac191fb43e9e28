package portal

import (
	"context"
	"crypto/rand"
	"strconv"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/signin"
)

// recoveryCodes is how many a person gets at a time.
const recoveryCodes = 10

// RecoveryCount is what is known of somebody's recovery codes. The codes themselves
// are shown once and kept as digests.
type RecoveryCount struct {
	Made, Left int
	At         *time.Time // when they were made; nil = never
}

// RecoveryReader counts recovery codes.
type RecoveryReader interface {
	RecoveryCodes(ctx context.Context, personID string) (RecoveryCount, error)
}

// RecoveryWriter keeps and uses them.
type RecoveryWriter interface {
	// ReplaceRecoveryCodes retires a person's codes and keeps the digests of new ones.
	ReplaceRecoveryCodes(ctx context.Context, personID string, digests []string, at time.Time) error
	// UseRecoveryCode marks a code as used; false when it is none in force or was used before.
	UseRecoveryCode(ctx context.Context, personID, digest string, at time.Time) (bool, error)
	// ReplaceTOTP makes the pending key the person's in place of the one in force; false without one.
	ReplaceTOTP(ctx context.Context, personID string, step int64) (bool, error)
	// RenewPendingTOTP keeps a new pending key over whatever was pending.
	RenewPendingTOTP(ctx context.Context, personID string, pending []byte) error
}

// FactorState is what somebody's own page says about the portal's second factor.
type FactorState struct {
	Enrolled bool
	Recovery RecoveryCount
}

// FactorOf tells whether a person has the portal's second factor, and how many codes are left.
func (p *Portal) FactorOf(ctx context.Context, personID string) (FactorState, error) {
	sealed, _, _, err := p.Store.TOTP(ctx, personID)
	if err != nil {
		return FactorState{}, err
	}
	count, err := p.Store.RecoveryCodes(ctx, personID)
	return FactorState{Enrolled: sealed != nil, Recovery: count}, err
}

// newCodes gives a person ten codes in place of those they had.
func (p *Portal) newCodes(ctx context.Context, tx Tx, personID string) ([]string, error) {
	codes, digests, err := signin.NewRecoveryCodes(rand.Reader, recoveryCodes)
	if err != nil {
		return nil, err
	}
	return codes, tx.ReplaceRecoveryCodes(ctx, personID, digests, p.Now())
}

// UseRecoveryCode takes one code of somebody who lost the authenticator; each counts
// once. It returns how many are left.
func (p *Portal) UseRecoveryCode(ctx context.Context, actor Actor, code string) (left int, ok bool, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		left, ok = 0, false
		used, err := tx.UseRecoveryCode(ctx, actor.Person.ID, signin.RecoveryDigest(code), p.Now())
		if err != nil || !used {
			return err
		}
		count, err := tx.RecoveryCodes(ctx, actor.Person.ID)
		if err != nil {
			return err
		}
		e := p.entry(actor, ledger.RecoveryUsed, "person", actor.Person.ID)
		e.Facts["left"] = strconv.Itoa(count.Left)
		left, ok = count.Left, true
		_, err = tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, nil))
		return err
	})
	return left, ok && err == nil, err
}

// RenewRecoveryCodes retires somebody's codes and returns new ones, to be shown once.
func (p *Portal) RenewRecoveryCodes(ctx context.Context, actor Actor) (codes []string, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if err := p.enrolled(ctx, tx, actor); err != nil {
			return err
		}
		proof, err := p.spend(ctx, tx, actor, actDigest("recovery_codes", actor.Person.ID))
		if err != nil {
			return err
		}
		if codes, err = p.newCodes(ctx, tx, actor.Person.ID); err != nil {
			return err
		}
		e := provenBy(p.entry(actor, ledger.RecoveryRenewed, "person", actor.Person.ID), proof)
		e.Facts["codes"] = strconv.Itoa(len(codes))
		_, err = tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, nil))
		return err
	})
	if err != nil {
		return nil, p.refused(ctx, actor, ledger.RecoveryRenewed, "person", actor.Person.ID, EntryRefs{}, err)
	}
	return codes, nil
}

func (p *Portal) enrolled(ctx context.Context, r Reader, actor Actor) error {
	sealed, _, _, err := r.TOTP(ctx, actor.Person.ID)
	if err == nil && sealed == nil {
		return fault.New(fault.Conflict, "The portal keeps no second factor of yours. It asks for one where your identity provider proves none.")
	}
	return err
}

// ProposeFactor keeps a new key beside the one in force, for somebody who proved two
// factors for that; ReplaceFactor makes it the one.
func (p *Portal) ProposeFactor(ctx context.Context, actor Actor, secret string) error {
	sealed, err := p.Seal([]byte(secret), factorContext(actor.Person.ID))
	if err != nil {
		return err
	}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if err := p.enrolled(ctx, tx, actor); err != nil {
			return err
		}
		if _, err := p.stepUp(ctx, tx, actor, replaceDigest(actor)); err != nil {
			return err
		}
		return tx.RenewPendingTOTP(ctx, actor.Person.ID, sealed)
	})
	if err != nil {
		return p.refused(ctx, actor, ledger.FactorReplaced, "person", actor.Person.ID, EntryRefs{}, err)
	}
	return nil
}

func replaceDigest(actor Actor) string { return actDigest("factor_replace", actor.Person.ID) }

// FactorProposed is the key that ProposeFactor keeps, while the proof for it lasts.
func (p *Portal) FactorProposed(ctx context.Context, actor Actor) (secret string, err error) {
	if _, err := p.stepUp(ctx, p.Store, actor, replaceDigest(actor)); err != nil {
		return "", err
	}
	return p.ProposeTOTP(ctx, actor.Person.ID, "")
}

// ReplaceFactor puts the proposed key, whose first code was of step, in the place of
// the one in force. The old recovery codes go with it.
func (p *Portal) ReplaceFactor(ctx context.Context, actor Actor, step int64) (codes []string, err error) {
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		proof, err := p.spend(ctx, tx, actor, replaceDigest(actor))
		if err != nil {
			return err
		}
		done, err := tx.ReplaceTOTP(ctx, actor.Person.ID, step)
		if err == nil && !done {
			err = fault.New(fault.Conflict, "The new authenticator was confirmed already, or none was proposed.")
		}
		if err != nil {
			return err
		}
		if codes, err = p.newCodes(ctx, tx, actor.Person.ID); err != nil {
			return err
		}
		e := provenBy(p.entry(actor, ledger.FactorReplaced, "person", actor.Person.ID), proof)
		e.Facts["factor"], e.Facts["codes"] = "totp", strconv.Itoa(len(codes))
		_, err = tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, nil))
		return err
	})
	if err != nil {
		return nil, p.refused(ctx, actor, ledger.FactorReplaced, "person", actor.Person.ID, EntryRefs{}, err)
	}
	return codes, nil
}
