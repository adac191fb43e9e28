package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/approval"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/web"
)

// requestView is the page of one request.
func (s *server) requestView(w http.ResponseWriter, r *http.Request) error {
	n, err := numberIn(r, "request")
	if err != nil {
		return err
	}
	return s.showRequest(w, r, http.StatusOK, n, formOf(nil))
}

// showRequest is the page of request n. comment is a remark that could not be kept,
// shown again as it was typed, or an empty form.
func (s *server) showRequest(w http.ResponseWriter, r *http.Request, status int, n int64, comment *form) error {
	d, err := s.Portal.ViewRequest(r.Context(), actorOf(r), n)
	if err != nil {
		return err
	}
	f := s.frame(r, requestWord(n)+" · "+d.Project.Name, web.Link{Text: "Requests", Href: paths.Requests})
	f.Badge = web.StateBadge(string(d.Request.State))
	f = markLines(f, d.Lines)
	v := requestViewOf(d, actorOf(r).Person)
	v.Comment = comment.field("text", "Comment", true)
	v.Comment.Rows, v.Comment.Hint = 3, "Everybody who can open this request reads it. It stays."
	return s.show(w, r, status, web.RequestPage(f, v))
}

// markLines says in the frame which clusters of the lines are simulated or stale.
func markLines(f web.Frame, lines []portal.DetailLine) web.Frame {
	for _, l := range lines {
		f = markSimulated(f, l.Now.ClusterName, l.Now.Simulated)
		f = markStale(f, l.Now.ClusterName, web.Headroom{Stale: l.Now.Stale, AsOf: at(l.Now.At)})
	}
	return f
}

func requestViewOf(d portal.RequestDetail, me org.Person) web.RequestView {
	n, c := d.Request.Number, d.Request.Revision.Content
	v := web.RequestView{
		ID: decimal(n), Number: requestWord(n), Kind: string(c.Kind), State: web.StateBadge(string(d.Request.State)),
		Next: nextOf(d.Next), Facts: requestFacts(d), Purpose: c.Purpose, Why: c.Justification,
		Steps: stepsOf(d), Pending: workloadsOf(d.Pending), Running: workloadsOf(d.Running),
		Revision: d.Request.Revision.Number, CanComment: d.MayComment, CommentKey: newKey(), Cannot: d.WhyNot,
	}
	for _, l := range d.Lines {
		v.Lines = append(v.Lines, requestLineOf(l, c.Environment, d.Request.State))
	}
	for _, k := range d.Checks {
		v.Checks = append(v.Checks, checkOf(k.Result))
	}
	for _, x := range d.Decisions {
		v.Decisions = append(v.Decisions, decisionOf(x, d.Lines))
	}
	for _, x := range d.Changes {
		v.Changes = append(v.Changes, changeOf(x, me))
	}
	for _, g := range d.Places {
		v.Grants = append(v.Grants, web.GrantBox{Cluster: g.ClusterName, Namespace: g.Namespace, Queue: g.LocalQueue, Account: g.Account, Until: at(g.Until), Manifest: g.Manifest})
	}
	for _, x := range d.Comments {
		text := x.Text
		if x.Erased {
			text = "(This comment was erased. Its commitment stays in the record.)"
		}
		v.Comments = append(v.Comments, web.Comment{Who: x.PersonName, At: x.At, Text: text})
	}
	for _, e := range d.Timeline {
		v.Timeline = append(v.Timeline, eventOf(e))
	}
	if len(d.Revisions) > 1 {
		for _, x := range d.Revisions {
			v.Revisions = append(v.Revisions, web.Link{Text: decimal(int64(x.Number)) + " by " + nameOr(d.Names, x.EditorID)})
		}
	}
	if d.MayDecide {
		v.Decide = paths.RequestDecide(v.ID)
	}
	if d.MayEdit {
		v.Edit = paths.RequestEdit(v.ID)
		if d.Request.State == request.Returned {
			v.EditWord = "Write revision " + decimal(int64(d.Request.Revision.Number+1))
		}
	}
	if d.MayWithdraw {
		v.Withdraw = paths.RequestWithdraw(v.ID)
	}
	if d.MayRepeat {
		v.Again = paths.With(paths.RequestNew, "from", v.ID)
	}
	return v
}

