package handlers

import (
	"net/http"
	"slices"
	"time"
	_ "time/tzdata" // periods in any zone, whatever the machine has

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/internal/usage"
	"quartermaster/web"
)

// usagePeriods are the periods to choose by one click; the first is the one without a choice.
var usagePeriods = []struct{ name, text string }{
	{"30d", "30 d"}, {"24h", "24 h"}, {"7d", "7 d"}, {"90d", "90 d"}, {"month", "This month"}, {"last-month", "Last month"}, {"year", "12 months"},
}

// usageAsk reads period, grouping and filters from the address; page and CSV read the
// same ones. What cannot be read is said, not ignored.
func (s *server) usageAsk(r *http.Request) (portal.UsageAsk, error) {
	f := formOf(r.URL.Query())
	ask := portal.UsageAsk{TeamID: f.text("team"), ProjectID: f.text("project"), Environment: f.text("environment"), PoolID: f.text("pool"), WorkloadType: f.text("type")}
	if ask.WorkloadType == unknownType {
		ask.WorkloadType, ask.UnknownType = "", true
	}
	ask.By = usage.Group(f.text("by"))
	if ask.By == "" {
		ask.By = usage.ByTeam
	}
	if !slices.Contains(usage.Groups, ask.By) {
		f.reject("by", "Choose team, project, pool, type or environment.")
	}
	zone, err := time.LoadLocation(orElse(f.text("zone"), "UTC"))
	if err != nil || f.text("zone") == "Local" {
		f.reject("zone", "Write a zone as Europe/Berlin, or UTC.")
		zone = time.UTC
	}
	from, to := f.moment("from"), f.moment("to")
	switch {
	case from != nil && to != nil:
		ask.Span = usage.Days(*from, *to, zone)
		if ask.Span.Empty() {
			f.reject("to", "The period ends before it begins.")
		}
	case from != nil:
		ask.Span = usage.Days(*from, s.Now().In(zone), zone)
	case to != nil:
		f.reject("from", "A period needs its first day.")
	default:
		span, ok := presetSpan(orElse(f.text("period"), usagePeriods[0].name), s.Now(), zone)
		if !ok {
			f.reject("period", "There is no such period.")
		}
		ask.Span = span
	}
	return ask, f.err()
}

// unknownType stands in the address for "without a workload type".
const unknownType = "not known"

func presetSpan(name string, now time.Time, zone *time.Location) (usage.Span, bool) {
	hour, local := now.UTC().Truncate(time.Hour), now.In(zone)
	first := time.Date(local.Year(), local.Month(), 1, 0, 0, 0, 0, zone)
	switch name {
	case "24h":
		return usage.Span{From: hour.Add(-24 * time.Hour), Until: hour}, true
	case "7d":
		return usage.Days(local.AddDate(0, 0, -6), local, zone), true
	case "30d":
		return usage.Days(local.AddDate(0, 0, -29), local, zone), true
	case "90d":
		return usage.Days(local.AddDate(0, 0, -89), local, zone), true
	case "month":
		return usage.Days(first, local, zone), true
	case "last-month":
		return usage.Days(first.AddDate(0, -1, 0), first.AddDate(0, 0, -1), zone), true
	case "year":
		return usage.Days(first.AddDate(0, -11, 0), local, zone), true
	}
	return usage.Span{}, false
}

// usageView is "Usage": what was allocated in a period, to whom.
func (s *server) usageView(w http.ResponseWriter, r *http.Request) error {
	ask, err := s.usageAsk(r)
	status, wrong := http.StatusOK, fault.As(err)
	if err != nil && (wrong == nil || wrong.Kind != fault.Invalid) {
		return err
	}
	v := web.UsageView{}
	var d portal.UsageView
	if wrong == nil {
		if d, err = s.Portal.ViewUsage(r.Context(), actorOf(r), ask); err != nil {
			if wrong = fault.As(err); wrong == nil || wrong.Kind != fault.Invalid {
				return err
			}
		}
	}
	projects, err := s.projectOptions(r)
	if err != nil {
		return err
	}
	v.Filters = usageFilters(r, d, projects)
	v.Periods, v.Groups = usageTabs(r, ask)
	if wrong != nil {
		noteOf(r).err, status = wrong, http.StatusUnprocessableEntity
		v.Period = "No account"
		v.Empty = web.Empty{Icon: "chart", Title: "A filter does not fit", Action: web.Link{Text: "Clear filters", Href: paths.Usage}}
		for _, x := range wrong.Fields {
			v.Empty.Text += fieldLabel(x.Name) + ": " + x.Message + " "
		}
		return s.show(w, r, status, web.UsagePage(s.frame(r, "Usage"), v))
	}
	v.Filters.CSV = paths.UsageCSV + query(address(r))
	v.By = ask.By.Label()
	fillUsage(&v, r, d, ask)
	v.Empty = web.Empty{Icon: "chart", Title: "Nothing was read in this period", Text: "Use is counted from the first poll of a connected cluster on, by the full hour."}
	if v.Filters.Clear != "" {
		v.Empty.Title, v.Empty.Action = "Nothing fits these filters", web.Link{Text: "Clear filters", Href: v.Filters.Clear}
	}
	return s.show(w, r, status, web.UsagePage(s.frame(r, "Usage"), v))
}

