package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"quartermaster/e2e/browser"
)

// trio is who it takes to change a limit, each in a window of their own.
type trio struct {
	testbed
	ana, ben, cleo *browser.Window
}

func (b testbed) trio(t *testing.T) trio {
	t.Helper()
	return trio{b, as(t, b.site, "ana", browser.Wide), as(t, b.site, "ben", browser.Wide), as(t, b.site, "cleo", browser.Wide)}
}

// approve is one decision as asked, with what a person has to tick for it.
func approve(w *browser.Window, request int64, button string, boxes ...string) {
	decide(w, request)
	w.Fill("Reason", "Agreed.")
	for _, box := range boxes {
		w.Check(box)
	}
	act(w, button)
	w.See("is decided")
}

// scans is what the imaging team asks for, with another figure each time.
func scans(amount string) ask {
	return ask{"Medical Imaging · Vision", "evaluation", "confidential", "batch", a100, amount, hard, "Evaluate the segmentation model"}
}

// bound is the queue that carries the limits of a project and environment.
type bound struct {
	Namespace    string `db:"namespace"`
	LocalQueue   string `db:"local_queue"`
	ClusterQueue string `db:"cluster_queue"`
	Cohort       string `db:"cohort"`
}

func (b testbed) bound(t *testing.T, project, environment string) bound {
	t.Helper()
	var out bound
	require.NoError(t, b.site.DB(t).Get(&out, `SELECT namespace, local_queue, cluster_queue, cohort FROM binding WHERE project_id = $1 AND environment = $2`, project, environment))
	return out
}

// A project without any object on the cluster gets them from the template; then its
// limits change while the cluster is down, and under running work.
func TestLimitsFromTheTemplateWhileTheClusterIsDownAndUnderUse(t *testing.T) {
	b := connected(t).trio(t)
	request := scans("4").submit(t, b.ana)
	decide(b.ben, request)
	b.ben.See("new object")
	b.ben.Fill("Reason", "Agreed.")
	act(b.ben, "^Approve 4 GPUs$")
	b.ben.See("is decided")
	approve(b.cleo, request, "^Approve 4 GPUs$")
	b.ana.Open(at(request))
	b.ana.ReloadUntil("Read back: Testbed enforces what was granted.")
	place := b.bound(t, "medical-imaging", "evaluation")
	q := clusterQueue(t, b.c, place.ClusterQueue)
	require.Equal(t, "4", nominal(t, q, "a100", "nvidia.com/gpu"))
	active, why := condition(t, q, "Active")
	require.Equal(t, "True", active, why)
	clients, err := kubernetes.NewForConfig(b.c.AdminConfig())
	require.NoError(t, err)
	_, err = clients.CoreV1().Namespaces().Get(t.Context(), place.Namespace, metav1.GetOptions{})
	require.NoError(t, err)
	_, err = objects(t, b.c, "localqueues").Namespace(place.Namespace).Get(t.Context(), place.LocalQueue, metav1.GetOptions{})
	require.NoError(t, err)
	_, err = objects(t, b.c, "cohorts").Get(t.Context(), place.Cohort, metav1.GetOptions{})
	require.NoError(t, err, "one cohort a team")

	t.Run("down while approved", func(t *testing.T) { b.approveWhileDown(t, place) })
	t.Run("lowered under use", func(t *testing.T) { b.lowerUnderUse(t, place) })
	b.site.Intact(t)
}

// approveWhileDown: the change waits, says why, and lands exactly once.
func (b trio) approveWhileDown(t *testing.T, place bound) {
	request := scans("6").submit(t, b.ana)
	approve(b.ben, request, "^Approve 6 GPUs$")
	before := clusterQueue(t, b.c, place.ClusterQueue)
	b.c.StopAPIServer(t)
	up := false
	defer func() {
		if !up {
			b.c.StartAPIServer(t)
		}
	}()
	approve(b.cleo, request, "^Approve 6 GPUs$")
	b.ana.Open(at(request))
	b.ana.ReloadUntil("Waits: Testbed does not answer. The first good poll releases it.")
	b.c.StartAPIServer(t)
	up = true
	b.ana.ReloadUntil("Read back: Testbed enforces what was granted.")
	after := clusterQueue(t, b.c, place.ClusterQueue)
	require.Equal(t, "6", nominal(t, after, "a100", "nvidia.com/gpu"))
	require.Equal(t, before.GetGeneration()+1, after.GetGeneration(), "written exactly once")
	require.Len(t, writesBy(after, "quartermaster"), 1)
	var verified int
	require.NoError(t, b.site.DB(t).Get(&verified, `SELECT count(*) FROM ledger_entry e JOIN request r ON r.id = e.request_id WHERE r.number = $1 AND e.type = 'change.verified'`, request))
	require.Equal(t, 1, verified)
}

// lowerUnderUse: whoever lowers a limit below what runs has to say that they saw
// it; what runs keeps running.
func (b trio) lowerUnderUse(t *testing.T, place bound) {
	b.c.SubmitJob(t, place.Namespace, place.LocalQueue, "scan-1", 4)
	b.c.Eventually(t, "the job runs", func() (bool, error) { return running(t, b.c, place.Namespace, "scan-1") == 1, nil })
	b.ana.Open("/projects/medical-imaging")
	b.ana.ReloadUntil("4")
	request := scans("2").submit(t, b.ana)
	const seen = "These workloads keep running above the new limit"
	decide(b.ben, request)
	b.ben.See("scan-1")
	b.ben.Fill("Reason", "Agreed.")
	b.ben.Press("^Approve 2 GPUs$")
	b.ben.See("keep running")
	require.Equal(t, 0, decisions(t, b.site, request), "nobody lowers unseen")
	approve(b.ben, request, "^Approve 2 GPUs$", seen)
	approve(b.cleo, request, "^Approve 2 GPUs$", seen)
	b.ana.Open(at(request))
	b.ana.ReloadUntil("Read back: Testbed enforces what was granted.")
	require.Equal(t, "2", nominal(t, clusterQueue(t, b.c, place.ClusterQueue), "a100", "nvidia.com/gpu"))
	require.Equal(t, int32(1), running(t, b.c, place.Namespace, "scan-1"), "lowering never stops what runs")
	b.c.FinishJob(t, place.Namespace, "scan-1")
}
