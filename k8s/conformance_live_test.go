package k8s

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"quartermaster/internal/fleet"
	"quartermaster/internal/fleet/fleettest"
)

var clusterQueues = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "clusterqueues"}

// TestConformance holds the adapter, on the real control plane, to the table that
// the simulated cluster has to fulfil too.
func TestConformance(t *testing.T) {
	k := connect(t, control)
	admin, err := dynamic.NewForConfig(control.AdminConfig())
	require.NoError(t, err)
	n := 0
	name := func() string { n++; return fmt.Sprintf("conform-%d", n) }
	fleettest.Run(t, func(t *testing.T) fleettest.Target {
		return fleettest.Target{
			Cluster: k, Settle: 30 * time.Second,
			Pool: fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}, Other: fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"},
			Binding: func(*testing.T) fleet.Binding {
				x := name()
				return fleet.Binding{ProjectID: "p", Environment: "development", Namespace: x, LocalQueue: "default", ClusterQueue: x,
					Cohort: x + "-team", RootCohort: "root", ResourceQuota: "quartermaster"}
			},
			Foreign: func(t *testing.T, manager string, limits ...fleet.Limit) fleet.Binding {
				x := name()
				var flavors []any
				for _, l := range limits {
					flavors = append(flavors, map[string]any{"name": l.Pool.Flavor, "resources": []any{map[string]any{"name": l.Pool.Resource, "nominalQuota": l.Nominal.String()}}})
				}
				queue := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": map[string]any{"name": x},
					"spec": map[string]any{"namespaceSelector": map[string]any{}, "cohortName": "theirs",
						"resourceGroups": []any{map[string]any{"coveredResources": []any{limits[0].Pool.Resource}, "flavors": flavors}}},
				}}
				_, err := admin.Resource(clusterQueues).Apply(t.Context(), x, queue, metav1.ApplyOptions{FieldManager: manager})
				require.NoError(t, err)
				control.Create(t, strings.ReplaceAll(`
apiVersion: v1
kind: Namespace
metadata: {name: NAME}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: NAME}
spec: {clusterQueue: NAME}
`, "NAME", x))
				return fleet.Binding{ProjectID: "p", Environment: "development", Namespace: x, LocalQueue: "main", ClusterQueue: x, Adopted: true}
			},
			Edit: func(t *testing.T, b fleet.Binding, pool fleet.PoolKey, nominal int64) {
				queue, err := admin.Resource(clusterQueues).Get(t.Context(), b.ClusterQueue, metav1.GetOptions{})
				require.NoError(t, err)
				groups, _, err := unstructured.NestedSlice(queue.Object, "spec", "resourceGroups")
				require.NoError(t, err)
				for _, g := range groups {
					for _, f := range g.(map[string]any)["flavors"].([]any) {
						for _, r := range f.(map[string]any)["resources"].([]any) {
							if r := r.(map[string]any); f.(map[string]any)["name"] == pool.Flavor && r["name"] == pool.Resource {
								r["nominalQuota"] = fmt.Sprint(nominal)
							}
						}
					}
				}
				require.NoError(t, unstructured.SetNestedSlice(queue.Object, groups, "spec", "resourceGroups"))
				_, err = admin.Resource(clusterQueues).Update(t.Context(), queue, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
				require.NoError(t, err)
			},
		}
	})
}
