package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/cluster"
	"quartermaster/e2e/site"
)

const driftQueue = `
apiVersion: v1
kind: Namespace
metadata: {name: drift-lab}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: drift-lab}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 3}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: drift-lab}
spec: {clusterQueue: drift-lab}
`

// editQuota is what kubectl edit sends: an update of one number by its own manager.
func editQuota(t *testing.T, c *cluster.Cluster, queue, value string) {
	t.Helper()
	patch := []byte(`[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":"` + value + `"}]`)
	_, err := objects(t, c, "clusterqueues").Patch(t.Context(), queue, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"})
	require.NoError(t, err)
}

// A number that somebody changes on the cluster is a finding within two polls; put
// back restores it and closes the finding; accepting is a request of its own.
func TestAnEditOnTheClusterIsFoundPutBackAndAskedToBeAccepted(t *testing.T) {
	b := testbed{site.New(t, "--poll", "1s", "--org", labOrganisation(t)), ownCluster(t)}
	b.connect(t)
	b.c.Create(t, driftQueue)
	pia := as(t, b.site, "pia", browser.Wide)
	pia.Follow("^Clusters")
	pia.Follow("^Testbed$")
	pia.ReloadUntil("ClusterQueue drift-lab")
	pia.Follow("Adopt.*drift-lab")
	pia.Choose("Project and environment", "Street Scenes · production")
	act(pia, "^Adopt drift-lab$")
	pia.See("What it has now is the baseline")

	var before int
	require.NoError(t, b.site.DB(t).Get(&before, `SELECT count(*) FROM poll WHERE ok`))
	editQuota(t, b.c, "drift-lab", "5")
	cleo := as(t, b.site, "cleo", browser.Wide)
	cleo.Open("/findings?owner=me")
	cleo.ReloadUntil("ClusterQueue drift-lab")
	var polls int
	require.NoError(t, b.site.DB(t).Get(&polls, `
		SELECT count(*) FROM poll p WHERE p.ok AND p.at <= (SELECT min(f.since) FROM finding f WHERE f.object_name = 'drift-lab' AND f.field LIKE '%nominalQuota')
			AND p.id > (SELECT p.id FROM poll p WHERE p.ok ORDER BY p.id OFFSET $1 - 1 LIMIT 1)`, before))
	require.LessOrEqual(t, polls, 2, "found within two polls")
	cleo.See("kubectl-edit")
	cleo.Accessible()
	cleo.Follow("ClusterQueue drift-lab")
	cleo.See("h100 nvidia.com/gpu nominalQuota is 5; granted is 3.")
	cleo.Accessible()
	cleo.Follow("^Put back what is granted$")
	cleo.Fill("Reason", "Nobody asked for this.")
	act(cleo, "^Put back what is granted$")
	cleo.See("The finding closes when it is read back")
	cleo.ReloadUntil("Resolved: put back")
	require.Equal(t, "3", nominal(t, clusterQueue(t, b.c, "drift-lab"), "h100", "nvidia.com/gpu"))

	editQuota(t, b.c, "drift-lab", "4")
	cleo.ReloadUntil("h100 nvidia.com/gpu nominalQuota is 4; granted is 3.")
	cleo.Follow("^Ask to accept what is live$")
	cleo.Accessible()
	cleo.Fill("Why what is live should stay", "The second node is theirs.")
	cleo.Press("^Ask for 4 of")
	cleo.See("asks to accept what is live")
	var requests int
	require.NoError(t, b.site.DB(t).Get(&requests, `SELECT count(*) FROM finding f JOIN request r ON r.id = f.request_id WHERE f.object_name = 'drift-lab' AND r.state = 'submitted'`))
	require.Equal(t, 1, requests)
	b.site.Intact(t)
}
