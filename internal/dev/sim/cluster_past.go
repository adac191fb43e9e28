package sim

import (
	"time"

	"quartermaster/internal/fleet"
)

// Past reports what the cluster would have shown from time to time before now, with
// the limits it has now and without its workloads' names. The cluster itself is not moved.
func (c *Cluster) Past(from, until time.Time, step time.Duration, report func(fleet.Observation) error) error {
	for _, o := range c.past(from, until, step) {
		if err := report(o); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) past(from, until time.Time, step time.Duration) []fleet.Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	then := from
	old := &Cluster{cfg: c.cfg, objects: c.objects, world: newWorld(c.cfg, from.Add(-c.cfg.History))}
	old.cfg.Now = func() time.Time { return then }
	old.world.reshape(c.objects)
	var out []fleet.Observation
	for ; then.Before(until); then = then.Add(step) {
		old.world.advance(then)
		out = append(out, fleet.Observation{At: then, Pools: old.pools(), Queues: old.queues(), QueuesKnown: true, PoolsKnown: true})
	}
	return out
}
