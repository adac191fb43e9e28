package portal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

// ViewRequest is everything the page of one request shows to actor.
func (p *Portal) ViewRequest(ctx context.Context, actor Actor, number int64) (RequestDetail, error) {
	r, err := p.Store.RequestByNumber(ctx, number)
	if err != nil {
		return RequestDetail{}, err
	}
	if err := p.sees(ctx, p.Store, actor, r); err != nil {
		return RequestDetail{}, err
	}
	at, err := p.place(ctx, p.Store, r.Revision.Content)
	if err != nil {
		return RequestDetail{}, err
	}
	v, err := p.viewRequest(ctx, p.Store, actor, r, at)
	if err != nil {
		return v, fmt.Errorf("view request %d: %w", number, err)
	}
	return v, nil
}

func (p *Portal) viewRequest(ctx context.Context, r Reader, actor Actor, req request.Request, at place) (RequestDetail, error) {
	c := req.Revision.Content
	v := RequestDetail{Request: req, Project: at.project, TeamName: at.team.Name, Cost: at.cost(c), At: p.Now(), Names: map[string]string{}}
	var err error
	if v.Revisions, err = r.Revisions(ctx, req.ID); err != nil {
		return v, err
	}
	if v.Comments, err = r.Comments(ctx, req.ID); err != nil {
		return v, err
	}
	if v.Timeline, err = r.EntriesOfRequest(ctx, req.ID); err != nil {
		return v, err
	}
	v.Decisions = decisionsOf(req, v.Timeline)
	slices.Reverse(v.Timeline)
	grants, err := r.GrantsOfRequest(ctx, req.ID)
	if err != nil {
		return v, err
	}
	v.Lines = at.lines(req, grants)
	if err := p.viewChecks(ctx, r, &v, at); err != nil {
		return v, err
	}
	s, err := p.viewStages(ctx, r, &v, at)
	if err != nil {
		return v, err
	}
	if err := nameEverybody(ctx, r, &v, s.people); err != nil {
		return v, err
	}
	if err := p.viewChanges(ctx, r, &v, at, grants); err != nil {
		return v, err
	}
	p.viewRights(&v, actor, at, s)
	v.Next = nextStep(v, actor)
	return v, nil
}

// lines puts asked → granted → enforced → in use together.
func (at place) lines(req request.Request, grants []GrantRow) []DetailLine {
	approved := slices.ContainsFunc(req.Decisions, func(d approval.Decision) bool {
		return d.Outcome == approval.Approve && d.Digest == req.Revision.Digest
	})
	table := req.Granted()
	out := make([]DetailLine, 0, len(req.Revision.Content.Lines))
	for i, l := range req.Revision.Content.Lines {
		d := DetailLine{Line: l, Now: at.now(l.PoolID)}
		if approved {
			d.Granted = fleet.Known(table[i].Amount)
		}
		for j := range grants {
			if grants[j].PoolID == l.PoolID {
				d.Grant, d.Granted = &grants[j], fleet.Known(grants[j].Amount)
			}
		}
		d.BaseChanged = req.State.Open() && l.Current.Known && d.Now.Current.Known && !l.Current.Equal(d.Now.Current)
		out = append(out, d)
	}
	return out
}

// viewChecks takes the newest set kept of the current revision; a draft is checked now.
func (p *Portal) viewChecks(ctx context.Context, r Reader, v *RequestDetail, at place) error {
	req := v.Request
	if req.State == request.Draft || req.State == request.Returned {
		for _, c := range policy.Run(p.facts(at, at.capture(req.Revision.Content, keepNone), false)) {
			v.Checks = append(v.Checks, KeptCheck{Result: c, Digest: req.Revision.Digest, At: v.At})
		}
		return nil
	}
	kept, err := r.Checks(ctx, req.ID)
	if err != nil {
		return err
	}
	var newest time.Time
	for _, k := range kept {
		if k.Digest == req.Revision.Digest && k.At.After(newest) {
			newest = k.At
		}
	}
	for _, k := range kept {
		if k.Digest == req.Revision.Digest && k.At.Equal(newest) {
			v.Checks = append(v.Checks, k)
		}
	}
	return nil
}

