package sim_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/internal/dev/sim"
	"quartermaster/internal/fleet"
)

var h100 = fleet.PoolKey{Flavor: "h100", Resource: "nvidia.com/gpu"}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func start() *clock { return &clock{time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)} }

func pools() []sim.Pool {
	return []sim.Pool{{Key: h100, Product: "NVIDIA-H100-80GB-HBM3", Unit: fleet.Card, Nodes: 8, PerNode: 8, CPUPerUnit: fleet.Count(12), MemoryPerUnit: fleet.MustQuantity("120Gi")}}
}

func limit(n int64, borrowing int64) fleet.Limit {
	b := fleet.Count(borrowing)
	return fleet.Limit{Pool: h100, Nominal: fleet.Count(n), Borrowing: &b}
}

func queue(name string, limits ...fleet.Limit) sim.Queue {
	return sim.Queue{Name: name, Cohort: "team", Parent: "root", Namespace: name, LocalQueue: "main", Manager: "kubectl", Limits: limits}
}

func find(t *testing.T, o fleet.Observation, name string) fleet.Queue {
	t.Helper()
	for _, q := range o.Queues {
		if q.Name == name {
			return q
		}
	}
	t.Fatalf("no queue %s", name)
	return fleet.Queue{}
}

func observe(t *testing.T, c *sim.Cluster) fleet.Observation {
	t.Helper()
	o, err := c.Observe(t.Context())
	require.NoError(t, err)
	return o
}

func TestWorkloadsLiveAndStayWithinQuota(t *testing.T) {
	at := start()
	c, err := sim.Open(sim.Config{ID: "aurora", Pools: pools(), Seed: 1, Now: at.now,
		Queues: []sim.Queue{queue("a", limit(16, 8)), queue("b", limit(8, 0)), queue("c", limit(24, 24))}})
	require.NoError(t, err)
	busy, waited, borrowed := 0, 0, 0
	for range 24 * 12 {
		at.at = at.at.Add(5 * time.Minute)
		o := observe(t, c)
		var sum int64
		for _, q := range o.Queues {
			f := q.Flavors[0]
			require.True(t, f.InUse.Known)
			sum += f.InUse.Amount.Int64()
			require.LessOrEqual(t, f.InUse.Amount.Int64(), f.Nominal.Amount.Int64()+f.Borrowing.Int64(), q.Name)
			if q.Pending.Amount.Sign() > 0 {
				waited++
			}
			if f.Borrowed.Amount.Sign() > 0 {
				borrowed++
			}
		}
		require.LessOrEqual(t, sum, int64(48), "never above what the cohort holds together")
		if sum > 0 {
			busy++
		}
	}
	require.Positive(t, busy)
	require.Positive(t, waited)
	require.Positive(t, borrowed)
}

func TestRestartGrowsTheSameAgain(t *testing.T) {
	at := start()
	cfg := sim.Config{ID: "aurora", Pools: pools(), Seed: 7, Now: at.now, File: filepath.Join(t.TempDir(), "aurora.json"), Queues: []sim.Queue{queue("a", limit(16, 8))}}
	c, err := sim.Open(cfg)
	require.NoError(t, err)
	before := observe(t, c)
	cfg.Queues = nil // the file has them
	again, err := sim.Open(cfg)
	require.NoError(t, err)
	require.Equal(t, before, observe(t, again))
	require.NotEmpty(t, before.Workloads)
}

func TestPendingSaysWhyAsKueueDoes(t *testing.T) {
	at := start()
	c, err := sim.Open(sim.Config{ID: "x", Pools: pools(), Idle: true, Now: at.now, Queues: []sim.Queue{queue("a", limit(12, 0))}})
	require.NoError(t, err)
	_, err = c.Submit("a", "first", h100, 12, time.Hour)
	require.NoError(t, err)
	_, err = c.Submit("a", "second", h100, 4, time.Hour)
	require.NoError(t, err)
	_, err = c.Submit("a", "third", h100, 99, time.Hour)
	require.NoError(t, err)
	w := observe(t, c).Workloads
	require.Len(t, w, 3)
	byName := map[string]fleet.Workload{}
	for _, x := range w {
		byName[x.Name] = x
	}
	require.Equal(t, fleet.Admitted, byName["first"].State)
	require.Equal(t, "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed", byName["second"].Message)
	require.Contains(t, byName["third"].Message, "current podset request (99) > maximum capacity (12)")
	at.at = at.at.Add(61 * time.Minute)
	q := find(t, observe(t, c), "a")
	require.Equal(t, "4", q.Flavors[0].InUse.Amount.String())
	require.Equal(t, "1", q.Pending.Amount.String())
}

func TestThousandQueues(t *testing.T) {
	at := start()
	var queues []sim.Queue
	for i := range 1000 {
		q := queue("q"+string(rune('a'+i%26))+time.Duration(i).String(), limit(int64(i%5), 2))
		queues = append(queues, q)
	}
	p := pools()
	p[0].Nodes = 400
	c, err := sim.Open(sim.Config{ID: "big", Pools: p, Seed: 3, Now: at.now, History: time.Hour, Queues: queues})
	require.NoError(t, err)
	at.at = at.at.Add(time.Hour)
	o := observe(t, c)
	require.Len(t, o.Queues, 1000)
	require.NotEmpty(t, o.Workloads)
}

func TestThePastMovesNothing(t *testing.T) {
	at := start()
	c, err := sim.Open(sim.Config{ID: "aurora", Pools: pools(), Seed: 1, Now: at.now, Queues: []sim.Queue{queue("a", limit(16, 8))}})
	require.NoError(t, err)
	before := observe(t, c)
	used := 0
	var times []time.Time
	require.NoError(t, c.Past(at.at.Add(-24*time.Hour), at.at, time.Hour, func(o fleet.Observation) error {
		times = append(times, o.At)
		require.False(t, o.WorkloadsKnown)
		if find(t, o, "a").Flavors[0].InUse.Amount.Sign() > 0 {
			used++
		}
		return nil
	}))
	require.Len(t, times, 24)
	require.True(t, times[23].Before(at.at))
	require.Positive(t, used)
	require.Equal(t, before, observe(t, c))
}
