package slurm

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	harness "quartermaster/e2e/slurm"
	"quartermaster/internal/fleet"
	"quartermaster/internal/fleet/fleettest"
)

// real is one Slurm for all tests of this package that do not stop it. Each test
// uses accounts of its own.
var real *harness.Slurm

func TestMain(m *testing.M) {
	s, stop, err := harness.StartShared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	real = s
	code := m.Run()
	stop()
	os.Exit(code)
}

var (
	anyGPU = fleet.PoolKey{Flavor: "gpu", Resource: "gres/gpu"}
	a100   = fleet.PoolKey{Flavor: "a100", Resource: "gres/gpu:a100"}
	h100   = fleet.PoolKey{Flavor: "h100", Resource: "gres/gpu:h100"}
)

// connect returns the adapter as the portal has it: by a token of an operator.
func connect(t *testing.T, s *harness.Slurm) *Cluster {
	t.Helper()
	c, err := New(Config{Server: s.Controller(), Token: s.Token(t, s.Portal(), time.Hour), WatchEvery: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// lacks are the behaviours of the table that Slurm cannot have, and why.
var lacks = map[string]string{
	"fields of another manager conflict until taken over": "sacctmgr keeps no owner of a value; an account that is neither made nor adopted by the portal is refused instead (account_live_test.go)",
	"lending follows a lowered quota in one write":        "accounts lend nothing",
	"a ResourceQuota is the sum of quota and borrowing":   "Slurm has no namespaces and no ResourceQuota",
	"Hold is verified only when it holds":                 "a limit of 0 already starts nothing with a GPU, and an account's other jobs are not the portal's to stop",
}

// TestConformance holds the adapter, on a real Slurm, to the table that the simulated
// cluster and Kubernetes have to fulfil too.
func TestConformance(t *testing.T) {
	c := connect(t, real)
	n := 0
	fleettest.Run(t, func(t *testing.T) fleettest.Target {
		return fleettest.Target{
			Cluster: c, Pool: anyGPU, Other: h100, Settle: 30 * time.Second, Creates: []string{"account"}, Field: fleet.TotalField, Lacks: lacks,
			Binding: func(*testing.T) fleet.Binding {
				n++
				return fleet.Binding{ProjectID: "p", Environment: "development", Account: fmt.Sprintf("conform-%d", n)}
			},
			Edit: func(t *testing.T, b fleet.Binding, pool fleet.PoolKey, nominal int64) {
				real.Admin(t, "sacctmgr", "-i", "modify", "account", b.Account, "set", fmt.Sprintf("GrpTRES=%s=%d", pool.Resource, nominal))
				require.Eventually(t, func() bool {
					o, err := c.Observe(t.Context())
					require.NoError(t, err)
					for _, q := range o.Queues {
						for _, f := range q.Flavors {
							if q.Name == b.Account && f.Pool == pool {
								return f.Nominal.Equal(fleet.Known(fleet.Count(nominal)))
							}
						}
					}
					return false
				}, 30*time.Second, 50*time.Millisecond)
			},
		}
	})
}
