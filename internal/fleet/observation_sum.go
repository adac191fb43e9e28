package fleet

// PoolSum is what all queues of a cluster together hold and use of one pool,
// whoever owns them.
type PoolSum struct {
	Nominal, Reserved, InUse, Borrowed Measure
	// Pending counts the workloads that wait in queues which hold the pool: which
	// pool a waiting workload will take is not decided yet.
	Pending Measure
}

func (s PoolSum) add(o PoolSum) PoolSum {
	return PoolSum{s.Nominal.Add(o.Nominal), s.Reserved.Add(o.Reserved), s.InUse.Add(o.InUse), s.Borrowed.Add(o.Borrowed), s.Pending.Add(o.Pending)}
}

// PoolSums adds up the queues by pool. A pool that no queue holds sums to 0; one
// unknown figure makes its sum unknown. What a queue's Parent counts already is not added
// again. Nil when the queues could not be read.
func (o Observation) PoolSums() map[PoolKey]PoolSum {
	if !o.QueuesKnown {
		return nil
	}
	zero := Known(Quantity{})
	none := PoolSum{zero, zero, zero, zero, zero}
	out := make(map[PoolKey]PoolSum, len(o.Pools))
	for _, p := range o.Pools {
		out[p.Key] = none
	}
	t := treeOf(o.Queues)
	for _, q := range o.Queues {
		for _, f := range q.Flavors {
			s := PoolSum{Pending: q.Pending, Nominal: zero, Reserved: zero, InUse: zero, Borrowed: zero}
			if !t.limited(q, f.Pool) {
				s.Nominal = f.Nominal
			}
			if !t.within(q, f.Pool) {
				s.Reserved, s.InUse, s.Borrowed = f.Reserved, f.InUse, f.Borrowed
			}
			sum, ok := out[f.Pool]
			if !ok {
				sum = none
			}
			out[f.Pool] = sum.add(s)
		}
	}
	return out
}

// tree finds queues by name, to walk up their parents.
type tree map[string]*Queue

// treeOf is nil where no queue has a parent.
func treeOf(queues []Queue) tree {
	var t tree
	for i := range queues {
		if queues[i].Parent != "" {
			t = make(tree, len(queues))
			break
		}
	}
	if t != nil {
		for i := range queues {
			t[queues[i].Name] = &queues[i]
		}
	}
	return t
}

// above calls visit with what each queue above q says of the pool, until it says true.
func (t tree) above(q Queue, pool PoolKey, visit func(FlavorUse) bool) bool {
	for range t { // as many steps as there are queues, whatever the parents say
		up := t[q.Parent]
		if up == nil {
			return false
		}
		for _, f := range up.Flavors {
			if f.Pool == pool && visit(f) {
				return true
			}
		}
		q = *up
	}
	return false
}

func (t tree) within(q Queue, pool PoolKey) bool {
	return t.above(q, pool, func(FlavorUse) bool { return true })
}

// limited reports a limit further up: it already holds what q may use.
func (t tree) limited(q Queue, pool PoolKey) bool {
	return t.above(q, pool, func(f FlavorUse) bool { return f.Borrowing != nil })
}
