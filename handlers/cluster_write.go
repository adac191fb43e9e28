package handlers

import (
	"net/http"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// clusterTest asks a connected cluster who it is, now.
func (s *server) clusterTest(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	t, err := s.Portal.TestCluster(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	s.say(r, kindWord(t.Discovery.Kind)+" "+t.Discovery.Version+" answered in "+tookWord(t.Took)+".")
	return seeOther(w, r, paths.Cluster(id))
}

func tookWord(d time.Duration) string {
	if d < time.Second {
		return decimal(d.Milliseconds()) + " ms"
	}
	return d.Round(100 * time.Millisecond).String()
}

// clusterModeAsk shows the change of mode that waited for a second factor, to be confirmed.
func (s *server) clusterModeAsk(w http.ResponseWriter, r *http.Request) error {
	return s.confirmCluster(w, r, "mode", func(c portal.Cluster, f *form) (web.ConfirmView, bool) {
		m := fleet.Mode(f.text("mode"))
		if !m.Valid() {
			return web.ConfirmView{}, false
		}
		verb := "Switch " + c.Name + " to " + string(m)
		return web.ConfirmView{Title: verb, Verb: verb, Text: []string{modeMeans(m)}, Danger: m == fleet.Enforce, Hidden: []web.Filter{{Name: "mode", Value: string(m)}}}, true
	})
}

func modeMeans(m fleet.Mode) string {
	switch m {
	case fleet.Enforce:
		return "The portal makes grants true on this cluster and reads them back. Changes that were held go out."
	case fleet.PlanOnly:
		return "The portal shows what would change on this cluster and writes nothing."
	}
	return "The portal reads this cluster and writes nothing."
}

// clusterMode changes what may be written.
func (s *server) clusterMode(w http.ResponseWriter, r *http.Request) error {
	return s.writeCluster(w, r, "mode", func(id string, f *form, key string) (string, error) {
		m := fleet.Mode(f.text("mode"))
		if !m.Valid() {
			return "", fault.New(fault.Invalid, "Choose observe, plan or enforce.").At("mode", "Choose observe, plan or enforce.")
		}
		c, err := s.Portal.ChangeClusterMode(r.Context(), provingOf(r, f), portal.ModeInput{ClusterID: id, Mode: m, Reason: f.long("reason", maxReason), Key: key})
		return c.Name + " is in mode " + string(c.Mode) + ".", err
	})
}

// clusterPauseAsk shows the pause that waited for a second factor, to be confirmed.
func (s *server) clusterPauseAsk(w http.ResponseWriter, r *http.Request) error {
	return s.confirmCluster(w, r, "pause", func(c portal.Cluster, f *form) (web.ConfirmView, bool) {
		paused := f.text("paused")
		if paused != "true" && paused != "false" {
			return web.ConfirmView{}, false
		}
		verb, text := "Pause writing to "+c.Name, "Nothing is written until somebody resumes. Changes wait and are not lost."
		if paused == "false" {
			verb, text = "Resume writing to "+c.Name, "Changes that waited go out."
		}
		return web.ConfirmView{Title: verb, Verb: verb, Text: []string{text}, Hidden: []web.Filter{{Name: "paused", Value: paused}}}, true
	})
}

// clusterPause stops writing, or resumes it.
func (s *server) clusterPause(w http.ResponseWriter, r *http.Request) error {
	return s.writeCluster(w, r, "pause", func(id string, f *form, key string) (string, error) {
		paused := f.text("paused")
		if paused != "true" && paused != "false" {
			return "", fault.New(fault.Invalid, "Choose pause or resume.").At("paused", "Choose pause or resume.")
		}
		c, err := s.Portal.PauseCluster(r.Context(), provingOf(r, f), portal.PauseInput{ClusterID: id, Paused: paused == "true", Reason: f.long("reason", maxReason), Key: key})
		if paused == "true" {
			return "Writing to " + c.Name + " is paused.", err
		}
		return "Writing to " + c.Name + " goes on.", err
	})
}

// writeCluster is what mode and pause share: read, act, say, and the way through a second factor.
func (s *server) writeCluster(w http.ResponseWriter, r *http.Request, what string, act func(id string, f *form, key string) (said string, err error)) error {
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
	f.long("reason", maxReason) // before anything happens, so that a text that does not fit stops it
	if err := f.err(); err != nil {
		return err
	}
	said, err := act(id, f, key)
	if err != nil {
		return s.stepUpOr(w, r, err, f, r.URL.Path, "to change the "+what+" of a cluster")
	}
	s.say(r, said)
	return seeOther(w, r, paths.Cluster(id))
}

// confirmCluster shows a form that waited; without one it leads back to the cluster.
func (s *server) confirmCluster(w http.ResponseWriter, r *http.Request, _ string, fill func(portal.Cluster, *form) (web.ConfirmView, bool)) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	f, ok := s.takeKept(r, r.URL.Path)
	if !ok {
		return seeOther(w, r, paths.Cluster(id))
	}
	d, err := s.Portal.ViewCluster(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	v, ok := fill(d.Cluster, f)
	if !ok {
		return seeOther(w, r, paths.Cluster(id))
	}
	v.Action, v.IdempotencyKey, v.Cancel = r.URL.Path, orElse(f.typed("idempotency_key"), newKey()), web.Link{Text: "Leave it as it is", Href: paths.Cluster(id)}
	v.Hidden = append(v.Hidden, proofOf(f)...)
	v.Reason = f.field("reason", "Reason", true)
	v.Reason.Rows = 3
	frame := s.clusterFrame(r, d.Cluster, web.Link{Text: d.Cluster.Name, Href: paths.Cluster(id)})
	frame.Title = v.Title
	return s.render(w, r, web.ConfirmPage(frame, v))
}

// clusterAdoptAsk shows the form that binds a found queue to a project and environment.
func (s *server) clusterAdoptAsk(w http.ResponseWriter, r *http.Request) error {
	id, err := nameIn(r, "cluster")
	if err != nil {
		return err
	}
	f, ok := s.takeKept(r, r.URL.Path)
	if !ok {
		f = formOf(map[string][]string{"object": {r.URL.Query().Get("queue")}})
	}
	if f.typed("object") == "" {
		return s.showDesk(w, r, http.StatusOK, id, f)
	}
	return s.showAdopt(w, r, http.StatusOK, id, f)
}

// clusterAdopt makes an existing queue carry the limits of a project.
func (s *server) clusterAdopt(w http.ResponseWriter, r *http.Request) error {
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
	project, environment, _ := strings.Cut(f.text("project"), "/")
	if environment == "" {
		environment = f.text("environment")
	}
	in := portal.AdoptInput{ClusterID: id, Queue: f.text("object"), Namespace: f.text("namespace"), LocalQueue: f.text("local_queue"), ProjectID: project, Environment: environment, Key: key}
	if len(f.wrong) > 0 {
		return s.showAdopt(w, r, http.StatusUnprocessableEntity, id, f)
	}
	b, err := s.Portal.AdoptBinding(r.Context(), provingOf(r, f), in)
	if err != nil {
		err = s.stepUpOr(w, r, err, f, r.URL.Path, "to adopt a queue")
		if fa := fault.As(err); fa != nil && fa.Kind == fault.Invalid {
			noteOf(r).err = err
			f.take(fa.Fields)
			f.reject("", "%s", fa.Public)
			return s.showAdopt(w, r, http.StatusUnprocessableEntity, id, f)
		}
		return err
	}
	s.say(r, b.Queue()+" carries the limits of "+b.ProjectID+", "+b.Environment+". What it has now is the baseline.")
	return seeOther(w, r, paths.Cluster(id))
}

func (s *server) showAdopt(w http.ResponseWriter, r *http.Request, status int, id string, f *form) error {
	d, err := s.Portal.ViewCluster(r.Context(), actorOf(r), id)
	if err != nil {
		return err
	}
	v := web.AdoptView{
		Action: paths.ClusterAdopt(id), IdempotencyKey: orElse(f.typed("idempotency_key"), newKey()), Cancel: web.Link{Text: "Leave it as it is", Href: paths.Cluster(id)},
		Queue: f.typed("object"), Proof: f.values.Get(proofField), Word: d.Cluster.Kind.QueueWord(), NoQueues: d.Cluster.Kind == fleet.Slurm, Project: f.field("project", "Project and environment", true), Namespace: f.field("namespace", "Namespace", false), LocalQueue: f.field("local_queue", "LocalQueue", false),
	}
	v.Project.Options = []web.Option{{Text: "Choose a project and environment"}}
	for _, p := range d.Projects {
		for _, env := range p.Environments {
			v.Project.Options = append(v.Project.Options, web.Option{Value: p.ID + "/" + env, Text: p.Name + " · " + env})
		}
	}
	v.Namespace.Hint = "Only needed where several namespaces use the queue."
	for _, x := range f.wrong {
		if x.Name != "project" && x.Name != "namespace" && x.Name != "local_queue" {
			v.Errors = append(v.Errors, x.Message)
		}
	}
	frame := s.clusterFrame(r, d.Cluster, web.Link{Text: d.Cluster.Name, Href: paths.Cluster(id)})
	frame.Title = "Adopt " + v.Queue
	return s.show(w, r, status, web.AdoptPage(frame, v))
}
