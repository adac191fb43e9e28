package handlers

import (
	"strings"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/web"
)

// decideViewOf fills the decide page: the request from d, the fields from f.
func decideViewOf(d portal.DecisionDetail, f *form, now time.Time) web.RequestDecide {
	detail, c := d.Detail, d.Detail.Request.Revision.Content
	n := detail.Request.Number
	v := web.RequestDecide{
		ID: decimal(n), Number: requestWord(n), Stage: d.Stage.Name, StageID: d.Stage.Key, RevisionDigest: detail.Request.Revision.Digest,
		Revision: detail.Request.Revision.Number, IdempotencyKey: orElse(f.typed("idempotency_key"), newKey()), Base: d.Base,
		Who: detail.Requester.Name, For: detail.Beneficiary.Name, Project: web.Link{Text: detail.Project.Name, Href: paths.Project(detail.Project.ID)},
		Env: c.Environment, Purpose: c.Purpose, Why: c.Justification, Facts: requestFacts(detail),
		Headroom: poolHeadrooms(d.Pools), Checks: checksOf(d.Checks), Steps: stepsOf(detail), MustReason: d.MustReason,
		Reason: f.field("reason", "Reason", false),
	}
	v.Cost, _ = costOf(detail.Cost)
	if d.FreshUntil != nil {
		v.FactorFresh = "proven for this revision, good for another " + web.Span(d.FreshUntil.Sub(now))
	}
	v.AskCode, v.CodeError, v.Proof = d.OwnFactor, wrongOf(f, "code"), f.values.Get(proofField)
	for i, l := range detail.Lines {
		v.Lines = append(v.Lines, decideLineOf(i, l, d, f))
		if l.BaseChanged {
			v.BaseChanged = append(v.BaseChanged, baseChanged(l))
		}
	}
	fillPlans(&v, d.Plans)
	v.Chart = decideChart(d, detail)
	for _, x := range detail.Decisions {
		v.Earlier = append(v.Earlier, decisionOf(x, detail.Lines))
	}
	for _, st := range detail.Stages {
		if st.Key != d.Stage.Key && !st.Done {
			v.AlsoDecides = append(v.AlsoDecides, deciderOf(st.StagePeople))
		}
	}
	v.Lowering = loweringOf(d, f)
	if d.Blocked != "" {
		v.Errors = append(v.Errors, d.Blocked)
	}
	for _, w := range f.wrong {
		switch {
		case w.Name == "acknowledge_running" && v.Lowering != nil:
			v.Lowering.Error = w.Message
		case !strings.HasPrefix(w.Name, "grant.") && !strings.HasPrefix(w.Name, "until.") && w.Name != "reason":
			v.Errors = append(v.Errors, w.Message)
		}
	}
	if d.NextNumber > 0 {
		v.Next = web.Link{Text: "Next: " + requestWord(d.NextNumber), Href: paths.RequestDecide(decimal(d.NextNumber))}
	}
	return v
}

func decideLineOf(i int, l portal.DetailLine, d portal.DecisionDetail, f *form) web.DecideLine {
	line := web.DecideLine{
		Pool: web.Link{Text: l.Now.PoolName, Href: paths.Pool(l.PoolID)}, Cluster: l.Now.ClusterName, Kind: string(l.Kind), Unit: units(l.Now.Unit),
		Was: figure(l.Now.Current, orElse(l.Now.Why, "not read yet")), Figures: detailFigures(l, request.InReview), Start: at(l.Start), End: at(l.End),
		Grant: f.field("grant."+decimal(int64(i)), "Grant", true), Until: f.field("until."+decimal(int64(i)), "Until (UTC)", false),
	}
	line.Grant.Type, line.Grant.Min, line.Grant.Unit, line.Until.Type = "number", "0", line.Unit, "date"
	if i < len(d.Table) {
		line.Grant.Max = d.Table[i].Amount.String()
		if l.Kind != "burst" && l.Current.Known && d.Table[i].Amount.Cmp(l.Current.Amount) < 0 {
			line.Grant.Max = "" // a decrease is approved as asked
		}
		if line.Grant.Value == "" {
			line.Grant.Value = d.Table[i].Amount.String()
		}
		if end := d.Table[i].End; end != nil {
			line.Until.Max = dayValue(*end)
			if line.Until.Value == "" {
				line.Until.Value = dayValue(*end)
			}
		}
	}
	line.Until.Hint = "Empty: as asked."
	return line
}

// fillPlans shows what would change on which object, or why that cannot be told.
func fillPlans(v *web.RequestDecide, plans []portal.ClusterPlan) {
	var problems []string
	for _, p := range plans {
		if p.Simulated {
			v.Simulated = append(v.Simulated, p.ClusterName)
		}
		if p.Plan == nil {
			problems = append(problems, p.ClusterName+": "+orElse(p.Problem, "no answer"))
			continue
		}
		if p.Paused || p.Mode != fleet.Enforce {
			problems = append(problems, p.ClusterName+" is "+modeWord(p.Mode, p.Paused)+": the change is kept and written once that ends.")
		}
		v.Objects = append(v.Objects, diffOf(p.Plan, p.ClusterName, nil)...)
		problems = append(problems, p.Plan.Warnings...)
	}
	v.PlanProblem = strings.Join(problems, " ")
}

func modeWord(m fleet.Mode, paused bool) string {
	if paused {
		return "paused"
	}
	return "in mode " + string(m)
}

// decideChart is the project's use of the request's pools; several pools share one chart by their sum in use.
func decideChart(d portal.DecisionDetail, detail portal.RequestDetail) web.Chart {
	if len(d.Samples) == 0 {
		return web.Chart{ID: "use", Title: "Use", Unit: "GPUs", Empty: "Nothing was read for this project in these pools yet."}
	}
	first := d.Samples[0]
	unit := "GPUs"
	name := map[string]string{}
	for _, l := range detail.Lines {
		name[l.PoolID], unit = l.Now.PoolName, units(l.Now.Unit)
	}
	if len(d.Samples) == 1 {
		return samplesChart("use", detail.Project.Name+" in "+nameOr(name, first.PoolID)+", last 30 d", unit, first.From, first.To, first.Samples)
	}
	c := web.Chart{ID: "use", Title: detail.Project.Name + " in use, last 30 d", Unit: unit, From: first.From, To: first.To}
	for _, s := range d.Samples {
		one := samplesChart("", "", "", s.From, s.To, s.Samples)
		for _, series := range one.Series {
			if series.Kind == "in-use" {
				series.Name = "in use, " + nameOr(name, s.PoolID)
				c.Series = append(c.Series, series)
			}
		}
	}
	return c
}

func loweringOf(d portal.DecisionDetail, f *form) *web.Lowering {
	if len(d.Lowering) == 0 {
		return nil
	}
	v := &web.Lowering{Acknowledged: f.typed("acknowledge_running") == "yes"}
	var texts []string
	for _, l := range d.Lowering {
		texts = append(texts, l.PoolName+": "+amount(l.To)+" granted, "+measureWord(l.InUse)+" in use.")
		v.Running = append(v.Running, workloadsOf(l.Running)...)
	}
	v.Text = strings.Join(texts, " ") + " Nothing is evicted: what runs keeps running, and new work waits until use is below the limit."
	return v
}
