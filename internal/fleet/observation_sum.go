package fleet

// PoolSum is what all queues of a cluster together hold and use of one pool,
// whoever owns them.
type PoolSum struct {
	Nominal, Reserved, InUse, Borrowed Measure
	// Pending counts the workloads that wait in queues which hold the pool: which
	// pool a waiting workload will take is not decided yet.
	Pending Measure
}

// PoolSums adds up the queues by pool. A pool that no queue holds sums to 0; one
// unknown figure makes its sum unknown. Nil when the queues could not be read.
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
	for _, q := range o.Queues {
		for _, f := range q.Flavors {
			s, ok := out[f.Pool]
			if !ok {
				s = none
			}
			s.Nominal = s.Nominal.Add(f.Nominal)
			s.Reserved = s.Reserved.Add(f.Reserved)
			s.InUse = s.InUse.Add(f.InUse)
			s.Borrowed = s.Borrowed.Add(f.Borrowed)
			s.Pending = s.Pending.Add(q.Pending)
			out[f.Pool] = s
		}
	}
	return out
}
