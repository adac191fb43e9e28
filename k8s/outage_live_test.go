package k8s

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/e2e/cluster"
	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// One cluster of an older kind: Kueue's definitions serve v1beta1 alone and no
// manager runs. Then its API server goes away and comes back.
func TestOldAPIThenOutageThenReturn(t *testing.T) {
	old := cluster.Start(t, cluster.WithOnlyV1beta1())
	k := connect(t, old)

	found, err := k.Discover(t.Context())
	require.NoError(t, err)
	require.Equal(t, "v1beta1", found.KueueAPI)

	d := want("legacy", "8", "4")
	plan, err := k.Plan(t.Context(), d)
	require.NoError(t, err)
	require.Contains(t, changed(plan), "ClusterQueue cohort: none → legacy-team")
	_, err = k.Apply(t.Context(), plan)
	require.NoError(t, err)
	queue := &object{}
	_, err = k.get(t.Context(), "/apis/kueue.x-k8s.io/v1beta1/clusterqueues/legacy", queue)
	require.NoError(t, err)
	require.Equal(t, "legacy-team", nested(queue.raw, "spec", "cohort"))
	require.Nil(t, nested(queue.raw, "spec", "cohortName"))
	seen, err := k.Observe(t.Context())
	require.NoError(t, err)
	q := queueNamed(seen, "legacy")
	require.Equal(t, "legacy-team", q.Cohort)
	require.Equal(t, "4", use(t, q, "h100", "nvidia.com/gpu").Borrowing.String())
	require.False(t, use(t, q, "h100", "nvidia.com/gpu").InUse.Known, "nobody counts there")
	require.False(t, q.Active)

	quotaAlone(t, old, k)

	watching := make(chan error, 1)
	go func() { watching <- k.Watch(t.Context(), func(fleet.WorkloadEvent) {}) }()
	old.StopAPIServer(t)
	for name, call := range map[string]func() error{
		"discover": func() error { _, err := k.Discover(t.Context()); return err },
		"observe":  func() error { _, err := k.Observe(t.Context()); return err },
		"plan":     func() error { _, err := k.Plan(t.Context(), d); return err },
		"apply":    func() error { _, err := k.Apply(t.Context(), plan); return err },
		"readback": func() error { _, err := k.ReadBack(t.Context(), d); return err },
	} {
		require.Equal(t, fault.Unavailable, fault.KindOf(call()), name)
	}
	select {
	case err := <-watching:
		require.Equal(t, fault.Unavailable, fault.KindOf(err), "%v", err)
	case <-time.After(time.Minute):
		t.Fatal("the watch hangs on a cluster that is gone")
	}

	old.StartAPIServer(t)
	old.Eventually(t, "the same connection works again", func() (bool, error) {
		again, err := k.Plan(t.Context(), d)
		return err == nil && !again.Changed(), err
	})
}

// quotaAlone binds a project to a ResourceQuota with no queue; pods beyond it are
// refused and the use is counted.
func quotaAlone(t *testing.T, c *cluster.Cluster, k *Cluster) {
	t.Helper()
	d := fleet.Desired{
		Binding: fleet.Binding{Namespace: "alone", ResourceQuota: "quartermaster"},
		Limits:  []fleet.Limit{limit("h100", "nvidia.com/gpu", "4", "0"), limit("a100", "nvidia.com/gpu", "2", "1")},
	}
	pushed(t, k, d)
	pods := func(name, gpus string) string {
		return `
apiVersion: v1
kind: Pod
metadata: {name: ` + name + `, namespace: alone}
spec:
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: c, image: registry.invalid/c, resources: {limits: {nvidia.com/gpu: ` + gpus + `}}}]
`
	}
	c.Create(t, pods("fits", "5"))
	c.Eventually(t, "the use is counted", func() (bool, error) {
		o, err := k.Observe(t.Context())
		q := quotaNamed(o, "alone")
		return q.Used.Known && q.Used.String() == "5" && q.Hard.String() == "7", err
	})
	d.Limits = d.Limits[:1]
	plan, err := k.Plan(t.Context(), d)
	require.NoError(t, err)
	require.Equal(t, []string{"ResourceQuota hard requests.nvidia.com/gpu: 7 → 4"}, changed(plan))
}

func TestWrongTokenAndWrongCAAreTold(t *testing.T) {
	k, err := New(Config{Server: control.Server(), CA: control.CA(), Token: "nonsense"})
	require.NoError(t, err)
	_, err = k.Discover(t.Context())
	require.Equal(t, fault.Forbidden, fault.KindOf(err))
	require.Contains(t, fault.As(err).Public, "does not accept the portal's token")

	_, err = New(Config{Server: "http://example.test", CA: []byte("x")})
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	require.Len(t, fault.As(err).Fields, 3)
	require.False(t, errors.Is(err, errMoved))
}
