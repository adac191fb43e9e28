package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// deskPage is how many queues one page of the adoption desk lists.
const deskPage = 100

// showDesk lists what exists on a cluster. f holds what was chosen before, if anything.
func (s *server) showDesk(w http.ResponseWriter, r *http.Request, status int, id string, f *form) error {
	d, err := s.Portal.ViewAdopt(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	v := web.AdoptDesk{
		Action: paths.ClusterAdoptAll(id), IdempotencyKey: orElse(f.typed("idempotency_key"), newKey()), Source: d.Source, Problem: d.Problem,
		Proof: f.values.Get(proofField), MayAdopt: d.MayAdopt, WhyNot: d.WhyNot, Cancel: web.Link{Text: "Leave them as they are", Href: paths.Cluster(id)},
	}
	if d.MayAdopt && d.Cluster.Kind != fleet.Slurm {
		v.Import = paths.ClusterImport(id)
	}
	for _, x := range f.wrong {
		v.Errors = append(v.Errors, x.Message)
	}
	for _, rule := range d.Rules {
		v.Rules = append(v.Rules, rule.String())
	}
	for _, p := range d.Projects {
		for _, env := range p.Environments {
			v.Places = append(v.Places, web.Option{Value: p.ID + "/" + env, Text: p.Name + " · " + env})
		}
	}
	s.deskRows(r, &v, d, f)
	for _, o := range d.Objects {
		v.Others = append(v.Others, web.AdoptObject{Object: o.Ref.String(), What: objectSaid(o), Owner: ownerSaid(o.Owner, o.Managers, o.Ours), Theirs: o.Owner != "", Notes: o.Notes})
	}
	for _, q := range d.Quotas {
		v.Others = append(v.Others, web.AdoptObject{Object: fleet.ObjectRef{Kind: "ResourceQuota", Namespace: q.Namespace, Name: q.Name}.String(),
			What: q.Key + ": " + q.Used.String() + " of " + q.Hard.String(), Owner: ownerSaid(q.Owner, nil, q.Ours), Theirs: q.Owner != "", Notes: q.Notes})
	}
	frame := s.clusterFrame(r, d.Cluster, web.Link{Text: d.Cluster.Name, Href: paths.Cluster(id)})
	frame.Title = "Objects and adoption"
	return s.show(w, r, status, web.AdoptDeskPage(frame, v))
}

func (s *server) deskRows(r *http.Request, v *web.AdoptDesk, d portal.AdoptDesk, f *form) {
	after := r.URL.Query().Get("after")
	rows := d.Rows
	slices.SortStableFunc(rows, func(a, b portal.AdoptRow) int { return strings.Compare(a.Queue.Name, b.Queue.Name) })
	from, _ := slices.BinarySearchFunc(rows, after, func(x portal.AdoptRow, name string) int { return strings.Compare(x.Queue.Name, name) })
	if after != "" && from < len(rows) && rows[from].Queue.Name == after {
		from++
	}
	to := min(from+deskPage, len(rows))
	v.Shown = web.Count(int64(from+1)) + " to " + web.Count(int64(to)) + " of " + web.Many(int64(len(rows)), "queue", "queues")
	if to < len(rows) {
		v.Next = address(r, "after", rows[to-1].Queue.Name)
	}
	chosen := map[string]string{} // queue → index in the form that came back
	for i, q := range f.values {
		if index, ok := strings.CutPrefix(i, "queue."); ok && len(q) > 0 {
			chosen[q[0]] = index
		}
	}
	for i, row := range rows[from:to] {
		x := deskRow(d, row)
		x.Index = strconv.Itoa(i)
		if index, back := chosen[row.Queue.Name]; back {
			x.Chosen = slices.Contains(f.values["row"], index)
			x.Place, x.Local = f.typed("place."+index), orElse(f.typed("local."+index), x.Local)
		}
		v.Rows = append(v.Rows, x)
	}
}

func deskRow(d portal.AdoptDesk, row portal.AdoptRow) web.AdoptRow {
	q := row.Queue
	x := web.AdoptRow{Queue: q.Name, Owner: ownerSaid(q.Owner, q.Managers, q.Ours), Notes: q.Notes, Reason: row.Match.Reason, Open: row.Bound == nil && row.WhyNot == "", Chosen: row.Ready(), Local: row.LocalQueue}
	var where []string
	if q.Cohort != "" {
		where = append(where, "cohort "+q.Cohort)
	}
	x.Where = strings.Join(append(where, q.LocalQueues...), ", ")
	for _, u := range q.Flavors {
		nominal, borrows := u.Nominal.String(), "no limit"
		if u.Nominal.Known {
			nominal = u.Nominal.Amount.Display(u.Pool.Resource)
		}
		if u.Borrowing != nil {
			borrows = u.Borrowing.Display(u.Pool.Resource)
		}
		line := u.Pool.String() + " " + nominal
		if q.Cohort != "" {
			line += " + " + borrows
		}
		x.Limits = append(x.Limits, line)
		for _, n := range u.Notes {
			x.Notes = append(x.Notes, u.Pool.String()+": "+n)
		}
	}
	if len(q.LocalQueues) > 1 {
		if row.LocalQueue == "" {
			x.Locals = append(x.Locals, web.Option{Text: "Choose a LocalQueue"})
		}
		for _, l := range q.LocalQueues {
			x.Locals = append(x.Locals, web.Option{Value: l, Text: l})
		}
	}
	if row.Match.Decided() {
		x.Place = row.Match.Places[0].ProjectID + "/" + row.Match.Places[0].Environment
	}
	switch {
	case row.Bound != nil:
		x.State, x.Reason = web.Badge{Tone: web.Done, Word: "bound"}, row.Bound.Environment
		x.Bound = web.Link{Text: projectName(d.Projects, row.Bound.ProjectID), Href: paths.Project(row.Bound.ProjectID)}
	case q.Owner != "":
		x.State, x.Reason = web.Badge{Tone: web.Neutral, Word: "stays theirs"}, row.WhyNot
	case row.WhyNot != "":
		x.State, x.Reason = web.Badge{Tone: web.Neutral, Word: "not adoptable"}, row.WhyNot
	case row.Ready():
		x.State = web.Badge{Tone: web.Waiting, Word: "matched"}
	default:
		x.State = web.Badge{Tone: web.NotKnown, Word: "to be chosen"}
	}
	return x
}

func projectName(all []org.Project, id string) string {
	for _, p := range all {
		if p.ID == id {
			return p.Name
		}
	}
	return id
}

func ownerSaid(owner string, managers []string, ours bool) string {
	switch {
	case owner != "":
		return owner
	case ours && len(managers) == 0:
		return "Quartermaster"
	}
	return orElse(strings.Join(managers, ", "), "nobody known")
}

// objectSaid is what an object says in a few words.
func objectSaid(o fleet.Object) string {
	var parts []string
	switch {
	case o.Parent == "":
	case o.Ref.Kind == "LocalQueue":
		parts = append(parts, "into ClusterQueue "+o.Parent)
	default:
		parts = append(parts, "below "+o.Parent)
	}
	for _, l := range o.Limits {
		parts = append(parts, l.Pool.String()+" "+l.Nominal.String())
	}
	var labels []string
	for name, value := range o.Marks.Labels {
		if !strings.HasPrefix(name, "kubernetes.io/") {
			labels = append(labels, name+"="+value)
		}
	}
	slices.Sort(labels)
	return strings.Join(append(parts, labels...), ", ")
}

// clusterAdoptAll adopts the chosen rows and says what became of each.
func (s *server) clusterAdoptAll(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	f, err := readForm(r)
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	var rows []portal.AdoptInput
	for _, index := range f.values["row"] {
		in := portal.AdoptInput{Queue: f.text("queue." + index), Key: key}
		in.ProjectID, in.Environment, _ = strings.Cut(f.text("place."+index), "/")
		in.Namespace, in.LocalQueue, _ = strings.Cut(f.text("local."+index), "/")
		if in.Queue == "" || in.ProjectID == "" || in.Environment == "" {
			f.reject("place."+index, "Say the project and environment of %s, such as street/production.", orElse(in.Queue, "each chosen queue"))
		}
		rows = append(rows, in)
	}
	if len(rows) == 0 {
		f.reject("row", "Choose at least one queue.")
	}
	if len(f.wrong) > 0 {
		return s.showDesk(w, r, http.StatusUnprocessableEntity, id, f)
	}
	results, err := s.Portal.AdoptBindings(r.Context(), provingOf(r, f), id, rows)
	if err != nil {
		f.values.Set("many", "yes")
		err = s.stepUpOr(w, r, err, f, paths.ClusterAdopt(id), "to adopt queues")
		if fa := fault.As(err); fa != nil && fa.Kind == fault.Unavailable {
			noteOf(r).err = err
			f.reject("", "%s", fa.Public)
			return s.showDesk(w, r, http.StatusServiceUnavailable, id, f)
		}
		return err
	}
	return s.showAdopted(w, r, id, results)
}

func (s *server) showAdopted(w http.ResponseWriter, r *http.Request, id string, results []portal.AdoptResult) error {
	d, err := s.Portal.ViewCluster(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	v := web.AdoptReport{Back: web.Link{Text: "See what enforcing would change", Href: paths.ClusterPlan(id)}}
	for _, x := range results {
		o := web.AdoptOutcome{Queue: x.Input.Queue, Place: x.Input.ProjectID + ", " + x.Input.Environment, State: web.Badge{Tone: web.Done, Word: "adopted"}, Text: x.Input.Matched}
		if x.Problem != "" {
			v.Failed++
			o.State, o.Text = web.Badge{Tone: web.Refused, Word: "not adopted"}, x.Problem
		} else {
			v.Adopted++
		}
		v.Rows = append(v.Rows, o)
	}
	frame := s.clusterFrame(r, d.Cluster, web.Link{Text: d.Cluster.Name, Href: paths.Cluster(id)}, web.Link{Text: "Objects and adoption", Href: paths.ClusterAdopt(id)})
	frame.Title = "Adopted on " + d.Cluster.Name
	return s.render(w, r, web.AdoptReportPage(frame, v))
}

// clusterPlan shows what enforcing would change.
func (s *server) clusterPlan(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	p, err := s.Portal.PlanCluster(r.Context(), actorOf(r), portal.PlanQuery{ClusterID: id, After: r.URL.Query().Get("after")})
	if err != nil {
		return err
	}
	v := web.PlanView{
		Cluster: p.Cluster.Name, ModeAction: paths.ClusterMode(id), Mode: string(p.Cluster.Mode), IdempotencyKey: newKey(), Asked: "Asked " + web.Exact(p.At),
		Bindings: p.Bindings, MayEnforce: p.MayEnforce, MaySteer: p.MaySteer, WhyNot: p.WhyNot,
	}
	if p.Next != "" {
		v.Next = paths.ClusterPlan(id) + "?" + url.Values{"after": {p.Next}}.Encode()
	}
	for _, row := range p.Rows {
		x := planRowOf(row, p.Cluster)
		if x.State.Tone != web.Done {
			v.Changing++
		}
		v.Rows = append(v.Rows, x)
	}
	frame := s.clusterFrame(r, p.Cluster, web.Link{Text: p.Cluster.Name, Href: paths.Cluster(id)})
	frame.Title = "What enforcing would change"
	return s.render(w, r, web.PlanPage(frame, v))
}

func planRowOf(row portal.PlanRow, c portal.Cluster) web.PlanRow {
	b := row.Binding
	x := web.PlanRow{Project: web.Link{Text: row.ProjectName, Href: paths.Project(b.ProjectID)}, Env: b.Environment, Object: c.Kind.QueueWord() + " " + b.Queue(), State: web.Badge{Tone: web.Done, Word: "nothing changes"}}
	if row.Plan == nil {
		x.State, x.Text = web.Badge{Tone: web.NotKnown, Word: "not known"}, row.Problem
		return x
	}
	x.Warnings = row.Plan.Warnings
	if !row.Plan.Changed() {
		return x
	}
	x.State, x.Objects = web.Badge{Tone: web.Waiting, Word: "would change"}, diffOf(row.Plan, c.Name, nil)
	if len(row.Plan.Conflicts) > 0 {
		x.State = web.Badge{Tone: web.Refused, Word: "needs a takeover"}
		x.Text = "Somebody else manages what would be written. The change stops until a capacity manager takes these fields over."
	}
	return x
}