// viewStages shows the frozen route; before submission, the one that would be frozen now.
func (p *Portal) viewStages(ctx context.Context, r Reader, v *RequestDetail, at place) (staff, error) {
	req := v.Request
	if req.State == request.Draft || (req.State == request.Returned && len(req.Route.Stages) == 0) {
		s, err := loadStaff(ctx, r, at, req.Revision.Content, req.Subject())
		if err != nil {
			return s, err
		}
		for _, st := range s.stages() {
			v.Stages = append(v.Stages, DetailStage{StagePeople: st})
		}
		return s, nil
	}
	s := staff{route: req.Route, subject: req.Subject()}
	waiting, waits := req.Stage()
	var wanted []posts
	if waits {
		for _, st := range req.Route.Stages {
			wanted = append(wanted, posts{st.Role, st.Places})
		}
	}
	var err error
	if s.people, err = loadPeople(ctx, r, wanted, s.subject); err != nil {
		return s, err
	}
	since := req.SubmittedAt
	digest := req.Revision.Digest
	for _, st := range req.Route.Stages {
		d := DetailStage{StagePeople: StagePeople{Key: st.Key, Name: st.Name, Role: st.Role, Quorum: st.Quorum, RespondWithin: st.RespondWithin}}
		if waits {
			d.StagePeople = s.stage(st, req.Decisions, digest)
		}
		for _, x := range v.Decisions {
			if x.StageKey == st.Key && x.Digest == digest {
				d.By = append(d.By, x)
			}
		}
		d.Done = len(st.Approvers(req.Decisions, digest)) >= st.Quorum
		d.Current = waits && st.Key == waiting.Key
		if d.Current && since != nil {
			d.Since = since
			if st.RespondWithin > 0 {
				due := since.Add(st.RespondWithin)
				d.Due = &due
			}
		}
		if d.Done {
			d.Missing = ""
			since = &d.By[len(d.By)-1].At
		}
		v.Stages = append(v.Stages, d)
	}
	return s, nil
}

// decisionsOf joins decisions with their ledger entries, which hold the reasons.
func decisionsOf(req request.Request, entries []EntryRow) []DetailDecision {
	byID := map[string]EntryRow{}
	for _, e := range entries {
		if e.Entry.Type == ledger.RequestDecided && e.Entry.Outcome == ledger.Done {
			byID[e.Entry.Facts["decision"]] = e
		}
	}
	out := make([]DetailDecision, 0, len(req.Decisions))
	for _, d := range req.Decisions {
		e, ok := byID[d.ID]
		v := DetailDecision{Decision: d, PersonName: e.ActorName, Role: org.Role(e.Entry.Authority.Role), StageName: d.StageKey}
		if ok {
			v.EntryID, v.EntryOrdinal = e.Entry.ID, e.Ordinal
			v.Reason = e.Openings[OpeningReason]
			v.Erased = e.Entry.Reason != "" && v.Reason == ""
		}
		for _, s := range req.Route.Stages {
			if s.Key == d.StageKey {
				v.StageName = s.Name
			}
		}
		out = append(out, v)
	}
	return out
}

// nameEverybody fills in the names of everybody on the page; those already loaded cost no read.
func nameEverybody(ctx context.Context, r Reader, v *RequestDetail, loaded []org.Person) error {
	req := v.Request
	for _, who := range loaded {
		v.Names[who.ID] = who.Name
	}
	ids := append([]string{req.RequesterID, req.Revision.Content.BeneficiaryID}, req.EditorIDs...)
	for _, d := range req.Decisions {
		ids = append(ids, d.PersonID)
	}
	for _, c := range v.Comments {
		v.Names[c.PersonID] = c.PersonName
	}
	ids = slices.DeleteFunc(unique(ids), func(id string) bool { return v.Names[id] != "" })
	if len(ids) > 0 {
		people, err := r.PeopleByID(ctx, ids)
		if err != nil {
			return err
		}
		for id, who := range people {
			v.Names[id] = who.Name
		}
	}
	for i := range v.Decisions {
		if v.Decisions[i].PersonName == "" {
			v.Decisions[i].PersonName = v.Names[v.Decisions[i].PersonID]
		}
	}
	v.Requester = PersonName{req.RequesterID, v.Names[req.RequesterID]}
	if id := req.Revision.Content.BeneficiaryID; id != "" {
		v.Beneficiary = PersonName{id, v.Names[id]}
	}
	return nil
}

// viewRights says what actor may do now, from what was loaded.
func (p *Portal) viewRights(v *RequestDetail, actor Actor, at place, s staff) {
	req := v.Request
	_, asks := mayAsk(actor.Person, at.teamPlace())
	v.MayRepeat = asks
	v.MayEdit = asks && (req.State == request.Draft || req.State == request.Returned)
	if _, err := req.Withdraw(v.At); err == nil {
		v.MayWithdraw = owns(actor, req)
	}
	v.MayComment = mayComment(actor, req)
	stage, waits := req.Stage()
	if !waits {
		return
	}
	identity := map[string]string{}
	for _, who := range s.people {
		identity[who.ID] = who.Identity
	}
	err := approval.MayDecide(actor.Person, stage, req.Subject(), req.Decisions, req.Revision.Digest, func(id string) string { return identity[id] })
	v.MayDecide = err == nil
	if _, holds := stage.Holds(actor.Person); holds && err != nil {
		v.WhyNot = publicOf(err)
	}
}
