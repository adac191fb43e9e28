package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/fault"
	"quartermaster/internal/finding"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/request"
)

// AcceptFindingInput asks to make what is live the granted figure.
type AcceptFindingInput struct {
	FindingID     string
	Evidence      string // FindingDigest of what was seen
	DataClass     string
	WorkloadType  string
	Justification string
	Key           string
}

// AcceptFinding submits a request for what is live, linked with the finding. It is
// decided by the usual route, and never by who asks. The finding stays open until the
// request is approved and its change read back.
func (p *Portal) AcceptFinding(ctx context.Context, actor Actor, in AcceptFindingInput) (RequestRef, error) {
	seen, err := p.Store.Finding(ctx, in.FindingID)
	if err != nil {
		return RequestRef{}, err
	}
	refs := EntryRefs{ClusterID: seen.ClusterID, ProjectID: seen.ProjectID}
	ref, err := once(ctx, p, actor, "accept_finding", in.Key, in, func(ctx context.Context, tx Tx) (RequestRef, error) {
		f, err := tx.FindingForUpdate(ctx, in.FindingID)
		if err != nil {
			return RequestRef{}, err
		}
		line, authority, err := p.mayAccept(ctx, tx, actor, f)
		if err != nil {
			return RequestRef{}, err
		}
		if in.Evidence != FindingDigest(f) {
			return RequestRef{}, fault.New(fault.Stale, "What the cluster holds changed since this page was made. Look at it again, then accept it.")
		}
		return p.accept(ctx, tx, actor, authority, in, f, line)
	})
	if err != nil {
		return RequestRef{}, p.refused(ctx, actor, ledger.FindingAccepted, "finding", in.FindingID, refs, err)
	}
	return ref, nil
}

func (p *Portal) accept(ctx context.Context, tx Tx, actor Actor, authority org.Assignment, in AcceptFindingInput, f finding.Finding, line request.Line) (RequestRef, error) {
	b, err := tx.Binding(ctx, f.BindingID)
	if err != nil {
		return RequestRef{}, err
	}
	c := request.Content{Kind: request.Quota, ProjectID: b.ProjectID, Environment: b.Environment, DataClass: in.DataClass, WorkloadType: in.WorkloadType,
		Purpose: "Accept what " + f.Object.String() + " holds now", Justification: in.Justification, Lines: []request.Line{line}}
	at, err := p.place(ctx, tx, c)
	if err != nil {
		return RequestRef{}, err
	}
	c = at.capture(c, keepNone)
	now := p.Now()
	r := request.Request{ID: p.NewID(), State: request.Draft, TeamID: at.team.ID, RequesterID: actor.Person.ID, CreatedAt: now}
	if r, err = r.Edit(c, actor.Person.ID, now); err != nil {
		return RequestRef{}, err
	}
	if r.Number, err = tx.InsertRequest(ctx, r); err != nil {
		return RequestRef{}, fmt.Errorf("store a request: %w", err)
	}
	e := by(p.entry(actor, ledger.RequestDrafted, "request", r.ID), authority)
	e.Object.Revision, e.Object.Digest, e.After = fmt.Sprint(r.Revision.Number), r.Revision.Digest, r.Revision.Digest
	e.Facts["finding"] = f.ID
	lineFacts(e.Facts, c)
	if _, err := tx.Append(ctx, e, refsOf(r, at.pools), openingsOf(actor, nil)); err != nil {
		return RequestRef{}, err
	}
	if r, err = tx.RequestForUpdate(ctx, r.ID); err != nil {
		return RequestRef{}, err
	}
	ref, err := p.submitBy(ctx, tx, actor, authority, at, r)
	if err != nil {
		return RequestRef{}, err
	}
	f.RequestID, f.By = r.ID, actor.Person.ID
	err = p.saveFinding(ctx, tx, f, findingAct{actor: actor, authority: authority, t: ledger.FindingAccepted, event: "request to accept", projectID: b.ProjectID, reason: in.Justification})
	p.reached("accept.before")
	return ref, err
}

