package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"quartermaster/e2e/browser"
	"quartermaster/e2e/cluster"
	"quartermaster/e2e/site"
	"quartermaster/internal/dev/demo"
	"quartermaster/k8s/deploy"
)

// livedQueues is how many queues the cluster had before the portal came.
const livedQueues = 20

var livedEnvironments = []string{"development", "staging", "production"}

// livedOrganisation is the demonstration's with projects for the queues that exist
// already, and rules of its own.
func livedOrganisation(t testing.TB) string {
	t.Helper()
	var all map[string]any
	require.NoError(t, yaml.Unmarshal(demo.Org, &all))
	delete(all, "clusters")
	delete(all, "pools")
	projects := all["projects"].([]any)
	for i := 1; i <= 7; i++ {
		projects = append(projects, map[string]any{"id": fmt.Sprintf("lived-%d", i), "name": fmt.Sprintf("Lived %d", i), "team": "vision", "owner": "ana", "environments": livedEnvironments, "data_classes": []string{"internal"}})
	}
	all["projects"] = projects
	all["matching"] = []any{
		map[string]any{"by": "label", "name": "corp.example/place", "pattern": "{project}_{environment}"},
		map[string]any{"by": "namespace", "pattern": "{project}-{environment}"},
		map[string]any{"by": "queue", "pattern": "{team}-{project}-{environment}"},
	}
	raw, err := yaml.Marshal(all)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "org.yaml")
	require.NoError(t, os.WriteFile(file, raw, 0o600))
	return file
}

func livedPlace(i int) (project, environment string) {
	return fmt.Sprintf("lived-%d", i/3+1), livedEnvironments[i%3]
}

func livedName(i int) string {
	project, environment := livedPlace(i)
	if i%4 == 2 {
		return "vision-" + project + "-" + environment
	}
	return fmt.Sprintf("q%02d-lived", i)
}

// livedNamespace: every fourth queue is matched by a label, every fourth by its own
// name, one by nothing at all, the others by their namespace.
func livedNamespace(i int) string {
	project, environment := livedPlace(i)
	if i%4 == 1 || i%4 == 2 || i == livedQueues-1 {
		return fmt.Sprintf("home-%02d", i)
	}
	return project + "-" + environment
}

// livedSpec is the shape of one queue: with cohort and without, one flavor and two,
// one resource group and two, quotas of 0, no borrowing limit and one of 0, and amounts in other notations.
func livedSpec(i int, cohort string) map[string]any {
	r := func(name string, nominal any, more ...any) map[string]any {
		out := map[string]any{"name": name, "nominalQuota": nominal}
		for k := 0; k+1 < len(more); k += 2 {
			out[more[k].(string)] = more[k+1]
		}
		return out
	}
	flavor := func(name string, resources ...any) map[string]any {
		return map[string]any{"name": name, "resources": resources}
	}
	group := func(covers []any, flavors ...any) map[string]any {
		return map[string]any{"coveredResources": covers, "flavors": flavors}
	}
	all := []any{"cpu", "memory", "nvidia.com/gpu"}
	spec := map[string]any{"namespaceSelector": map[string]any{}}
	switch i % 5 {
	case 0:
		spec["resourceGroups"] = []any{group(all, flavor("h100", r("cpu", "12000m"), r("memory", "3072Mi"), r("nvidia.com/gpu", "8")))}
	case 1:
		spec[cohort] = "lived-north"
		spec["resourceGroups"] = []any{group(all, flavor("h100", r("cpu", "0"), r("memory", "0"), r("nvidia.com/gpu", "0")))}
	case 2:
		spec[cohort] = "lived-north"
		spec["resourceGroups"] = []any{group(all, flavor("h100", r("cpu", "1k", "borrowingLimit", "0"), r("memory", "4402341478400m"), r("nvidia.com/gpu", "4", "borrowingLimit", "0", "lendingLimit", "1")))}
		spec["stopPolicy"] = "Hold"
	case 3:
		spec[cohort] = "lived-south"
		spec["queueingStrategy"] = "StrictFIFO"
		spec["resourceGroups"] = []any{group(all,
			flavor("h100", r("cpu", "64"), r("memory", "512Gi"), r("nvidia.com/gpu", "2", "borrowingLimit", "6")),
			flavor("a100", r("cpu", "32500m"), r("memory", "0.5Ti"), r("nvidia.com/gpu", "0")))}
	case 4:
		spec["resourceGroups"] = []any{
			group([]any{"nvidia.com/gpu"}, flavor("a100", r("nvidia.com/gpu", "6"))),
			group([]any{"cpu", "memory"}, flavor("h100", r("cpu", "100"), r("memory", "1Ti")))}
	}
	return spec
}

