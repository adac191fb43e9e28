package handlers

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"quartermaster/assets"
	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/dev/demo"
	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

const issuer = "https://id.example.org"

// site is the real router over the real use cases and a database of its own, with
// the demonstration's organisation on simulated clusters. Only who is signed in is made up.
type site struct {
	t        *testing.T
	h        http.Handler
	portal   *portal.Portal
	store    *db.Store
	presence *testPresence
	proving  *readyToProve
	now      time.Time
}

func newSite(t *testing.T) *site {
	t.Helper()
	owner := dbtest.URL(t)
	s := &site{t: t, store: dbtest.StoreAt(t, owner), presence: newPresence(), now: time.Date(2026, 12, 2, 14, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return s.now }
	o, err := portal.ParseOrganisation(demo.Org)
	require.NoError(t, err)
	for i := range o.People {
		o.People[i].Issuer = issuer
	}
	clusters := map[string]fleet.Cluster{}
	for _, c := range o.Clusters {
		k, err := sim.Open(sim.Config{ID: c.ID, Pools: sim.PoolsOf(c.ID, o.Pools), Queues: sim.QueuesOf(c, o.Projects, o.Pools), Seed: 7, Now: clock, Idle: true})
		require.NoError(t, err)
		clusters[c.ID] = k
	}
	plain := func(text []byte, _ string) ([]byte, error) { return text, nil } // sealing has tests of its own
	s.portal = &portal.Portal{
		Store: s.store, Seal: plain, Open: plain, Now: clock, NewID: uuid.NewString, BaseURL: "http://portal.test", Log: slog.New(slog.DiscardHandler),
		Dial: func(_ context.Context, id string) (fleet.Cluster, error) {
			if k, ok := clusters[id]; ok {
				return k, nil
			}
			return nil, fault.New(fault.Unavailable, "This cluster does not answer.")
		},
		Probe: func(context.Context, portal.Connection) (fleet.Cluster, error) {
			return nil, fault.New(fault.Unavailable, "This address does not answer.")
		},
	}
	dbtest.KeepRecord(t, s.portal, owner)
	_, err = s.portal.ImportOrg(t.Context(), portal.Actor{System: "cli:import", Via: "cli"}, o, false)
	require.NoError(t, err)
	s.proving, s.presence.portal = &readyToProve{Portal: s.portal, who: map[string]bool{}}, s.portal
	for _, p := range o.People {
		s.signIn(p.Subject, true)
	}
	server, err := newServer(Config{
		Portal: s.proving, Log: slog.New(slog.DiscardHandler), BaseURL: "http://portal.test", Assets: assets.Handler(), Now: clock,
		Ready: s.store.Ready, JobsWaiting: s.store.JobsWaiting, JobsUI: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }),
	})
	require.NoError(t, err)
	server.session = s.presence
	s.h = server.router()
	for _, c := range o.Clusters {
		ok, err := s.portal.PollCluster(t.Context(), c.ID)
		require.NoError(t, err)
		require.True(t, ok, c.ID)
	}
	return s
}

// signIn makes somebody known by their subject; ready answers every step-up at once.
func (s *site) signIn(subject string, ready bool) portal.Actor {
	s.t.Helper()
	p, err := s.store.PersonBySubject(s.t.Context(), issuer, subject)
	require.NoError(s.t, err)
	a := portal.Actor{Person: p, Via: "web", SessionID: "session-of-" + subject, AMR: []string{"pwd", "otp"}, AuthTime: s.now}
	s.proving.set(a.SessionID, ready)
	s.presence.mu.Lock()
	defer s.presence.mu.Unlock()
	s.presence.actors[subject] = a
	return a
}

// answer is a response with its body as text.
type answer struct {
	*httptest.ResponseRecorder
	body string
}

func (s *site) send(as, method, target string, form url.Values) answer {
	s.t.Helper()
	header := []string{"Sec-Fetch-Site", "same-origin"}
	if as != "" {
		header = append(header, "Cookie", "as="+as)
	}
	if method != http.MethodPost {
		w := send(s.h, method, target, nil, header...)
		return answer{w, w.Body.String()}
	}
	w := send(s.h, method, target, strings.NewReader(form.Encode()), append(header, "Content-Type", "application/x-www-form-urlencoded")...)
	return answer{w, w.Body.String()}
}

func (s *site) get(as, target string) answer {
	s.t.Helper()
	return s.send(as, http.MethodGet, target, nil)
}

func (s *site) post(as, target string, form url.Values) answer {
	s.t.Helper()
	return s.send(as, http.MethodPost, target, form)
}

// page is get with the status it has to have.
func (s *site) page(as, target string) string {
	s.t.Helper()
	a := s.get(as, target)
	require.Equal(s.t, 200, a.Code, "%s as %s: %s", target, as, text(a.body))
	return a.body
}

var (
	inputTag = regexp.MustCompile(`<input[^>]*>`)
	attr     = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
	tag      = regexp.MustCompile(`<[^>]*>`)
	space    = regexp.MustCompile(`\s+`)
)

// hidden are the hidden fields of a page's forms, as a browser would send them back.
func hidden(page string) url.Values {
	v := url.Values{}
	for _, input := range inputTag.FindAllString(page, -1) {
		a := map[string]string{}
		for _, m := range attr.FindAllStringSubmatch(input, -1) {
			a[m[1]] = unescape(m[2])
		}
		if a["type"] == "hidden" && a["name"] != "" && v.Get(a["name"]) == "" {
			v.Set(a["name"], a["value"])
		}
	}
	return v
}

func unescape(s string) string {
	return strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// text is what a person reads of a page.
func text(page string) string {
	if i := strings.Index(page, "page-body"); i >= 0 {
		page = page[i:]
	}
	return strings.TrimSpace(space.ReplaceAllString(unescape(tag.ReplaceAllString(page, " ")), " "))
}

// with is form with fields set in pairs.
func with(form url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for k, v := range form {
		out[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}

// asked is the form of a request for 8 H100 that can be submitted.
func (s *site) asked(pairs ...string) url.Values {
	return with(hidden(s.page("ana", "/requests/new")), append([]string{
		"project", "street-scenes", "environment", "production", "data_class", "internal", "workload_type", "training",
		"purpose", "Train the street model", "justification", "The season ends in March.", "runtime_hours", "24",
		"line.0.pool", "aurora-h100", "line.0.asked", "8", "line.0.kind", "hard", "action", "submit",
	}, pairs...)...)
}

// submitted is the number of a request of ana's that waits for her manager, ben.
func (s *site) submitted(pairs ...string) int64 {
	s.t.Helper()
	a := s.post("ana", "/requests", s.asked(pairs...))
	require.Equal(s.t, 303, a.Code, text(a.body))
	return numberFrom(s.t, a.Header().Get("Location"))
}

func numberFrom(t *testing.T, location string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimPrefix(location, "/requests/"), 10, 64)
	require.NoError(t, err, location)
	return n
}
