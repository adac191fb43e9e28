package portal

import (
	"context"
	"fmt"

	"quartermaster/internal/approval"
	"quartermaster/internal/fault"
	"quartermaster/internal/org"
	"quartermaster/internal/policy"
	"quartermaster/internal/request"
)

// PreviewRequest says what the portal would answer to c now. It is called while
// a person types: it stores nothing and asks no cluster.
func (p *Portal) PreviewRequest(ctx context.Context, actor Actor, c request.Content) (Preview, error) {
	if c.ProjectID == "" {
		err := fault.New(fault.Invalid, "").At("project", "Choose a project.")
		complete(err, c, org.Project{})
		return Preview{Fields: err.Fields}, nil
	}
	at, err := p.place(ctx, p.Store, c)
	if fault.KindOf(err) == fault.NotFound {
		return Preview{Fields: []fault.Field{{Name: "project", Message: "Choose a project."}}}, nil
	}
	if err != nil {
		return Preview{}, fmt.Errorf("preview a request: %w", err)
	}
	if _, ok := mayAsk(actor.Person, at.teamPlace()); !ok {
		return Preview{}, cannotAsk(at)
	}
	return p.preview(ctx, p.Store, actor, at, c, approval.Subject{RequesterID: actor.Person.ID, BeneficiaryID: c.BeneficiaryID, EditorIDs: []string{actor.Person.ID}})
}

func (p *Portal) preview(ctx context.Context, r Reader, actor Actor, at place, c request.Content, subject approval.Subject) (Preview, error) {
	c = at.capture(c, keepNone)
	v := Preview{Cost: at.cost(c), Pools: at.headroom(c)}
	fields := storable(ctx, r, actor, at, c)
	complete(fields, c, at.project)
	v.Fields = fields.Fields
	known := c
	known.Lines = nil
	for _, l := range c.Lines {
		v.Lines = append(v.Lines, at.now(l.PoolID))
		if _, ok := at.pools[l.PoolID]; ok {
			known.Lines = append(known.Lines, l)
		}
	}
	v.Checks = policy.Run(p.facts(at, known, false))
	s, err := loadStaff(ctx, r, at, known, subject)
	if err != nil {
		return Preview{}, fmt.Errorf("preview a request: %w", err)
	}
	v.Stages = s.stages()
	if err := s.staffed(ctx, r); err != nil {
		f := fault.As(err)
		if f == nil {
			return Preview{}, err
		}
		v.Fields = append(v.Fields, f.Fields...)
	}
	return v, nil
}

func cannotAsk(at place) error {
	return fault.Newf(fault.Forbidden, "Only people of the team %s ask for %s. A platform admin can map you to the role Requester there.", at.team.Name, at.project.Name)
}