// livedCluster makes what a cluster in use has: each object by one of several clients
// and managers, in both versions of the API.
func livedCluster(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	var text strings.Builder
	for i := range livedQueues {
		labels := ""
		if project, environment := livedPlace(i); i%4 == 1 {
			labels = fmt.Sprintf(", labels: {corp.example/place: %s_%s}", project, environment)
		}
		fmt.Fprintf(&text, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s%s}\n---\n", livedNamespace(i), labels)
		fmt.Fprintf(&text, "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: main, namespace: %s}\nspec: {clusterQueue: %s}\n---\n", livedNamespace(i), livedName(i))
	}
	text.WriteString(`apiVersion: v1
kind: Namespace
metadata: {name: lived-7-production}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: lived-7-production}
spec: {clusterQueue: argo-lived}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: argo-lived, annotations: {argocd.argoproj.io/tracking-id: "queues:kueue.x-k8s.io/ClusterQueue:/argo-lived"}}
spec:
  namespaceSelector: {}
  resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 3}]}]}]
`)
	client, err := dynamic.NewForConfig(c.AdminConfig())
	require.NoError(t, err)
	for i := range livedQueues {
		version, cohort := "v1beta2", "cohortName"
		if i%2 == 1 {
			version, cohort = "v1beta1", "cohort"
		}
		q := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "kueue.x-k8s.io/" + version, "kind": "ClusterQueue", "metadata": map[string]any{"name": livedName(i)}, "spec": livedSpec(i, cohort),
		}}
		at := client.Resource(schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: version, Resource: "clusterqueues"})
		if i%3 == 0 {
			_, err = at.Apply(t.Context(), livedName(i), q, metav1.ApplyOptions{FieldManager: "platform-team"})
		} else {
			_, err = at.Create(t.Context(), q, metav1.CreateOptions{FieldManager: []string{"kubectl-create", "kubectl-client-side-apply", "helmfile"}[i%3]})
		}
		require.NoError(t, err, livedName(i))
	}
	c.Create(t, text.String())
}

// lived is every queue as it stands: specification and version.
func lived(t *testing.T, c *cluster.Cluster) map[string]string {
	t.Helper()
	out := map[string]string{}
	for i := range livedQueues + 1 {
		name := "argo-lived"
		if i < livedQueues {
			name = livedName(i)
		}
		q := clusterQueue(t, c, name)
		spec, err := q.MarshalJSON()
		require.NoError(t, err)
		out[name] = q.GetResourceVersion() + " " + string(spec)
	}
	return out
}

// A cluster in use is connected, matched by rules and by hand, adopted and enforced
// without one number being changed; what Argo CD keeps is left alone.
func TestAClusterInUseIsEnforcedAsItIs(t *testing.T) {
	c := ownCluster(t)
	livedCluster(t, c)
	b := testbed{site.New(t, "--poll", "1s", "--org", livedOrganisation(t)), c}
	pia := as(t, b.site, "pia", browser.Wide)
	pia.Open("/clusters/connect")
	b.address(t, pia)
	toConfirm(pia, "^Connect cluster$")
	pia.Fill("Token", c.Token(t, deploy.ServiceAccount))
	pia.Press("^Connect cluster$")
	pia.See("Testbed is connected in mode observe")
	settled(t, c)
	before := lived(t, c)

	pia.Follow("^Objects and adoption$")
	page := pia.Text()
	for _, want := range []string{
		"label corp.example/place=lived-1_staging of Namespace home-01", "namespace lived-1-development (rule 2", "queue vision-lived-1-production (rule 3",
		"Argo CD application queues keeps it", "stays theirs", "platform-team", "kubectl-client-side-apply", "h100 cpu 12", "h100 nvidia.com/gpu 0 + no limit",
	} {
		require.Contains(t, page, want)
	}
	byHand := livedName(livedQueues - 1)
	project, environment := livedPlace(livedQueues - 1)
	pia.Fill("Project and environment of "+byHand, project+"/"+environment)
	pia.Check(byHand)
	act(pia, "^Adopt the chosen queues$")
	pia.See("20 queues were adopted")
	db := b.site.DB(t)
	var entries int
	require.NoError(t, db.Get(&entries, `SELECT count(*) FROM ledger_entry WHERE type = 'binding.adopted' AND outcome = 'done'`))
	require.Equal(t, livedQueues, entries, "an entry each")
	require.Equal(t, before, lived(t, c), "adopting writes nothing")

	pia.Follow("^See what enforcing would change$")
	pia.See("Enforcing would change nothing on 20 bindings of 20")
	pia.Fill("Reason", "looked at")
	act(pia, "^Switch to plan$", "^Switch Testbed to plan$")
	pia.See("Testbed is in mode plan")
	pia.Follow("^See what enforcing would change$")
	require.NotContains(t, pia.Text(), "Switch to enforce", "who connects clusters does not decide that they are enforced")
	enforce(as(t, b.site, "cleo", browser.Wide), "Testbed")
	verified := func() (n int) {
		require.NoError(t, db.Get(&n, `SELECT count(*) FROM change WHERE state = 'verified' AND receipt->>'at' <> '' AND jsonb_array_length(coalesce(nullif(receipt->'written', 'null'), '[]')) = 0`))
		return n
	}
	require.Eventually(t, func() bool { return verified() == livedQueues }, 2*time.Minute, 200*time.Millisecond, "every baseline is read back, nothing is sent")
	require.Equal(t, before, lived(t, c), "enforced without changing one number, or touching one object")
	b.site.Intact(t)
}

// settled waits until Kueue has judged every queue, so that what is compared later
// does not move by itself.
func settled(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	require.Eventually(t, func() bool {
		for i := range livedQueues {
			if status, _ := condition(t, clusterQueue(t, c, livedName(i)), "Active"); status == "" {
				return false
			}
		}
		return true
	}, time.Minute, 200*time.Millisecond)
}
