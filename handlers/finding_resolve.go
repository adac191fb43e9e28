package handlers

import (
	"net/http"
	"strconv"

	"quartermaster/internal/fault"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// findingPutBackAsk shows what putting back writes.
func (s *server) findingPutBackAsk(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "finding")
	if err != nil {
		return err
	}
	f, ok := s.takeKept(r, r.URL.Path)
	if !ok {
		f = formOf(nil)
	}
	return s.showPutBack(w, r, http.StatusOK, id, f)
}

// findingPutBack plans the change that puts back.
func (s *server) findingPutBack(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "finding")
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
	in := portal.PutBackInput{FindingID: id, Evidence: f.text("evidence"), Reason: f.long("reason", maxReason), Key: key}
	if in.Reason == "" && len(f.wrong) == 0 {
		f.reject("reason", "Say why it is put back; it stands in the record.")
	}
	if len(f.wrong) > 0 {
		return s.showPutBack(w, r, http.StatusUnprocessableEntity, id, f)
	}
	if _, err := s.Portal.PutBackFinding(r.Context(), provingOf(r, f), in); err != nil {
		return s.stepUpOr(w, r, err, f, r.URL.Path, "to put back what is granted")
	}
	s.say(r, "The change goes out now. The finding closes when it is read back.")
	return seeOther(w, r, paths.Finding(id))
}

func (s *server) showPutBack(w http.ResponseWriter, r *http.Request, status int, id string, f *form) error {
	d, err := s.Portal.ViewFinding(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	if d.NoPutBack != "" {
		return fault.New(fault.Conflict, d.NoPutBack)
	}
	x := d.Row
	v := web.ConfirmView{
		Title: "Put back " + x.Object.String(), Verb: "Put back what is granted", Danger: true, Action: paths.FindingPutBack(id),
		Text: []string{
			x.Field + ": live " + valueWord(x.Live) + " → granted " + valueWord(x.Granted) + ".",
			"All limits of " + x.Object.String() + " are written as granted now, over whoever wrote them, and read back. This stands in the record under your name.",
		},
		Hidden:         append([]web.Filter{{Name: "evidence", Value: orElse(f.typed("evidence"), d.Digest)}}, proofOf(f)...),
		IdempotencyKey: orElse(f.typed("idempotency_key"), newKey()), Reason: f.field("reason", "Reason", true),
		Cancel: web.Link{Text: "Leave it as it is", Href: paths.Finding(id)},
	}
	v.Reason.Rows = 3
	frame := s.findingFrame(r, d, web.Link{Text: x.Object.String(), Href: paths.Finding(id)})
	frame.Title = v.Title
	return s.show(w, r, status, web.ConfirmPage(frame, v))
}

// findingAcceptAsk shows the request that would accept what is live.
func (s *server) findingAcceptAsk(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "finding")
	if err != nil {
		return err
	}
	return s.showAccept(w, r, http.StatusOK, id, formOf(nil))
}

// findingAccept submits that request.
func (s *server) findingAccept(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "finding")
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
	in := portal.AcceptFindingInput{FindingID: id, Evidence: f.text("evidence"), DataClass: f.text("data_class"), WorkloadType: f.text("workload_type"),
		Justification: f.long("justification", maxReason), Key: key}
	if len(f.wrong) > 0 {
		return s.showAccept(w, r, http.StatusUnprocessableEntity, id, f)
	}
	ref, err := s.Portal.AcceptFinding(r.Context(), actorOf(r), in)
	if fa := fault.As(err); fa != nil && fa.Kind == fault.Invalid {
		noteOf(r).err = err
		f.take(fa.Fields)
		return s.showAccept(w, r, http.StatusUnprocessableEntity, id, f)
	}
	if err != nil {
		return err
	}
	s.say(r, "Request "+requestWord(ref.Number)+" asks to accept what is live.")
	return seeOther(w, r, requestPath(ref.Number))
}

