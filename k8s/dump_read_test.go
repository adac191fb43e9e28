package k8s

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

var dumpedAt = time.Date(2026, 12, 2, 9, 0, 0, 0, time.UTC)

func readDump(t *testing.T, file string) fleet.Dump {
	t.Helper()
	d, err := ReadDump([]byte(file), dumpedAt)
	require.NoError(t, err)
	return d
}

// told is what became of each document, one line each.
func told(d fleet.Dump) []string {
	var out []string
	for _, x := range d.Documents {
		s := fmt.Sprintf("%d line %d %s: %s", x.Number, x.Line, x.Object, x.State)
		if x.State == fleet.DocumentRefused || x.State == fleet.DocumentReplaced {
			s += ": " + x.Reason
		}
		out = append(out, s)
	}
	return out
}

const paintQueue = `# the painters' queue
---
apiVersion: kueue.x-k8s.io/%s
kind: ClusterQueue
metadata: {name: paint}
spec:
  %s: studio
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: any, resources: [{name: cpu, nominalQuota: 12000m }]}]
`

// C006: the cohort has another name in each version.
func TestAFileReadsLikeTheClusterInEveryVersion(t *testing.T) {
	old := readDump(t, fmt.Sprintf(paintQueue, "v1beta1", "cohort"))
	now := readDump(t, fmt.Sprintf(paintQueue, "v1beta2", "cohortName"))
	require.Equal(t, old.Queues, now.Queues)
	require.Equal(t, "studio", now.Queues[0].Cohort)
	require.True(t, use(t, now.Queues[0], "any", "cpu").Nominal.Amount.Equal(fleet.Count(12)))
	require.Equal(t, []string{"1 line 3 ClusterQueue paint: read"}, told(now), "a comment before the first document is none")
}

func TestOneBadDocumentCostsNoneOfTheOthers(t *testing.T) {
	d := readDump(t, `apiVersion: v1
kind: Namespace
metadata: {name: paint}
---
kind: ClusterQueue
metadata: {name: nowhere}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: torn
 spec: {}
--- # a version of next year
apiVersion: kueue.x-k8s.io/v2
kind: ClusterQueue
metadata: {name: early}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vast}
spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: any, resources: [{name: cpu, nominalQuota: 1E}]}]}]}
---
apiVersion: v1
kind: Secret
metadata: {name: hidden, namespace: paint}
---
- a list
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: limits, namespace: paint}
spec: {hard: {requests.nvidia.com/gpu: 4}}
---
# nothing follows
`)
	require.Equal(t, []string{
		"1 line 1 Namespace paint: read",
		"2 line 5 ClusterQueue nowhere: refused: It names no apiVersion or no kind.",
		"3 line 7  : refused: It cannot be read: did not find expected key.",
		"4 line 14 ClusterQueue early: refused: Kueue.x-k8s.io/v2 is a version of Kueue that is not known here: v1alpha1 to v1beta2 are.",
		`5 line 18 ClusterQueue vast: refused: NominalQuota "1E" of any cpu cannot be counted.`,
		"6 line 23 Secret paint/hidden: skipped",
		"7 line 27  : refused: It is no object: an object has apiVersion, kind and metadata.",
		"8 line 29 ResourceQuota paint/limits: read",
	}, told(d))
	require.Equal(t, "4", d.Quotas[0].Hard.String())
	require.False(t, d.Quotas[0].Used.Known, "a manifest says nothing of use")
}

func TestFilesOfOtherShellsRead(t *testing.T) {
	yaml := fmt.Sprintf(paintQueue, "v1beta2", "cohortName")
	want := readDump(t, yaml)
	crlf := strings.ReplaceAll(yaml, "\n", "\r\n")
	wide := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(crlf)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, file := range map[string]string{"CRLF": crlf, "byte order mark": "\xef\xbb\xbf" + yaml, "UTF-16": string(wide)} {
		require.Equal(t, want, readDump(t, file), name)
	}
	for name, file := range map[string]string{"binary": "\x7fELF\x00\x01", "Latin-1": "kind: Caf\xe9", "nothing": "---\n# only words\n"} {
		_, err := ReadDump([]byte(file), dumpedAt)
		require.Error(t, err, name)
	}
	_, err := ReadDump(make([]byte, MaxDump+1), dumpedAt)
	require.ErrorContains(t, err, "too large")
}

func TestListsReadItemByItemInBothLanguages(t *testing.T) {
	d := readDump(t, `{
  "apiVersion": "kueue.x-k8s.io/v1beta1",
  "kind": "ClusterQueueList",
  "items": [
    {"metadata": {"name": "one"}, "spec": {"cohort": "a"}},
    {
      "metadata": {"name": "two"}, "spec": "wrong"
    }
  ]
}
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "after"}}
`)
	require.Equal(t, []string{
		"1 line 5 ClusterQueue one: read",
		"1 line 6 ClusterQueue two: refused: Its field spec is a string, which does not fit there.",
		"2 line 11 Namespace after: read",
	}, told(d))
	d = readDump(t, "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: one}}\n-\n  apiVersion: v1\n  kind: Namespace\n  metadata: {name: one}\n")
	require.Equal(t, []string{"1 line 4 Namespace one: replaced: It stands again at line 6; that one counts.", "1 line 6 Namespace one: read"}, told(d))
	require.Len(t, d.Objects, 1)
}

