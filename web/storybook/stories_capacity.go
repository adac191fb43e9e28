package main

import (
	"time"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

var poolLines = []web.PoolLine{
	{Pool: web.Link{Text: "h100", Href: paths.Pool("h100")}, Cluster: "alpha", Environment: "production", Kind: "hard", Figures: lineWithPending(), Borrowed: known(0)},
	{Pool: web.Link{Text: "a100", Href: paths.Pool("a100")}, Cluster: "alpha", Environment: "development", Kind: "soft", Figures: line(8, 8, 8, 11), Borrowed: known(3), Until: now.Add(90 * day)},
	{Pool: web.Link{Text: "mi300x", Href: paths.Pool("mi300x")}, Cluster: "beta", Environment: "development", Kind: "hard", Figures: web.FigureLine{Unit: "GPUs", Asked: known(8), Granted: known(8), Enforced: web.Unknown("no poll of beta succeeded yet"), InUse: web.Unknown("no poll of beta succeeded yet")}},
}

func lineWithPending() web.FigureLine {
	l := line(16, 12, 12, 12)
	l.Pending = known(4)
	return l
}

func poolRows() []web.PoolRow {
	stale := headroom
	stale.Stale, stale.AsOf = true, ago(2*time.Hour+25*time.Minute)
	row := func(name, cluster, resource, product, kind string, rate web.Money, h web.Headroom, waiting web.Figure) web.PoolRow {
		return web.PoolRow{Pool: web.Link{Text: name, Href: paths.Pool(name)}, Cluster: web.Link{Text: cluster, Href: paths.Cluster(cluster)}, Simulated: cluster == "beta", Resource: resource, Product: product, Kind: kind, Rate: rate, Headroom: h, Pending: waiting}
	}
	return []web.PoolRow{
		row("h100", "alpha", "nvidia.com/gpu", "NVIDIA H100 80GB HBM3", "whole cards", web.Money{Minor: 210, Currency: "EUR"}, headroom, known(4)),
		row("h100-mig-1g.10gb", "alpha", "nvidia.com/mig-1g.10gb", "NVIDIA H100 80GB HBM3", "MIG devices, 7 a card", web.Money{Minor: 31, Currency: "EUR"}, web.Headroom{Unit: "MIG devices", Capacity: 112, InUse: 3}, known(0)),
		row("a100", "alpha", "nvidia.com/gpu", "NVIDIA A100 SXM4 40GB", "whole cards", web.Money{Minor: 110, Currency: "EUR"}, web.Headroom{Unit: "GPUs", Capacity: 32, InUse: 20, Reserved: 2, GrantedIdle: 16}, known(12)),
		row("mi300x", "beta", "amd.com/gpu", "AMD Instinct MI300X", "whole cards", web.Money{}, stale, web.Unknown("beta does not answer since 11:40 UTC")),
		row("l40s", "beta", "nvidia.com/gpu.shared", "NVIDIA L40S", "time-sliced replicas, 4 a card", web.Money{}, web.Headroom{Unit: "replicas", Unknown: "no poll of beta succeeded yet"}, web.Unknown("no poll yet")),
	}
}

func found() web.ClusterFound {
	return web.ClusterFound{State: web.Badge{Tone: web.Done, Word: "answers"}, Text: "Kubernetes 1.35.4 answered in 40 ms", Version: "Kubernetes 1.35.4", Kueue: "0.17.0, kueue.x-k8s.io/v1beta2", Nodes: known(16),
		Pools: []web.FoundPool{
			{Name: "h100", Link: paths.Pool("h100"), Resource: "nvidia.com/gpu", Capacity: known(64), Product: "NVIDIA H100 80GB HBM3", Kind: "whole cards", Nodes: known(8), Rate: web.Money{Minor: 210, Currency: "EUR"}},
			{Name: "l40s", Resource: "nvidia.com/gpu.shared", Capacity: web.Unknown("allocatable not reported"), Kind: "time-sliced replicas", Nodes: known(2)},
		},
		Limits: []web.FoundLimit{
			{Object: "ClusterQueue vision-training-production", Field: "h100 nvidia.com/gpu", Value: known(12), Borrows: known(4), Granted: known(12), Owner: "quartermaster"},
			{Object: "ClusterQueue legacy-batch", Field: "a100 nvidia.com/gpu", Value: known(8), Borrows: known(0), Granted: web.Unknown("not adopted"), Owner: "kubectl-client-side-apply", Adopt: paths.ClusterAdopt("alpha")},
			{Object: "ClusterQueue platform", Field: "h100 nvidia.com/gpu", Value: known(16), Borrows: web.Figure{Value: "no limit"}, Granted: web.Unknown("not adopted"), Owner: "argocd-controller", Tool: true},
		}}
}

func clusterRows() []web.ClusterRow {
	return []web.ClusterRow{
		{ID: "alpha", Name: "alpha", Kind: "Kubernetes", State: web.Badge{Tone: web.Done, Word: "answers"}, Mode: web.ModeBadge("enforce"), Version: "1.35.4", Kueue: "0.17.0", Nodes: known(16), GPUs: known(96), Polled: ago(12 * time.Second), Changes: 0},
		{ID: "beta", Name: "beta", Kind: "simulated", Simulated: true, State: web.Badge{Tone: web.NotKnown, Word: "does not answer"}, Mode: web.ModeBadge("plan"), Version: "1.34.1", Kueue: "0.16.2", Nodes: known(4), GPUs: known(32), Polled: ago(2*time.Hour + 25*time.Minute), Problem: "no answer in 5 s", Changes: 2},
		{ID: "gamma", Name: nasty, Kind: "Kubernetes", State: web.Badge{Tone: web.Waiting, Word: "stale"}, Mode: web.Badge{Tone: web.Waiting, Word: "paused"}, Nodes: web.Unknown("never read"), GPUs: web.Unknown("never read"), Problem: "the token may not list nodes", Changes: 1},
	}
}

func clusterView() web.ClusterView {
	return web.ClusterView{ID: "alpha", Name: "alpha", Server: "https://alpha.example:6443", State: web.Badge{Tone: web.Done, Word: "answers"}, StateText: "alpha answered in 40 ms, 12 s ago", Mode: "plan", CanManage: true, IdempotencyKey: "k",
		Facts: []web.Fact{{Label: "version", Text: "Kubernetes 1.35.4"}, {Label: "Kueue", Text: "0.17.0, v1beta2"}, {Label: "nodes", Text: "16"}, {Label: "token age", Text: "41 d"}, {Label: "polled every", Text: "30 s"}, {Label: "connected", Text: "22 Oct 2026, 09:12 UTC"}},
		Found: found(), Headroom: []web.PoolHeadroom{{Pool: web.Link{Text: "h100", Href: paths.Pool("h100")}, Headroom: headroom}},
		Bindings: []web.ClusterBinding{
			{Project: web.Link{Text: "vision-training", Href: paths.Project("vision-training")}, Env: "production", Object: "ClusterQueue vision-training-production", Queue: "vision-training-production/quartermaster", How: "template", State: web.Badge{Tone: web.Done, Word: "active"}},
			{Project: web.Link{Text: nasty}, Env: "development", Object: "ClusterQueue legacy-batch", Queue: "batch/main", How: "adopted", State: web.Badge{Tone: web.Refused, Word: "not active: flavor missing"}},
		},
		Waiting: []web.Change{{ID: "c2", Cluster: web.Link{Text: "alpha"}, State: web.Badge{Tone: web.Waiting, Word: "planned"}, What: "The cluster is in mode plan: nothing is written.", PlannedAt: ago(time.Hour), Objects: []web.DiffObject{diff(8, 12)}}},
		Polls:   []web.ClusterPoll{{At: ago(12 * time.Second), Took: 40 * time.Millisecond, OK: true}, {At: ago(42 * time.Second), Took: 5 * time.Second, Text: "no answer in 5 s"}, {At: ago(72 * time.Second), Took: 38 * time.Millisecond, OK: true}},
	}
}

// oneRange takes the periods off a chart on a page that offers them once for all.
func oneRange(c web.Chart) web.Chart {
	c.Ranges = nil
	return c
}

func capacityStories() []story {
	pools, clusters, projects := web.Link{Text: "Pools", Href: paths.Pools}, web.Link{Text: "Clusters", Href: paths.Clusters}, web.Link{Text: "Projects", Href: paths.Projects}
	paused := clusterView()
	paused.Mode, paused.Paused, paused.PausedText = "enforce", true, "Grace Hopper paused it 2 Dec 2026, 11:58 UTC: maintenance of the control plane."
	paused.State, paused.StateText = web.Badge{Tone: web.NotKnown, Word: "does not answer"}, "alpha does not answer since 2 Dec 2026, 11:40 UTC: no answer in 5 s"
	paused.Found, paused.Headroom, paused.Bindings, paused.Waiting = web.ClusterFound{}, nil, nil, nil
	kind := field("kind", "Scheduler", "kubernetes")
	kind.Options = []web.Option{{Value: "kubernetes", Text: "Kubernetes"}, {Value: "slurm", Text: "Slurm"}}
	form := web.ClusterConnect{IdempotencyKey: "k", Name: field("name", "Name", "alpha"), Kind: kind, Server: field("server", "Server", "https://alpha.example:6443"), CA: field("ca", "CA certificate", "-----BEGIN CERTIFICATE-----"), Token: field("token", "Token", "")}
	form.Server.Type, form.Server.Mono, form.CA.Rows, form.CA.Mono, form.Token.Type = "url", true, 5, true, "password"
	form.CA.Hint, form.Token.Hint = "PEM. The server's certificate is checked against it and nothing else.", "Of a service account with the role in k8s/deploy."
	tested := form
	f := found()
	f.Lacks = []string{"The token may not patch clusterqueues.kueue.x-k8s.io: enforcing will not work."}
	tested.Found = &f
	return []story{
		on("projects", at("Projects", paths.Projects), web.ProjectListPage, web.ProjectList{Filters: filters(paths.Projects), Rows: []web.ProjectRow{
			{Project: web.Link{Text: "vision-training", Href: paths.Project("vision-training")}, Team: "Vision", Owner: "Ada Lovelace", CostCentre: "CC-4411", Lines: poolLines, Month: web.Money{Minor: 2452800, Currency: "EUR"}},
			{Project: web.Link{Text: nasty, Href: paths.Project("R&D/x")}, Team: "R&D", Owner: "Jean Bartik", CostCentre: "CC-1"},
			{Project: web.Link{Text: long, Href: paths.Project("l")}, Team: "Language", Owner: "Mary Jackson", CostCentre: "CC-77", Lines: poolLines[:1], Month: web.Money{Unknown: "no rate"}},
		}, Pager: web.Pager{Shown: 3, Noun: "projects"}}),
		on("project", at("vision-training", "/projects/vision-training", crumbs(projects), stale), web.ProjectPage, web.ProjectView{ID: "p", Name: "vision-training", Lines: poolLines, Ask: paths.With(paths.RequestNew, "project", "p"),
			Facts:    []web.Fact{{Label: "team", Text: "Vision"}, {Label: "owner", Text: "Ada Lovelace"}, {Label: "cost centre", Text: "CC-4411"}, {Label: "environments", Text: "development, production"}, {Label: "data classes", Text: "internal, confidential"}},
			Ranges:   chart("", "", 30, 1).Ranges,
			Charts:   []web.Chart{oneRange(chart("c1", "h100, production", 30, 12)), {ID: "c2", Title: "mi300x, development", Unit: "GPUs", Empty: "No poll of beta succeeded yet."}},
			Members:  []web.Member{{Name: "Ada Lovelace", Role: "owner", From: "organisation file"}, {Name: "Mary Jackson", Role: "requester", From: "group gpu-vision"}},
			Requests: requestRows[:3], AllReqs: paths.With(paths.Requests, "project", "p"), Pending: pending,
			Grants: []web.GrantRow{{Request: web.Link{Text: "R-1042", Href: paths.Request("r1")}, State: web.StateBadge("active"), Pool: "h100", Environment: "production", Figure: known(12), Unit: "GPUs", Kind: "hard", Period: "2 Dec 2026, no end"}, {Request: web.Link{Text: "R-871", Href: paths.Request("r2")}, State: web.StateBadge("superseded"), Pool: "h100", Environment: "production", Figure: known(8), Unit: "GPUs", Kind: "hard", Period: "1 Jun 2026 to 2 Dec 2026"}}}),
		on("project-empty", at(nasty, "/projects/rd", crumbs(projects)), web.ProjectPage, web.ProjectView{ID: "rd", Name: nasty, Facts: []web.Fact{{Label: "team", Text: "R&D", Href: paths.With(paths.Projects, "team", "R&D")}}}),
		on("pools", at("Pools", paths.Pools, simulated, stale), web.PoolListPage, web.PoolList{Rows: poolRows()}),
		on("pools-empty", at("Pools", paths.Pools), web.PoolListPage, web.PoolList{Empty: web.Empty{Icon: "pools", Title: "No pools yet", Text: "A pool is one kind of accelerator on one cluster. Pools appear when a platform admin connects a cluster."}}),
		on("pool", at("h100", "/pools/h100", crumbs(pools)), web.PoolPage, web.PoolView{Row: poolRows()[0], Facts: []web.Fact{{Label: "cluster", Text: "alpha", Href: paths.Cluster("alpha")}, {Label: "resource", Text: "nvidia.com/gpu", Mono: true}, {Label: "capacity", Text: "64 GPUs, whole cards"}, {Label: "tier", Text: "1"}, {Label: "rate", Text: "2.10 EUR an hour and GPU"}, {Label: "capacity managers", Text: "Grace Hopper, Alan Turing"}},
			Held: []web.PoolHolder{{Project: web.Link{Text: "vision-training", Href: paths.Project("p")}, Team: "Vision", Line: poolLines[0]}, {Project: web.Link{Text: nasty, Href: paths.Project("q")}, Team: "R&D", Line: poolLines[1]}}, Chart: chart("use", "h100 on alpha, all projects", 30, 40), Pending: pending}),
		on("clusters", at("Clusters", paths.Clusters, simulated), web.ClusterListPage, web.ClusterList{Rows: clusterRows(), CanConnect: true}),
		on("clusters-empty", at("Clusters", paths.Clusters), web.ClusterListPage, web.ClusterList{CanConnect: true, Empty: web.Empty{Icon: "clusters", Title: "No clusters yet", Text: "A cluster starts in mode observe: the portal reads and writes nothing."}}),
		on("cluster", at("alpha", "/clusters/alpha", crumbs(clusters), badge(web.ModeBadge("plan"))), web.ClusterPage, clusterView()),
		on("cluster-paused", at("alpha", "/clusters/alpha", crumbs(clusters), badge(web.ModeBadge("enforce")), stale), web.ClusterPage, paused),
		on("cluster-connect", at("Connect a cluster", paths.ClusterConnect, crumbs(clusters)), web.ClusterConnectPage, form),
		on("cluster-connect-tested", at("Connect a cluster", paths.ClusterConnect, crumbs(clusters)), web.ClusterConnectPage, tested),
	}
}
