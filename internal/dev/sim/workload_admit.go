package sim

import (
	"container/heap"
	"fmt"
	"sort"
	"time"

	"quartermaster/internal/fleet"
)

// node is a Cohort: it lends between its children what they do not use.
type node struct {
	parent  string
	subtree map[fleet.PoolKey]int64 // quota of everything below
	usage   map[fleet.PoolKey]int64 // what children use beyond what they keep for themselves
}

func (w *world) nodeOf(name string) *node {
	n := w.nodes[name]
	if n == nil {
		n = &node{subtree: map[fleet.PoolKey]int64{}, usage: map[fleet.PoolKey]int64{}}
		w.nodes[name] = n
	}
	return n
}

// sum counts quota and usage up the tree anew.
func (w *world) sum() {
	for _, n := range w.nodes {
		clear(n.subtree)
		clear(n.usage)
	}
	for _, name := range sortedNames(w.queues) {
		q := w.queues[name]
		for _, p := range q.pools {
			lent := q.nominal(p) - q.kept(p)
			beyond := max(0, q.used[p]-q.kept(p))
			w.up(q.cohort, func(n *node) { n.subtree[p] += lent; n.usage[p] += beyond })
		}
	}
}

// up visits the cohort and those above it; a ring ends the walk.
func (w *world) up(cohort string, visit func(*node)) {
	for depth := 0; cohort != "" && depth < 16; depth++ {
		n := w.nodeOf(cohort)
		visit(n)
		cohort = n.parent
	}
}

func (q *queue) nominal(p fleet.PoolKey) int64 { return q.limits[p].Nominal.Int64() }

// kept is the part of the nominal quota that is never lent.
func (q *queue) kept(p fleet.PoolKey) int64 {
	l := q.limits[p]
	if l.Lending == nil {
		return 0
	}
	return max(0, l.Nominal.Int64()-l.Lending.Int64())
}

// take counts n more units of p in use by q.
func (w *world) take(q *queue, p fleet.PoolKey, n int64) {
	before := max(0, q.used[p]-q.kept(p))
	q.used[p] += n
	after := max(0, q.used[p]-q.kept(p))
	w.used[p] += n
	w.up(q.cohort, func(c *node) { c.usage[p] += after - before })
}

// available is how many units of p q could admit now, as Kueue counts: what it
// keeps for itself, and what the cohorts above still have, up to its borrowing limit.
func (w *world) available(q *queue, p fleet.PoolKey) int64 {
	if _, listed := q.limits[p]; !listed {
		return 0 // its flavor is gone; "no borrowing limit" would be the zero value's word
	}
	if q.cohort == "" {
		return q.nominal(p) - q.used[p]
	}
	own := max(0, q.kept(p)-q.used[p])
	var above int64
	w.up(q.cohort, func(n *node) { above = n.subtree[p] - n.usage[p] }) // the root's counts: no Cohort here has limits of its own
	if b := q.limits[p].Borrowing; b != nil {
		lent := q.nominal(p) - q.kept(p)
		beyond := max(0, q.used[p]-q.kept(p))
		above = min(above, lent-beyond+b.Int64())
	}
	return own + above
}

// most is the largest workload that q could ever admit.
func (w *world) most(q *queue, p fleet.PoolKey) int64 {
	if _, listed := q.limits[p]; !listed || q.cohort == "" {
		return q.nominal(p)
	}
	var top int64
	w.up(q.cohort, func(n *node) { top = n.subtree[p] })
	top += q.kept(p)
	if b := q.limits[p].Borrowing; b != nil {
		top = min(top, q.nominal(p)+b.Int64())
	}
	return top
}

// admit lets in what fits into p now: the oldest first, and inside a queue nobody
// before the one ahead of them.
func (w *world) admit(p fleet.PoolKey) {
	for {
		var heads []*workload
		for q := range w.lines[p] {
			if !q.held {
				heads = append(heads, q.waiting[p][0])
			}
		}
		sort.Slice(heads, func(i, j int) bool {
			if !heads[i].CreatedAt.Equal(heads[j].CreatedAt) {
				return heads[i].CreatedAt.Before(heads[j].CreatedAt)
			}
			return heads[i].UID < heads[j].UID
		})
		admitted := false
		for _, l := range heads {
			if w.fits(l) {
				w.start(l)
				admitted = true
			}
		}
		if !admitted {
			return
		}
	}
}

// admitAll is admit for every pool, after limits changed.
func (w *world) admitAll(now time.Time) {
	w.advance(now)
	for _, p := range w.cfg.Pools {
		w.admit(p.Key)
	}
}

func (w *world) fits(l *workload) bool {
	return l.n <= w.available(l.q, l.pool) && w.used[l.pool]+l.n <= w.capacity(l.pool)
}

func (w *world) capacity(p fleet.PoolKey) int64 {
	pool := w.pools[p]
	return int64(pool.Nodes * pool.PerNode)
}

func (w *world) start(l *workload) {
	at := e0(w.now)
	l.State, l.AdmittedAt, l.Reason, l.Message = fleet.Admitted, &at, "", ""
	l.Amounts = []fleet.Amount{{Pool: l.pool, Amount: fleet.Count(l.n)}}
	l.Node = w.nodeFor(l)
	l.q.waiting[l.pool] = l.q.waiting[l.pool][1:]
	if len(l.q.waiting[l.pool]) == 0 {
		delete(w.line(l.pool), l.q)
	}
	l.q.running[l.UID] = l
	w.take(l.q, l.pool, l.n)
	w.touch(l)
	heap.Push(&w.events, event{w.now.Add(l.runs), finishes, l})
}

// why is Kueue's own wording of what keeps a pending workload.
func (w *world) why(l *workload) string {
	const set = "couldn't assign flavors to pod set main: "
	switch {
	case l.q.held:
		return fmt.Sprintf("ClusterQueue %s is inactive", l.q.name)
	case l.n > w.most(l.q, l.pool):
		return fmt.Sprintf(set+"insufficient quota for %s in flavor %s, previously considered podsets requests (0) + current podset request (%d) > maximum capacity (%d)",
			l.pool.Resource, l.pool.Flavor, l.n, w.most(l.q, l.pool))
	case l.n > w.available(l.q, l.pool):
		return fmt.Sprintf(set+"insufficient unused quota for %s in flavor %s, %d more needed",
			l.pool.Resource, l.pool.Flavor, l.n-max(0, w.available(l.q, l.pool)))
	case w.used[l.pool]+l.n > w.capacity(l.pool):
		return fmt.Sprintf(set+`topology "default" doesn't allow to fit any of %d pod(s)`, l.n)
	}
	return "Workload is waiting for those ahead of it in " + l.q.name
}
