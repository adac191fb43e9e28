package k8s

import (
	"testing"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/fleet"
)

func TestWorkloadStates(t *testing.T) {
	for _, test := range []struct {
		name, status    string
		state           fleet.WorkloadState
		reason, message string
	}{
		{"just made", "{}", fleet.Pending, "", ""},
		{"waits", "{conditions: [{type: QuotaReserved, status: 'False', reason: Pending, message: 4 more needed}]}", fleet.Pending, "Pending", "4 more needed"},
		{"has quota, waits for a check", "{conditions: [{type: QuotaReserved, status: 'True'}], admissionChecks: [{name: budget, state: Pending}]}", fleet.Pending, "AdmissionChecks", "budget is Pending"},
		{"admitted", "{conditions: [{type: QuotaReserved, status: 'True'}, {type: Admitted, status: 'True'}]}", fleet.Admitted, "", ""},
		{"evicted", "{conditions: [{type: Evicted, status: 'True', reason: Preempted, message: for another}, {type: QuotaReserved, status: 'False', reason: Pending}]}", fleet.Evicted, "Preempted", "for another"},
		{"evicted and queued again", "{conditions: [{type: Evicted, status: 'True'}, {type: Requeued, status: 'True'}, {type: QuotaReserved, status: 'False', reason: Pending, message: wait}]}", fleet.Pending, "Pending", "wait"},
		{"finished", "{conditions: [{type: Admitted, status: 'True'}, {type: Finished, status: 'True', reason: Succeeded, message: done}]}", fleet.Finished, "Succeeded", "done"},
	} {
		state, reason, message := parse[workload](t, "status: "+test.status).state()
		require.Equal(t, []any{test.state, test.reason, test.message}, []any{state, reason, message}, test.name)
	}
}

func TestWorkloadAmountsAskedAndAssigned(t *testing.T) {
	asks := `
metadata: {uid: u, name: w, namespace: lab, ownerReferences: [{kind: Job, name: train, controller: true}]}
spec:
  queueName: q
  podSets:
  - count: 3
    template: {spec: {
      initContainers: [{resources: {requests: {cpu: 9}}}, {restartPolicy: Always, resources: {requests: {cpu: 1}}}],
      containers: [{resources: {requests: {cpu: 4}, limits: {nvidia.com/gpu: 2}}}]}}
`
	queueOf := func(namespace, name string) string { return namespace + "-" + name + "-behind" }
	waiting := readWorkload(parse[workload](t, asks), queueOf)
	require.Equal(t, "Job train", waiting.Job)
	require.Equal(t, "lab-q-behind", waiting.Queue)
	require.Equal(t, []fleet.Amount{
		{Pool: fleet.PoolKey{Resource: "cpu"}, Amount: waiting.Amounts[0].Amount},
		{Pool: fleet.PoolKey{Resource: "nvidia.com/gpu"}, Amount: waiting.Amounts[1].Amount},
	}, waiting.Amounts)
	require.Equal(t, "27", waiting.Amounts[0].Amount.String(), "the largest init container, three times")
	require.Equal(t, "6", waiting.Amounts[1].Amount.String())

	admitted := readWorkload(parse[workload](t, asks+`
status:
  conditions: [{type: Admitted, status: "True", lastTransitionTime: "2026-01-02T03:04:05Z"}]
  admission: {clusterQueue: real, podSetAssignments: [{flavors: {nvidia.com/gpu: h100}, resourceUsage: {nvidia.com/gpu: 6}}]}
`), queueOf)
	require.Equal(t, "real", admitted.Queue)
	require.Len(t, admitted.Amounts, 1)
	require.Equal(t, fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}, admitted.Amounts[0].Pool)
	require.Equal(t, "2026-01-02T03:04:05Z", admitted.AdmittedAt.Format("2006-01-02T15:04:05Z07:00"))
}
