package e2e

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/site"
)

// ask is the form of a new request, filled and submitted; the page of the request follows.
type ask struct {
	project, environment, class, workload string
	pool, amount, kind                    string
	purpose                               string
}

func (a ask) submit(t *testing.T, w *browser.Window) (request int64) {
	t.Helper()
	w.Open("/requests/new")
	a.fill(w)
	w.Press("^Submit request$")
	w.See("submitted.")
	return number(t, w)
}

func (a ask) fill(w *browser.Window) {
	w.Choose("Project", a.project)
	w.Choose("Environment", a.environment)
	w.Choose("Data class", a.class)
	w.Choose("Workload type", a.workload)
	w.Fill("Purpose", a.purpose)
	w.Fill("Justification", "One epoch takes nine days on the present limit.")
	w.Choose("Pool", a.pool)
	w.Fill("Asked limit", a.amount)
	w.Choose("Kind", a.kind)
}

const (
	h100 = "NVIDIA-H100-80GB-HBM3 · Testbed"
	a100 = "NVIDIA-A100-SXM4-80GB · Testbed"
	hard = "Hard · no borrowing"
)

// decide opens the decision on a request from the queue of what waits.
func decide(w *browser.Window, request int64) {
	w.Open("/approvals")
	w.Follow(fmt.Sprintf("Decide R-%d$", request))
	w.See("What would change")
}

// at is the path of a request's page.
func at(request int64) string { return fmt.Sprintf("/requests/%d", request) }

