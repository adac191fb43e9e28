package portal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

// wholeCheckHour is when the whole record is derived anew each day, UTC.
const wholeCheckHour = 2

// reportLength bounds a problem in a check's entry.
const reportLength = 500

// WholeCheckDue reports whether the day's check of the whole record is still to be done.
func (p *Portal) WholeCheckDue(ctx context.Context) (bool, error) {
	last, err := p.Store.LastWholeCheck(ctx)
	if err != nil {
		return false, err
	}
	now := p.Now().UTC()
	due := time.Date(now.Year(), now.Month(), now.Day(), wholeCheckHour, 0, 0, 0, time.UTC)
	if now.Before(due) {
		due = due.AddDate(0, 0, -1)
	}
	return last.Before(due), nil
}

// CheckRecord verifies the whole record and puts on record what came of it. A record
// that is not as it was written stops signing and pushing; one that is starts them again.
func (p *Portal) CheckRecord(ctx context.Context, actor Actor) (VerifyReport, error) {
	v, err := p.VerifyRecord(ctx, VerifyInput{})
	if err != nil {
		return v, err
	}
	problem := ""
	if len(v.Problems) > 0 {
		problem = v.Problems[0].String()
		if more := len(v.Problems) - 1; more > 0 {
			problem += fmt.Sprintf(" (and %d more; see quartermaster verify)", more)
		}
	}
	return v, p.keepCheck(ctx, actor, RecordCheck{Kind: CheckWhole, Size: v.Size, OK: problem == "", Problem: problem})
}

// ReportSigning keeps what the signer found: a *Broken record, or nil that it could
// sign again. Nothing is kept when that was known.
func (p *Portal) ReportSigning(ctx context.Context, found error) error {
	var broken *Broken
	if found != nil && !errors.As(found, &broken) {
		return nil // it could not look
	}
	state, err := p.Store.RecordState(ctx)
	if err != nil {
		return err
	}
	c := RecordCheck{Kind: CheckRange, OK: broken == nil}
	if broken != nil {
		c.Size, c.Problem = broken.Size, broken.Problem
	}
	// What the check of everything found, only that check, or somebody, can lift.
	if state.OK == c.OK && state.Problem == c.Problem || c.OK && state.Kind == CheckWhole {
		return nil
	}
	return p.keepCheck(ctx, jobActor("record_sign"), c)
}

// ClearRecord lifts the stop by a recorded act. It comes back with the next check
// that finds the same.
func (p *Portal) ClearRecord(ctx context.Context, actor Actor, reason string) error {
	state, err := p.Store.RecordState(ctx)
	if err != nil {
		return err
	}
	if state.OK {
		return fault.New(fault.Conflict, "The record is in order. There is nothing to clear.")
	}
	if !hasWords(reason) {
		return fault.New(fault.Invalid, "Say why the record may be signed and pushed from again.").At("reason", "Say why.")
	}
	return p.keep(ctx, actor, RecordCheck{Kind: CheckCleared, Size: state.Size, OK: true}, reason)
}

func (p *Portal) keepCheck(ctx context.Context, actor Actor, c RecordCheck) error {
	return p.keep(ctx, actor, c, "")
}

func (p *Portal) keep(ctx context.Context, actor Actor, c RecordCheck, reason string) error {
	err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		name, err := tx.LogName(ctx)
		if err != nil {
			return err
		}
		e := p.entry(actor, ledger.RecordChecked, "record", name)
		if c.Kind == CheckCleared {
			e.Type = ledger.RecordCleared
		}
		e.Facts["kind"], e.Facts["size"] = c.Kind, strconv.FormatInt(c.Size, 10)
		if !c.OK {
			e.Outcome = ledger.Failed
			if len(c.Problem) > reportLength {
				c.Problem = c.Problem[:reportLength]
			}
			e.Facts["problem"] = c.Problem
		}
		row, err := tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, map[string]string{OpeningReason: reason}))
		if err != nil {
			return err
		}
		c.At, c.EntryID = p.Now(), row.Entry.ID
		return tx.InsertCheck(ctx, c)
	})
	if err != nil {
		return fmt.Errorf("keep the check of the record: %w", err)
	}
	if !c.OK {
		p.Log.Error("the record is not as it was written: nothing is signed or pushed", "kind", c.Kind, "size", c.Size)
	}
	return nil
}

// RecordState is the newest check of the record, for the banner on every page.
func (p *Portal) RecordState(ctx context.Context) (RecordCheck, error) {
	return p.Store.RecordState(ctx)
}
