package main

import (
	"time"

	"github.com/a-h/templ"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

func decide() web.RequestDecide {
	g := field("grant.0", "Granted limit", "16")
	g.Type, g.Unit, g.Min = "number", "GPUs", "0"
	u := field("until.0", "Until", "")
	u.Type, u.Required, u.Hint = "date", false, "Empty: as asked, no end."
	return web.RequestDecide{
		ID: "r1", Number: "R-1042", Stage: "Capacity manager of h100", StageID: "s2", RevisionDigest: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef", Revision: 2, IdempotencyKey: "k",
		FactorFresh: "one-time code, 3 min ago", Who: "Ada Lovelace", Project: web.Link{Text: "vision-training", Href: paths.Project("vision-training")}, Env: "production",
		Purpose: "Continue pretraining of the 70B model after the data refresh", Why: "The refreshed corpus adds 1.4 T tokens; 8 GPUs take 41 d, 16 take 21 d.",
		Facts:   []web.Fact{{Label: "data class", Text: "confidential"}, {Label: "workload type", Text: "training"}, {Label: "expected runtime", Text: "72 h"}},
		Cost:    web.Money{Minor: 2452800, Currency: "EUR"},
		Lines:   []web.DecideLine{{Pool: web.Link{Text: "h100", Href: paths.Pool("h100")}, Cluster: "alpha", Kind: "hard", Unit: "GPUs", Was: known(8), Figures: undecided(16, 8, 8), Grant: g, Until: u}},
		Objects: []web.DiffObject{diff(8, 16)}, Headroom: []web.PoolHeadroom{{Pool: web.Link{Text: "h100", Href: paths.Pool("h100")}, Cluster: "alpha", Headroom: withAsk(headroom, 8)}},
		Checks: checks, Chart: chart("use", "vision-training in h100, GPUs", 30, 8), Earlier: decisions, Steps: steps,
		MustReason: "a check warns", Next: web.Link{Text: "Next: R-1039", Href: paths.RequestDecide("r2")},
	}
}

func decideLower() web.RequestDecide {
	v := decide()
	v.For = "Kathleen " + nasty
	v.FactorFresh, v.MustReason = "", ""
	v.Lines[0].Grant.Value = "8"
	v.Lines[0].Was, v.Lines[0].Figures = known(16), undecided(8, 16, 12)
	v.Objects = []web.DiffObject{diff(16, 8)}
	v.BaseChanged = []string{"The limit of h100 is 16 now; it was 12 when this was asked."}
	v.Lowering = &web.Lowering{Text: "h100: 8 granted, 12 in use. Nothing is evicted; no new workload starts until use is below 8.", Running: running, Error: "Say that you know: tick this to approve 8."}
	v.Errors = []string{"The decision was not made: one thing is missing."}
	v.Reason.Error = "A reason is needed to approve less than is in use."
	v.Headroom = []web.PoolHeadroom{{Pool: web.Link{Text: "h100"}, Cluster: "alpha", Headroom: web.Headroom{Unit: "GPUs", Capacity: 32, InUse: 20, GrantedIdle: 16, Ask: 16}}}
	return v
}

func decideUnknown() web.RequestDecide {
	v := decide()
	v.Objects, v.PlanProblem = nil, "beta does not answer since 2 Dec 2026, 11:40 UTC, so what would change cannot be shown. A decision is possible; the change waits for the cluster."
	v.Headroom = []web.PoolHeadroom{{Pool: web.Link{Text: "mi300x"}, Cluster: "beta", Headroom: web.Headroom{Unknown: "beta does not answer since 2 Dec 2026, 11:40 UTC"}}}
	v.Chart = web.Chart{ID: "use", Title: "vision-training in mi300x, GPUs", Unit: "GPUs", Empty: "No poll of beta succeeded in the last 30 days."}
	v.Lines[0].Was = web.Unknown("beta does not answer")
	v.Lines[0].Figures = web.FigureLine{Unit: "GPUs", Asked: known(16), Granted: web.Unknown("not decided"), Enforced: web.Unknown("beta does not answer since 11:40 UTC"), InUse: web.Unknown("beta does not answer since 11:40 UTC")}
	v.Checks, v.Earlier = checks[3:], nil
	return v
}

func decideStories() []story {
	approvals := web.Link{Text: "Approvals", Href: paths.Approvals}
	f := filters(paths.Approvals)
	f.Sorts = []web.Tab{{Text: "age", Href: "?sort=age", Current: true}, {Text: "due", Href: "?sort=due"}, {Text: "size", Href: "?sort=size"}}
	f.Saved = []web.Tab{{Text: "All", Href: "?", Current: true, Count: "7"}, {Text: "With warnings", Href: "?warn=yes", Count: "2"}, {Text: "Overdue", Href: "?due=over", Count: "1"}}
	many := web.ApprovalList{Filters: f, Pager: web.Pager{Shown: 50, Total: "10,412", Noun: "requests", Older: "?before=x"}}
	for i := range 50 {
		many.Rows = append(many.Rows, approvalRows[i%len(approvalRows)])
	}
	return []story{
		on("approvals", at("Approvals", paths.Approvals), web.ApprovalListPage, web.ApprovalList{Filters: f, Rows: approvalRows, Pager: web.Pager{Shown: 4, Noun: "requests"}, Decided: web.Link{Text: "R-1044", Href: paths.Request("r44")}}),
		on("approvals-many", at("Approvals", paths.Approvals), web.ApprovalListPage, many),
		on("approvals-empty", at("Approvals", paths.Approvals), web.ApprovalListPage, web.ApprovalList{Filters: web.Filters{Action: paths.Approvals}, Empty: web.Empty{Icon: "done", Title: "Nothing waits for you", Text: "Requests in your teams and pools stand here, oldest first, as soon as it is your turn."}}),
		on("decide", at("Decide R-1042", "/requests/r1/decide", crumbs(approvals), badge(web.StateBadge("in review"))), web.RequestDecidePage, decide()),
		on("decide-lower", at("Decide R-1042", "/requests/r1/decide", crumbs(approvals), badge(web.StateBadge("in review"))), web.RequestDecidePage, decideLower()),
		on("decide-unknown", at("Decide R-1042", "/requests/r1/decide", crumbs(approvals), simulated, stale), web.RequestDecidePage, decideUnknown()),
		on("decide-conflict", at("R-1042 changed meanwhile", "/requests/r1/decide", crumbs(approvals)), web.RequestConflictPage, web.RequestConflict{
			Number: "R-1042", What: "Ada Lovelace wrote revision 3 at 2 Dec 2026, 14:00 UTC, after you opened revision 2",
			Rows:    []web.ConflictRow{{Field: "h100, asked", Then: "16 GPUs", Now: "24 GPUs"}, {Field: "Purpose", Then: nasty, Now: nasty}, {Field: "End", Then: "–", Now: "1 Mar 2027"}},
			Entered: []web.Fact{{Label: "decision", Text: "approve"}, {Label: "h100", Text: "12 GPUs"}, {Label: "reason", Text: "12 now, the rest in January."}},
			Go:      web.Link{Text: "Decide revision 3", Href: paths.RequestDecide("r1")}, Back: web.Link{Text: "Back to approvals", Href: paths.Approvals},
		}),
		on("step-up", at("One-time code", paths.StepUp), web.StepUpPage, web.StepUp{What: "to approve 12 GPUs for R-1042", Error: "This code was used already; wait for the next.", Back: paths.RequestDecide("r1"), Window: "10 min", Hidden: []web.Filter{{Name: "reason", Value: nasty}}}),
		on("step-up-enrol", at("One-time code", paths.StepUp), web.StepUpPage, web.StepUp{What: "to approve 12 GPUs for R-1042", Back: paths.RequestDecide("r1"), Enrol: &web.Enrol{Secret: "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP", QR: []string{"1111111010", "1000001011", "1011101000", "1000001011", "1111111001"}}}),
		on("step-up-recovery", at("Confirm that it is you", paths.StepUp), web.StepUpPage, web.StepUp{What: "to approve 12 GPUs for R-1042", Back: paths.RequestDecide("r1"), Recovery: true, Error: "This recovery code is not right, or it was used already. Each counts once."}),
		on("recovery-codes", at("Your recovery codes", paths.StepUp), web.RecoveryCodesPage, web.RecoveryCodes{Go: paths.RequestDecide("r1"), Codes: []string{
			"ab2d-efgh-jk3m-npqr", "st4v-wxyz-a5cd-efgh", "jk6m-npqr-st7v-wxyz", "aabb-ccdd-eeff-gghh", "b2d4-f6h2-k4m6-p2r4", "t6v2-x4z6-a2c4-e6g2", "i4k6-m2o4-q6s2-u4w6", "y2a4-c6e2-g4i6-k2m4", "o6q2-s4u6-w2y4-a6c2", "e4g6-i2k4-m6o2-q4s6"}}),
		on("second-factor", at("Your second factor", paths.SecondFactor), web.SecondFactorPage, web.SecondFactor{Enrolled: true, Left: 2, Made: 10, MadeAt: new(ago(400 * time.Hour))}),
		on("second-factor-none", at("Your second factor", paths.SecondFactor), web.SecondFactorPage, web.SecondFactor{Provider: true}),
		on("second-factor-confirm", at("Your second factor", paths.SecondFactor), web.SecondFactorPage, web.SecondFactor{Confirm: "codes", Proof: "p"}),
		on("second-factor-replace", at("Your second factor", paths.SecondFactor), web.SecondFactorPage, web.SecondFactor{Proof: "p", Error: "This is not the code of the new secret. Take the one that the authenticator shows now.", Enrol: &web.Enrol{Secret: "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP", QR: []string{"1111111010", "1000001011", "1011101000", "1000001011", "1111111001"}}}),
		on("request-checks", at("Checks", paths.RequestChecks), func(_ web.Frame, v web.RequestEdit) templ.Component { return web.RequestChecksFragment(v) }, editWrong()),
	}
}