// A requester asks for 8 → 16 H100, the team manager approves, the capacity
// manager grants 12, Kueue enforces 12, jobs run and wait accordingly, and the
// auditor finds and takes away both decisions. Nothing is simulated.
func TestAskDecideEnforceProve(t *testing.T) {
	b := connected(t)
	ana := as(t, b.site, "ana", browser.Wide)
	ana.Follow("^New request")
	night := ask{"Street Scenes · Vision", "development", "internal", "training", h100, "16", hard, "Train the night-driving detector"}
	night.fill(ana)
	for _, live := range []string{"limit now 8", "Ben Okafor", "Cleo Haddad or Kofi Mensah", "Present limit is used", "the pool can carry it"} {
		ana.See(live) // before anything is sent
	}
	ana.Press("^Submit request$")
	ana.See("submitted.")
	request := number(t, ana)
	word := fmt.Sprintf("R-%d", request)
	ana.Open(at(request) + "/decide")
	require.Contains(t, ana.Text(), "This page is open to the team manager", "who asks never decides")

	// Team manager: signing in with two factors a moment ago showed nothing to decide, so
	// they are proven for this revision.
	ben := as(t, b.site, "ben", browser.Wide)
	decide(ben, request)
	ben.See("nominalQuota")
	ben.Fill("Reason", "Agreed; the day set is done.")
	act(ben, "^Approve 16 GPUs$")
	ben.See("is decided")

	// Capacity manager: coming back decides nothing, and a proof that became too old meanwhile
	// is asked for again. The form waits both times.
	cleo := as(t, b.site, "cleo", browser.Wide)
	decide(cleo, request)
	cleo.Fill("Grant", "12")
	cleo.Press("Show what these figures change")
	cleo.See("20 stay free")
	cleo.Fill("Reason", "12 until the A100 nodes move in December.")
	toConfirm(cleo, "^Approve 12 GPUs$")
	cleo.See("Nothing is decided yet")
	ageProof(t, b.site, "cleo")
	toConfirm(cleo, "^Approve 12 GPUs$")
	cleo.See("Nothing is decided yet")
	require.Equal(t, "12", cleo.Value("Grant"))
	require.Equal(t, "12 until the A100 nodes move in December.", cleo.Value("Reason"))
	require.Equal(t, 1, decisions(t, b.site, request))
	cleo.Press("^Approve 12 GPUs$")
	cleo.See("is decided")

	// The queue was made by hand: the change stops and says whose it is, until a
	// capacity manager of the pool takes exactly these fields over, on record.
	ana.Open(at(request))
	ana.ReloadUntil("spec.resourceGroups of ClusterQueue street-scenes is managed by kubectl-create")
	require.Equal(t, "8", nominal(t, clusterQueue(t, b.c, "street-scenes"), "h100", "nvidia.com/gpu"))
	cleo.Open(at(request))
	cleo.Follow("Decide on a takeover")
	cleo.Fill("Reason", "The team gave the queue to the portal.")
	act(cleo, "^Take over these fields once$")
	ana.ReloadUntil("Read back: Testbed enforces what was granted.")
	page := ana.Text()
	require.Contains(t, page, "The limits are in force")
	require.Regexp(t, `(?s)ClusterQueue street-scenes.*h100 nvidia.com/gpu nominalQuota\s+8\s+→\s+12\s+12`, page, "object, field, old value, new value, read back")
	require.Regexp(t, `planned \d.*UTC\s+applied \d.*UTC\s+verified \d.*UTC`, page)
	q := clusterQueue(t, b.c, "street-scenes")
	require.Equal(t, "12", nominal(t, q, "h100", "nvidia.com/gpu"))
	require.Equal(t, "256", nominal(t, q, "h100", "cpu"), "what nobody asked about stays")
	active, why := condition(t, q, "Active")
	require.Equal(t, "True", active, why)
	require.Contains(t, fmt.Sprint(q.GetAnnotations()), fmt.Sprintf("%s%s", b.site.Portal, at(request)), "the object says by which request")

	b.c.SubmitPods(t, "street-scenes", "train", "night-1", 3, 4)
	b.c.Eventually(t, "a job of 12 GPUs runs", func() (bool, error) { return running(t, b.c, "street-scenes", "night-1") == 3, nil })
	b.c.SubmitJob(t, "street-scenes", "train", "night-2", 1)
	const reason = "insufficient unused quota for nvidia.com/gpu in flavor h100, 1 more needed"
	ana.ReloadUntil(reason)
	ana.ReloadUntil("1 GPU pending")
	ana.ReloadUntilMatch(`asked\s+16\s*GPUs\s+granted\s+12\s*GPUs\s+enforced\s+12\s*GPUs\s+in use\s+12\s*GPUs`)
	require.Regexp(t, `Job night-1\s+street-scenes/train\s+by\s+–[^\d]*12\s*GPUs`, ana.Text())
	require.Regexp(t, `Job night-2\s+street-scenes/train\s+by\s+–[^\d]*1\s*GPU\b`, ana.Text())
	ana.Open("/projects/street-scenes")
	require.Contains(t, ana.Text(), reason)
	ana.ReloadUntilMatch(`granted\s+12\s+enforced\s+12\s+in use\s+12\s*GPUs\s+0\s+1\s+no end`)

	otto := as(t, b.site, "otto", browser.Wide)
	otto.Follow("^History")
	otto.Choose("Kind", "request.decided")
	otto.Choose("Outcome", "done")
	otto.Fill("Number, person or project", word)
	otto.Press("^Filter$")
	otto.See("2 entries")
	otto.Follow("CSV")
	otto.See("A CSV file of 2 entries")
	toConfirm(otto, "^Download CSV$")
	otto.See("Second factor proven, for one download")
	rows, err := csv.NewReader(strings.NewReader(string(otto.Download("^Download CSV$")))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 3, "a heading and both decisions")
	both := fmt.Sprint(rows)
	for _, want := range []string{"Ben Okafor", "Cleo Haddad", "Agreed; the day set is done.", "12 until the A100 nodes move in December.", "team_manager", "capacity_manager"} {
		require.Contains(t, both, want)
	}
	b.site.Intact(t)
}

// decisions is how many were stored on a request.
func decisions(t *testing.T, s *site.Site, request int64) int {
	t.Helper()
	var n int
	require.NoError(t, s.DB(t).Get(&n, `SELECT count(*) FROM decision d JOIN request r ON r.id = d.request_id WHERE r.number = $1`, request))
	return n
}
