package sim

import (
	"container/heap"
	"fmt"
	"sort"
	"time"

	"quartermaster/internal/fleet"
)

// world is what runs: queues with their workloads, brought forward event by event.
// It reads no clock; the caller says what time it is.
type world struct {
	cfg    Config
	now    time.Time
	pools  map[fleet.PoolKey]Pool
	used   map[fleet.PoolKey]int64 // of the whole cluster
	queues map[string]*queue
	nodes  map[string]*node // cohorts
	events events
	slot   int64 // the hour whose arrivals are in events
	seq    int64 // counts changes of workloads, for watches
	gone   []*workload
	byUID  map[string]*workload
	lines  map[fleet.PoolKey]map[*queue]bool // queues in which somebody waits
}

// queue is a ClusterQueue as the world sees it.
type queue struct {
	name, namespace, local, cohort string
	held                           bool
	pools                          []fleet.PoolKey // accelerators, in order
	limits                         map[fleet.PoolKey]fleet.Limit
	used                           map[fleet.PoolKey]int64
	waiting                        map[fleet.PoolKey][]*workload // first come, first served
	running                        map[string]*workload
	finished                       []*workload
}

// workload is one job.
type workload struct {
	fleet.Workload
	q    *queue
	pool fleet.PoolKey
	n    int64
	runs time.Duration
	seq  int64
	dead bool // deleted while an event still waits for it
}

// keepFinished is how long a finished workload stays listed.
const keepFinished = 10 * time.Minute

func newWorld(cfg Config, from time.Time) *world {
	w := &world{cfg: cfg, now: from, pools: map[fleet.PoolKey]Pool{}, used: map[fleet.PoolKey]int64{},
		queues: map[string]*queue{}, nodes: map[string]*node{}, byUID: map[string]*workload{}, lines: map[fleet.PoolKey]map[*queue]bool{}, slot: from.Unix()/3600 - 1}
	for _, p := range cfg.Pools {
		w.pools[p.Key] = p
	}
	return w
}

// reshape takes over queues and limits from the objects; what runs stays.
func (w *world) reshape(objects map[fleet.ObjectRef]*object) {
	w.nodes = map[string]*node{}
	for ref, o := range objects {
		switch ref.Kind {
		case "Cohort":
			w.nodeOf(ref.Name).parent = o.get(parentPath)
		case "ClusterQueue":
			w.reshapeQueue(o)
		}
	}
	for ref, o := range objects {
		if q := w.queues[o.get(queuePath)]; ref.Kind == "LocalQueue" && q != nil {
			q.namespace, q.local = ref.Namespace, ref.Name
		}
	}
	w.sum()
}

func (w *world) reshapeQueue(o *object) {
	q := w.queues[o.Ref.Name]
	if q == nil {
		q = &queue{name: o.Ref.Name, used: map[fleet.PoolKey]int64{}, waiting: map[fleet.PoolKey][]*workload{}, running: map[string]*workload{}}
		w.queues[q.name] = q
		defer func() { w.arrivalsOf(q, w.slot) }() // once it has its limits
	}
	q.cohort = o.get(cohortPath)
	q.held = o.get(stopPath) == "Hold" || o.get(stopPath) == "HoldAndDrain"
	q.limits, q.pools = map[fleet.PoolKey]fleet.Limit{}, nil
	for _, l := range o.limits() {
		q.limits[l.Pool] = l
		if _, known := w.pools[l.Pool]; known {
			q.pools = append(q.pools, l.Pool)
		}
	}
}

// advance brings the world to now. A clock that stands still or goes back changes nothing.
func (w *world) advance(now time.Time) {
	for {
		next := time.Unix((w.slot+1)*3600, 0).UTC()
		if len(w.events) > 0 && w.events[0].at.Before(next) {
			next = w.events[0].at
		}
		if next.After(now) {
			break
		}
		if next.After(w.now) {
			w.now = next
		}
		if len(w.events) > 0 && !w.events[0].at.After(next) {
			e := heap.Pop(&w.events).(event)
			w.happen(e)
			continue
		}
		w.slot++
		for _, name := range sortedNames(w.queues) {
			w.arrivalsOf(w.queues[name], w.slot)
		}
	}
	if now.After(w.now) {
		w.now = now
	}
	w.forget()
}

func (w *world) happen(e event) {
	l := e.workload
	if l.dead {
		return
	}
	switch e.kind {
	case arrives:
		w.arrive(l)
	case finishes:
		w.finish(l)
	}
}

func (w *world) arrive(l *workload) {
	l.State, l.CreatedAt, l.Reason = fleet.Pending, e0(w.now), "Pending"
	w.byUID[l.UID] = l
	l.q.waiting[l.pool] = append(l.q.waiting[l.pool], l)
	w.line(l.pool)[l.q] = true
	w.touch(l)
	if l.q.waiting[l.pool][0] == l && !l.q.held && w.fits(l) {
		w.start(l) // a larger one that waits elsewhere does not hold up this queue
	}
}

func (w *world) finish(l *workload) {
	at := e0(w.now)
	l.State, l.FinishedAt = fleet.Finished, &at
	delete(l.q.running, l.UID)
	l.q.finished = append(l.q.finished, l)
	w.take(l.q, l.pool, -l.n)
	w.touch(l)
	w.admit(l.pool)
}

// forget deletes what finished a while ago.
func (w *world) forget() {
	for _, q := range w.queues {
		kept := q.finished[:0]
		for _, l := range q.finished {
			if w.now.Sub(*l.FinishedAt) < keepFinished {
				kept = append(kept, l)
				continue
			}
			l.dead = true
			delete(w.byUID, l.UID)
			w.touch(l)
			w.gone = append(w.gone, l)
		}
		q.finished = kept
	}
	if n := len(w.gone); n > 10_000 { // a watch that is further behind starts anew anyway
		w.gone = append([]*workload(nil), w.gone[n-5_000:]...)
	}
}

func (w *world) line(p fleet.PoolKey) map[*queue]bool {
	if w.lines[p] == nil {
		w.lines[p] = map[*queue]bool{}
	}
	return w.lines[p]
}

func (w *world) touch(l *workload) {
	w.seq++
	l.seq = w.seq
}

// node name of a workload's first unit; larger ones span several.
func (w *world) nodeFor(l *workload) string {
	p := w.pools[l.pool]
	return fmt.Sprintf("%s-%s-%02d", w.cfg.ID, l.pool.Flavor, 1+int(hash(l.UID)%uint64(max(1, p.Nodes))))
}

// e0 drops what a cluster's timestamps do not carry.
func e0(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func sortedNames(m map[string]*queue) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

type eventKind int

const (
	arrives eventKind = iota
	finishes
)

type event struct {
	at       time.Time
	kind     eventKind
	workload *workload
}

// events is a heap by time, then by id, so that the order never depends on a map.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].workload.UID < e[j].workload.UID
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}
