package sim

import (
	"container/heap"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// What the demonstration runs: names, lengths and sizes as training clusters see them.
var (
	jobNames  = []string{"train", "finetune", "eval", "sweep", "embed", "distill", "notebook", "serve"}
	submitted = []string{"ana", "dev", "gia", "build-bot"}
	sizes     = []int64{1, 1, 1, 2, 2, 4, 4, 8}
)

const meanRun = 45 * time.Minute

// arrivalsOf lays out what arrives in queue q in one hour. It depends only on the
// seed, the names, the hour and the limits then, so that a restart grows the same again.
func (w *world) arrivalsOf(q *queue, slot int64) {
	if w.cfg.Idle {
		return
	}
	begin := time.Unix(slot*3600, 0).UTC()
	for _, p := range q.pools {
		limit := q.nominal(p)
		if limit <= 0 {
			continue
		}
		r := rand.New(rand.NewPCG(w.cfg.Seed^hash(w.cfg.ID+q.name+p.String()), uint64(slot)))
		// Demand swings over the day around what the queue holds, so that there is
		// idle quota at night, and borrowing and waiting in the afternoon.
		day := 0.55 + 0.25*math.Sin(2*math.Pi*(float64(begin.Hour())-9)/24)
		want := float64(limit) * day * (0.7 + 0.6*r.Float64())
		var asked float64
		for i := 0; asked < want*float64(time.Hour)/float64(meanRun) && i < 400; i++ {
			n := sizes[r.IntN(len(sizes))]
			n = min(n, max(1, limit))
			asked += float64(n)
			runs := time.Duration(r.ExpFloat64() * float64(meanRun))
			l := w.newWorkload(q, p, n, min(max(runs, 3*time.Minute), 6*time.Hour), fmt.Sprintf("%d/%d", slot, i), r)
			if at := begin.Add(time.Duration(r.Float64() * float64(time.Hour))); !at.Before(w.now) {
				heap.Push(&w.events, event{at, arrives, l})
			}
		}
	}
}

func (w *world) newWorkload(q *queue, p fleet.PoolKey, n int64, runs time.Duration, key string, r *rand.Rand) *workload {
	id := hash(w.cfg.ID + "\x00" + q.name + "\x00" + p.String() + "\x00" + key)
	name := fmt.Sprintf("%s-%04x", jobNames[r.IntN(len(jobNames))], id&0xffff)
	l := &workload{q: q, pool: p, n: n, runs: runs}
	l.Workload = fleet.Workload{
		UID:       fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", id>>32, id>>16&0xffff, id&0xfff, id>>8&0xfff, hash(name+key)&0xffffffffffff),
		Namespace: q.namespace, Name: "job-" + name, Job: "Job " + name, LocalQueue: q.local, Queue: q.name,
		Submitter: submitted[r.IntN(len(submitted))],
		Amounts:   []fleet.Amount{{Pool: fleet.PoolKey{Resource: p.Resource}, Amount: fleet.Count(n)}},
	}
	return l
}

// Submit brings one workload, as a person with kubectl would.
func (c *Cluster) Submit(queueName, name string, p fleet.PoolKey, n int64, runs time.Duration) (uid string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.world
	w.advance(c.cfg.Now())
	q := w.queues[queueName]
	if q == nil {
		return "", fault.Newf(fault.NotFound, "There is no queue %s.", queueName)
	}
	l := w.newWorkload(q, p, n, runs, "submitted/"+name, rand.New(rand.NewPCG(1, hash(name))))
	l.Name, l.Job = name, "Job "+name
	w.arrive(l)
	return l.UID, nil
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
