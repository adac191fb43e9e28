package handlers

import (
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

func projectLink(p org.Project) web.Link {
	return web.Link{Text: orElse(p.Name, p.ID), Href: paths.Project(p.ID)}
}

// placeFigures is granted → enforced → in use of one pool in one place.
func placeFigures(l portal.PlaceLine) web.FigureLine {
	why := orElse(l.Why, "not read yet")
	u := l.Usage
	f := web.FigureLine{
		Unit: units(l.Unit), Asked: figure(l.Asked, "the limit was there before the portal"), Granted: figure(l.Granted, "nothing is granted here"),
		Enforced: figure(u.Nominal, why), InUse: figure(u.InUse, why), Pending: figure(u.PendingAmount, why), Stale: l.Read && u.Stale,
	}
	if l.Read {
		f.AsOf = u.At
	}
	return f
}

func poolLineOf(l portal.PlaceLine) web.PoolLine {
	return web.PoolLine{
		Pool: web.Link{Text: orElse(l.PoolName, l.PoolID), Href: paths.Pool(l.PoolID)}, Cluster: l.ClusterName, Environment: l.Environment,
		Kind: limitWord(l), Figures: placeFigures(l), Borrowed: figure(l.Usage.Borrowed, orElse(l.Why, "not read yet")), Until: at(l.Ends),
	}
}

func poolLinesOf(all []portal.PlaceLine) []web.PoolLine {
	var out []web.PoolLine
	for _, l := range all {
		out = append(out, poolLineOf(l))
	}
	return out
}

// limitWord says what may be borrowed above the limit.
func limitWord(l portal.PlaceLine) string {
	switch {
	case !l.Granted.Known:
		return "not granted"
	case l.Borrowing == nil:
		return "borrows without limit"
	case l.Borrowing.Sign() == 0:
		return "hard"
	}
	return "borrows up to " + amount(*l.Borrowing)
}

// markPlaces says in the frame which clusters of the lines are simulated or stale.
func markPlaces(f web.Frame, lines []portal.PlaceLine) web.Frame {
	for _, l := range lines {
		f = markSimulated(f, l.ClusterName, isSimulated(l.ClusterKind))
		f = markStale(f, l.ClusterName, web.Headroom{Stale: l.Read && l.Usage.Stale, AsOf: l.Usage.At})
	}
	return f
}

// grantRowOf is one grant in force or ended.
func grantRowOf(g portal.GrantRow, pools map[string]portal.PoolState, numbers map[string]int64, now time.Time) web.GrantRow {
	p := pools[g.PoolID]
	v := web.GrantRow{
		Pool: orElse(p.Name, g.PoolID), Environment: g.Environment, Figure: exactly(g.Amount), Unit: units(p.Unit), Kind: string(g.Kind), Period: periodWord(g.Grant),
		State: web.Badge{Tone: web.Done, Word: "in force"},
	}
	if n := numbers[g.RequestID]; n > 0 {
		v.Request = requestLink(n)
	}
	switch {
	case g.EndCause != "":
		v.State = web.Badge{Tone: web.Neutral, Word: g.EndCause}
	case g.Start != nil && now.Before(*g.Start):
		v.State = web.Badge{Tone: web.Waiting, Word: "scheduled"}
	case !g.InForce(now):
		v.State = web.Badge{Tone: web.Neutral, Word: "ended"}
	}
	return v
}

func periodWord(g fleet.Grant) string {
	switch {
	case g.Start != nil && g.End != nil:
		return web.Exact(*g.Start) + " to " + web.Exact(*g.End)
	case g.Start != nil:
		return "from " + web.Exact(*g.Start) + ", no end"
	case g.End != nil:
		return "until " + web.Exact(*g.End)
	}
	return "no end"
}

// rangeTabs lead to the other lengths of a chart.
func rangeTabs(now portal.Range, href func(portal.Range) string) []web.Tab {
	var out []web.Tab
	for _, x := range []struct {
		r    portal.Range
		text string
	}{{portal.Day, "24 h"}, {portal.Week, "7 d"}, {portal.Month, "30 d"}, {portal.Quarter, "90 d"}} {
		out = append(out, web.Tab{Text: x.text, Href: href(x.r), Current: x.r == now})
	}
	return out
}