// mayAccept is the line that a request for what is live would have, where this person
// may ask for it: as capacity manager of the pool, or for the team.
func (p *Portal) mayAccept(ctx context.Context, r Reader, actor Actor, f finding.Finding) (request.Line, org.Assignment, error) {
	no := func(kind fault.Kind, text string) (request.Line, org.Assignment, error) {
		return request.Line{}, org.Assignment{}, fault.New(kind, text)
	}
	switch {
	case f.State != finding.Open:
		return no(fault.Conflict, "This finding is resolved. There is nothing to accept.")
	case f.Kind != finding.Drift || f.PoolID == "" || f.BindingID == "" || !f.Pool.Accelerator():
		return no(fault.Conflict, "Only the limit of a pool can be accepted as granted.")
	}
	if f.RequestID != "" {
		q, err := r.Request(ctx, f.RequestID)
		if err != nil {
			return request.Line{}, org.Assignment{}, err
		}
		if !q.State.Terminal() {
			return no(fault.Conflict, fmt.Sprintf("Request %d asks for this already.", q.Number))
		}
	}
	b, err := r.Binding(ctx, f.BindingID)
	if err != nil {
		return request.Line{}, org.Assignment{}, err
	}
	line, ok, err := p.liveLine(ctx, r, b, f)
	if err != nil {
		return request.Line{}, org.Assignment{}, err
	}
	if !ok {
		return no(fault.Conflict, "What is live cannot be said as a grant: the limit is absent, or has none. Put back what is granted instead.")
	}
	a, holds := actor.Person.Holding(org.CapacityManager, org.Place{ClusterID: f.ClusterID, PoolID: f.PoolID})
	if !holds {
		at, err := loadPlace(ctx, r, b.ProjectID, "", nil)
		if err != nil {
			return request.Line{}, org.Assignment{}, err
		}
		if a, holds = mayAsk(actor.Person, at.teamPlace()); !holds {
			return no(fault.Forbidden, "A capacity manager of the pool, or somebody of the team, asks to accept this.")
		}
	}
	if !actor.Person.Active {
		return no(fault.Forbidden, "This account is not active.")
	}
	return line, a, nil
}

// liveLine is what to ask for, so that what is live becomes what is granted.
func (p *Portal) liveLine(ctx context.Context, r Reader, b fleet.Binding, f finding.Finding) (request.Line, bool, error) {
	d, err := p.DesiredFor(ctx, r, b.ID, p.Now())
	if err != nil {
		return request.Line{}, false, err
	}
	s, err := r.Pool(ctx, f.PoolID)
	if err != nil {
		return request.Line{}, false, err
	}
	usage, err := r.Usage(ctx, UsageQuery{ProjectID: b.ProjectID, Environment: b.Environment, PoolID: f.PoolID})
	if err != nil {
		return request.Line{}, false, err
	}
	line := request.Line{PoolID: f.PoolID, Kind: request.Hard}
	for _, l := range d.Limits {
		if l.Pool != s.Key {
			continue
		}
		line.Asked = l.Nominal
		borrowing := l.Borrowing
		if len(usage) == 1 && usage[0].BorrowingKnown {
			borrowing = usage[0].Borrowing
		}
		if borrowing == nil || borrowing.Sign() > 0 {
			line.Kind = request.Soft
		}
		_, field, ok := fleet.Field{Path: f.Field, Limit: true}.Names()
		if !ok || f.Live == nil {
			return line, false, nil
		}
		q, err := fleet.ParseQuantity(*f.Live)
		if err != nil {
			return line, false, nil
		}
		switch field {
		case fleet.NominalField, fleet.TotalField:
			line.Asked = q
		case fleet.BorrowingField:
			// A grant has no borrowing of its own: soft borrows up to the pool's ceiling.
			if q.Sign() > 0 && (s.BorrowCeiling == nil || !s.BorrowCeiling.Equal(q)) {
				return line, false, nil
			}
		default:
			return line, false, nil
		}
		return line, line.Asked.IsWhole(), nil
	}
	return line, false, nil
}
