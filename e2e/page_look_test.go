package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/site"
)

// looks are how each page is looked at; pictures are kept of those with a name.
var looks = []struct {
	name string
	browser.Look
	axe bool
}{
	{"1280-light", browser.Look{Width: 1280, Height: 900}, true},
	{"1280-dark", browser.Look{Width: 1280, Height: 900, Dark: true}, false},
	{"390-light", browser.Look{Width: 390, Height: 844}, false},
	{"390-dark", browser.Look{Width: 390, Height: 844, Dark: true}, true}, // with the first, both layouts and both colours
	{"", browser.Look{Width: 320, Height: 640}, false},
}

// pages are the pages of the portal, each as the role it is for.
func pages(t *testing.T, s *site.Site) map[string][]string {
	t.Helper()
	n := requestsOf(t, s)
	request := func(who string) string { return fmt.Sprintf("/requests/%d", n[who]) }
	return map[string][]string{
		"ana": {
			"/", "/requests", "/requests?tab=all", "/requests?q=nothing+like+this", "/requests/new", "/requests/new?project=street-scenes&environment=development&pool=aurora-h100",
			request("street-scenes"), request("medical-imaging"), request("medical-imaging") + "/withdraw",
			"/projects", "/projects/street-scenes", "/projects/street-scenes?range=7d", "/pools", "/pools/aurora-h100", "/help", "/search?q=street", "/nowhere", "/clusters",
		},
		"dev": {request("translate"), request("translate") + "/edit"},
		"ben": {"/", "/approvals", request("medical-imaging") + "/decide"},
		"cleo": {
			"/", "/approvals", request("weather-7d") + "/decide", request("weather-7d"), request("chat-assist"), "/pools/aurora-a100", "/clusters/aurora",
			"/clusters/aurora/plan", "/clusters/aurora/puts-back?on=true", "/findings", "/findings?state=resolved", "/findings/" + findingOf(t, s),
		},
		"otto": {"/", "/history", "/history?kind=request.decided&outcome=done", "/history?outcome=odd", "/history/" + entryOf(t, s), "/people", "/clusters", "/history/export?outcome=done", "/findings"},
		"pia": {"/", "/clusters", "/clusters/connect", "/clusters/aurora", "/clusters/borealis", "/clusters/aurora/adopt?queue=unknown",
			"/clusters/aurora/adopt", "/clusters/aurora/import", "/second-factor"},
		"finn": {"/", "/projects", "/pools/borealis-mi300x", "/usage?period=24h", "/usage?period=24h&by=pool", "/usage?by=type&zone=Mars%2FPhobos"},
		"iris": {"/", "/approvals"},
	}
}

// requestsOf is the newest request of each project in the demonstration.
func requestsOf(t *testing.T, s *site.Site) map[string]int64 {
	t.Helper()
	var rows []struct {
		Project string `db:"project_id"`
		Number  int64  `db:"number"`
	}
	require.NoError(t, s.DB(t).Select(&rows, `SELECT project_id, min(number) AS number FROM request GROUP BY project_id`))
	out := map[string]int64{}
	for _, r := range rows {
		out[r.Project] = r.Number
	}
	return out
}

// entryOf is an entry of the record that says a decision.
func entryOf(t *testing.T, s *site.Site) string {
	t.Helper()
	var id string
	require.NoError(t, s.DB(t).Get(&id, `SELECT id FROM ledger_entry WHERE type = 'request.decided' ORDER BY ordinal LIMIT 1`))
	return id
}

// findingOf is a finding of the demonstration, which its clusters give reason for.
func findingOf(t *testing.T, s *site.Site) string {
	t.Helper()
	var id string
	require.Eventually(t, func() bool { return s.DB(t).Get(&id, `SELECT id FROM finding ORDER BY since LIMIT 1`) == nil }, time.Minute, 100*time.Millisecond)
	return id
}

// Every page, wide and narrow, light and dark: nobody has to scroll sideways, axe
// finds nothing serious, and the browser complains about nothing. QM_SHOTS names a
// directory for pictures.
func TestEveryPageLooksRight(t *testing.T) {
	s := theDemo(t)
	for who, all := range pages(t, s) {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			w := as(t, s, who, browser.Wide)
			for i, path := range all {
				w.Open(path)
				lookAt(t, w, fmt.Sprintf("%s-%02d", who, i), path)
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		w := theBrowser(t).Window(t, s.Portal, browser.Wide)
		w.Open("/signed-out")
		lookAt(t, w, "nobody-00", "/signed-out")
		w.Open(s.Identity + "/people")
		lookAt(t, w, "nobody-01", "codes")
		w.Open("/")
		lookAt(t, w, "nobody-02", "sign-in")
	})
}

func lookAt(t *testing.T, w *browser.Window, name, path string) {
	t.Helper()
	for _, look := range looks {
		w.Resize(look.Look)
		over, widest := w.Overflow()
		assert.Zero(t, over, "%s at %d px is wider than the window: %s", path, look.Width, widest)
		if look.axe {
			assert.Empty(t, w.Barriers(), "axe on %s, %s", path, look.name)
		}
		if dir := os.Getenv("QM_SHOTS"); dir != "" && look.name != "" {
			w.Shot(filepath.Join(dir, name+"-"+look.name+".png"))
		}
	}
}
