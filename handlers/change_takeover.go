package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// changeTakeoverAsk shows the fields that one forced apply would take from
// another owner.
func (s *server) changeTakeoverAsk(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "change")
	if err != nil {
		return err
	}
	f, ok := s.takeKept(r, r.URL.Path)
	if !ok {
		f = formOf(nil)
	}
	return s.showTakeover(w, r, http.StatusOK, id, f)
}

// changeTakeover lets one stopped change write what somebody else manages, once.
func (s *server) changeTakeover(w http.ResponseWriter, r *http.Request) error {
	id, err := idIn(r, "change")
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
	in := portal.ChangeInput{ChangeID: id, Reason: f.long("reason", maxReason), Key: key}
	if in.Reason == "" && len(f.wrong) == 0 {
		f.reject("reason", "Say why these fields are taken over; it stands in the record.")
	}
	if len(f.wrong) > 0 {
		return s.showTakeover(w, r, http.StatusUnprocessableEntity, id, f)
	}
	c, err := s.Portal.TakeoverChange(r.Context(), provingOf(r, f), in)
	if err != nil {
		return s.stepUpOr(w, r, err, f, r.URL.Path, "to take over fields of another owner")
	}
	s.say(r, "The change takes over the shown fields once and goes out now.")
	return seeOther(w, r, paths.Cluster(c.ClusterID))
}

func (s *server) showTakeover(w http.ResponseWriter, r *http.Request, status int, id string, f *form) error {
	d, err := s.Portal.ViewChange(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	if !d.MayTakeover {
		return fault.New(fault.Conflict, orElse(d.WhyNot, "There is nothing to take over in this change."))
	}
	v := web.ConfirmView{
		Title: "Take over fields on " + d.Cluster.Name, Verb: "Take over these fields once", Danger: true, Action: paths.ChangeTakeover(id),
		Text:           []string{"Somebody else manages these fields. One forced apply writes exactly what is shown, and their next apply may set it back. This stands in the record under your name."},
		IdempotencyKey: orElse(f.typed("idempotency_key"), newKey()), Reason: f.field("reason", "Reason", true),
		Cancel: web.Link{Text: "Leave it stopped", Href: paths.Cluster(d.Cluster.ID)},
	}
	v.Reason.Rows, v.Hidden = 3, proofOf(f)
	if d.Change.Plan != nil {
		v.Objects = diffOf(d.Change.Plan, d.Cluster.Name, nil)
	}
	frame := s.clusterFrame(r, d.Cluster, web.Link{Text: d.Cluster.Name, Href: paths.Cluster(d.Cluster.ID)})
	frame.Title = v.Title
	return s.show(w, r, status, web.ConfirmPage(frame, v))
}
