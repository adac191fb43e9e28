package main

import (
	"fmt"
	"time"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

func editForm() web.RequestEdit {
	runtime := field("runtime_hours", "Expected runtime", "72")
	runtime.Type, runtime.Unit, runtime.Min = "number", "hours", "1"
	why := field("justification", "Justification", "The refreshed corpus adds 1.4 T tokens; 8 GPUs take 41 d, 16 take 21 d.")
	why.Rows = 4
	why.Hint = "Why this much, why now, and what happens without it. Deciders and auditors read it."
	behalf := choose("on_behalf_of", "On behalf of", "myself", "myself", "Kathleen Antonelli")
	behalf.Required = false
	return web.RequestEdit{
		Action: paths.Requests, Cancel: paths.Requests, IdempotencyKey: "k1", Prefilled: "R-1021",
		Project:      choose("project", "Project", "vision-training", "vision-training", nasty),
		Environment:  choose("environment", "Environment", "production", "development", "evaluation", "staging", "production"),
		DataClass:    choose("data_class", "Data class", "confidential", "public", "internal", "confidential"),
		WorkloadType: choose("workload_type", "Workload type", "training", "training", "inference", "batch", "development"),
		Purpose:      field("purpose", "Purpose", "Continue pretraining of the 70B model after the data refresh"),
		RuntimeHours: runtime, Justification: why, OnBehalfOf: behalf,
		Lines: []web.RequestEditLine{editLine(0, "alpha / h100", "16", "hard", 8, 8)},
		Checks: web.RequestChecks{
			Checks: checks,
			Deciders: []web.Decider{
				{Stage: "Team manager of Vision", People: "Katherine Johnson or Dorothy Vaughan", Within: "2 d", Eligible: 2},
				{Stage: "Capacity manager of h100", People: "Grace Hopper or 1 other", Within: "2 d", Eligible: 2},
			},
			Cost: web.Money{Minor: 2452800, Currency: "EUR"}, CostNote: "+12,264.00 EUR to now. 16 GPUs, 730 h, 2.10 EUR an hour.",
			Headroom: []web.PoolHeadroom{{Pool: web.Link{Text: "h100", Href: paths.Pool("h100")}, Cluster: "alpha", Headroom: withAsk(headroom, 8)}},
		},
	}
}

func editLine(i int, pool, asked, kind string, current, inUse int64) web.RequestEditLine {
	name := func(s string) string { return fmt.Sprintf("line.%d.%s", i, s) }
	a := field(name("asked"), "Asked limit", asked)
	a.Type, a.Unit, a.Min = "number", "GPUs", "0"
	k := field(name("kind"), "Kind", kind)
	k.Options = []web.Option{{Value: "hard", Text: "hard: never borrows"}, {Value: "soft", Text: "soft: borrows up to the ceiling"}, {Value: "burst", Text: "burst: extra until its end"}}
	s, e := field(name("start"), "Start", ""), field(name("end"), "End", "")
	s.Type, e.Type, s.Required, e.Required = "date", "date", false, false
	return web.RequestEditLine{Pool: choose(name("pool"), "Pool", pool, "alpha / h100", "alpha / a100", "beta / mi300x"), Asked: a, Kind: k, Start: s, End: e, Unit: "GPUs", Current: known(current), InUse: known(inUse)}
}

func editWrong() web.RequestEdit {
	v := editForm()
	v.Prefilled = ""
	v.Purpose.Value, v.Purpose.Error = "", "Say in one line what the GPUs are for."
	second := editLine(1, "alpha / a100", "40", "burst", 24, 24)
	second.End.Error = "A burst needs an end."
	third := editLine(2, "beta / mi300x", "-3", "soft", 0, 0)
	third.Asked.Error = "A whole number from 0."
	third.Current, third.InUse = web.Unknown("beta does not answer since 11:40 UTC"), web.Unknown("beta does not answer since 11:40 UTC")
	v.Lines = append(v.Lines, second, third)
	v.Errors = []string{"Three fields need a change before this can be submitted."}
	v.Checks.Checks = append([]web.Check{refusing}, v.Checks.Checks...)
	v.Checks.Refuses = 1
	v.Checks.Deciders[1].People, v.Checks.Deciders[1].Eligible = "", 0
	v.Checks.Deciders[1].Missing = "Nobody else may decide for a100: the only capacity manager is you. A platform admin maps another person to the role."
	v.Checks.Cost = web.Money{Unknown: "mi300x has no hourly rate"}
	v.Checks.Headroom = append(v.Checks.Headroom,
		web.PoolHeadroom{Pool: web.Link{Text: "a100"}, Cluster: "alpha", Headroom: web.Headroom{Unit: "GPUs", Capacity: 32, InUse: 20, GrantedIdle: 16, Ask: 16}},
		web.PoolHeadroom{Pool: web.Link{Text: "mi300x"}, Cluster: "beta", Headroom: web.Headroom{Unit: "GPUs", Unknown: "beta does not answer since 2 Dec 2026, 11:40 UTC"}})
	return v
}

func requestInReview() web.RequestView {
	return web.RequestView{
		ID: "r1", Number: "R-1042", Kind: "quota", State: web.StateBadge("in review"),
		Next:    web.Next{What: "The capacity manager of h100 decides", Who: "Grace Hopper or 1 other", By: now.Add(22 * time.Hour), Tone: web.Waiting},
		Purpose: "Continue pretraining of the 70B model after the data refresh",
		Why:     "The refreshed corpus adds 1.4 T tokens; 8 GPUs take 41 d, 16 take 21 d.\n\nWithout it the release slips a quarter.",
		Facts: []web.Fact{
			{Label: "project", Text: "vision-training", Href: paths.Project("vision-training")}, {Label: "environment", Text: "production"},
			{Label: "asked by", Text: "Ada Lovelace"}, {Label: "on behalf of", Text: ""}, {Label: "data class", Text: "confidential"},
			{Label: "workload type", Text: "training"}, {Label: "expected runtime", Text: "72 h"}, {Label: "cost a month", Text: "24,528.00 EUR"},
			{Label: "revision", Text: "2, digest 5f70bf18a086", Mono: true},
		},
		Lines: []web.RequestLine{{Pool: web.Link{Text: "h100", Href: paths.Pool("h100")}, Cluster: "alpha", Environment: "production", Kind: "hard", Was: known(8), Figures: undecided(16, 8, 8)}},
		Steps: steps, Checks: checks, Decisions: decisions, Timeline: events, Revision: 2,
		Revisions: []web.Link{{Text: "1", Href: "?revision=1"}, {Text: "2"}},
		Comments:  []web.Comment{{Who: "Ada Lovelace", Role: "requester", At: ago(27 * time.Hour), Text: "We can give back 4 A100 from " + nasty}},
		Decide:    paths.RequestDecide("r1"), CanComment: true, CommentKey: "c1", Comment: web.Field{Name: "text", Label: "Comment", Rows: 3, Required: true},
	}
}

func requestActive() web.RequestView {
	v := requestInReview()
	v.State = web.StateBadge("active")
	v.Next = web.Next{What: "12 GPUs are in force on alpha", Who: "read back from the cluster 12 s ago", Tone: web.Done}
	v.Steps = stepsActive
	l := line(16, 12, 12, 12)
	l.Pending = known(4)
	v.Lines[0].Figures = l
	v.Decisions = append([]web.Decision{{Stage: "Capacity manager of h100", Who: "Grace Hopper", Role: "capacity manager of h100", Verdict: web.Badge{Tone: web.Done, Word: "approved less"}, Lines: []string{"alpha / h100: 12 of 16 GPUs"}, Reason: "16 would leave the pool without headroom for the evaluation freeze; 12 now, the rest in January.", At: ago(3 * time.Hour), Factor: "one-time code, 20 s before", Ledger: "18377", Href: paths.HistoryEntry("18377"), Revision: 2}}, v.Decisions...)
	v.Changes = []web.Change{{ID: "c1", Cluster: web.Link{Text: "alpha", Href: paths.Cluster("alpha")}, State: web.Badge{Tone: web.Done, Word: "verified"}, PlannedAt: ago(3 * time.Hour), AppliedAt: ago(3*time.Hour - 8*time.Second), ReadAt: ago(3*time.Hour - 11*time.Second), Objects: []web.DiffObject{verified()}}}
	v.Pending, v.Running = pending, running
	v.Grants = []web.GrantBox{{Cluster: "alpha", Namespace: "vision-training-production", Queue: "quartermaster", Manifest: manifest}}
	v.Decide, v.Again = "", paths.With(paths.RequestNew, "from", "R-1042")
	return v
}

func requestWaiting() web.RequestView {
	v := requestActive()
	v.State = web.StateBadge("applying")
	v.Next = web.Next{What: "beta has to answer before the grant can be made true", Who: "Quartermaster tries by itself", Tone: web.Waiting, Note: "beta does not answer since 2 Dec 2026, 11:40 UTC. The change waits and is not lost."}
	v.Lines = append(v.Lines, web.RequestLine{Pool: web.Link{Text: "mi300x", Href: paths.Pool("mi300x")}, Cluster: "beta", Environment: "production", Kind: "soft", Was: known(0), Start: now.Add(3 * day), End: now.Add(60 * day), BaseChanged: "The limit is 2 now, it was 0 at submission.",
		Figures: web.FigureLine{Unit: "GPUs", Asked: known(8), Granted: known(8), Enforced: known(2), InUse: web.Unknown("no good poll since 11:40 UTC"), Stale: true, AsOf: ago(2*time.Hour + 25*time.Minute)}})
	stopped := diff(4, 12)
	stopped.Note = "argocd-controller owns nominalQuota of this object."
	v.Changes = append(v.Changes,
		web.Change{ID: "c2", Cluster: web.Link{Text: "beta", Href: paths.Cluster("beta")}, Simulated: true, State: web.Badge{Tone: web.Waiting, Word: "waiting"}, What: "beta does not answer since 2 Dec 2026, 11:40 UTC. The first good poll releases the change.", PlannedAt: ago(2 * time.Hour), Objects: []web.DiffObject{diff(0, 8)}},
		web.Change{ID: "c3", Cluster: web.Link{Text: "alpha"}, State: web.Badge{Tone: web.Refused, Word: "stopped"}, PlannedAt: ago(time.Hour), Problem: "Another manager owns the field: one forced apply of exactly these fields needs a decision.", Takeover: paths.ChangeTakeover("c3"), Objects: []web.DiffObject{stopped}})
	v.Cannot = "You wrote revision 2, so another capacity manager decides."
	v.Grants, v.Running, v.Pending = nil, nil, nil
	return v
}

func requestReturned() web.RequestView {
	v := requestInReview()
	v.State, v.Decide = web.StateBadge("returned"), ""
	v.Next = web.Next{What: "You answer the questions and write revision 3", Tone: web.NeedsYou, By: now.Add(12 * day)}
	v.Edit, v.EditWord, v.Withdraw = paths.RequestEdit("r1"), "Write revision 3", paths.RequestWithdraw("r1")
	v.Checks, v.Comments, v.Revisions = nil, nil, nil
	return v
}

func requestStories() []story {
	revise := editForm()
	revise.Number, revise.Revision, revise.Prefilled = "R-1042", 3, ""
	revise.Returned, revise.ReturnedBy = "Which of the two runs needs 16? "+nasty, "Katherine Johnson"
	empty := editForm()
	empty.Checks = web.RequestChecks{Waiting: "Choose a project and a pool: the checks, the people who decide, the cost and the headroom stand here as you type."}
	return []story{
		on("home", at("Home", paths.Home, simulated), web.HomePage, web.HomeView{
			CanAsk: true, Decides: true, Waiting: approvalRows[:2], WaitMore: 5, Mine: requestRows[:2],
			Projects: []web.ProjectLines{{Project: web.Link{Text: "vision-training", Href: paths.Project("vision-training")}, Team: "Vision", Lines: poolLines}},
			Ending:   []web.Ending{{Request: requestsCrumb, What: "12 GPUs of h100 for vision-training, production", At: now.Add(3 * day), Renew: paths.RequestNew}},
		}),
		on("home-empty", at("Home", paths.Home), web.HomePage, web.HomeView{FirstDay: true, Setup: []web.Link{{Text: "Import the organisation: quartermaster import org.yaml"}, {Text: "Connect a cluster", Href: paths.ClusterConnect}}, CanAsk: true, Auditor: true}),
		on("request-new", at("New request", paths.RequestNew, crumbs(requestsCrumb)), web.RequestEditPage, editForm()),
		on("request-new-wrong", at("New request", paths.RequestNew, crumbs(requestsCrumb)), web.RequestEditPage, editWrong()),
		on("request-new-empty", at("New request", paths.RequestNew, crumbs(requestsCrumb)), web.RequestEditPage, empty),
		on("request-revise", at("Revision 3 of R-1042", "/requests/r1/edit", crumbs(requestsCrumb, web.Link{Text: "R-1042", Href: paths.Request("r1")})), web.RequestEditPage, revise),
		on("request-in-review", at("R-1042: 16 GPUs for vision-training", "/requests/r1", crumbs(requestsCrumb), badge(web.StateBadge("in review"))), web.RequestPage, requestInReview()),
		on("request-active", at("R-1042: 12 GPUs for vision-training", "/requests/r1", crumbs(requestsCrumb), badge(web.StateBadge("active"))), web.RequestPage, requestActive()),
		on("request-waiting", at("R-1042: 12 GPUs for "+nasty, "/requests/r1", crumbs(requestsCrumb), badge(web.StateBadge("applying")), simulated, stale), web.RequestPage, requestWaiting()),
		on("request-returned", at("R-1042: 16 GPUs for "+long, "/requests/r1", crumbs(requestsCrumb), badge(web.StateBadge("returned"))), web.RequestPage, requestReturned()),
		on("request-list", at("Requests", paths.Requests), web.RequestListPage, web.RequestList{
			CanAsk: true, Tabs: []web.Tab{{Text: "Mine", Href: "?tab=mine", Current: true, Count: "6"}, {Text: "My teams", Href: "?tab=team"}, {Text: "All", Href: "?tab=all"}},
			Filters: filters(paths.Requests), Rows: requestRows, Pager: web.Pager{Older: "?before=1", Newer: "?after=1", Shown: 50, Total: "10,412", Noun: "requests"},
		}),
		on("request-list-empty", at("Requests", paths.Requests), web.RequestListPage, web.RequestList{CanAsk: true, Filters: filters(paths.Requests), Empty: web.Empty{Title: "No requests yet", Text: "What you ask for stands here with its state, from draft to end.", Action: web.Link{Text: "Ask for GPUs", Href: paths.RequestNew}}}),
		on("request-withdraw", at("Withdraw R-1042", "/requests/r1/withdraw", crumbs(requestsCrumb, web.Link{Text: "R-1042", Href: paths.Request("r1")})), web.ConfirmPage, web.ConfirmView{Text: []string{"The request ends here. It stays in the lists and in the history; nothing changes on a cluster."}, Action: paths.RequestWithdraw("r1"), IdempotencyKey: "w1", Reason: web.Field{Name: "reason", Label: "Reason", Rows: 2}, Verb: "Withdraw R-1042", Danger: true, Cancel: web.Link{Text: "Keep R-1042", Href: paths.Request("r1")}}),
	}
}