func fillUsage(v *web.UsageView, r *http.Request, d portal.UsageView, ask portal.UsageAsk) {
	v.Period = "No full hour yet"
	if !d.Span.Empty() {
		v.Period = web.Exact(d.Span.From) + " to " + web.Exact(d.Span.Until)
	}
	if d.WholeDays {
		v.Notes = append(v.Notes, "Hours that old are not kept: the period is whole days of UTC.")
	}
	if d.Due > 0 {
		v.Notes = append(v.Notes, web.Many(int64(d.Due), "hour", "hours")+" of this period "+isOrAre(d.Due)+" not summed up yet.")
	}
	units := map[fleet.Unit]bool{}
	for _, row := range d.Totals {
		units[row.Unit] = true
		total := usageRowOf(row)
		total.Name = web.Link{Text: "All"}
		v.Totals = append(v.Totals, total)
		v.Charts = append(v.Charts, usageChart(d, row.Unit))
	}
	if len(units) > 1 {
		v.Notes = append(v.Notes, "Units of different kinds are never added: each has its own rows and sum.")
	}
	for _, row := range d.Rows {
		x := usageRowOf(row)
		x.Name = usageKeyLink(r, ask.By, row)
		v.Rows = append(v.Rows, x)
	}
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func usageKeyLink(r *http.Request, by usage.Group, row portal.UsageRowOf) web.Link {
	switch {
	case by == usage.ByProject:
		return web.Link{Text: row.Name, Href: paths.Project(row.Key)}
	case by == usage.ByPool:
		return web.Link{Text: row.Name, Href: paths.Pool(row.Key)}
	case by == usage.ByTeam:
		return web.Link{Text: row.Name, Href: address(r, "team", row.Key, "by", string(usage.ByProject))}
	case row.Key == "":
		return web.Link{Text: unknownType, Href: address(r, "type", unknownType, "by", string(usage.ByProject))}
	case by == usage.ByType:
		return web.Link{Text: row.Key, Href: address(r, "type", row.Key, "by", string(usage.ByProject))}
	}
	return web.Link{Text: row.Key, Href: address(r, "environment", row.Key, "by", string(usage.ByProject))}
}

// unitHours is the unit of an account: "GPU-hours".
func unitHours(u fleet.Unit) string { return u.Words(fleet.Count(1)) + "-hours" }

func usageRowOf(row portal.UsageRowOf) web.UsageRow {
	x := web.UsageRow{Unit: unitHours(row.Unit), Used: web.Unknown("nothing was read"), Limit: web.Unknown("no limit was read"), Whole: row.Whole(),
		Coverage: grouped(usage.Hours(row.InUseKnown)) + " of " + grouped(usage.Hours(row.Expected)) + " h", Cost: "–"}
	if row.Known() {
		x.Used = web.Figure{Value: grouped(usage.Hours(row.InUse))}
	}
	if row.LimitKnown > 0 {
		x.Limit = web.Figure{Value: grouped(usage.Hours(row.Limit))}
	}
	switch {
	case len(row.Cost) == 0:
		x.CostWhy = "no hourly rate"
	case !row.Known():
		x.CostWhy = "nothing was read"
	default:
		x.Cost = moneyLine(row.Cost)
		if row.Unpriced {
			x.CostWhy = "without pools that have no rate"
		}
	}
	return x
}

// grouped puts commas into the whole part of "12345.6".
func grouped(hours string) string {
	whole, part := hours[:len(hours)-2], hours[len(hours)-2:]
	var n int64
	for _, c := range whole {
		n = 10*n + int64(c-'0')
	}
	return web.Count(n) + part
}

// usageChart is the course of one unit. A bucket of which nothing is known is a gap.
func usageChart(d portal.UsageView, unit fleet.Unit) web.Chart {
	word := map[usage.Bucket]string{usage.Hour: "an hour", usage.Day: "a day (UTC)", usage.Month: "a month (UTC)"}[d.Bucket]
	c := web.Chart{ID: "course-" + string(unit), Title: unitHours(unit) + " " + word, Unit: unitHours(unit), From: d.Span.From, To: d.Span.Until}
	allocated, limit := web.Series{Name: "allocated", Kind: "in-use"}, web.Series{Name: "limit", Kind: "limit"}
	read := map[time.Time]portal.UsageBucket{}
	for _, b := range d.Course {
		if b.Unit == unit {
			read[b.At] = b
		}
	}
	for _, s := range d.Span.Split(d.Bucket) {
		b, found := read[bucketStart(s.From, d.Bucket)]
		at := s.From
		a, l := web.Point{At: at}, web.Point{At: at}
		if found && b.Known() {
			a.Known, a.Value = true, tenths(b.InUse)
		}
		if found && b.LimitKnown > 0 {
			l.Known, l.Value = true, tenths(b.Limit)
		}
		allocated.Points, limit.Points = append(allocated.Points, a), append(limit.Points, l)
	}
	c.Series = []web.Series{limit, allocated}
	c.Gap = 40 * 24 * time.Hour // gaps are points that are not known
	return c
}

func bucketStart(t time.Time, b usage.Bucket) time.Time {
	y, m, d := t.Date()
	switch b {
	case usage.Day:
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	case usage.Month:
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	}
	return t
}

func tenths(ms int64) float64 { return float64((ms+180_000)/360_000) / 10 }

func usageTabs(r *http.Request, ask portal.UsageAsk) (periods, groups []web.Tab) {
	in := r.URL.Query()
	now := orElse(in.Get("period"), usagePeriods[0].name)
	own := in.Get("from") != ""
	for _, p := range usagePeriods {
		periods = append(periods, web.Tab{Text: p.text, Href: address(r, "period", p.name, "from", "", "to", ""), Current: !own && p.name == now})
	}
	for _, g := range usage.Groups {
		groups = append(groups, web.Tab{Text: "By " + lowerFirst(g.Label()), Href: address(r, "by", string(g)), Current: g == ask.By})
	}
	return periods, groups
}

func usageFilters(r *http.Request, d portal.UsageView, projects []web.Option) web.Filters {
	in := r.URL.Query()
	var teams, pools []web.Option
	for _, t := range d.Teams {
		teams = append(teams, web.Option{Value: t.ID, Text: t.Name})
	}
	for _, p := range d.Pools {
		pools = append(pools, web.Option{Value: p.ID, Text: p.Name + " · " + p.ClusterName})
	}
	f := web.Filters{Action: r.URL.Path, Clear: clearLink(r, "by", "period", "zone", "from", "to"), Fields: []web.Filter{
		{Name: "team", Label: "Team", Value: in.Get("team"), Options: options("Any team", teams...)},
		{Name: "project", Label: "Project", Value: in.Get("project"), Options: options("Any project", projects...)},
		{Name: "environment", Label: "Environment", Value: in.Get("environment"), Options: options("Any environment", sameWords("development", "evaluation", "staging", "production")...)},
		{Name: "pool", Label: "Pool", Value: in.Get("pool"), Options: options("Any pool", pools...)},
		{Name: "type", Label: "Workload type", Value: in.Get("type"), Options: options("Any type", append(sameWords(d.Types...), web.Option{Value: unknownType, Text: unknownType})...)},
		{Name: "from", Label: "From", Value: in.Get("from"), Kind: "date"},
		{Name: "to", Label: "To, included", Value: in.Get("to"), Kind: "date"},
		{Name: "zone", Label: "Zone of the days", Value: orElse(in.Get("zone"), "UTC")},
	}}
	if len(projects) == 0 {
		f.Fields[1] = web.Filter{Name: "project", Label: "Project id", Value: in.Get("project")}
	}
	if in.Get("by") != "" {
		f.Keep = append(f.Keep, web.Filter{Name: "by", Value: in.Get("by")})
	}
	if in.Get("from") == "" && in.Get("period") != "" {
		f.Keep = append(f.Keep, web.Filter{Name: "period", Value: in.Get("period")})
	}
	return f
}