func TestTheFirstVersionsAreConverted(t *testing.T) {
	d := readDump(t, `
apiVersion: kueue.x-k8s.io/v1alpha1
kind: ClusterQueue
metadata: {name: oldest}
spec:
  cohort: studio
  requestableResources:
  - {name: cpu, flavors: [{resourceFlavor: any, quota: {guaranteed: 7}}]}
  - {name: memory, flavors: [{resourceFlavor: any, quota: {guaranteed: 30Gi, ceiling: 40Gi}}]}
---
apiVersion: kueue.x-k8s.io/v1alpha2
kind: ClusterQueue
metadata: {name: older}
spec:
  cohort: studio
  resources:
  - {name: cpu, flavors: [{name: any, quota: {min: 7, max: 7}}]}
---
apiVersion: kueue.x-k8s.io/v1alpha1
kind: ClusterQueue
metadata: {name: bare}
spec: {}
`)
	require.Equal(t, []fleet.DocumentState{fleet.DocumentConverted, fleet.DocumentConverted, fleet.DocumentRefused},
		[]fleet.DocumentState{d.Documents[0].State, d.Documents[1].State, d.Documents[2].State})
	require.Len(t, d.Queues, 2, "a shape that is not known is no empty queue")
	require.Equal(t, "7", use(t, d.Queues[0], "any", "cpu").Nominal.String())
	require.Nil(t, use(t, d.Queues[0], "any", "cpu").Borrowing, "no ceiling is no limit")
	require.Equal(t, "10Gi", use(t, d.Queues[0], "any", "memory").Borrowing.String())
	require.Equal(t, "0", use(t, d.Queues[1], "any", "cpu").Borrowing.String())
}

func TestAFileThatUnfoldsWithoutEndIsRefused(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for i := 'b'; i < 'k'; i++ {
		ref := fmt.Sprintf("*%c, ", i-1)
		bomb += fmt.Sprintf("%c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(ref, 9), ", "))
	}
	d := readDump(t, bomb+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: after}\n")
	require.Equal(t, fleet.DocumentRefused, d.Documents[0].State)
	require.Equal(t, fleet.DocumentRead, d.Documents[1].State)
	deep := readDump(t, strings.Repeat("[", 5000)+"\n---\nkind: x\n")
	require.Equal(t, fleet.DocumentRefused, deep.Documents[0].State)
}

func TestWhatANumberOfAFileIs(t *testing.T) {
	d := readDump(t, `
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: odd}
spec:
  resourceGroups:
  - coveredResources: [cpu, memory, gpu, nvidia.com/gpu, nvidia.com/total-gpumem]
    flavors:
    - name: any
      resources: [{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 1Gi}, {name: gpu, nominalQuota: 2Gi}, {name: nvidia.com/gpu, nominalQuota: 10}, {name: nvidia.com/total-gpumem, nominalQuota: 9000}]
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: n}
spec: {hard: {requests.alpha.kubernetes.io/nvidia-gpu: 1, requests.nvidia.com/gpumemory: 1, limits.nvidia.com/gpu: 1, requests.nvidia.com/gpu: 1}}
---
apiVersion: kubeflow.org/v1
kind: Profile
metadata: {name: p}
spec: {resourceQuotaSpec: {hard: {nvidia.com/gpu: 1}}}
---
apiVersion: v1
kind: ClusterResourceQuota
metadata: {name: wide}
spec: {quota: {hard: {pods: "5"}}}
status: {namespaces: [{namespace: n, status: {used: {pods: "1"}}}, {namespace: m}], total: {used: {pods: "3"}}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {gpu.intel.com/i915: "2", gpu.intel.com/i915_monitoring: "1"}}
`)
	q := d.Queues[0]
	require.Contains(t, strings.Join(use(t, q, "any", "gpu").Notes, "; "), "2147483648 pieces are implausible")
	require.Equal(t, []string{"vGPU slots, several a card"}, use(t, q, "any", "nvidia.com/gpu").Notes)
	require.False(t, fleet.PoolKey{Flavor: "any", Resource: "nvidia.com/total-gpumem"}.Accelerator())
	notes := map[string]string{}
	for _, x := range d.Quotas {
		notes[x.Namespace+" "+x.Key] = strings.Join(x.Notes, "; ")
	}
	require.Contains(t, notes["n requests.alpha.kubernetes.io/nvidia-gpu"], "limits nothing")
	require.Contains(t, notes["n requests.nvidia.com/gpumemory"], "not enforced")
	require.Equal(t, "not tracked by Kubernetes", notes["n limits.nvidia.com/gpu"])
	require.Empty(t, notes["n requests.nvidia.com/gpu"])
	require.Contains(t, notes["p nvidia.com/gpu"], "use requests.nvidia.com/gpu")
	require.Equal(t, "counts the namespaces n, m together", notes[" pods"])
	for _, x := range d.Quotas {
		if x.Name == "wide" {
			require.Equal(t, "3", x.Used.String())
		}
		if x.Namespace == "p" {
			require.Equal(t, "Profile p", x.Owner)
		}
	}
	require.Len(t, d.Pools, 1)
	require.Equal(t, "2", d.Pools[0].Capacity.String())
}

func TestOneClaimOfAPodIsCountedFromItsTemplate(t *testing.T) {
	d := readDump(t, `
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaimTemplate
metadata: {name: three, namespace: n}
spec: {spec: {devices: {requests: [{name: g, deviceClassName: card.example.com, count: 3}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n}
spec: {containers: [{name: a}, {name: b}], resourceClaims: [{name: g, resourceClaimTemplateName: three}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: n}
spec: {hard: {card.example.com.deviceclass.resource.k8s.io/devices: 2}}
`)
	require.Equal(t, "3", d.Quotas[0].Used.String())
	require.Contains(t, d.Quotas[0].Notes, "over quota by 1")
}
