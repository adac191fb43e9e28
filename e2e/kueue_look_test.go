package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"quartermaster/e2e/cluster"
)

// What the cluster itself holds, read as its administrator: never through the portal.

func objects(t testing.TB, c *cluster.Cluster, resource string) dynamic.NamespaceableResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	return client.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: resource})
}

func clusterQueue(t testing.TB, c *cluster.Cluster, name string) *unstructured.Unstructured {
	t.Helper()
	q, err := objects(t, c, "clusterqueues").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return q
}

// nominal is a queue's nominalQuota of a resource on a flavor, as text; "" without one.
func nominal(t testing.TB, q *unstructured.Unstructured, flavor, resource string) string {
	t.Helper()
	for _, g := range list(t, q.Object, "spec", "resourceGroups") {
		for _, f := range list(t, g, "flavors") {
			if f["name"] != flavor {
				continue
			}
			for _, r := range list(t, f, "resources") {
				if r["name"] == resource {
					return textOf(r["nominalQuota"])
				}
			}
		}
	}
	return ""
}

// condition is the status of a condition, with its message.
func condition(t testing.TB, o *unstructured.Unstructured, kind string) (status, message string) {
	t.Helper()
	for _, c := range list(t, o.Object, "status", "conditions") {
		if c["type"] == kind {
			return textOf(c["status"]), textOf(c["message"])
		}
	}
	return "", ""
}

func list(t testing.TB, in map[string]any, path ...string) []map[string]any {
	t.Helper()
	all, _, err := unstructured.NestedSlice(in, path...)
	require.NoError(t, err)
	var out []map[string]any
	for _, x := range all {
		out = append(out, x.(map[string]any))
	}
	return out
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// writesBy are the entries of managedFields by one manager: one for each version it wrote with.
func writesBy(o *unstructured.Unstructured, manager string) []metav1.ManagedFieldsEntry {
	var out []metav1.ManagedFieldsEntry
	for _, m := range o.GetManagedFields() {
		if m.Manager == manager {
			out = append(out, m)
		}
	}
	return out
}

// running is how many pods of a Job run now.
func running(t testing.TB, c *cluster.Cluster, namespace, job string) int32 {
	t.Helper()
	clients, err := kubernetes.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	j, err := clients.BatchV1().Jobs(namespace).Get(t.Context(), job, metav1.GetOptions{})
	require.NoError(t, err)
	if j.Status.Ready == nil {
		return 0
	}
	return *j.Status.Ready
}
