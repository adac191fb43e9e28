package handlers

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/portal"
)

func TestTheFleetIsShownAsItWasRead(t *testing.T) {
	s := newSite(t)
	pools := text(s.page("ana", "/pools"))
	require.Contains(t, pools, "H100 80 GB")
	require.Contains(t, pools, "of 96 GPUs")
	require.Contains(t, pools, "Aurora and Borealis are simulated clusters")
	pool := text(s.page("ana", "/pools/aurora-h100?range=7d"))
	require.Contains(t, pool, "whole cards")
	require.Contains(t, text(s.page("ana", "/projects")), "Street Scenes")
	require.NotContains(t, text(s.page("ana", "/projects")), "Chat Assist", "another team's project")
	require.Contains(t, text(s.page("ana", "/projects/street-scenes")), "Ana Lindqvist")
	cluster := text(s.page("pia", "/clusters/aurora"))
	require.Contains(t, cluster, "Answered 0 s ago")
	require.Contains(t, cluster, "Borrows up to")
	require.Contains(t, text(s.page("otto", "/people?q=cleo")), "capacity manager")
}

func TestTheMetricsSayHowTheFleetStands(t *testing.T) {
	s := newSite(t)
	page := s.page("", "/metrics")
	require.Contains(t, page, `quartermaster_cluster_poll_good{cluster="aurora"} 1`)
	require.Contains(t, page, `quartermaster_changes{cluster="aurora",state="open"} 0`)
	require.Contains(t, page, `quartermaster_cluster_last_good_poll_timestamp_seconds{cluster="borealis"} 1.7962`)
	s.decided(s.submitted())
	require.Contains(t, s.page("", "/metrics"), `quartermaster_jobs{queue=`, "the push waits for a worker")
}

// decided lets both stages approve all of a request of ana's.
func (s *site) decided(n int64) {
	s.t.Helper()
	for _, who := range []string{"ben", "cleo"} {
		path := requestPath(n) + "/decide"
		a := s.post(who, path, with(hidden(s.page(who, path)), "grant.0", "8", "reason", "It fits.", "action", "approve"))
		require.Equal(s.t, 303, a.Code, text(a.body))
	}
}

func TestALinkLeadsOnlyWhereThePersonMayGo(t *testing.T) {
	s := newSite(t)
	n := s.submitted()
	links := regexp.MustCompile(`<a [^>]*href="(/[^"#]*)`)
	for _, who := range as[2:] {
		for _, from := range []string{"/", "/requests?tab=all", "/projects", "/pools", "/pools/aurora-h100", "/projects/street-scenes", requestPath(n), "/help"} {
			for _, m := range links.FindAllStringSubmatch(s.page(who.subject, from), -1) {
				to := unescape(m[1])
				if strings.HasPrefix(to, "/assets/") || strings.HasPrefix(to, "/history/export") {
					continue
				}
				a := s.get(who.subject, to)
				require.Contains(t, []int{200, 303}, a.Code, "%s: %s links to %s: %s", who.heading, from, to, text(a.body))
			}
		}
	}
}

func TestAClusterIsPausedAndSwitchedOnRecord(t *testing.T) {
	s := newSite(t)
	page := s.page("pia", "/clusters/aurora")
	a := s.post("pia", "/clusters/aurora/mode", with(hidden(page), "mode", "plan", "reason", "First look."))
	require.Equal(t, 303, a.Code, text(a.body))
	require.Contains(t, text(s.page("pia", "/clusters/aurora")), "Aurora is in mode plan.")

	require.NotContains(t, page, "Switch to enforce", "that is decided on the page that shows what would change")
	require.Equal(t, 403, s.post("pia", "/clusters/aurora/mode", with(hidden(s.page("pia", "/clusters/aurora")), "mode", "enforce", "reason", "Go live.")).Code)
	s.signIn("cleo", false)
	a = s.post("cleo", "/clusters/aurora/mode", with(hidden(s.page("cleo", "/clusters/aurora/plan")), "mode", "enforce", "reason", "Go live."))
	require.Equal(t, "/step-up?back=%2Fclusters%2Faurora%2Fmode", a.Header().Get("Location"))
	s.stepUp("cleo", "/clusters/aurora/mode")
	confirm := s.page("cleo", "/clusters/aurora/mode")
	require.Contains(t, text(confirm), "Switch Aurora to enforce")
	require.Contains(t, confirm, "Go live.", "the reason survived")
	c, err := s.store.Cluster(t.Context(), "aurora")
	require.NoError(t, err)
	require.Equal(t, fleet.PlanOnly, c.Mode, "only the confirmation switches")
	require.Equal(t, 303, s.post("cleo", "/clusters/aurora/mode", with(hidden(confirm), "reason", "Go live.")).Code)

	s.signIn("pia", true)
	a = s.post("pia", "/clusters/aurora/pause", with(hidden(s.page("pia", "/clusters/aurora")), "paused", "true", "reason", "Maintenance."))
	require.Equal(t, 303, a.Code, text(a.body))
	paused := text(s.page("pia", "/clusters/aurora"))
	require.Contains(t, paused, "Writing is paused. Pia Santos")
	require.Contains(t, paused, "Maintenance.")
	done, err := s.store.CountEntries(t.Context(), portal.EntryQuery{Types: []ledger.Type{ledger.ClusterMode}, Outcome: ledger.Done}, 10)
	require.NoError(t, err)
	require.Equal(t, 3, done)
}

func TestAQueueIsAdopted(t *testing.T) {
	s := newSite(t)
	link := regexp.MustCompile(`href="(/clusters/aurora/adopt\?queue=street-scenes-production)"`).FindStringSubmatch(s.page("pia", "/clusters/aurora"))
	require.NotEmpty(t, link, "the page offers what was found")
	form := s.page("pia", link[1])
	a := s.post("pia", "/clusters/aurora/adopt", with(hidden(form), "project", "street-scenes/production"))
	require.Equal(t, 303, a.Code, text(a.body))
	require.Contains(t, text(s.page("pia", "/clusters/aurora")), "adopted")
}

func TestAConnectionIsTestedAndItsTokenNotShown(t *testing.T) {
	s := newSite(t)
	form := with(hidden(s.page("pia", "/clusters/connect")), "name", "East", "server", "https://127.0.0.1:1", "token", "secret-token", "action", "test")
	a := s.post("pia", "/clusters", form)
	require.Equal(t, 503, a.Code, text(a.body))
	require.Contains(t, text(a.body), "does not answer")
	require.Contains(t, a.body, `value="East"`)
	require.NotContains(t, a.body, "secret-token")
	a = s.post("pia", "/clusters", with(form, "server", "http://127.0.0.1:1"))
	require.Equal(t, 422, a.Code, text(a.body))
}

func TestFigureThatNobodyReadIsADash(t *testing.T) {
	require.Equal(t, "", figure(fleet.Unknown, "no poll yet").Value)
	require.Equal(t, "no poll yet", figure(fleet.Unknown, "no poll yet").Reason())
	require.Equal(t, "0", figure(fleet.Known(fleet.Count(0)), "").Value)
	require.Equal(t, "12,000", amount(fleet.Count(12000)))
	require.Equal(t, "12", amount(fleet.MustQuantity("12000m")))
	h := headroomOfPool(portal.PoolState{Capacity: fleet.Known(fleet.Count(8))})
	require.NotEmpty(t, h.Unknown, "no bar without a reading")
}
