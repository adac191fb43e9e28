package portal_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// BenchmarkPoll is one poll of a cluster with 1,000 queues, each bound to a project
// of its own, with workloads that come and go.
func BenchmarkPoll(b *testing.B) {
	d := newDesk(b)
	now := time.Now().UTC()
	var queues []sim.Queue
	var projects []org.Project
	for i := range 1000 {
		name := fmt.Sprintf("project-%04d", i)
		borrow := fleet.Count(4)
		queues = append(queues, sim.Queue{Name: name, Cohort: "vision", Parent: "east", Namespace: name, LocalQueue: "main", Manager: "quartermaster",
			Limits: []fleet.Limit{{Pool: h100Key, Nominal: fleet.Count(int64(i % 9)), Borrowing: &borrow}}})
		projects = append(projects, org.Project{ID: name, Name: name, TeamID: "vision", Environments: []string{"production"}, DataClasses: []string{"internal"}})
	}
	pools := yardPools()
	pools[0].Nodes = 800
	c, err := sim.Open(sim.Config{ID: "east", Seed: 1, Queues: queues, Pools: pools, Now: func() time.Time { return now }, History: time.Hour})
	require.NoError(b, err)
	d.Log = slog.New(slog.DiscardHandler)
	d.Dial = func(context.Context, string) (fleet.Cluster, error) { return c, nil }
	d.Now = func() time.Time { return now }
	o, err := portal.ParseOrganisation([]byte(deskOrg))
	require.NoError(b, err)
	o.Projects = append(o.Projects, projects...)
	_, err = d.ImportOrg(b.Context(), portal.Actor{System: "test", Via: "import"}, o, false)
	require.NoError(b, err)
	require.NoError(b, d.store.InTx(b.Context(), func(ctx context.Context, tx portal.Tx) error {
		for i, q := range queues {
			err := tx.InsertBinding(ctx, fleet.Binding{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), ProjectID: q.Name, Environment: "production", ClusterID: "east",
				Namespace: q.Namespace, LocalQueue: "main", ClusterQueue: q.Name, Cohort: "vision", Adopted: true})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	for b.Loop() {
		now = now.Add(30 * time.Second)
		ok, err := d.PollCluster(b.Context(), "east")
		require.NoError(b, err)
		require.True(b, ok)
	}
}
