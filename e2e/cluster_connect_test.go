package e2e

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/cluster"
	"quartermaster/e2e/site"
	"quartermaster/k8s/deploy"
)

// streetQueue is what the cluster had before the portal came: a queue with 8 H100
// that somebody made by hand for one team's namespace.
const streetQueue = `
apiVersion: v1
kind: Namespace
metadata: {name: street-scenes}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: street-scenes}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: cpu, nominalQuota: 256}
      - {name: memory, nominalQuota: 2Ti}
      - {name: nvidia.com/gpu, nominalQuota: 8}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: train, namespace: street-scenes}
spec: {clusterQueue: street-scenes}
`

// testbed is the real cluster connected to the lab, through the screens, in mode enforce.
type testbed struct {
	site *site.Site
	c    *cluster.Cluster
}

var connectOnce struct {
	sync.Mutex
	done bool
}

// connected is the testbed; the first test that needs it plays the platform admin.
func connected(t *testing.T) testbed {
	t.Helper()
	b := testbed{theLab(t), theCluster(t)}
	connectOnce.Lock()
	defer connectOnce.Unlock()
	if !connectOnce.done {
		b.connect(t)
		connectOnce.done = true
	}
	return b
}

// connect is what a platform admin does with a new cluster: look, connect, adopt
// what is there, then let the portal write.
func (b testbed) connect(t *testing.T) {
	t.Helper()
	b.c.Create(t, streetQueue)
	pia := as(t, b.site, "pia", browser.Wide)
	pia.Follow("^Clusters")
	pia.Follow("Connect a cluster")
	fill := func() { b.address(t, pia) }
	fill()
	pia.Press("^Test connection$")
	pia.See("answered in")
	found := pia.Text()
	for _, want := range []string{"Kubernetes v1.", "v1beta2", "NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu", "ClusterQueue street-scenes", "kubectl-create"} {
		require.Contains(t, found, want, "what the test of a connection shows")
	}
	require.Equal(t, "", pia.Value("Token"), "a token is never sent back")
	var kept int
	require.NoError(t, b.site.DB(t).Get(&kept, `SELECT count(*) FROM cluster`))
	require.Zero(t, kept, "a test keeps nothing")

	fill()
	toConfirm(pia, "^Connect cluster$")
	require.Equal(t, "", pia.Value("Token"), "a token is not kept while its sender proves a second factor")
	require.Equal(t, b.c.Server(), pia.Value("Server"), "all else is")
	pia.Fill("Token", b.c.Token(t, deploy.ServiceAccount))
	pia.Press("^Connect cluster$")
	pia.See("Testbed is connected in mode observe")
	pia.ReloadUntil("kubectl-create")
	require.Equal(t, "8", nominal(t, clusterQueue(t, b.c, "street-scenes"), "h100", "nvidia.com/gpu"))

	pia.Follow("Adopt.*street-scenes")
	pia.Choose("Project and environment", "Street Scenes · development")
	act(pia, "^Adopt street-scenes$")
	pia.See("What it has now is the baseline")
	pia.Follow("^Clusters")
	pia.Follow("^Testbed$")
	pia.Fill("Reason", "first rollout")
	act(pia, "^Switch to plan$", "^Switch Testbed to plan$")
	pia.See("Testbed is in mode plan")
	enforce(as(t, b.site, "cleo", browser.Wide), "Testbed")
	require.Empty(t, writesBy(clusterQueue(t, b.c, "street-scenes"), "quartermaster"), "nothing is written before something is granted")
}

// address fills in how the cluster is reached.
func (b testbed) address(t *testing.T, w *browser.Window) {
	t.Helper()
	w.Fill("Name", "Testbed")
	w.Fill("Server", b.c.Server())
	w.Fill("CA certificate", string(b.c.CA()))
	w.Fill("Token", b.c.Token(t, deploy.ServiceAccount))
}

// enforce lets the portal write: a capacity manager looks at what would change, and decides.
func enforce(w *browser.Window, cluster string) {
	w.Follow("^Clusters")
	w.Follow("^" + cluster + "$")
	w.Follow("^See what enforcing would change$")
	if strings.Contains(w.Text(), "is in mode observe") {
		w.Fill("Reason", "first rollout")
		act(w, "^Switch to plan$", "^Switch "+cluster+" to plan$")
		w.See(cluster + " is in mode plan")
		w.Follow("^See what enforcing would change$")
	}
	w.Fill("Reason", "first rollout")
	act(w, "^Switch to enforce$", "^Switch "+cluster+" to enforce$")
	w.See(cluster + " is in mode enforce")
}
