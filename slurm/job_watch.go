package slurm

import (
	"context"
	"reflect"
	"time"

	"quartermaster/internal/fleet"
)

// Watch asks for the jobs again and again and reports what changed. Slurm keeps ended
// jobs for MinJobAge (300 s by default), so that short ones are seen as well.
func (c *Cluster) Watch(ctx context.Context, report func(fleet.WorkloadEvent)) error {
	if _, err := c.settled(ctx); err != nil {
		return err
	}
	seen := map[string]fleet.Workload{}
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for first := true; ; first = false {
		text, err := c.run(ctx, "squeue", "--json")
		if err != nil {
			return err
		}
		jobs, _, err := readJobs(text)
		if err != nil {
			return err
		}
		now := make(map[string]fleet.Workload, len(jobs))
		for _, w := range jobs {
			now[w.UID] = w
			if old, known := seen[w.UID]; !known || !reflect.DeepEqual(old, w) {
				report(fleet.WorkloadEvent{Workload: w})
			}
		}
		for uid, old := range seen {
			if _, still := now[uid]; !still {
				report(fleet.WorkloadEvent{Workload: old, Gone: true})
			}
		}
		seen = now
		if first {
			report(fleet.WorkloadEvent{Synced: true})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
