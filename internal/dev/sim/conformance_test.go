package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fleet"
	"quartermaster/internal/fleet/fleettest"
)

func TestConformance(t *testing.T) {
	at := start()
	a100 := fleet.PoolKey{Flavor: "a100", Resource: "nvidia.com/gpu"}
	two := append(pools(), sim.Pool{Key: a100, Product: "NVIDIA-A100", Unit: fleet.Card, Nodes: 2, PerNode: 8})
	fleettest.Run(t, func(t *testing.T) fleettest.Target {
		c, err := sim.Open(sim.Config{ID: "sim", Pools: two, Idle: true, Now: at.now})
		require.NoError(t, err)
		return fleettest.Target{
			Cluster: c, Pool: h100, Other: a100, Settle: time.Second,
			Binding: func(t *testing.T) fleet.Binding {
				return fleet.Binding{ID: "b", ProjectID: "p", Environment: "development", ClusterID: "sim", Namespace: "team-p", LocalQueue: "default",
					ClusterQueue: "team-p", Cohort: "team", RootCohort: "root", ResourceQuota: "quartermaster"}
			},
			Foreign: func(t *testing.T, manager string, limits ...fleet.Limit) fleet.Binding {
				fields := map[string]*string{}
				for _, l := range limits {
					n, b := l.Nominal.String(), l.Borrowing.String()
					fields[l.Pool.String()+" nominalQuota"], fields[l.Pool.String()+" borrowingLimit"] = &n, &b
				}
				require.NoError(t, c.Edit(fleet.ObjectRef{Kind: "ClusterQueue", Name: "theirs"}, manager, fields))
				return fleet.Binding{ID: "f", ProjectID: "p", ClusterID: "sim", Namespace: "theirs", LocalQueue: "main", ClusterQueue: "theirs", Adopted: true}
			},
			Edit: func(t *testing.T, b fleet.Binding, pool fleet.PoolKey, n int64) {
				text := fmt.Sprint(n)
				require.NoError(t, c.Edit(fleet.ObjectRef{Kind: "ClusterQueue", Name: b.ClusterQueue}, "kubectl", map[string]*string{pool.String() + " nominalQuota": &text}))
			},
		}
	})
}
