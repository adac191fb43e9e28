package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/stretchr/testify/require"

	"quartermaster/k8s/deploy"
)

const fourGPUs = `
apiVersion: v1
kind: Namespace
metadata: {name: lab}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: lab}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: cpu, nominalQuota: 64}
      - {name: memory, nominalQuota: 256Gi}
      - {name: nvidia.com/gpu, nominalQuota: 4}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: train, namespace: lab}
spec: {clusterQueue: lab}
`

func TestJobsRunWithinQuotaAndWaitBeyondIt(t *testing.T) {
	c := Start(t)
	c.Create(t, fourGPUs)
	c.SubmitJob(t, "lab", "train", "first", 3)
	clients := c.clients(t)
	c.Eventually(t, "the first job runs", func() (bool, error) {
		job, err := clients.BatchV1().Jobs("lab").Get(t.Context(), "first", metav1.GetOptions{})
		return err == nil && job.Status.Ready != nil && *job.Status.Ready == 1, err
	})

	c.SubmitJob(t, "lab", "train", "second", 3)
	var reason string
	c.Eventually(t, "the second job waits", func() (bool, error) {
		var err error
		reason, err = pendingMessage(t, c, "second")
		return reason != "", err
	})
	require.Contains(t, reason, "insufficient unused quota for nvidia.com/gpu in flavor h100")

	c.FinishJob(t, "lab", "first")
	c.Eventually(t, "the second job runs once the first is complete", func() (bool, error) {
		job, err := clients.BatchV1().Jobs("lab").Get(t.Context(), "second", metav1.GetOptions{})
		return err == nil && job.Status.Ready != nil && *job.Status.Ready == 1, err
	})
}

func pendingMessage(t *testing.T, c *Cluster, job string) (string, error) {
	client, err := dynamic.NewForConfig(c.admin)
	if err != nil {
		return "", err
	}
	workloads := schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}
	all, err := client.Resource(workloads).Namespace("lab").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for _, workload := range all.Items {
		if workload.GetOwnerReferences()[0].Name != job {
			continue
		}
		conditions, _, err := unstructured.NestedSlice(workload.Object, "status", "conditions")
		for _, c := range conditions {
			if m := c.(map[string]any); m["type"] == "QuotaReserved" && m["status"] == "False" {
				return m["message"].(string), err
			}
		}
	}
	return "", nil
}

func TestPortalTokenMayDoWhatItsRoleSays(t *testing.T) {
	c := Start(t, WithoutKueue())
	clients, err := kubernetes.NewForConfig(&rest.Config{
		Host: c.Server(), BearerToken: c.Token(t, deploy.ServiceAccount), TLSClientConfig: rest.TLSClientConfig{CAData: c.CA()},
	})
	require.NoError(t, err)
	nodes, err := clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, nodes.Items, 7)
	_, err = clients.CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{})
	require.ErrorContains(t, err, "forbidden")
	err = clients.CoreV1().Namespaces().Delete(t.Context(), "default", metav1.DeleteOptions{})
	require.ErrorContains(t, err, "forbidden")

	c.StopAPIServer(t)
	_, err = clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.Error(t, err)
	c.StartAPIServer(t)
	_, err = clients.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}