func nextOf(n portal.NextStep) web.Next {
	v := web.Next{What: n.What, Who: peopleWord(n.Who, n.Count), By: at(n.By), On: at(n.On), Note: n.Note, Tone: web.Waiting}
	switch {
	case n.Yours:
		v.Tone = web.NeedsYou
	case n.Held:
		v.Tone = web.Done
	case n.Over:
		v.Tone = web.Neutral
	}
	return v
}

func requestFacts(d portal.RequestDetail) []web.Fact {
	c := d.Request.Revision.Content
	facts := []web.Fact{
		{Label: "project", Text: d.Project.Name, Href: paths.Project(d.Project.ID)},
		{Label: "team", Text: d.TeamName},
		{Label: "environment", Text: c.Environment},
		{Label: "asked by", Text: d.Requester.Name},
	}
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, web.Fact{Label: label, Text: text})
		}
	}
	add("on behalf of", d.Beneficiary.Name)
	add("data class", c.DataClass)
	add("workload type", c.WorkloadType)
	if c.RuntimeHours > 0 {
		add("expected runtime", web.Many(int64(c.RuntimeHours), "hour", "hours")+" a job")
	}
	add("cost centre", d.Project.CostCentre)
	add("cost a month, as asked", moneyLine(d.Cost.Totals))
	add("route", d.Request.Route.Why)
	if d.Request.Revision.Digest != "" {
		facts = append(facts, web.Fact{Label: "revision " + decimal(int64(d.Request.Revision.Number)), Text: web.Short(d.Request.Revision.Digest), Mono: true})
	}
	return facts
}

// requestLineOf is asked → granted → enforced → in use of one pool.
func requestLineOf(l portal.DetailLine, environment string, state request.State) web.RequestLine {
	v := web.RequestLine{
		Pool: web.Link{Text: l.Now.PoolName, Href: paths.Pool(l.PoolID)}, Cluster: l.Now.ClusterName, Environment: environment, Kind: string(l.Kind),
		Was: figure(l.Current, "not read when it was submitted"), Figures: detailFigures(l, state), Start: at(l.Start), End: at(l.End),
	}
	if l.Grant != nil {
		v.Start, v.End = at(l.Grant.Start), at(l.Grant.End)
	}
	if l.BaseChanged {
		v.BaseChanged = baseChanged(l)
	}
	return v
}

// baseChanged says that the ground moved under a request.
func baseChanged(l portal.DetailLine) string {
	return "The limit of " + l.Now.PoolName + " is " + measureWord(l.Now.Current) + " now; it was " + measureWord(l.Current) + " at submission."
}

func measureWord(m fleet.Measure) string {
	if !m.Known {
		return "unknown"
	}
	return amount(m.Amount)
}

func detailFigures(l portal.DetailLine, state request.State) web.FigureLine {
	why := orElse(l.Now.Why, "not read yet")
	return web.FigureLine{
		Unit: units(l.Now.Unit), Asked: exactly(l.Asked), Granted: grantedFigure(l.Granted, state),
		Enforced: figure(l.Now.Current, why), InUse: figure(l.Now.InUse, why), Pending: figure(l.Now.PendingAmount, why), AsOf: at(l.Now.At), Stale: l.Now.Stale, Later: state == request.Scheduled,
	}
}

// decisionOf is one person's word with the figures granted.
func decisionOf(x portal.DetailDecision, lines []portal.DetailLine) web.Decision {
	v := web.Decision{
		Stage: x.StageName, Who: x.PersonName, Role: lowerFirst(x.Role.Label()), At: x.At, Factor: factorWord(x.Factors),
		Revision: x.Revision, Reason: x.Reason, Ledger: decimal(x.EntryOrdinal), Href: paths.HistoryEntry(x.EntryID),
	}
	if x.Erased {
		v.Reason = "(The reason was erased. Its commitment stays in the record.)"
	}
	if x.EntryID == "" {
		v.Ledger, v.Href = "", ""
	}
	switch x.Outcome {
	case approval.Return:
		v.Verdict = web.Badge{Tone: web.NeedsYou, Word: "returned"}
	case approval.Reject:
		v.Verdict = web.Badge{Tone: web.Refused, Word: "rejected"}
	default:
		v.Verdict = web.Badge{Tone: web.Done, Word: "approved"}
		for i, g := range x.Granted {
			if i >= len(lines) {
				break
			}
			l := lines[i]
			if g.Amount.Cmp(l.Asked) != 0 {
				v.Verdict.Word = "approved less"
			}
			v.Lines = append(v.Lines, amount(g.Amount)+" of "+amount(l.Asked)+" "+units(l.Now.Unit)+" in "+l.Now.PoolName)
		}
	}
	return v
}

