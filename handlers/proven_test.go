package handlers

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/stretchr/testify/require"

	"quartermaster/handlers/signin"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	facts "quartermaster/internal/signin"
)

// ready answers every step-up at once for those who are named in it, so that tests of
// other things need not. What a step-up is has tests of its own.
type readyToProve struct {
	*portal.Portal
	mu  sync.Mutex
	who map[string]bool // by session
}

func (p *readyToProve) set(session string, ready bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.who[session] = ready
}

func (p *readyToProve) is(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.who[session]
}

func proven[T any](ctx context.Context, p *readyToProve, who portal.Actor, do func() (T, error)) (T, error) {
	out, err := do()
	var need *portal.StepUpNeeded
	if !p.is(who.SessionID) || !errors.As(err, &need) {
		return out, err
	}
	if _, err := p.RecordStepUp(ctx, who, portal.StepUpInput{By: facts.ProofTOTP, Digests: need.Digests}); err != nil {
		return out, err
	}
	return do()
}

func (p *readyToProve) DecideRequest(ctx context.Context, a portal.Actor, in portal.DecideInput) (portal.DecideResult, error) {
	return proven(ctx, p, a, func() (portal.DecideResult, error) { return p.Portal.DecideRequest(ctx, a, in) })
}

func (p *readyToProve) ChangeClusterMode(ctx context.Context, a portal.Actor, in portal.ModeInput) (portal.Cluster, error) {
	return proven(ctx, p, a, func() (portal.Cluster, error) { return p.Portal.ChangeClusterMode(ctx, a, in) })
}

func (p *readyToProve) PauseCluster(ctx context.Context, a portal.Actor, in portal.PauseInput) (portal.Cluster, error) {
	return proven(ctx, p, a, func() (portal.Cluster, error) { return p.Portal.PauseCluster(ctx, a, in) })
}

func (p *readyToProve) ConnectCluster(ctx context.Context, a portal.Actor, in portal.ConnectInput) (portal.Tested, error) {
	return proven(ctx, p, a, func() (portal.Tested, error) { return p.Portal.ConnectCluster(ctx, a, in) })
}

func (p *readyToProve) AdoptBinding(ctx context.Context, a portal.Actor, in portal.AdoptInput) (fleet.Binding, error) {
	return proven(ctx, p, a, func() (fleet.Binding, error) { return p.Portal.AdoptBinding(ctx, a, in) })
}

func (p *readyToProve) TakeoverChange(ctx context.Context, a portal.Actor, in portal.ChangeInput) (portal.Change, error) {
	return proven(ctx, p, a, func() (portal.Change, error) { return p.Portal.TakeoverChange(ctx, a, in) })
}

func (p *readyToProve) ExportHistory(ctx context.Context, a portal.Actor, q portal.EntryQuery, w io.Writer, begin func()) error {
	_, err := proven(ctx, p, a, func() (struct{}, error) { return struct{}{}, p.Portal.ExportHistory(ctx, a, q, w, begin) })
	return err
}

// stepUp proves two factors for what the page at back asked, as the sign-in does, and
// leaves the proof for it.
func (s *site) stepUp(subject, back string) {
	s.t.Helper()
	s.presence.mu.Lock()
	a, kept := s.presence.actors[subject], s.presence.texts[subject+"\x00"+signin.KeptAsk(back)]
	s.presence.mu.Unlock()
	require.NotEmpty(s.t, kept, "the page asked")
	ask := signin.AskOf(kept)
	id, err := s.portal.RecordStepUp(s.t.Context(), a, portal.StepUpInput{By: facts.ProofTOTP, For: ask.What, Digests: ask.Digests})
	require.NoError(s.t, err)
	s.presence.mu.Lock()
	defer s.presence.mu.Unlock()
	s.presence.texts[subject+"\x00"+signin.KeptProof(back)] = id
}

// rightCode is the one-time code that the test's presence takes.
const rightCode = "123456"

func (p *testPresence) ProveCode(ctx context.Context, code string, ask signin.Ask) (proof, problem string, err error) {
	who, _ := ctx.Value(asKey{}).(signedInAs)
	if code != rightCode {
		return "", "This code is not right.", nil
	}
	proof, err = p.portal.RecordStepUp(ctx, who.actor, portal.StepUpInput{By: facts.ProofTOTP, For: ask.What, Digests: ask.Digests})
	return proof, "", err
}
