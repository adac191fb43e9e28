package handlers

import (
	"strings"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// changeBadges give the states of a change their tones.
var changeBadges = map[portal.ChangeState]web.Tone{
	portal.ChangePlanned: web.Waiting, portal.ChangeHeld: web.Waiting, portal.ChangeWaiting: web.Waiting, portal.ChangeApplying: web.Waiting,
	portal.ChangeApplied: web.Waiting, portal.ChangeVerified: web.Done, portal.ChangeStopped: web.Refused, portal.ChangeSuperseded: web.Neutral,
}

// changeOf is the work on one cluster, planned → applied → verified.
func changeOf(c portal.DetailChange, me org.Person) web.Change {
	v := web.Change{
		ID: c.ID, Cluster: clusterLink(me, c.ClusterID, c.ClusterName), Simulated: c.Simulated,
		State: web.Badge{Tone: changeBadges[c.State], Word: string(c.State)}, What: changeWord(c), PlannedAt: c.CreatedAt,
		AppliedAt: at(c.AppliedAt), Problem: c.Problem,
	}
	if c.ReadBack != nil {
		v.ReadAt = c.ReadBack.At
	}
	if c.Plan != nil {
		v.Objects = diffOf(c.Plan, c.ClusterName, c.ReadBack)
	}
	if c.State == portal.ChangeStopped && takeover.includes(me) && c.Plan != nil && len(c.Plan.Conflicts) > 0 {
		v.Takeover = paths.ChangeTakeover(c.ID)
	}
	return v
}

// changeWord is where a change stands in a sentence.
func changeWord(c portal.DetailChange) string {
	switch c.State {
	case portal.ChangePlanned:
		return "Planned; goes to " + c.ClusterName + " next."
	case portal.ChangeHeld:
		if c.Paused {
			return "Held: writing to " + c.ClusterName + " is paused."
		}
		return "Held: " + c.ClusterName + " is in mode " + string(c.ClusterMode) + ", so nothing is written there."
	case portal.ChangeWaiting:
		return "Waits: " + c.ClusterName + " does not answer. The first good poll releases it."
	case portal.ChangeApplying:
		return "On its way to " + c.ClusterName + "."
	case portal.ChangeApplied:
		return "Sent; not read back yet."
	case portal.ChangeVerified:
		return "Read back: " + c.ClusterName + " enforces what was granted."
	case portal.ChangeStopped:
		return "Stopped: somebody has to look at it."
	case portal.ChangeSuperseded:
		return "A newer change of the same limits took its place."
	}
	return ""
}

// diffOf is a plan object by object, with what was read back where it was.
func diffOf(p *fleet.Plan, cluster string, read *fleet.ReadBack) []web.DiffObject {
	live := map[string]*string{}
	if read != nil {
		for _, o := range read.Objects {
			for _, f := range o.Fields {
				live[o.Object.String()+"\x00"+f.Path] = f.Before
			}
		}
	}
	var out []web.DiffObject
	for _, o := range p.Objects {
		d := web.DiffObject{Object: o.Object.String(), Cluster: cluster, Created: o.Create, Manager: o.Manager}
		for _, f := range o.Fields {
			field := web.DiffField{Field: f.Path, Before: diffValue(f.Before), After: diffValue(f.After)}
			changed := f.Changed()
			if v, ok := live[o.Object.String()+"\x00"+f.Path]; ok {
				field.Read = diffValue(v)
				field.Wrong = fleet.Field{Path: f.Path, Before: v, After: f.After}.Changed()
				d.ReadBack, changed = true, changed || field.Wrong
			}
			if changed {
				d.Fields = append(d.Fields, field)
			} else {
				d.Unchanged = append(d.Unchanged, field)
			}
		}
		var owners []string
		for _, c := range p.Conflicts {
			if c.Object == o.Object {
				owners = append(owners, c.Field+" is managed by "+c.Manager)
			}
		}
		d.Note = strings.Join(owners, "; ")
		out = append(out, d)
	}
	return out
}

// diffValue is one stored value; a field that is absent is "unset".
func diffValue(v *string) web.Figure {
	if v == nil {
		return web.Figure{Value: "unset"}
	}
	if *v == "" {
		return web.Figure{Value: "(empty)"}
	}
	return web.Figure{Value: *v}
}

// workloadOf is one job with the scheduler's own words.
func workloadOf(w fleet.Workload) web.Workload {
	v := web.Workload{Name: orElse(w.Job, w.Name), Queue: w.Namespace + "/" + w.LocalQueue, Who: w.Submitter, Since: w.CreatedAt, Reason: w.Why()}
	if w.State == fleet.Admitted && w.AdmittedAt != nil {
		v.Since = *w.AdmittedAt
	}
	sum, any := fleet.Quantity{}, false
	for _, a := range w.Amounts {
		if a.Pool.Accelerator() {
			sum, any = sum.Add(a.Amount), true
			v.Unit = unitsOf(a.Pool.Resource)
		}
	}
	v.GPUs = web.Unknown("the workload names no accelerator")
	if any {
		v.GPUs = exactly(sum)
	}
	return v
}

func workloadsOf(all []portal.ClusterWorkload) []web.Workload {
	var out []web.Workload
	for _, w := range all {
		out = append(out, workloadOf(w.Workload))
	}
	return out
}
