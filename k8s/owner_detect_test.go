package k8s

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnersAreKnownByTheirMarks(t *testing.T) {
	for _, test := range []struct {
		metadata, name string
		reconciled     bool
	}{
		{"{}", "", false},
		{"{annotations: {argocd.argoproj.io/tracking-id: 'gpu:kueue.x-k8s.io/ClusterQueue:/q'}}", "Argo CD application gpu", true},
		{"{labels: {kustomize.toolkit.fluxcd.io/name: quotas}}", "Flux Kustomization quotas", true},
		{"{managedFields: [{manager: kustomize-controller, operation: Apply}]}", "Flux", true},
		{"{ownerReferences: [{kind: Profile, name: lab, controller: true}]}", "Profile lab", true},
		{"{labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: queues}}", "Helm release queues", false},
		{"{managedFields: [{manager: kubectl-client-side-apply, operation: Update}]}", "", false},
	} {
		require.Equal(t, owner{test.name, test.reconciled}, ownerOf(*parse[metadata](t, test.metadata)), test.metadata)
	}
}

func TestManagersOfAField(t *testing.T) {
	m := parse[metadata](t, `{managedFields: [
		{manager: kubectl-edit, operation: Update, fieldsV1: {"f:spec": {"f:resourceGroups": {}}}},
		{manager: kueue, operation: Update, subresource: status, fieldsV1: {"f:spec": {"f:resourceGroups": {}}}},
		{manager: other, operation: Apply, fieldsV1: {"f:spec": {"f:stopPolicy": {}}}}]}`)
	require.Equal(t, []string{"kubectl-edit"}, m.managersOf("spec", "resourceGroups"))
	require.Equal(t, []string{"other"}, m.managersOf("spec", "stopPolicy"))
	require.False(t, ours(*m))
}