// stepsOf is submitted → stages → applying → active.
func stepsOf(d portal.RequestDetail) []web.Step {
	first := web.Step{Name: "Submitted", State: web.StepAhead, Who: d.Requester.Name}
	if d.Request.State == request.Draft {
		first.Name, first.State = "Draft", web.StepNow
	} else if d.Request.SubmittedAt != nil {
		first.State, first.At = web.StepDone, *d.Request.SubmittedAt
	}
	steps := []web.Step{first}
	over := d.Request.State == request.Rejected || d.Request.State == request.Withdrawn || d.Request.State == request.Lapsed || d.Request.State == request.Returned
	for _, st := range d.Stages {
		steps = append(steps, stageStep(st, over))
	}
	return append(steps, lifeSteps(d, over)...)
}

func stageStep(st portal.DetailStage, over bool) web.Step {
	step := web.Step{Name: st.Name, State: web.StepAhead, Who: peopleWord(st.People, st.Count)}
	var names []string
	for _, x := range st.By {
		names = append(names, x.PersonName)
		step.At = x.At
		if x.Outcome != approval.Approve {
			step.State, step.Note = web.StepRefused, map[approval.Outcome]string{approval.Return: "returned", approval.Reject: "rejected"}[x.Outcome]
		}
	}
	switch {
	case step.State == web.StepRefused:
		step.Who = strings.Join(names, ", ")
	case st.Done:
		step.State, step.Who = web.StepDone, strings.Join(names, ", ")
	case over:
		step.State = web.StepSkipped
	case st.Current:
		step.State, step.Due = web.StepNow, at(st.Due)
		if len(names) > 0 {
			step.Note = "approved by " + strings.Join(names, ", ") + "; " + decimal(int64(st.Quorum-len(names))) + " more needed"
		}
	}
	return step
}

// lifeSteps are what follows the decisions.
func lifeSteps(d portal.RequestDetail, over bool) []web.Step {
	applying, active := web.Step{Name: "Applying", State: web.StepAhead}, web.Step{Name: "Active", State: web.StepAhead}
	if over {
		applying.State, active.State = web.StepSkipped, web.StepSkipped
	}
	for _, c := range d.Changes {
		if c.State.Open() || c.State == portal.ChangeStopped {
			applying.Note = changeWord(c)
		}
		if c.State == portal.ChangeVerified && c.VerifiedAt != nil {
			active.At = *c.VerifiedAt
		}
	}
	switch d.Request.State {
	case request.Approved, request.Applying:
		applying.State = web.StepNow
	case request.Scheduled:
		applying.State, applying.Name = web.StepNow, "Scheduled"
	case request.Active:
		applying.State, active.State = web.StepDone, web.StepDone
		if applying.Note != "" {
			applying.State = web.StepNow // one cluster is there, another is not
		}
	case request.Expired, request.Revoked, request.Superseded:
		applying.State, active.State = web.StepDone, web.StepDone
		last := web.Step{Name: strings.ToUpper(string(d.Request.State[:1])) + string(d.Request.State[1:]), State: web.StepDone, At: at(d.Request.ClosedAt)}
		return []web.Step{applying, active, last}
	case request.Rejected, request.Withdrawn, request.Lapsed:
		last := web.Step{Name: strings.ToUpper(string(d.Request.State[:1])) + string(d.Request.State[1:]), State: web.StepRefused, At: at(d.Request.ClosedAt)}
		return []web.Step{last}
	}
	return []web.Step{applying, active}
}
