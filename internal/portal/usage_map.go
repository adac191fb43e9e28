package portal

import (
	"context"
	"strings"

	"quartermaster/internal/fleet"
)

// usageRows maps what a cluster said to bindings and pools: the queue of each binding
// by its name, each flavor and resource to its pool. Queues that could not be read
// give no rows, so that the last good ones stay.
func usageRows(ctx context.Context, r Reader, clusterID string, o fleet.Observation) ([]UsageRow, error) {
	if !o.QueuesKnown {
		return nil, nil
	}
	bindings, err := r.Bindings(ctx, BindingQuery{ClusterID: clusterID})
	if err != nil {
		return nil, err
	}
	all, err := r.Pools(ctx)
	if err != nil {
		return nil, err
	}
	pools := map[fleet.PoolKey]PoolState{}
	for _, s := range all {
		if s.ClusterID == clusterID {
			pools[s.Key] = s
		}
	}
	queues := make(map[string]fleet.Queue, len(o.Queues))
	for _, q := range o.Queues {
		queues[q.Name] = q
	}
	waiting := pendingByQueue(o)
	var out []UsageRow
	for _, b := range bindings {
		q, found := queues[b.Queue()]
		if !found {
			continue
		}
		active := q.Active
		for _, f := range q.Flavors {
			s, known := pools[f.Pool]
			if !known {
				continue
			}
			u := UsageRow{
				Binding: b, PoolID: s.ID, PoolName: s.Name, Resource: s.Key.Resource,
				Nominal: f.Nominal, Borrowing: f.Borrowing, BorrowingKnown: f.Nominal.Known,
				Reserved: f.Reserved, InUse: f.InUse, Borrowed: borrowedOf(q, f),
				Active: &active, InactiveReason: q.Inactive, At: o.At,
			}
			u.Pending, u.PendingAmount = waitingFor(o, q, f.Pool, waiting[q.Name])
			out = append(out, u)
		}
	}
	return out, nil
}

// borrowedOf is 0 without a cohort, whatever the source says: there is nobody to
// borrow from, and use above the quota is over quota, not borrowed.
func borrowedOf(q fleet.Queue, f fleet.FlavorUse) fleet.Measure {
	if q.Cohort == "" && f.InUse.Known {
		return fleet.Known(fleet.Quantity{})
	}
	return f.Borrowed
}

func pendingByQueue(o fleet.Observation) map[string][]fleet.Workload {
	out := map[string][]fleet.Workload{}
	for _, w := range o.Workloads {
		if w.State == fleet.Pending {
			out[w.Queue] = append(out[w.Queue], w)
		}
	}
	return out
}

// waitingFor counts the workloads of a queue that wait for a pool and the units they
// ask. A pending workload has no flavor yet: it waits for those its scheduler
// names in the reason, or else for each flavor that has its resource.
func waitingFor(o fleet.Observation, q fleet.Queue, pool fleet.PoolKey, pending []fleet.Workload) (count, amount fleet.Measure) {
	if !o.WorkloadsKnown {
		// The queue's own count is all there is; it says nothing of one pool among several.
		if single(q, pool.Resource) || (q.Pending.Known && q.Pending.Amount.Sign() == 0) {
			return q.Pending, fleet.Unknown
		}
		return fleet.Unknown, fleet.Unknown
	}
	n, sum := int64(0), fleet.Quantity{}
	for _, w := range pending {
		for _, a := range w.Amounts {
			if pool.Counts(a.Pool) || a.Pool.Resource == pool.Resource && a.Pool.Flavor == "" && waitsFor(w, q, pool) {
				n, sum = n+1, sum.Add(a.Amount)
				break
			}
		}
	}
	return fleet.Known(fleet.Count(n)), fleet.Known(sum)
}

func single(q fleet.Queue, resource string) bool {
	n := 0
	for _, f := range q.Flavors {
		if f.Pool.Resource == resource {
			n++
		}
	}
	return n == 1
}

// waitsFor reads the flavors out of Kueue's reason ("… in flavor h100, 4 more
// needed"); a reason that names none of the queue's flavors leaves all of them open.
func waitsFor(w fleet.Workload, q fleet.Queue, pool fleet.PoolKey) bool {
	names := false
	for _, f := range q.Flavors {
		if f.Pool.Resource == pool.Resource && namesFlavor(w.Message, f.Pool.Flavor) {
			if f.Pool == pool {
				return true
			}
			names = true
		}
	}
	return !names
}

func namesFlavor(message, flavor string) bool {
	for rest := message; ; {
		i := strings.Index(rest, "flavor "+flavor)
		if i < 0 {
			return false
		}
		rest = rest[i+len("flavor "+flavor):]
		if rest == "" || !isNameByte(rest[0]) {
			return true
		}
	}
}

func isNameByte(b byte) bool {
	return b == '-' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z'
}
