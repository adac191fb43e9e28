package handlers

import (
	"net/http"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/paths"
	"quartermaster/internal/portal"
	"quartermaster/web"
)

// Limits of the connection form, in characters. A CA bundle may hold several certificates.
const (
	maxCA    = 100_000
	maxToken = 16_000
)

// clusterConnectAsk shows the form for a new cluster.
func (s *server) clusterConnectAsk(w http.ResponseWriter, r *http.Request) error {
	return s.showConnect(w, r, http.StatusOK, formOf(nil), newKey(), nil)
}

// clusterConnect tests a connection or keeps it.
func (s *server) clusterConnect(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	in := portal.ConnectInput{Name: f.text("name"), Kind: fleet.Kind(f.text("kind")), Server: f.text("server"), CA: f.long("ca", maxCA), Token: f.long("token", maxToken), Key: key}
	if len(f.wrong) > 0 {
		return s.showConnect(w, r, http.StatusUnprocessableEntity, f, key, nil)
	}
	if f.text("action") == "connect" {
		t, err := s.Portal.ConnectCluster(r.Context(), provingOf(r, f), in)
		if err != nil {
			return s.connectFault(w, r, err, f, key)
		}
		s.say(r, in.Name+" is connected in mode observe: it is read, nothing is written.")
		return seeOther(w, r, paths.Cluster(t.ClusterID))
	}
	t, err := s.Portal.TestConnection(r.Context(), actorOf(r), in)
	if err != nil {
		return s.connectFault(w, r, err, f, key)
	}
	found := foundOf(t.Discovery, nil)
	found.Text = kindWord(t.Discovery.Kind) + " " + t.Discovery.Version + " answered in " + tookWord(t.Took)
	return s.showConnect(w, r, http.StatusOK, f, key, &found)
}

// connectFault shows on the form what a person can mend there: wrong fields, and
// a cluster that does not answer or refuses the token.
func (s *server) connectFault(w http.ResponseWriter, r *http.Request, err error, f *form, key string) error {
	if e := s.stepUpOr(w, r, err, withoutToken(f), paths.ClusterConnect, "to connect a cluster"); e == nil {
		return nil
	}
	fa := fault.As(err)
	if fa == nil || fa.Kind != fault.Invalid && fa.Kind != fault.Unavailable {
		return err
	}
	noteOf(r).err = err
	f.take(fa.Fields)
	found := &web.ClusterFound{State: web.Badge{Tone: web.Refused, Word: "not connected"}, Text: fa.Public, At: s.Now()}
	return s.showConnect(w, r, statusOf(fa.Kind), f, key, found)
}

// withoutToken is a form that may be kept: a token is never stored unsealed.
func withoutToken(f *form) *form {
	f.values.Del("token")
	return f
}

func (s *server) showConnect(w http.ResponseWriter, r *http.Request, status int, f *form, key string, found *web.ClusterFound) error {
	if r.Method == http.MethodGet {
		if kept, ok := s.takeKept(r, paths.ClusterConnect); ok {
			f = kept
		}
	}
	v := web.ClusterConnect{IdempotencyKey: key, Name: f.field("name", "Name", true), Kind: f.field("kind", "Scheduler", true), Server: f.field("server", "Server", true), CA: f.field("ca", "CA certificate", false), Token: f.field("token", "Token", true), Found: found, Proof: f.values.Get(proofField)}
	v.Kind.Options = []web.Option{{Value: string(fleet.Kubernetes), Text: "Kubernetes"}, {Value: string(fleet.Slurm), Text: "Slurm"}}
	v.Server.Hint, v.Server.Mono = "Kubernetes: the API server's https address. Slurm: slurmctld's host:port, and slurmdbd's after a comma where it is elsewhere.", true
	v.CA.Hint, v.CA.Rows, v.CA.Mono = "Kubernetes only. PEM. Empty: the system's own authorities.", 6, true
	v.Token.Type, v.Token.Value, v.Token.Hint = "password", "", "Of the service account that k8s/deploy makes, or what scontrol token prints for the Slurm user. It is never shown again."
	named := map[string]bool{"name": true, "kind": true, "server": true, "ca": true, "token": true}
	for _, x := range f.wrong {
		if !named[x.Name] {
			v.Errors = append(v.Errors, x.Message)
		}
	}
	return s.show(w, r, status, web.ClusterConnectPage(s.frame(r, "Connect a cluster", web.Link{Text: "Clusters", Href: paths.Clusters}), v))
}
