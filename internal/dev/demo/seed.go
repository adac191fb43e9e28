package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quartermaster/internal/approval"
	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/internal/signin"
)

// Seed plays the first days of the demonstration: clusters to enforce, existing
// queues adopted, and some requests at every step of their life. Everything goes
// through the use cases, with keys, so that a second run, or one after a crash,
// changes nothing twice; the record says that it came via "demo".
func Seed(ctx context.Context, p *portal.Portal, issuer string) error {
	s := seeder{p: p, issuer: issuer}
	steps := []func(context.Context) error{s.clusters, s.adopt, s.past, s.requests}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return fmt.Errorf("seed the demonstration: %w", err)
		}
	}
	return nil
}

type seeder struct {
	p      *portal.Portal
	issuer string
}

// as is a demonstration person, in a session of this seeding.
func (s seeder) as(ctx context.Context, subject string) (portal.Actor, error) {
	person, err := s.p.Store.PersonBySubject(ctx, s.issuer, subject)
	if err != nil {
		return portal.Actor{}, fmt.Errorf("person %s: %w", subject, err)
	}
	now := s.p.Now()
	return portal.Actor{Person: person, Via: "demo", AMR: []string{"pwd", "otp", "mfa"}, AuthTime: now, SessionID: "demo"}, nil
}

// proven does something as who, giving the proof of two factors that it asks for.
func proven[T any](ctx context.Context, p *portal.Portal, who portal.Actor, do func() (T, error)) (T, error) {
	out, err := do()
	var need *portal.StepUpNeeded
	if !errors.As(err, &need) {
		return out, err
	}
	if _, err := p.RecordStepUp(ctx, who, portal.StepUpInput{By: signin.ProofProvider, For: "demonstration", Digests: need.Digests}); err != nil {
		return out, err
	}
	return do()
}

