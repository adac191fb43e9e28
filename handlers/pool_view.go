package handlers

import (
	"net/http"
	"strings"

	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// poolList is "Pools": one bar a pool.
func (s *server) poolList(w http.ResponseWriter, r *http.Request) error {
	all, err := s.Portal.ListPools(r.Context(), actorOf(r))
	if err != nil {
		return err
	}
	v := web.PoolList{Empty: web.Empty{Icon: "pools", Title: "No pools yet", Text: "A pool is one kind of accelerator on one cluster. They come with the organisation file and are found when a cluster is connected."}}
	f := s.frame(r, "Pools")
	for _, p := range all {
		v.Rows = append(v.Rows, poolRowOf(p, actorOf(r).Person))
		f = markPool(f, p)
	}
	return s.render(w, r, web.PoolListPage(f, v))
}

func markPool(f web.Frame, p portal.PoolState) web.Frame {
	f = markSimulated(f, p.ClusterName, isSimulated(p.ClusterKind))
	return markStale(f, p.ClusterName, web.Headroom{Stale: p.Stale, AsOf: at(p.ObservedAt)})
}

func poolRowOf(p portal.PoolState, me org.Person) web.PoolRow {
	row := web.PoolRow{
		Pool: web.Link{Text: p.Name, Href: paths.Pool(p.ID)}, Cluster: clusterLink(me, p.ClusterID, p.ClusterName), Simulated: isSimulated(p.ClusterKind),
		Resource: p.Key.Resource, Product: orElse(p.Product, p.Name), Kind: unitSaid(p.Unit), Tier: p.Tier,
		Headroom: headroomOfPool(p), Pending: figure(p.Pending, "not read yet"),
	}
	row.Rate = rateOf(p)
	return row
}

// rateOf is the price of one unit and hour.
func rateOf(p portal.PoolState) web.Money {
	if p.HourlyCents == 0 {
		return web.Money{Unknown: "the pool has no hourly rate"}
	}
	return web.Money{Minor: p.HourlyCents, Currency: p.Currency}
}

// poolView is the page of one pool.
func (s *server) poolView(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "pool")
	if err != nil {
		return err
	}
	length := portal.Range(oneOf(r, "range", "24h", "7d", "30d", "90d"))
	d, err := s.Portal.ViewPool(r.Context(), actorOf(r), id, length)
	if err != nil {
		return err
	}
	p := d.Pool
	v := web.PoolView{Row: poolRowOf(p, actorOf(r).Person)}
	v.Facts = poolFacts(d, v.Row)
	for _, h := range d.Holders {
		v.Held = append(v.Held, web.PoolHolder{Project: projectLink(h.Project), Team: h.TeamName, Line: poolLineOf(h)})
	}
	v.Chart = samplesChart("use", units(p.Unit)+" of "+p.Name, units(p.Unit), d.From, d.To, d.Samples)
	v.Chart.Ranges = rangeTabs(length, func(x portal.Range) string { return address(r, "range", string(x)) + "#use" })
	v.Chart = foldTable(r, v.Chart)
	v.Chart.Empty = "Nothing was read in this period. The next poll is due within " + web.Span(s.PollEvery) + "."
	for _, x := range d.Pending {
		v.Pending = append(v.Pending, workloadOf(x))
	}
	return s.render(w, r, web.PoolPage(markPool(s.frame(r, p.Name, web.Link{Text: "Pools", Href: paths.Pools}), p), v))
}

func poolFacts(d portal.PoolDetail, row web.PoolRow) []web.Fact {
	p := d.Pool
	facts := []web.Fact{
		{Label: "cluster", Text: row.Cluster.Text, Href: row.Cluster.Href},
		{Label: "flavor", Text: p.Key.Flavor, Mono: true},
		{Label: "resource", Text: p.Key.Resource, Mono: true},
		{Label: "one unit is", Text: unitSaid(p.Unit)},
		{Label: "capacity", Text: measureWord(p.Capacity) + " " + units(p.Unit)},
		{Label: "cards", Text: measureWord(p.Cards)},
		{Label: "tier", Text: orElse(p.Tier, "–")},
		{Label: "rate, an hour", Text: row.Rate.String()},
	}
	if p.Nodes != nil {
		facts = append(facts, web.Fact{Label: "nodes", Text: decimal(int64(*p.Nodes))})
	}
	ceiling := "no limit"
	if p.BorrowCeiling != nil {
		ceiling = amount(*p.BorrowCeiling) + " " + units(p.Unit)
	}
	facts = append(facts, web.Fact{Label: "a soft limit borrows up to", Text: ceiling})
	if len(p.DataClasses) > 0 {
		facts = append(facts, web.Fact{Label: "data classes", Text: strings.Join(p.DataClasses, ", ")})
	}
	if d.Unbound > 0 {
		facts = append(facts, web.Fact{Label: "queues without a project", Text: decimal(int64(d.Unbound))})
	}
	for _, n := range p.Notes {
		facts = append(facts, web.Fact{Label: "note", Text: n})
	}
	return facts
}
