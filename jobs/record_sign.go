package jobs

import (
	"context"
	"errors"
	"time"

	"quartermaster/internal/portal"
)

const (
	// signEvery is how often the tree is signed when it grew and nobody waits.
	signEvery = time.Minute
	// signApart keeps checkpoints at most ten a second.
	signApart = 100 * time.Millisecond
	// brokenAgain is when a record that failed its check is looked at again.
	brokenAgain, brokenWholeAgain = 10 * time.Second, 5 * time.Minute
	// wholeLook is how often the day's check is asked for.
	wholeLook = time.Minute
)

// keepSigning signs checkpoints, in one replica at a time.
func (r *Runner) keepSigning(ctx context.Context) {
	r.alone(ctx, "record.signer", r.sign)
}

// sign makes a checkpoint when somebody waits for one, and every minute; once a day it
// has the whole record derived anew first.
func (r *Runner) sign(ctx context.Context) error {
	woken := r.cfg.Portal.Store.Listen(ctx, portal.ChannelTree)
	var looked time.Time
	for {
		if now := time.Now(); now.Sub(looked) >= wholeLook {
			looked = now
			if err := r.checkWhole(ctx); err != nil {
				return err
			}
		}
		next, err := r.signOnce(ctx)
		if err != nil {
			return err
		}
		if !pause(ctx, signApart) {
			return ctx.Err()
		}
		if next == signEvery {
			awaken(ctx, woken, next-signApart)
		} else {
			pause(ctx, next) // wake-ups change nothing about a record that is broken
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// signOnce signs if the record may be signed, and returns when to look again.
func (r *Runner) signOnce(ctx context.Context) (time.Duration, error) {
	p := r.cfg.Portal
	state, err := p.RecordState(ctx)
	if err != nil {
		return 0, err
	}
	if !state.OK && state.Kind == portal.CheckWhole {
		_, err := p.CheckRecord(ctx, portal.Actor{System: "job:record_check", Via: "job"})
		if err != nil {
			return 0, err
		}
		if state, err = p.RecordState(ctx); err != nil || !state.OK {
			return brokenWholeAgain, err
		}
	}
	_, err = r.cfg.Signer.Sign(ctx)
	if told := p.ReportSigning(ctx, err); told != nil {
		return 0, told
	}
	var broken *portal.Broken
	if errors.As(err, &broken) {
		return brokenAgain, nil
	}
	return signEvery, err
}

func (r *Runner) checkWhole(ctx context.Context) error {
	p := r.cfg.Portal
	due, err := p.WholeCheckDue(ctx)
	if err != nil || !due {
		return err
	}
	_, err = p.CheckRecord(ctx, portal.Actor{System: "job:record_check", Via: "job"})
	return err
}
