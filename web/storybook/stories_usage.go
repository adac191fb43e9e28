package main

import (
	"time"

	"quartermaster/internal/paths"
	"quartermaster/web"
)

func usageView() web.UsageView {
	row := func(name, unit, used, limit, coverage string, whole bool, cost, why string) web.UsageRow {
		r := web.UsageRow{Name: web.Link{Text: name, Href: paths.Usage + "?team=x"}, Unit: unit, Used: web.Figure{Value: used}, Limit: web.Figure{Value: limit}, Coverage: coverage, Whole: whole, Cost: cost, CostWhy: why}
		if used == "" {
			r.Used, r.Limit = web.Unknown("nothing was read"), web.Unknown("no limit was read")
		}
		return r
	}
	from := now.Add(-30 * day).Truncate(24 * time.Hour)
	course := web.Series{Name: "allocated", Kind: "in-use"}
	limit := web.Series{Name: "limit", Kind: "limit"}
	for d := range 30 {
		at := from.Add(time.Duration(d) * day)
		course.Points = append(course.Points, web.Point{At: at, Value: float64(300 + 40*(d%7)), Known: d != 11 && d != 12})
		limit.Points = append(limit.Points, web.Point{At: at, Value: 768, Known: true})
	}
	return web.UsageView{
		Periods: []web.Tab{{Text: "30 d", Href: "?period=30d", Current: true}, {Text: "24 h", Href: "?period=24h"}, {Text: "7 d", Href: "?period=7d"}, {Text: "90 d", Href: "?period=90d"}, {Text: "This month", Href: "?period=month"}, {Text: "Last month", Href: "?period=last-month"}, {Text: "12 months", Href: "?period=year"}},
		Groups:  []web.Tab{{Text: "By team", Href: "?by=team", Current: true}, {Text: "By project", Href: "?by=project"}, {Text: "By pool", Href: "?by=pool"}, {Text: "By workload type", Href: "?by=type"}, {Text: "By environment", Href: "?by=environment"}},
		Filters: web.Filters{Action: paths.Usage, CSV: paths.UsageCSV, Fields: []web.Filter{
			{Name: "team", Label: "Team", Options: []web.Option{{Text: "Any team"}, {Value: "vision", Text: "Vision"}}}, {Name: "pool", Label: "Pool", Options: []web.Option{{Text: "Any pool"}}},
			{Name: "from", Label: "From", Kind: "date"}, {Name: "to", Label: "To, included", Kind: "date"}, {Name: "zone", Label: "Zone of the days", Value: "UTC"}}},
		Period: web.Exact(from) + " to " + web.Exact(now), By: "Team",
		Notes:  []string{"Units of different kinds are never added: each has its own rows and sum."},
		Charts: []web.Chart{{ID: "course-card", Title: "GPU-hours a day (UTC)", Unit: "GPU-hours", From: from, To: now, Gap: 40 * day, Series: []web.Series{limit, course}}},
		Rows: []web.UsageRow{
			row("Vision", "GPU-hours", "8,412.5", "17,280.0", "1,404.0 of 1,440.0 h", false, "26,920.00 EUR", ""),
			row("Speech and language understanding", "GPU-hours", "2,901.0", "5,760.0", "720.0 of 720.0 h", true, "9,283.20 EUR", "without pools that have no rate"),
			row("Robotics", "GPU-hours", "", "", "0.0 of 720.0 h", false, "–", "nothing was read"),
			row("Vision", "MIG device-hours", "1,204.3", "5,040.0", "720.0 of 720.0 h", true, "–", "no hourly rate"),
		},
		Totals: []web.UsageRow{
			row("All", "GPU-hours", "11,313.5", "23,040.0", "2,124.0 of 2,880.0 h", false, "36,203.20 EUR", ""),
			row("All", "MIG device-hours", "1,204.3", "5,040.0", "720.0 of 720.0 h", true, "–", "no hourly rate"),
		},
	}
}

func usageStories() []story {
	empty := usageView()
	empty.Rows, empty.Totals, empty.Charts, empty.Notes = nil, nil, nil, nil
	empty.Empty = web.Empty{Icon: "chart", Title: "Nothing was read in this period", Text: "Use is counted from the first poll of a connected cluster on, by the full hour."}
	return []story{
		on("usage", at("Usage", paths.Usage), web.UsagePage, usageView()),
		on("usage-empty", at("Usage", paths.Usage), web.UsagePage, empty),
	}
}