func (s seeder) clusters(ctx context.Context) error {
	admin, err := s.as(ctx, "pia")
	if err != nil {
		return err
	}
	manager, err := s.as(ctx, "cleo")
	if err != nil {
		return err
	}
	clusters, err := s.p.Store.Clusters(ctx)
	if err != nil {
		return err
	}
	for _, c := range clusters {
		if c.Kind != fleet.Simulated {
			continue
		}
		if _, err := s.p.TestCluster(ctx, admin, c.ID); err != nil {
			return err
		}
		for _, mode := range fleet.Modes[slices.Index(fleet.Modes, c.Mode)+1:] {
			in := portal.ModeInput{ClusterID: c.ID, Mode: mode, Reason: "demonstration", Key: "demo-mode-" + c.ID + "-" + string(mode)}
			if _, err := proven(ctx, s.p, manager, func() (portal.Cluster, error) { return s.p.ChangeClusterMode(ctx, manager, in) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// adopt binds the queues named after a project and environment that no tool keeps.
func (s seeder) adopt(ctx context.Context) error {
	admin, err := s.as(ctx, "pia")
	if err != nil {
		return err
	}
	projects, err := s.p.Store.Projects(ctx, nil)
	if err != nil {
		return err
	}
	clusters, err := s.p.Store.Clusters(ctx)
	if err != nil {
		return err
	}
	for _, listed := range clusters {
		c, err := s.p.Store.Cluster(ctx, listed.ID) // a list comes without what was discovered
		if err != nil {
			return err
		}
		if c.Discovery == nil {
			continue
		}
		for _, q := range c.Discovery.Queues {
			i := slices.IndexFunc(projects, func(p org.Project) bool { return q.Name == p.ID+"-development" || q.Name == p.ID+"-production" })
			if i < 0 || q.Owner != "" {
				continue
			}
			in := portal.AdoptInput{
				ClusterID: c.ID, Queue: q.Name, ProjectID: projects[i].ID, Environment: q.Name[len(projects[i].ID)+1:],
				Key: "demo-adopt-" + c.ID + "-" + q.Name,
			}
			if _, err := proven(ctx, s.p, admin, func() (fleet.Binding, error) { return s.p.AdoptBinding(ctx, admin, in) }); err != nil && fault.KindOf(err) != fault.Conflict {
				return err
			}
		}
	}
	return nil
}

// pastSpan and pastStep are how much of yesterday the charts begin with.
const (
	pastSpan = 24 * time.Hour
	pastStep = 15 * time.Minute
)

// past gives the charts of the simulated clusters the day before, then reads them as they are now.
func (s seeder) past(ctx context.Context) error {
	clusters, err := s.p.Store.Clusters(ctx)
	if err != nil {
		return err
	}
	for _, c := range clusters {
		if c.Kind != fleet.Simulated {
			continue
		}
		remote, err := s.p.Dial(ctx, c.ID)
		if err != nil {
			return err
		}
		if x, ok := remote.(*sim.Cluster); ok {
			now := s.p.Now()
			keep := func(o fleet.Observation) error {
				o.Every = pastStep
				return s.p.RecallUsage(ctx, c.ID, o)
			}
			if err := x.Past(now.Add(-pastSpan), now, pastStep, keep); err != nil {
				return err
			}
		}
		if _, err := s.p.PollCluster(ctx, c.ID); err != nil {
			return err
		}
	}
	return nil
}

// story is one request and how far it goes.
type story struct {
	key, by, project, environment, class, workload string
	purpose, why                                   string
	hours                                          int
	lines                                          []request.Line
	manager                                        string // "" = still waits for the manager
	outcome                                        approval.Outcome
	capacity                                       string // "" = still waits for the capacity manager
	give                                           int64  // what the capacity manager grants; 0 = all
	managerSays, capacitySays                      string
}

func (s seeder) requests(ctx context.Context) error {
	now := s.p.Now().Truncate(time.Hour)
	in3, in21 := now.Add(72*time.Hour), now.Add(21*24*time.Hour)
	stories := []story{
		{key: "a", by: "ana", project: "street-scenes", environment: "development", class: "internal", workload: "training",
			purpose: "Train the night-driving detector", why: "The night set is twice the size of the day set; on the present limit one epoch takes nine days.", hours: 72,
			lines:   []request.Line{{PoolID: "aurora-h100", Asked: fleet.Count(16), Kind: request.Soft}},
			manager: "ben", outcome: approval.Approve, capacity: "cleo", give: 12,
			managerSays: "The night set is the goal of this quarter.", capacitySays: "12 until the A100 nodes move in December; ask again then."},
		{key: "b", by: "dev", project: "chat-assist", environment: "production", class: "confidential", workload: "inference",
			purpose: "Serve the staff assistant to all offices", why: "Three more offices go live; measured at 0.8 GPU a hundred users.", hours: 0,
			lines:   []request.Line{{PoolID: "borealis-l40s", Asked: fleet.Count(12), Kind: request.Hard}},
			manager: "eli", outcome: approval.Approve, capacity: "kofi",
			managerSays: "Production first; the batch jobs on it may wait.", capacitySays: "The offices go live on Monday."},
		{key: "c", by: "gia", project: "weather-7d", environment: "production", class: "public", workload: "batch",
			purpose: "Winter season ensemble", why: "Fifty members instead of twenty, until the end of the storm season.", hours: 6,
			lines:   []request.Line{{PoolID: "aurora-a100", Asked: fleet.Count(8), Kind: request.Burst, End: &in21}},
			manager: "hugo", outcome: approval.Approve, managerSays: "Needed every winter, and gone by spring."},
		{key: "d", by: "ana", project: "medical-imaging", environment: "production", class: "confidential", workload: "training",
			purpose: "Retrain the segmentation model on the 2026 scans", why: "The hospital delivered 40,000 new scans; the model has to be revalidated by January.", hours: 48,
			lines: []request.Line{{PoolID: "aurora-h100", Asked: fleet.Count(8), Kind: request.Hard}, {PoolID: "aurora-a100", Asked: fleet.Count(4), Kind: request.Hard}}},
		{key: "e", by: "dev", project: "translate", environment: "production", class: "public", workload: "inference",
			purpose: "Double the translation service", why: "Expected growth.", hours: 0,
			lines:   []request.Line{{PoolID: "aurora-h100", Asked: fleet.Count(64), Kind: request.Soft}},
			manager: "eli", outcome: approval.Return, managerSays: "Which growth? Attach the last three months of use and say what 32 would not do."},
		{key: "f", by: "gia", project: "ocean-currents", environment: "development", class: "public", workload: "development",
			purpose: "Interactive work on the eddy model", why: "Two new colleagues start on Thursday.", hours: 8,
			lines: []request.Line{{PoolID: "borealis-mi300x", Asked: fleet.Count(2), Kind: request.Soft, Start: &in3}}},
		{key: "g", by: "dev", project: "chat-assist", environment: "development", class: "internal", workload: "training",
			purpose: "Fine-tune on last year's tickets", why: "To compare with the hosted model.", hours: 24,
			lines:   []request.Line{{PoolID: "aurora-h100", Asked: fleet.Count(32), Kind: request.Soft}},
			manager: "eli", outcome: approval.Reject, managerSays: "The tickets are confidential and this environment is not cleared for them."},
	}
	for _, st := range stories {
		if err := s.play(ctx, st); err != nil {
			return fmt.Errorf("request %s of %s: %w", st.key, st.by, err)
		}
	}
	return nil
}

func (s seeder) play(ctx context.Context, st story) error {
	who, err := s.as(ctx, st.by)
	if err != nil {
		return err
	}
	ref, err := s.p.DraftRequest(ctx, who, portal.DraftInput{Key: "demo-draft-" + st.key, Content: request.Content{
		Kind: request.Quota, ProjectID: st.project, Environment: st.environment, DataClass: st.class, WorkloadType: st.workload,
		Purpose: st.purpose, Justification: st.why, RuntimeHours: st.hours, Lines: st.lines,
	}})
	if err != nil {
		return err
	}
	if ref, err = s.p.SubmitRequest(ctx, who, portal.SubmitInput{Number: ref.Number, Digest: ref.Digest, Key: "demo-submit-" + st.key}); err != nil {
		return err
	}
	if st.manager == "" {
		return nil
	}
	if err := s.decide(ctx, st, ref, st.manager, st.outcome, nil, st.managerSays); err != nil || st.capacity == "" {
		return err
	}
	var granted []approval.Granted
	for _, l := range st.lines {
		g := approval.Granted{PoolID: l.PoolID, Amount: l.Asked, Start: l.Start, End: l.End}
		if st.give > 0 {
			g.Amount = fleet.Count(st.give)
		}
		granted = append(granted, g)
	}
	return s.decide(ctx, st, ref, st.capacity, approval.Approve, granted, st.capacitySays)
}

func (s seeder) decide(ctx context.Context, st story, ref portal.RequestRef, by string, outcome approval.Outcome, granted []approval.Granted, reason string) error {
	who, err := s.as(ctx, by)
	if err != nil {
		return err
	}
	seen, err := s.p.ViewDecision(ctx, who, ref.Number, granted)
	if fault.KindOf(err) == fault.Conflict || fault.KindOf(err) == fault.Forbidden {
		return nil // decided in a run before
	}
	if err != nil {
		return err
	}
	if reason == "" && seen.MustReason != "" { // the load is random, and so is what the checks say
		reason = "Fits the plan of this quarter; the figures were looked at together."
	}
	in := portal.DecideInput{
		Number: ref.Number, Digest: ref.Digest, StageKey: seen.Stage.Key, Outcome: outcome, Granted: granted,
		Reason: reason, Acknowledged: true, Base: seen.Base, Key: "demo-decide-" + st.key + "-" + by,
	}
	_, err = proven(ctx, s.p, who, func() (portal.DecideResult, error) { return s.p.DecideRequest(ctx, who, in) })
	return err
}
