package k8s

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

// quotaKeys reads a ResourceQuota of namespace lab by key.
func quotaKeys(t *testing.T, text string, counted *deviceCount) map[string]fleet.Quota {
	t.Helper()
	q := parse[resourceQuota](t, text)
	q.Metadata.Namespace = "lab"
	out := map[string]fleet.Quota{}
	for _, quota := range readQuota(q, counted) {
		out[quota.Key] = quota
	}
	return out
}

func TestFractionalMemoryIsEqualToItsStoredForm(t *testing.T) {
	keys := quotaKeys(t, "spec: {hard: {requests.memory: 4402341478400m}}", nil)
	stored := keys["requests.memory"].Hard.Amount
	asked := fleet.MustQuantity("4.1Gi")
	require.True(t, stored.Equal(asked))
	require.Equal(t, "4.1 GiB", stored.Display("memory"))
	require.EqualValues(t, 4402341479, stored.Int64())
}

func TestLimitsOfExtendedResourcesAreNotTracked(t *testing.T) {
	keys := quotaKeys(t, `
spec: {hard: {limits.nvidia.com/gpu: 2, requests.nvidia.com/gpu: 2}}
status: {used: {requests.nvidia.com/gpu: 0}}
`, nil)
	limits, requests := keys["limits.nvidia.com/gpu"], keys["requests.nvidia.com/gpu"]
	require.False(t, limits.Used.Known)
	require.Equal(t, []string{"not tracked by Kubernetes"}, limits.Notes)
	require.Equal(t, "0", requests.Used.String())
	require.Empty(t, requests.Notes)
}

func TestBareExtendedResourceIsNotEnforced(t *testing.T) {
	counted := countDevices([]pod{*parse[pod](t, `
metadata: {namespace: lab, uid: a}
spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}
status: {phase: Running}
`)}, nil, nil)
	bare := quotaKeys(t, "spec: {hard: {nvidia.com/gpu: 1}}\nstatus: {used: {nvidia.com/gpu: 0}}", counted)["nvidia.com/gpu"]
	require.False(t, bare.Used.Known, "a key that is not enforced has no use")
	require.Equal(t, []string{"not enforced by Kubernetes; use requests.nvidia.com/gpu", "pods there ask for 1 now"}, bare.Notes)
}

// A profile that names the resource without its prefix limits nothing; with the
// prefix it does.
func TestProfilesQuotaNeedsThePrefix(t *testing.T) {
	without := quotaKeys(t, "spec: {hard: {cpu: 2, nvidia.com/gpu: 1}}", nil)
	require.Contains(t, without["nvidia.com/gpu"].Notes[0], "not enforced")
	require.Empty(t, without["cpu"].Notes)
	with := quotaKeys(t, "spec: {hard: {requests.nvidia.com/gpu: 1}}", nil)
	require.Empty(t, with["requests.nvidia.com/gpu"].Notes)
	require.Equal(t, "1", with["requests.nvidia.com/gpu"].Hard.String())
	require.False(t, with["requests.nvidia.com/gpu"].Used.Known, "a missing used key is unknown")
}

func TestClaimsWithAFalseMarkCount(t *testing.T) {
	var claims []resourceClaim
	for i := range 4 {
		mark := ""
		if i < 3 {
			mark = `, annotations: {resource.kubernetes.io/extended-resource-claim: "true"}, ownerReferences: [{kind: Pod, uid: nobody}]`
		}
		claims = append(claims, *parse[resourceClaim](t, fmt.Sprintf(`
metadata: {namespace: lab, name: c%d%s}
spec: {devices: {requests: [{exactly: {deviceClassName: card.test, count: 2}}]}}
`, i, mark)))
	}
	counted := countDevices(nil, claims, nil)
	key := "card.test.deviceclass.resource.k8s.io/devices"
	quota := quotaKeys(t, fmt.Sprintf("spec: {hard: {%s: 3}}\nstatus: {used: {%s: 2}}", key, key), counted)[key]
	require.Equal(t, "8", quota.Used.String())
	require.Equal(t, []string{"the cluster charges 2; claims there hold 8", "over quota by 5"}, quota.Notes)
}

func TestPodAndTheClaimMadeForItCountOnce(t *testing.T) {
	pods := []pod{*parse[pod](t, `
metadata: {namespace: lab, name: train, uid: p1}
spec: {containers: [{resources: {requests: {nvidia.com/gpu: 2}}}]}
status: {phase: Running}
`)}
	claim := func(owner string) resourceClaim {
		return *parse[resourceClaim](t, `
metadata: {namespace: lab, annotations: {resource.kubernetes.io/extended-resource-claim: "true"}, ownerReferences: [{kind: Pod, uid: `+owner+`}]}
spec: {devices: {requests: [{exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}
`)
	}
	classes := []deviceClass{*parse[deviceClass](t, "metadata: {name: gpu.nvidia.com}\nspec: {extendedResourceName: nvidia.com/gpu}")}
	gpu := namespaced{"lab", "nvidia.com/gpu"}
	require.Equal(t, "2", countDevices(pods, []resourceClaim{claim("p1")}, classes).inUse[gpu].String())
	require.Equal(t, "4", countDevices(pods, []resourceClaim{claim("somebody")}, classes).inUse[gpu].String(), "the mark alone is not believed")
}

func TestScopedQuotasSayWhatTheyCount(t *testing.T) {
	keys := quotaKeys(t, `
spec:
  hard: {pods: 10}
  scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}
`, nil)
	require.Equal(t, []string{"counts only pods where PriorityClass In high"}, keys["pods"].Notes)
}
