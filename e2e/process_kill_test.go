package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/site"
	"quartermaster/internal/soak"
	"quartermaster/k8s/deploy"
)

// deaths are the points at which the whole program is killed, from the commit of
// the decision to the end of the change. internal/portal kills between all steps;
// here the parts are real and the restart is the operator's.
var deaths = []string{"decision.commit.before", "decision.commit.after", "change.planned.after", "change.applied.before", "change.read", "change.verified.after"}

// Killed anywhere and started again, every decision has its entry and every change
// its one effect on the cluster.
func TestKilledAndStartedAgainNothingIsLostOrDoubled(t *testing.T) {
	b := testbed{site.New(t, "--poll", "1s", "--org", labOrganisation(t)), theCluster(t)}
	b.site.StayPut(t)
	pia := as(t, b.site, "pia", browser.Wide)
	pia.Open("/clusters/connect")
	b.address(t, pia)
	toConfirm(pia, "^Connect cluster$")
	pia.Fill("Token", b.c.Token(t, deploy.ServiceAccount))
	pia.Press("^Connect cluster$")
	pia.See("Testbed is connected in mode observe")
	enforce(as(t, b.site, "cleo", browser.Wide), "Testbed")

	w := trio{b, as(t, b.site, "gia", browser.Wide), as(t, b.site, "hugo", browser.Wide), as(t, b.site, "cleo", browser.Wide)}
	first := w.ocean(t, 1)
	approve(w.cleo, first, "^Approve 1 GPU$")
	w.ana.Open(at(first))
	w.ana.ReloadUntil("Read back: Testbed enforces what was granted.")
	place := b.bound(t, "ocean-currents", "development")
	amount := 1
	for range soak.Count(1, 10) {
		for _, point := range deaths {
			amount = amount%9 + 1
			t.Run(point, func(t *testing.T) { w.dieAt(t, place, point, amount) })
		}
	}
	b.site.Intact(t)
}

// ocean is a request of the ocean team that waits for the capacity manager.
func (w trio) ocean(t *testing.T, amount int) int64 {
	t.Helper()
	request := ask{"Ocean Currents · Climate & Oceans", "development", "public", "development", a100, fmt.Sprint(amount), hard, "Interactive work on the eddy model"}.submit(t, w.ana)
	approve(w.ben, request, approval(amount))
	return request
}

func approval(amount int) string {
	if amount == 1 {
		return "^Approve 1 GPU$"
	}
	return fmt.Sprintf("^Approve %d GPUs$", amount)
}

func (w trio) dieAt(t *testing.T, place bound, point string, amount int) {
	request := w.ocean(t, amount)
	before := clusterQueue(t, w.c, place.ClusterQueue)
	w.site.Kill()
	require.NoError(t, w.site.RunToDie(point))
	decide(w.cleo, request)
	w.cleo.Fill("Reason", "Agreed.")
	toConfirm(w.cleo, approval(amount))
	w.cleo.Click(approval(amount)) // whether the answer still comes depends on the point
	select {
	case <-w.site.Ended():
	case <-time.After(time.Minute):
		require.Failf(t, "not killed", "the program never reached %s", point)
	}
	require.NoError(t, w.site.Run())
	if point == "decision.commit.before" {
		require.Equal(t, 1, decisions(t, w.site, request), "what was not committed did not happen")
		approve(as(t, w.site, "kofi", browser.Wide), request, approval(amount))
	}
	w.ana.Open(at(request))
	w.ana.ReloadUntil("Read back: Testbed enforces what was granted.")
	after := clusterQueue(t, w.c, place.ClusterQueue)
	require.Equal(t, fmt.Sprint(amount), nominal(t, after, "a100", "nvidia.com/gpu"))
	require.Equal(t, before.GetGeneration()+1, after.GetGeneration(), "one effect")
	for what, query := range map[string]string{
		"decisions without an entry": `SELECT count(*) FROM decision d JOIN request r ON r.id = d.request_id WHERE r.number = $1
			AND NOT EXISTS (SELECT FROM ledger_entry e WHERE e.id = d.entry_id AND e.type = 'request.decided' AND e.outcome = 'done')`,
		"entries without a decision": `SELECT count(*) FROM ledger_entry e JOIN request r ON r.id = e.request_id WHERE r.number = $1
			AND e.type = 'request.decided' AND e.outcome = 'done' AND NOT EXISTS (SELECT FROM decision d WHERE d.entry_id = e.id)`,
		"changes beyond the first": `SELECT greatest(count(*) - 1, 0) FROM change c JOIN request r ON r.id = c.request_id WHERE r.number = $1`,
		"verified twice":           `SELECT greatest(count(*) - 1, 0) FROM ledger_entry e JOIN request r ON r.id = e.request_id WHERE r.number = $1 AND e.type = 'change.verified'`,
	} {
		var n int
		require.NoError(t, w.site.DB(t).Get(&n, query, request), what)
		require.Zero(t, n, what)
	}
	require.Equal(t, 2, decisions(t, w.site, request))
}
