package portal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
	"quartermaster/internal/signin"
)

// StepUpWindow is how long a proof of two factors serves what it was given for.
const StepUpWindow = 10 * time.Minute

// mostDigests is how much one proof may be given for: what a confirm page shows.
const mostDigests = 100

// clockSlack is how far the clocks of two replicas may be apart.
const clockSlack = time.Minute

// StepUp is one proof of two factors by somebody in a session. It is bound to the
// digests of what was shown when it was asked for and serves nothing else. Decisions
// may use it within StepUpWindow; whatever changes a cluster or takes data away uses it up.
type StepUp struct {
	ID        string
	SessionID string
	PersonID  string
	By        signin.Proof
	Digests   []string
	At        time.Time
	Spent     *time.Time
}

// Covers tells whether the proof was given for digest.
func (s StepUp) Covers(digest string) bool { return slices.Contains(s.Digests, digest) }

// Live tells whether the proof is within its window. One from the future (a clock
// set back) does not count.
func (s StepUp) Live(now time.Time) bool {
	return !s.At.After(now.Add(clockSlack)) && now.Sub(s.At) <= StepUpWindow
}

// ErrStepUp is the cause of the Forbidden fault that an act without a proof of two
// factors is answered with: the person gives one and acts again.
var ErrStepUp = errors.New("second factor not proven for this")

// StepUpNeeded says what a proof has to be given for. errors.Is finds ErrStepUp in it.
type StepUpNeeded struct {
	Digests []string
	// Why a proof that the form named did not serve: "expired" or "spent". "" is none
	// given: a question still open, which is no refused attempt and not recorded as one.
	Why string
}

func (n *StepUpNeeded) Error() string { return strings.TrimSpace(ErrStepUp.Error() + " " + n.Why) }

// Is makes it an ErrStepUp.
func (n *StepUpNeeded) Is(target error) bool { return target == ErrStepUp }

// StepUpReader reads proofs of two factors.
type StepUpReader interface {
	StepUp(ctx context.Context, id string) (StepUp, error)
	// StepUpsOf returns the unspent proofs of a person's session since a moment, newest first.
	StepUpsOf(ctx context.Context, personID, sessionID string, since time.Time) ([]StepUp, error)
}

// StepUpWriter writes them.
type StepUpWriter interface {
	InsertStepUp(ctx context.Context, s StepUp) error
	// SpendStepUp uses a proof up; false when it was before.
	SpendStepUp(ctx context.Context, id string, at time.Time) (bool, error)
}

// DecisionDigest names what a decision is on: the request as well as its content,
// because two requests may ask for the same.
func DecisionDigest(requestID, revisionDigest string) string {
	return "request:" + requestID + ":" + revisionDigest
}

// actDigest names an act other than a decision by everything that was shown of it.
func actDigest(act string, parts ...string) string {
	h := sha256.New()
	for _, s := range append([]string{act}, parts...) {
		h.Write([]byte(strconv.Itoa(len(s)) + ":" + s))
	}
	return "act:" + hex.EncodeToString(h.Sum(nil))
}

// stepUp returns the proof of actor's session that serves the thing with this digest:
// the one that the form names, else one that was given for it. A proof for something else,
// or of another session, is a refused attempt.
func (p *Portal) stepUp(ctx context.Context, r Reader, actor Actor, digest string) (StepUp, error) {
	now := p.Now()
	if actor.Proof == "" {
		all, err := r.StepUpsOf(ctx, actor.Person.ID, actor.SessionID, now.Add(-StepUpWindow))
		if err != nil {
			return StepUp{}, err
		}
		for _, s := range all {
			if s.Covers(digest) && s.Live(now) {
				return s, nil
			}
		}
		return StepUp{}, stepUpNeeded(digest, "")
	}
	s, err := r.StepUp(ctx, actor.Proof)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return StepUp{}, err
	}
	switch {
	case err != nil || s.SessionID != actor.SessionID || s.PersonID != actor.Person.ID || !s.Covers(digest):
		return StepUp{}, fault.New(fault.Forbidden, "The second factor was proven for something else, so nothing was carried out. Open the page again and confirm what it shows.")
	case !s.Live(now):
		return StepUp{}, stepUpNeeded(digest, "expired")
	case s.Spent != nil:
		return StepUp{}, stepUpNeeded(digest, "spent")
	}
	return s, nil
}

// spend uses a proof up in the transaction of the one act that it serves.
func (p *Portal) spend(ctx context.Context, tx Tx, actor Actor, digest string) (StepUp, error) {
	s, err := p.stepUp(ctx, tx, actor, digest)
	if err != nil {
		return s, err
	}
	first, err := tx.SpendStepUp(ctx, s.ID, p.Now())
	if err == nil && !first {
		err = stepUpNeeded(digest, "spent")
	}
	return s, err
}

// spendUnlessSystem: the command line acts as the system, whose factor is the machine.
func (p *Portal) spendUnlessSystem(ctx context.Context, tx Tx, actor Actor, digest string) (StepUp, error) {
	if actor.System != "" {
		return StepUp{}, nil
	}
	return p.spend(ctx, tx, actor, digest)
}

func (p *Portal) provenUnlessSystem(ctx context.Context, actor Actor, digest string) error {
	if actor.System != "" {
		return nil
	}
	_, err := p.stepUp(ctx, p.Store, actor, digest)
	return err
}

func stepUpNeeded(digest, why string) error {
	text := "Confirm with your second factor first."
	switch why {
	case "expired":
		text = fmt.Sprintf("The second factor was proven more than %d minutes ago. Confirm again.", int(StepUpWindow.Minutes()))
	case "spent":
		text = "The second factor was used up by what you did before. Confirm again."
	}
	return fault.New(fault.Forbidden, text).Because(&StepUpNeeded{Digests: []string{digest}, Why: why})
}

// provenBy puts the proof into the entry of what it served.
func provenBy(e ledger.Entry, s StepUp) ledger.Entry {
	if s.ID != "" {
		e.Facts["step_up"], e.Facts["step_up_by"] = s.ID, string(s.By)
	}
	return e
}

// StepUpInput is a proof of two factors just given.
type StepUpInput struct {
	By      signin.Proof
	For     string // what it serves, in words: "to decide on R-1042"
	Digests []string
}

// RecordStepUp keeps a proof and puts it on record; it returns the proof's id.
func (p *Portal) RecordStepUp(ctx context.Context, actor Actor, in StepUpInput) (id string, err error) {
	if len(in.Digests) == 0 || len(in.Digests) > mostDigests || actor.Person.ID == "" || actor.SessionID == "" {
		return "", fmt.Errorf("a step-up is of somebody in a session, for 1 to %d things; this is for %d", mostDigests, len(in.Digests))
	}
	s := StepUp{ID: p.NewID(), SessionID: actor.SessionID, PersonID: actor.Person.ID, By: in.By, Digests: in.Digests, At: p.Now()}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		if err := tx.InsertStepUp(ctx, s); err != nil {
			return err
		}
		e := p.entry(actor, ledger.SteppedUp, "person", actor.Person.ID)
		e.Facts["step_up"], e.Facts["by"], e.Facts["digests"] = s.ID, string(in.By), strings.Join(in.Digests, " ")
		if in.For != "" {
			e.Facts["for"] = in.For
		}
		_, err := tx.Append(ctx, e, EntryRefs{}, openingsOf(actor, nil))
		return err
	})
	return s.ID, err
}

func (c *RequestChanged) Error() string { return c.What }
