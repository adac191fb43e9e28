package portal

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/request"
)

// same is nil when the digest that a form carried is of the current revision.
// Otherwise the fault carries what changed since.
func (p *Portal) same(ctx context.Context, r Reader, req request.Request, digest string) error {
	if digest == req.Revision.Digest {
		return nil
	}
	return p.changed(ctx, r, req, digest)
}

// changed is the Stale fault for a form filled from the revision with digest.
func (p *Portal) changed(ctx context.Context, r Reader, req request.Request, digest string) error {
	revisions, err := r.Revisions(ctx, req.ID)
	if err != nil {
		return fmt.Errorf("revisions of request %d: %w", req.Number, err)
	}
	now := req.Revision
	who := now.EditorID
	if people, err := r.PeopleByID(ctx, []string{now.EditorID}); err == nil && people[now.EditorID].Name != "" {
		who = people[now.EditorID].Name
	}
	c := &RequestChanged{Number: req.Number, Digest: now.Digest,
		What: fmt.Sprintf("%s wrote revision %d at %s.", who, now.Number, moment(now.At))}
	known := false
	for _, v := range revisions {
		if v.Digest == digest {
			known, c.Rows = true, compare(v.Content, now.Content)
		}
	}
	if !known {
		c.What = fmt.Sprintf("This form belongs to no revision of the request. Revision %d of %s stands.", now.Number, moment(now.At))
	}
	return fault.New(fault.Stale, "The request changed after you opened it. Look at what changed, then go on.").Because(c)
}

// moved is the Stale fault for a stage that was decided in the meantime.
func (p *Portal) moved(ctx context.Context, r Reader, req request.Request, stageKey string) error {
	c := &RequestChanged{Number: req.Number, Digest: req.Revision.Digest, What: fmt.Sprintf("The request is %s now.", req.State)}
	for i := len(req.Decisions) - 1; i >= 0; i-- {
		d := req.Decisions[i]
		if d.StageKey != stageKey || d.Digest != req.Revision.Digest {
			continue
		}
		name := d.PersonID
		if people, err := r.PeopleByID(ctx, []string{d.PersonID}); err == nil && people[d.PersonID].Name != "" {
			name = people[d.PersonID].Name
		}
		c.What = fmt.Sprintf("%s decided this step at %s: %s. The request is %s now.", name, moment(d.At), d.Outcome, req.State)
		break
	}
	return fault.New(fault.Stale, "This step was decided in the meantime. Look at where the request stands now.").Because(c)
}

// compare lists the values that differ, field by field.
func compare(then, now request.Content) []ValueChange {
	var out []ValueChange
	add := func(field, a, b string) {
		if a != b {
			out = append(out, ValueChange{field, a, b})
		}
	}
	add("Project", then.ProjectID, now.ProjectID)
	add("Environment", then.Environment, now.Environment)
	add("Data class", then.DataClass, now.DataClass)
	add("Workload type", then.WorkloadType, now.WorkloadType)
	add("Purpose", then.Purpose, now.Purpose)
	add("Justification", then.Justification, now.Justification)
	add("Expected runtime in hours", strconv.Itoa(then.RuntimeHours), strconv.Itoa(now.RuntimeHours))
	add("On behalf of", then.BeneficiaryID, now.BeneficiaryID)
	old := map[string]request.Line{}
	for _, l := range then.Lines {
		old[l.PoolID] = l
	}
	for _, l := range now.Lines {
		o, was := old[l.PoolID]
		delete(old, l.PoolID)
		if !was {
			add(l.PoolID, "not asked for", lineWords(l))
			continue
		}
		add(l.PoolID, lineWords(o), lineWords(l))
		add(l.PoolID+", limit in force", o.Current.String(), l.Current.String())
	}
	for _, l := range then.Lines {
		if o, gone := old[l.PoolID]; gone {
			add(l.PoolID, lineWords(o), "no longer asked for")
		}
	}
	return out
}

func lineWords(l request.Line) string {
	s := l.Asked.String() + " " + string(l.Kind)
	if l.Start != nil {
		s += " from " + moment(*l.Start)
	}
	if l.End != nil {
		s += " until " + moment(*l.End)
	}
	return s
}

// moment is a time as pages write it.
func moment(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }
