package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/finding"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/policy"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// clusterView is the page of one cluster.
func (s *server) clusterView(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	d, err := s.Portal.ViewCluster(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	found, err := s.Portal.ListFindings(r.Context(), actorOf(r), portal.FindingQuery{State: finding.Open, ClusterID: id, Limit: findingsShown}, false)
	if err != nil {
		return err
	}
	on, may, err := s.Portal.ViewPutsBack(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	v := s.clusterViewOf(d, actorOf(r).Person)
	v.Findings = findingRowsOf(found.Rows, actorOf(r).Person)
	v.Facts = append(v.Facts, putsBackFact(id, on, may))
	return s.render(w, r, web.ClusterPage(s.clusterFrame(r, d.Cluster), v))
}

// putsBackFact is the cluster's policy on drift; it leads to where it is changed.
func putsBackFact(id string, on, may bool) web.Fact {
	f := web.Fact{Label: "drift is", Text: "left for a person"}
	if on {
		f.Text = "put back by itself"
	}
	if may {
		f.Href = paths.ClusterPutsBack(id)
	}
	return f
}

func (s *server) clusterFrame(r *http.Request, c portal.Cluster, crumbs ...web.Link) web.Frame {
	f := s.frame(r, c.Name, append([]web.Link{{Text: "Clusters", Href: paths.Clusters}}, crumbs...)...)
	f.Badge = modeBadge(c)
	f = markSimulated(f, c.Name, isSimulated(c.Kind))
	if c.Problem != "" {
		f.Stale = append(f.Stale, web.StaleSource{Name: c.Name, AsOf: at(c.LastGoodAt), Why: c.Problem})
	}
	return f
}

func (s *server) clusterViewOf(d portal.ClusterDetail, me org.Person) web.ClusterView {
	c := d.Cluster
	v := web.ClusterView{
		ID: c.ID, Name: c.Name, Server: c.Server, Simulated: isSimulated(c.Kind), Mode: string(c.Mode), Paused: c.Paused,
		CanManage: d.MayManage, CanSteer: d.MaySteer, IdempotencyKey: newKey(), Facts: s.clusterFacts(d),
	}
	v.State, v.StateText = s.stateOf(c)
	if c.Paused && d.PausedBy != nil {
		v.PausedText = whoDid(*d.PausedBy) + ", " + web.Exact(d.PausedBy.At)
		if why := reasonOf(*d.PausedBy); why != "" {
			v.PausedText += ": " + why
		}
	}
	if c.Discovery != nil {
		v.Found = foundOf(*c.Discovery, d.Pools)
	}
	v.Found.Limits = nil
	for _, l := range d.Limits {
		found := foundLimitOf(l, d)
		if n := len(v.Found.Limits); n > 0 && v.Found.Limits[n-1].Object == found.Object {
			found.Adopt = "" // once an object
		}
		v.Found.Limits = append(v.Found.Limits, found)
	}
	for _, p := range d.Pools {
		v.Headroom = append(v.Headroom, web.PoolHeadroom{Pool: web.Link{Text: p.Name, Href: paths.Pool(p.ID)}, Cluster: p.Key.String(), Headroom: headroomOfPool(p)})
	}
	for _, b := range d.Bindings {
		v.Bindings = append(v.Bindings, bindingOf(d.Cluster.Kind, b))
	}
	for _, x := range d.Changes {
		change := changeOf(portal.DetailChange{Change: x.Change, ClusterName: c.Name, Simulated: v.Simulated, ClusterMode: c.Mode, Paused: c.Paused, Binding: x.Binding}, me)
		if !x.MayTakeover {
			change.Takeover = ""
		}
		v.Waiting = append(v.Waiting, change)
	}
	for _, x := range d.Sanity {
		v.Sanity = append(v.Sanity, web.QuotaSanity{Pool: x.Pool.String(), Text: x.Result.Message, Odd: x.Result.Outcome == policy.Fails})
	}
	for _, p := range d.Polls {
		v.Polls = append(v.Polls, web.ClusterPoll{At: p.At, Took: p.Took, OK: p.OK, Text: p.Problem})
	}
	for _, p := range d.Projects {
		for _, env := range p.Environments {
			v.Adoptable = append(v.Adoptable, web.Option{Value: p.ID + "/" + env, Text: p.Name + " · " + env})
		}
	}
	return v
}

func (s *server) clusterFacts(d portal.ClusterDetail) []web.Fact {
	c := d.Cluster
	facts := []web.Fact{{Label: "kind", Text: kindWord(c.Kind)}, {Label: "id", Text: c.ID, Mono: true}}
	if x := c.Discovery; x != nil {
		facts = append(facts, web.Fact{Label: "version", Text: orElse(x.Version, "unknown")})
		kueue := "not installed"
		if x.KueueAPI != "" {
			kueue = orElse(x.KueueVersion, "version unknown") + ", " + x.KueueAPI
		}
		if c.Kind != fleet.Slurm {
			facts = append(facts, web.Fact{Label: "Kueue", Text: kueue})
		}
		facts = append(facts, web.Fact{Label: "can", Text: strings.Join(x.Capabilities, ", ")})
	}
	if c.Kind != fleet.Slurm {
		facts = append(facts, web.Fact{Label: "root cohort", Text: orElse(c.RootCohort, "none"), Mono: true})
	}
	if c.HasToken {
		facts = append(facts, web.Fact{Label: "token", Text: "stored encrypted"})
		if c.TokenSetAt != nil {
			facts[len(facts)-1].Text += ", " + web.Span(s.Now().Sub(*c.TokenSetAt)) + " old"
		}
	}
	every := d.PollEach
	if every == 0 {
		every = s.PollEvery
	}
	return append(facts, web.Fact{Label: "read every", Text: web.Span(every)}, web.Fact{Label: "connected", Text: web.Exact(c.CreatedAt)})
}

// foundOf is what a connection test found.
func foundOf(d fleet.Discovery, pools []portal.PoolState) web.ClusterFound {
	v := web.ClusterFound{
		State: web.Badge{Tone: web.Done, Word: "answers"}, Version: d.Version, Nodes: web.Known(int64(d.Nodes)), At: d.At, Lacks: d.Problems,
		Text: kindWord(d.Kind) + " " + d.Version, NoKueue: d.Kind == fleet.Slurm,
	}
	if d.KueueAPI != "" {
		v.Kueue = strings.TrimPrefix(d.KueueVersion+", ", ", ") + d.KueueAPI
	}
	for _, p := range d.Pools {
		found := web.FoundPool{
			Name: p.Key.Flavor, Resource: p.Key.Resource, Capacity: figure(p.Capacity, "not allocatable on any node read"), Product: p.Product,
			Kind: unitSaid(p.Unit), Nodes: web.Known(int64(p.Nodes)), Rate: web.Money{Unknown: "the pool has no hourly rate"},
		}
		for _, known := range pools {
			if known.Key == p.Key {
				found.Link, found.Rate = paths.Pool(known.ID), rateOf(known)
			}
		}
		v.Pools = append(v.Pools, found)
	}
	for _, q := range d.Queues {
		v.Limits = append(v.Limits, queueLimits(d.Kind, q)...)
	}
	for _, q := range d.Quotas {
		v.Limits = append(v.Limits, web.FoundLimit{
			Object: "ResourceQuota " + q.Namespace + "/" + q.Name, Field: q.Key, Value: figure(q.Hard, "not read"), Borrows: web.Unknown("a ResourceQuota knows no borrowing"),
			Granted: web.Unknown("not connected yet"), Owner: orElse(q.Owner, "nobody known"), Tool: q.Owner != "",
		})
	}
	return v
}

func queueLimits(kind fleet.Kind, q fleet.Queue) []web.FoundLimit {
	var out []web.FoundLimit
	owner := orElse(q.Owner, orElse(strings.Join(q.Managers, ", "), "nobody known"))
	for _, f := range q.Flavors {
		if kind == fleet.Slurm {
			out = append(out, accountLimit(q, f))
			continue
		}
		out = append(out, web.FoundLimit{Object: kind.QueueWord() + " " + q.Name, Field: f.Pool.String(), Value: figure(f.Nominal, "not read"), Borrows: borrowing(f.Borrowing), Granted: web.Unknown("not connected yet"), Owner: owner, Tool: q.Owner != ""})
	}
	return out
}

// accountLimit is an account's one number; without it there is no limit, which is not 0.
func accountLimit(q fleet.Queue, f fleet.FlavorUse) web.FoundLimit {
	v := web.FoundLimit{Object: fleet.Slurm.QueueWord() + " " + q.Name, Field: f.Pool.String(), Value: figure(f.Nominal, "not read"), Borrows: web.Unknown(noBorrowing), Granted: web.Unknown("not connected yet"), Owner: "nobody known"}
	if f.Borrowing == nil {
		v.Value = web.Figure{Value: "no limit"}
	}
	if q.Ours {
		v.Owner = "Quartermaster"
	}
	v.Value.Note = strings.Join(append(append([]string{}, f.Notes...), q.Notes...), "; ")
	return v
}

const noBorrowing = "an account knows no borrowing"

// borrowing is a queue's borrowingLimit; one that is absent does not limit.
func borrowing(q *fleet.Quantity) web.Figure {
	if q == nil {
		return web.Figure{Value: "no limit"}
	}
	return exactly(*q)
}

func foundLimitOf(l portal.LimitRow, d portal.ClusterDetail) web.FoundLimit {
	v := web.FoundLimit{
		Object: l.Object.String(), Field: l.Path, Value: figure(l.Value, "not read"), Granted: figure(l.Granted, "nothing is granted here"),
		Borrows: web.Unknown("a ResourceQuota knows no borrowing"), Owner: orElse(l.Owner, "nobody known"), Tool: l.Tool,
	}
	switch {
	case l.NoLimit && l.Value.Known && l.Value.Amount.Sign() == 0 && d.Cluster.Kind == fleet.Slurm:
		v.Value, v.Borrows = web.Figure{Value: "no limit"}, web.Unknown(noBorrowing)
	case d.Cluster.Kind == fleet.Slurm:
		v.Borrows = web.Unknown(noBorrowing)
	case l.NoLimit:
		v.Borrows = web.Figure{Value: "no limit"}
	case l.Borrows:
		v.Borrows = figure(l.Borrowing, "not read")
	}
	if l.Granted.Known && l.Borrows && d.Cluster.Kind == fleet.Slurm && !l.GrantedBorrowing.Known {
		v.Granted = web.Figure{Value: "no limit"}
	} else if l.Granted.Known && l.Borrows && d.Cluster.Kind != fleet.Slurm {
		v.Granted.Note = "borrows without limit"
		if l.GrantedBorrowing.Known {
			v.Granted.Note = "borrows up to " + amount(l.GrantedBorrowing.Amount)
		}
	}
	if l.Ours && l.Owner == "" {
		v.Owner = "Quartermaster"
	}
	v.Value.Note = strings.Join(l.Findings, "; ")
	if l.Queue != "" && !l.Adopted && !l.Tool && d.MayManage {
		v.Adopt = paths.With(paths.ClusterAdopt(d.Cluster.ID), "queue", l.Queue)
	}
	return v
}

func bindingOf(kind fleet.Kind, b portal.BindingRow) web.ClusterBinding {
	v := web.ClusterBinding{
		Project: web.Link{Text: b.ProjectName, Href: paths.Project(b.Binding.ProjectID)}, Env: b.Binding.Environment, Object: kind.QueueWord() + " " + b.Binding.Queue(),
		Queue: b.Binding.Namespace + "/" + b.Binding.LocalQueue, How: "template", State: web.Badge{Tone: web.NotKnown, Word: "not read yet"},
	}
	if b.Binding.Account != "" {
		v.Queue = b.Binding.Account
	}
	if b.Binding.Adopted {
		v.How = "adopted"
	}
	for _, u := range b.Usage {
		switch {
		case u.Active == nil:
		case *u.Active:
			v.State = web.Badge{Tone: web.Done, Word: "active"}
		default:
			v.State = web.Badge{Tone: web.Refused, Word: orElse(u.InactiveReason, "inactive")}
		}
	}
	return v
}