func (s *server) showAccept(w http.ResponseWriter, r *http.Request, status int, id string, f *form) error {
	d, err := s.Portal.ViewFinding(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	if d.NoAccept != "" {
		return fault.New(fault.Conflict, d.NoAccept)
	}
	x := d.Row
	asked := amount(d.Line.Asked) + " of " + x.PoolName + ", " + string(d.Line.Kind)
	v := web.FindingAccept{
		Action: paths.FindingAccept(id), IdempotencyKey: orElse(f.typed("idempotency_key"), newKey()), Evidence: orElse(f.typed("evidence"), d.Digest),
		Text: []string{
			x.Object.String() + ", " + x.Field + ": granted " + valueWord(x.Granted) + ", live " + valueWord(x.Live) + ".",
			"A request for " + asked + " for " + x.ProjectName + ", " + x.Environment + " goes the usual route. You cannot decide on it yourself. The finding closes when it is approved and read back.",
		},
		DataClass: f.field("data_class", "Data class", true), Workload: f.field("workload_type", "Workload type", true), Justification: f.field("justification", "Why what is live should stay", true),
		Verb: "Ask for " + asked, Cancel: web.Link{Text: "Leave it as it is", Href: paths.Finding(id)},
	}
	v.DataClass.Options, v.Workload.Options, v.Justification.Rows = sameWords(d.DataClasses...), sameWords(org.WorkloadTypes...), 3
	for _, wrong := range f.wrong {
		if wrong.Name != "data_class" && wrong.Name != "workload_type" && wrong.Name != "justification" {
			v.Errors = append(v.Errors, wrong.Message)
		}
	}
	frame := s.findingFrame(r, d, web.Link{Text: x.Object.String(), Href: paths.Finding(id)})
	frame.Title = "Ask to accept what is live"
	return s.show(w, r, status, web.FindingAcceptPage(frame, v))
}

// clusterPutsBackAsk shows a cluster's policy on drift, to be changed.
func (s *server) clusterPutsBackAsk(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	f, ok := s.takeKept(r, r.URL.Path)
	if !ok {
		f = formOf(nil)
	}
	return s.showPutsBack(w, r, http.StatusOK, id, f)
}

// clusterPutsBack changes it.
func (s *server) clusterPutsBack(w http.ResponseWriter, r *http.Request) error {
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
	on, err := strconv.ParseBool(f.text("on"))
	if err != nil {
		return fault.New(fault.Invalid, "Choose whether drift is put back by itself.").At("on", "Choose on or off.")
	}
	in := portal.SetPutsBackInput{ClusterID: id, On: on, Reason: f.long("reason", maxReason), Key: key}
	if in.Reason == "" && len(f.wrong) == 0 {
		f.reject("reason", "Say why; it stands in the record.")
	}
	if len(f.wrong) > 0 {
		return s.showPutsBack(w, r, http.StatusUnprocessableEntity, id, f)
	}
	c, err := s.Portal.SetPutsBack(r.Context(), provingOf(r, f), in)
	if err != nil {
		return s.stepUpOr(w, r, err, f, r.URL.Path, "to change what happens to drift on a cluster")
	}
	said := "Drift on " + c.Name + " is left for a person."
	if on {
		said = "Drift on " + c.Name + " is put back by itself."
	}
	s.say(r, said)
	return seeOther(w, r, paths.Cluster(id))
}

func (s *server) showPutsBack(w http.ResponseWriter, r *http.Request, status int, id string, f *form) error {
	on, may, err := s.Portal.ViewPutsBack(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	if !may {
		return fault.New(fault.Forbidden, "This is decided by a capacity manager of the whole cluster.")
	}
	d, err := s.Portal.ViewCluster(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	name := d.Cluster.Name
	v := web.ConfirmView{
		Title: "Put drift back by itself on " + name, Verb: "Put drift back by itself", Danger: true, Action: paths.ClusterPutsBack(id),
		Text:   []string{"From now on the portal writes what is granted over what somebody else wrote, as soon as a poll sees it, in your name and by this policy. What somebody keeps writing again is left for a person."},
		Hidden: append([]web.Filter{{Name: "on", Value: strconv.FormatBool(!on)}}, proofOf(f)...), IdempotencyKey: orElse(f.typed("idempotency_key"), newKey()),
		Reason: f.field("reason", "Reason", true), Cancel: web.Link{Text: "Leave it as it is", Href: paths.Cluster(id)},
	}
	if on {
		v.Title, v.Verb, v.Danger = "Leave drift on "+name+" for a person", "Leave drift for a person", false
		v.Text = []string{"Drift on " + name + " is put back by itself now. From now on it waits for a capacity manager."}
	}
	v.Reason.Rows = 3
	frame := s.clusterFrame(r, d.Cluster, web.Link{Text: name, Href: paths.Cluster(id)})
	frame.Title = v.Title
	return s.show(w, r, status, web.ConfirmPage(frame, v))
}
