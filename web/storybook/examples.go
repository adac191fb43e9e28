package main

import (
	"math"
	"time"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

var now = time.Date(2026, 12, 2, 14, 5, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

const day = 24 * time.Hour

// nasty is text as people really write it.
const nasty = `R&D <b>"x"</b> 'quoted' & more`

const long = "Multimodal-foundation-model-continued-pretraining-and-evaluation-for-the-northern-european-language-consortium"

func frame(title, path string, theme string) web.Frame {
	return web.Frame{
		Title: title, Path: path, Theme: theme, Now: now, RequestID: "01JE3M9Q6ZK4T8", Version: "0.1.0",
		Person: web.Person{Name: "Grace Hopper", Roles: []string{"capacity manager of h100, a100", "requester in Vision"}},
		Nav:    web.Navigation(func(string) bool { return true }, map[string]int{paths.Approvals: 7}),
	}
}

func known(n int64) web.Figure { return web.Known(n) }

func line(asked, granted, enforced, inUse int64) web.FigureLine {
	return web.FigureLine{Unit: "GPUs", Asked: known(asked), Granted: known(granted), Enforced: known(enforced), InUse: known(inUse), AsOf: ago(12 * time.Second)}
}

func undecided(asked, enforced, inUse int64) web.FigureLine {
	l := line(asked, 0, enforced, inUse)
	l.Granted = web.Unknown("not decided")
	return l
}

var steps = []web.Step{
	{Name: "Submitted", State: web.StepDone, Who: "Ada Lovelace", At: ago(50 * time.Hour)},
	{Name: "Team manager", State: web.StepDone, Who: "Katherine Johnson", At: ago(26 * time.Hour), Note: "approved 16 GPUs"},
	{Name: "Capacity manager of h100", State: web.StepNow, Who: "Grace Hopper or 1 other", Due: now.Add(22 * time.Hour)},
	{Name: "Applying", State: web.StepAhead, Who: "alpha"},
	{Name: "Active", State: web.StepAhead},
}

var stepsActive = []web.Step{
	{Name: "Submitted", State: web.StepDone, Who: "Ada Lovelace", At: ago(50 * time.Hour)},
	{Name: "Team manager", State: web.StepDone, Who: "Katherine Johnson", At: ago(26 * time.Hour), Note: "approved 16 GPUs"},
	{Name: "Capacity manager of h100", State: web.StepDone, Who: "Grace Hopper", At: ago(3 * time.Hour), Note: "granted 12 of 16 GPUs"},
	{Name: "Applying", State: web.StepDone, Who: "alpha", At: ago(3*time.Hour - 8*time.Second)},
	{Name: "Active", State: web.StepDone, At: ago(3*time.Hour - 11*time.Second)},
}

var checks = []web.Check{
	{Tone: web.Done, Word: "holds", Name: "Project may use the pool", Reason: "vision-training is allowed confidential data in eu-north."},
	{Tone: web.Waiting, Word: "warns", Name: "Idle share", Reason: "The project used 41 % of its limit over the last 30 days; below 50 % a reason is needed."},
	{Tone: web.NeedsYou, Word: "needs approval", Name: "More than 8 GPUs in production", Reason: "16 asked: the capacity manager of the pool decides as well."},
	{Tone: web.NotKnown, Word: "not known", Name: "Use of beta", Reason: "beta does not answer since 2 Dec 2026, 11:40 UTC."},
}

var refusing = web.Check{Tone: web.Refused, Word: "refuses", Name: "Burst must end", Reason: "The burst line of a100 has no end.", Mend: web.Link{Text: "Ask for an exception", Href: paths.RequestNew}}

func diff(before, after int64) web.DiffObject {
	return web.DiffObject{
		Object: "ClusterQueue vision-training-production", Cluster: "alpha", Manager: "quartermaster",
		Fields: []web.DiffField{
			{Field: "spec.resourceGroups[0].flavors[h100].resources[nvidia.com/gpu].nominalQuota", Short: "h100 · nvidia.com/gpu · nominalQuota", Before: known(before), After: known(after)},
			{Field: "spec.resourceGroups[0].flavors[h100].resources[nvidia.com/gpu].borrowingLimit", Short: "h100 · nvidia.com/gpu · borrowingLimit", Before: web.Figure{Value: "no limit"}, After: known(4)},
		},
		Unchanged: []web.DiffField{
			{Short: "h100 · cpu · nominalQuota", Before: known(256), After: known(256)},
			{Short: "h100 · memory · nominalQuota", Before: web.Figure{Value: "2Ti"}, After: web.Figure{Value: "2Ti"}},
			{Short: "cohort", Before: web.Figure{Value: "team-vision"}, After: web.Figure{Value: "team-vision"}},
		},
	}
}

func verified() web.DiffObject {
	d := diff(8, 12)
	d.ReadBack = true
	d.Fields[0].Read, d.Fields[1].Read = known(12), known(4)
	return d
}

var pending = []web.Workload{
	{Name: "finetune-llama-eval-7", Queue: "vision-training-production/quartermaster", GPUs: known(4), Who: "ada", Since: ago(42 * time.Minute), Reason: `couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed`},
}

var running = []web.Workload{
	{Name: "pretrain-step-3", Queue: "vision-training-production/quartermaster", GPUs: known(8), Who: "ada", Since: ago(31 * time.Hour)},
	{Name: "pretrain-step-4", Queue: "vision-training-production/quartermaster", GPUs: known(4), Who: "mary", Since: ago(5 * time.Hour)},
}

func series(name, kind string, from, to time.Time, n int, value func(i int) (float64, bool)) web.Series {
	s := web.Series{Name: name, Kind: kind}
	step := to.Sub(from) / time.Duration(n-1)
	for i := range n {
		v, ok := value(i)
		s.Points = append(s.Points, web.Point{At: from.Add(step * time.Duration(i)), Value: v, Known: ok})
	}
	return s
}

func chart(id, title string, days int, whole float64) web.Chart {
	from := ago(time.Duration(days) * day)
	n := 120
	wave := func(i int) float64 {
		return math.Max(0, math.Round(whole*(0.55+0.3*math.Sin(float64(i)/9)+0.15*math.Sin(float64(i)/2.3))))
	}
	read := func(i int) bool { return i < 70 || i > 78 }
	return web.Chart{
		ID: id, Title: title, Unit: "GPUs", From: from, To: now,
		Ranges: []web.Tab{{Text: "24 h", Href: "?range=24h"}, {Text: "7 d", Href: "?range=7d"}, {Text: "30 d", Href: "?range=30d", Current: true}},
		Series: []web.Series{
			series("limit", "limit", from, now, n, func(i int) (float64, bool) {
				if i > 96 {
					return whole * 1.5, true
				}
				return whole, true
			}),
			series("reserved", "reserved", from, now, n, func(i int) (float64, bool) { return math.Min(whole*1.5, wave(i)+1), read(i) }),
			series("in use", "in-use", from, now, n, func(i int) (float64, bool) { return math.Min(whole, wave(i)), read(i) }),
			series("pending", "pending", from, now, n, func(i int) (float64, bool) {
				return math.Max(0, math.Round(4*math.Sin(float64(i)/7)-2)), read(i)
			}),
		},
	}
}

var headroom = web.Headroom{Unit: "GPUs", Capacity: 64, InUse: 22, Borrowed: 6, Reserved: 8, GrantedIdle: 12, AsOf: ago(12 * time.Second)}

func withAsk(h web.Headroom, ask int64) web.Headroom {
	h.Ask = ask
	return h
}

var approvalRows = []web.ApprovalRow{
	{ID: "r1", Number: "R-1042", Stage: "Capacity manager of h100", Who: "Ada Lovelace", Project: "vision-training", Team: "Vision", Env: "production", Purpose: "Continue pretraining of the 70B model after the data refresh",
		Lines: []web.RequestRowLine{{Pool: "alpha / h100", Figures: undecided(16, 8, 8)}}, Waiting: ago(26 * time.Hour), Due: now.Add(22 * time.Hour), Warnings: []string{"used 41 % over 30 days"}},
	{ID: "r2", Number: "R-1039", Stage: "Capacity manager of a100", Who: "Jean Bartik", For: "Kathleen Antonelli", Project: nasty, Team: "R&D", Env: "development", Purpose: nasty,
		Lines:   []web.RequestRowLine{{Pool: "alpha / a100", Figures: undecided(40, 24, 24)}, {Pool: "beta / mi300x", Figures: web.FigureLine{Unit: "GPUs", Asked: known(8), Granted: known(4), Enforced: web.Unknown("beta does not answer since 11:40 UTC"), InUse: web.Unknown("beta does not answer since 11:40 UTC")}}},
		Waiting: ago(75 * time.Hour), Due: ago(3 * time.Hour), Warnings: []string{"pool short by 12 GPUs", "burst has no end"}},
	{ID: "r3", Number: "R-1038", Stage: "Capacity manager of h100", Who: "Grace Hopper", Project: "eval-harness", Team: "Evaluation", Env: "evaluation", Purpose: "Nightly evaluation",
		Lines: []web.RequestRowLine{{Pool: "alpha / h100", Figures: undecided(4, 2, 0)}}, Waiting: ago(4 * time.Hour), Due: now.Add(44 * time.Hour), Cannot: "You asked for it"},
	{ID: "r4", Number: "R-1031", Stage: "Capacity manager of h100", Who: "Mary Jackson", Project: long, Team: "Language", Env: "staging", Purpose: long,
		Lines: []web.RequestRowLine{{Pool: "alpha / h100-mig-1g.10gb", Figures: web.FigureLine{Unit: "MIG devices", Asked: known(112), Granted: web.Unknown("not decided"), Enforced: known(56), InUse: known(0)}}}, Waiting: ago(20 * time.Minute), Due: now.Add(47 * time.Hour)},
}

var requestRows = []web.RequestRow{
	{ID: "r1", Number: "R-1042", State: web.StateBadge("in review"), Project: "vision-training", Team: "Vision", Environment: "production", Purpose: "Continue pretraining of the 70B model after the data refresh", Who: "Ada Lovelace", Lines: approvalRows[0].Lines, Next: "capacity manager of h100", Submitted: ago(50 * time.Hour), Changed: ago(26 * time.Hour)},
	{ID: "r5", Number: "R-1036", State: web.StateBadge("applying"), Project: "vision-training", Team: "Vision", Environment: "development", Purpose: "Interactive debugging", Who: "Ada Lovelace", Lines: []web.RequestRowLine{{Pool: "beta / l40s", Figures: web.FigureLine{Unit: "GPUs", Asked: known(4), Granted: known(4), Enforced: known(2), InUse: known(2), Stale: true, AsOf: ago(2*time.Hour + 25*time.Minute)}}}, Next: "beta, when it answers", Changed: ago(2 * time.Hour), Simulated: true},
	{ID: "r6", Number: "R-1021", State: web.StateBadge("active"), Project: nasty, Team: "R&D", Environment: "production", Purpose: "Serving", Who: "Jean Bartik", For: "Kathleen Antonelli", Lines: []web.RequestRowLine{{Pool: "alpha / h100", Figures: line(16, 12, 12, 12)}}, Changed: ago(9 * day)},
	{ID: "r7", Number: "R-1020", State: web.StateBadge("returned"), Project: "eval-harness", Team: "Evaluation", Environment: "evaluation", Purpose: "Nightly evaluation", Who: "Grace Hopper", Lines: []web.RequestRowLine{{Pool: "alpha / h100", Figures: undecided(24, 2, 0)}}, Next: "you: write revision 2", Changed: ago(9 * day)},
	{ID: "r8", Number: "R-1002", State: web.StateBadge("rejected"), Project: "eval-harness", Team: "Evaluation", Environment: "evaluation", Purpose: "Nightly evaluation", Who: "Grace Hopper", Lines: []web.RequestRowLine{{Pool: "alpha / h100", Figures: undecided(64, 2, 0)}}, Changed: ago(41 * day)},
	{ID: "r9", Number: "R-998", State: web.StateBadge("lapsed"), Project: "eval-harness", Team: "Evaluation", Environment: "evaluation", Purpose: "Nobody decided", Who: "Grace Hopper", Lines: []web.RequestRowLine{{Pool: "alpha / h100", Figures: undecided(8, 2, 0)}}, Changed: ago(80 * day)},
}

var decisions = []web.Decision{
	{Stage: "Team manager", Who: "Katherine Johnson", Role: "team manager of Vision", Verdict: web.Badge{Tone: web.Done, Word: "approved"}, Lines: []string{"alpha / h100: 16 of 16 GPUs"}, Reason: "Deadline of the release is fixed; the team frees 4 A100 in return.", At: ago(26 * time.Hour), Factor: "one-time code, 1 min before", Ledger: "18204", Href: paths.HistoryEntry("18204"), Revision: 2},
}

var events = []web.Event{
	{At: ago(26 * time.Hour), Tone: web.Done, What: "approved 16 GPUs", Who: "Katherine Johnson", Role: "team manager of Vision", Factor: "one-time code, 1 min before", Reason: "Deadline of the release is fixed; the team frees 4 A100 in return.", Ledger: "18204", Href: paths.HistoryEntry("18204")},
	{At: ago(27 * time.Hour), Tone: web.Neutral, What: "commented", Who: "Ada Lovelace", Ledger: "18201", Href: paths.HistoryEntry("18201")},
	{At: ago(49 * time.Hour), Tone: web.Refused, What: "tried to approve, refused: the requester cannot decide", Who: "Ada Lovelace", Role: "requester in Vision", Ledger: "18150", Href: paths.HistoryEntry("18150")},
	{At: ago(50 * time.Hour), Tone: web.Neutral, What: "submitted revision 2", Who: "Ada Lovelace", Ledger: "18144", Href: paths.HistoryEntry("18144")},
}

const manifest = `apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: vision-training-production
  labels:
    kueue.x-k8s.io/queue-name: quartermaster
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example/vision/train:1
          resources:
            requests: {cpu: "8", memory: 64Gi, nvidia.com/gpu: "1"}
            limits: {nvidia.com/gpu: "1"}
`

func filters(action string) web.Filters {
	return web.Filters{Action: action, Clear: action, Fields: []web.Filter{
		{Name: "q", Label: "Search", Kind: "search", Value: "70B"},
		{Name: "project", Label: "Project", Options: []web.Option{{Value: "", Text: "any"}, {Value: "p1", Text: "vision-training"}, {Value: "p2", Text: nasty}}, Value: "p2"},
		{Name: "pool", Label: "Pool", Options: []web.Option{{Value: "", Text: "any"}, {Value: "h", Text: "alpha / h100"}}},
	}}
}
