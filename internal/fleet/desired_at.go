package fleet

import (
	"sort"
	"time"
)

// PoolTerms is what one pool of a binding starts from, what was granted on top,
// and what cpu and memory each unit brings along.
type PoolTerms struct {
	Key           PoolKey
	Base          Base
	Grants        []Grant
	CPUPerUnit    Quantity
	MemoryPerUnit Quantity
}

// DesiredAt is everything binding b must look like at t: the limit of each pool
// and the cpu and memory that go with it. Pure, and independent of the order of pools.
// A pool whose grants all ended stays in it with its base, so that its flavor is
// emptied rather than dropped.
func DesiredAt(t time.Time, b Binding, pools []PoolTerms) Desired {
	d := Desired{Binding: b}
	for _, p := range pools {
		l := LimitAt(t, p.Key, p.Base, p.Grants)
		if b.Account != "" {
			l = l.whole()
		}
		d.Limits = append(d.Limits, l)
	}
	sort.Slice(d.Limits, func(i, j int) bool { return before(d.Limits[i].Pool, d.Limits[j].Pool) })
	if b.Adopted || b.Account != "" {
		return d // its own cpu, memory and stop policy are its shape
	}
	d.Companions = companions(d.Limits, pools)
	d.Hold = len(d.Limits) > 0
	for _, l := range d.Limits {
		if l.Nominal.Sign() > 0 || l.Borrowing == nil || l.Borrowing.Sign() > 0 {
			d.Hold = false
		}
	}
	return d
}

// whole is l as a scheduler keeps it that knows one number, all that may be used:
// a burst raises it, and without limit there is none at all.
func (l Limit) whole() Limit {
	if l.Borrowing == nil {
		return Limit{Pool: l.Pool}
	}
	return Limit{Pool: l.Pool, Nominal: l.Nominal.Add(*l.Borrowing), Borrowing: &Quantity{}}
}

func before(a, b PoolKey) bool {
	if a.Flavor != b.Flavor {
		return a.Flavor < b.Flavor
	}
	return a.Resource < b.Resource
}

// companions gives each flavor cpu and memory in proportion to its accelerators.
// Kueue wants every flavor to list the same resources, so that as soon as one
// pool brings cpu or memory all flavors name both.
func companions(limits []Limit, pools []PoolTerms) []Limit {
	per := map[PoolKey]PoolTerms{}
	any := false
	for _, p := range pools {
		per[p.Key] = p
		any = any || p.CPUPerUnit.Sign() > 0 || p.MemoryPerUnit.Sign() > 0
	}
	if !any {
		return nil
	}
	var out []Limit
	at := map[PoolKey]int{}
	for _, l := range limits {
		p := per[l.Pool]
		for _, c := range []struct {
			resource string
			unit     Quantity
		}{{"cpu", p.CPUPerUnit}, {"memory", p.MemoryPerUnit}} {
			key := PoolKey{Flavor: l.Pool.Flavor, Resource: c.resource}
			share := Limit{Pool: key, Nominal: times(c.unit, l.Nominal), Borrowing: timesOpen(c.unit, l.Borrowing), Lending: timesOpen(c.unit, l.Lending)}
			i, seen := at[key]
			if !seen {
				at[key] = len(out)
				out = append(out, share)
				continue
			}
			out[i].Nominal = out[i].Nominal.Add(share.Nominal)
			out[i].Borrowing = addOpen(out[i].Borrowing, share.Borrowing)
			out[i].Lending = addOpen(out[i].Lending, share.Lending)
		}
	}
	return out
}

// times is unit × n; accelerators are counted in whole units.
func times(unit, n Quantity) Quantity { return unit.Mul(n.Int64()) }

// timesOpen keeps "no limit" as it is.
func timesOpen(unit Quantity, n *Quantity) *Quantity {
	if n == nil {
		return nil
	}
	q := times(unit, *n)
	return &q
}

func addOpen(a, b *Quantity) *Quantity {
	if a == nil || b == nil {
		return nil
	}
	q := a.Add(*b)
	return &q
}
