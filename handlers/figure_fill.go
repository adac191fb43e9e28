package handlers

import (
	"math/big"
	"net/http"
	"strings"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/web"
)

// units is the plural of what one unit of a pool is, as figures show it.
func units(u fleet.Unit) string {
	switch u {
	case fleet.MIG:
		return "MIG devices"
	case fleet.Share:
		return "time shares"
	case fleet.Other:
		return "units"
	}
	return "GPUs"
}

// unitsOf is the plural for an accelerator's resource name, where no pool says more.
func unitsOf(resource string) string {
	switch {
	case strings.Contains(resource, "/mig-"):
		return units(fleet.MIG)
	case strings.HasSuffix(resource, ".shared"):
		return units(fleet.Share)
	case strings.HasPrefix(resource, "gres/gpu"):
		_, kind, _ := strings.Cut(resource, ":")
		return units(fleet.GRESUnit(kind))
	case strings.HasSuffix(resource, "/gpu"):
		return units(fleet.Card)
	}
	return resource
}

// unitSaid says which kind a pool's numbers are.
func unitSaid(u fleet.Unit) string {
	switch u {
	case fleet.Card:
		return "whole cards"
	case fleet.MIG:
		return "MIG devices, hardware slices"
	case fleet.Share:
		return "time-sliced replicas, memory not isolated"
	}
	return "units"
}

// amount writes an exact amount: whole numbers grouped, parts as the cluster writes them.
func amount(q fleet.Quantity) string {
	s := q.Display("")
	if n, ok := new(big.Int).SetString(s, 10); ok && n.IsInt64() {
		return web.Count(n.Int64())
	}
	return s
}

// figure is a measure on a page; why says why it is unknown.
func figure(m fleet.Measure, why string) web.Figure {
	if !m.Known {
		return web.Unknown(why)
	}
	return web.Figure{Value: amount(m.Amount)}
}

// grantedFigure is what was granted. While people still decide, what some of them
// approved is not granted yet: it is the reason, not the figure.
func grantedFigure(m fleet.Measure, state request.State) web.Figure {
	if m.Known && state.Open() {
		return web.Unknown("not granted yet; " + amount(m.Amount) + " approved so far")
	}
	return figure(m, "nobody decided yet")
}

func exactly(q fleet.Quantity) web.Figure { return web.Figure{Value: amount(q)} }

// at is a moment that may be missing, as view models carry it.
func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// money is what a view shows of amounts in one or more currencies.
func money(all []portal.Money, unknown string) web.Money {
	if len(all) != 1 {
		if len(all) > 1 {
			unknown = "the pools are priced in more than one currency"
		}
		return web.Money{Unknown: unknown}
	}
	return web.Money{Minor: all[0].Cents, Currency: all[0].Currency}
}

// moneyLine names each currency: "1,200.00 EUR and 300.00 USD".
func moneyLine(all []portal.Money) string {
	var parts []string
	for _, m := range all {
		parts = append(parts, web.Money{Minor: m.Cents, Currency: m.Currency}.String())
	}
	return strings.Join(parts, " and ")
}

// costOf is the cost of a request with a note on what it leaves out.
func costOf(c portal.Cost) (web.Money, string) {
	m, note := money(c.Totals, "no pool of this request has an hourly rate"), "730 hours at the pools' rates, as asked."
	if len(c.Totals) > 1 {
		note = moneyLine(c.Totals) + ". " + note
	}
	if !c.Complete && len(c.Totals) > 0 {
		note += " A pool without a rate is not in it."
	}
	return m, note
}

// headroomSum are the measures of one pool from which its bar is made.
type headroomSum struct {
	unit                                           fleet.Unit
	capacity, committed, reserved, inUse, borrowed fleet.Measure
	adds                                           fleet.Measure
	at                                             *time.Time
	stale                                          bool
}

// headroomOf cuts the sums into the disjoint parts of the bar. A part that is
// not known makes the whole bar unknown: a bar cannot show a hole.
func headroomOf(s headroomSum) web.Headroom {
	h := web.Headroom{Unit: units(s.unit), AsOf: at(s.at), Stale: s.stale}
	switch {
	case s.at == nil:
		h.Unknown = "This pool was not read yet."
	case !s.capacity.Known:
		h.Unknown = "The capacity of this pool could not be read."
	case !s.inUse.Known || !s.committed.Known:
		h.Unknown = "What is granted and in use in this pool could not be read."
	}
	if h.Unknown != "" {
		return h
	}
	count := func(m fleet.Measure) int64 {
		if !m.Known {
			return 0
		}
		return max(0, m.Amount.Int64())
	}
	h.Capacity = count(s.capacity)
	h.Borrowed = min(count(s.borrowed), count(s.inUse))
	h.InUse = count(s.inUse) - h.Borrowed
	h.Reserved = max(0, count(s.reserved)-count(s.inUse))
	h.GrantedIdle = max(0, count(s.committed)-h.InUse-h.Reserved)
	h.Ask = count(s.adds)
	return h
}

func headroomOfPool(p portal.PoolState) web.Headroom {
	return headroomOf(headroomSum{unit: p.Unit, capacity: p.Capacity, committed: p.Nominal, reserved: p.Reserved, inUse: p.InUse, borrowed: p.Borrowed, at: p.ObservedAt, stale: p.Stale})
}

func headroomOfRequest(h portal.Headroom) web.Headroom {
	return headroomOf(headroomSum{unit: h.Unit, capacity: h.Capacity, committed: h.Committed, reserved: h.Reserved, inUse: h.InUse, borrowed: h.Borrowed, adds: h.Adds, at: h.At, stale: h.Stale})
}

// foldTable lets a page show the newest readings of a chart's table, and all of
// them at ?table= of that chart alone.
func foldTable(r *http.Request, c web.Chart) web.Chart {
	c.All, c.Whole = address(r, "table", c.ID)+"#"+c.Anchor(), r.URL.Query().Get("table") == c.ID
	return c
}

// samplesChart draws what was sampled of one pool; total adds the pool's capacity.
func samplesChart(id, title, unit string, from, to time.Time, samples []portal.Sample) web.Chart {
	c := web.Chart{ID: id, Title: title, Unit: unit, From: from, To: to}
	series := []struct {
		name, kind string
		of         func(portal.Sample) *float64
	}{
		{"capacity", "capacity", func(s portal.Sample) *float64 { return s.Capacity }},
		{"limit", "limit", func(s portal.Sample) *float64 { return s.Nominal }},
		{"reserved", "reserved", func(s portal.Sample) *float64 { return s.Reserved }},
		{"in use", "in-use", func(s portal.Sample) *float64 { return s.InUse }},
		{"borrowed", "borrowed", func(s portal.Sample) *float64 { return s.Borrowed }},
		{"pending", "pending", func(s portal.Sample) *float64 { return s.Pending }},
	}
	for _, line := range series {
		out, any := web.Series{Name: line.name, Kind: line.kind}, false
		for _, s := range samples {
			p := web.Point{At: s.At}
			if v := line.of(s); v != nil {
				p.Value, p.Known, any = *v, true, true
			}
			out.Points = append(out.Points, p)
		}
		if any {
			c.Series = append(c.Series, out)
		}
	}
	return c
}

// isSimulated reports whether a cluster is of the demonstration kind.
func isSimulated(k fleet.Kind) bool { return k == fleet.Simulated }
