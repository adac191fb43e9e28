package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/request"
)

// amount refuses what no cluster can be told: negative amounts, nothing to burst,
// and fractions of an extended resource (Kubernetes counts those in whole units).
func amount(_ Facts, l request.Line, p LineFacts) verdict {
	a := l.Asked
	switch {
	case a.Sign() < 0:
		return fails(fmt.Sprintf("%s: %s is below 0.", p.Pool.Name, a))
	case l.Kind == request.Burst && a.Sign() == 0:
		return fails(fmt.Sprintf("%s: a burst of 0 adds nothing.", p.Pool.Name))
	case extended(p.Pool.Key.Resource) && !a.IsWhole():
		return fails(fmt.Sprintf("%s: %s is not a whole number, and %s is counted in whole units.", p.Pool.Name, a, p.Pool.Key.Resource))
	}
	return pass(fmt.Sprintf("%s: %s.", p.Pool.Name, p.figure(a)))
}

// extended reports whether the resource is one of those that exist only in whole
// units: everything but cpu, memory and storage.
// Source: Kubernetes, Managing Resources for Containers, extended resources.
func extended(resource string) bool {
	return resource != "cpu" && resource != "memory" && !strings.HasSuffix(resource, "storage")
}

func period(f Facts, l request.Line, p LineFacts) verdict {
	switch {
	case l.Start == nil && l.End == nil:
		return verdict{}
	case l.End != nil && !l.End.After(f.Now):
		return fails(fmt.Sprintf("%s: the end, %s, is over.", p.Pool.Name, day(*l.End)))
	case l.Start != nil && l.End != nil && !l.End.After(*l.Start):
		return fails(fmt.Sprintf("%s: the end, %s, is not after the start, %s.", p.Pool.Name, day(*l.End), day(*l.Start)))
	case l.Start != nil && !f.Deciding && l.Start.Before(f.Now.Add(-24*time.Hour)):
		return fails(fmt.Sprintf("%s: the start, %s, is over. Leave it empty to start at once.", p.Pool.Name, day(*l.Start)))
	}
	return pass(fmt.Sprintf("%s: %s.", p.Pool.Name, span(l)))
}

func burstEnds(_ Facts, l request.Line, p LineFacts) verdict {
	if l.Kind != request.Burst {
		return verdict{}
	}
	if l.End == nil {
		return fails(fmt.Sprintf("%s: a burst has to end. Say when.", p.Pool.Name))
	}
	return pass(fmt.Sprintf("%s: the burst ends %s.", p.Pool.Name, day(*l.End)))
}

func dataClassOnPool(f Facts, _ request.Line, p LineFacts) verdict {
	c := f.Content.DataClass
	if c == "" {
		return verdict{}
	}
	if len(p.Pool.DataClasses) == 0 || slices.Contains(p.Pool.DataClasses, c) {
		return pass(fmt.Sprintf("%s takes %s data.", p.Pool.Name, c))
	}
	return fails(fmt.Sprintf("%s takes %s data, not %s. Choose another pool.", p.Pool.Name, list(p.Pool.DataClasses), c))
}

// capacity asks whether the pool could carry the project's figure if it were alone.
func capacity(_ Facts, l request.Line, p LineFacts) verdict {
	want := fleet.Known(l.Asked)
	if l.Kind == request.Burst {
		want = p.Current.Add(want)
	} else if p.Current.Known && l.Asked.Cmp(p.Current.Amount) <= 0 {
		return verdict{} // asks for no more than it has
	}
	if !want.Known || !p.Capacity.Known {
		return unknown(fmt.Sprintf("%s: the capacity or the present limit is not known, so it cannot be said whether %s fit.", p.Pool.Name, p.figure(l.Asked)))
	}
	if want.Amount.Cmp(p.Capacity.Amount) > 0 {
		return fails(fmt.Sprintf("%s: %s in all, but the pool has %s.", p.Pool.Name, p.figure(want.Amount), p.number(p.Capacity.Amount)))
	}
	return pass(fmt.Sprintf("%s: %s of %s.", p.Pool.Name, p.number(want.Amount), p.figure(p.Capacity.Amount)))
}

// headroom asks whether the pool can carry the figure beside everything else committed on it.
func headroom(_ Facts, l request.Line, p LineFacts) verdict {
	adds := Adds(l, p.Current)
	if adds.Known && adds.Amount.Sign() <= 0 {
		return verdict{}
	}
	after := p.Committed.Add(adds)
	if !after.Known || !p.Capacity.Known {
		return unknown(fmt.Sprintf("%s: what is committed on the pool is not known, so it cannot be said whether there is room.", p.Pool.Name))
	}
	if after.Amount.Cmp(p.Capacity.Amount) > 0 {
		return fails(fmt.Sprintf("%s: %s committed already, %s more makes %s of %s: %s short.", p.Pool.Name,
			p.number(p.Committed.Amount), p.number(adds.Amount), p.number(after.Amount), p.figure(p.Capacity.Amount), p.number(after.Amount.Sub(p.Capacity.Amount))))
	}
	return pass(fmt.Sprintf("%s: %s of %s committed afterwards.", p.Pool.Name, p.number(after.Amount), p.figure(p.Capacity.Amount)))
}

// Adds is what a line adds to the sum of commitments; negative for a decrease.
func Adds(l request.Line, current fleet.Measure) fleet.Measure {
	if l.Kind == request.Burst {
		return fleet.Known(l.Asked)
	}
	return fleet.Known(l.Asked).Sub(current)
}

func borrowCeiling(_ Facts, l request.Line, p LineFacts) verdict {
	if l.Kind != request.Burst || p.Pool.BorrowCeiling == nil {
		return verdict{}
	}
	c := *p.Pool.BorrowCeiling
	if l.Asked.Cmp(c) > 0 {
		return fails(fmt.Sprintf("%s: a burst of %s is above the ceiling of %s.", p.Pool.Name, p.figure(l.Asked), p.number(c)))
	}
	return pass(fmt.Sprintf("%s: %s of %s that may be borrowed.", p.Pool.Name, p.number(l.Asked), p.figure(c)))
}

// use warns when more is asked for while less than half of what is there is used.
func use(_ Facts, l request.Line, p LineFacts) verdict {
	if l.Kind != request.Burst && p.Current.Known && l.Asked.Cmp(p.Current.Amount) <= 0 {
		return verdict{}
	}
	if p.Current.Known && p.Current.Amount.Sign() <= 0 {
		return verdict{} // nothing there that could be used
	}
	if !p.Current.Known || !p.InUse.Known {
		return unknown(fmt.Sprintf("%s: the present use is not known.", p.Pool.Name))
	}
	if p.InUse.Amount.Mul(2).Cmp(p.Current.Amount) < 0 {
		return fails(fmt.Sprintf("%s: %s of %s in use now.", p.Pool.Name, p.number(p.InUse.Amount), p.figure(p.Current.Amount)))
	}
	return pass(fmt.Sprintf("%s: %s of %s in use now.", p.Pool.Name, p.number(p.InUse.Amount), p.figure(p.Current.Amount)))
}

// lowering warns when the limit would go below what runs. Nothing is evicted by
// it; what runs keeps running until it ends.
func lowering(_ Facts, l request.Line, p LineFacts) verdict {
	if l.Kind == request.Burst || (p.Current.Known && l.Asked.Cmp(p.Current.Amount) >= 0) {
		return verdict{}
	}
	if !p.InUse.Known {
		return unknown(fmt.Sprintf("%s: the present use is not known, so it cannot be said whether %s is below it.", p.Pool.Name, p.figure(l.Asked)))
	}
	if l.Asked.Cmp(p.InUse.Amount) < 0 {
		return fails(fmt.Sprintf("%s: %s asked, %s in use. What runs keeps running.", p.Pool.Name, p.number(l.Asked), p.figure(p.InUse.Amount)))
	}
	return pass(fmt.Sprintf("%s: %s asked, %s in use.", p.Pool.Name, p.number(l.Asked), p.figure(p.InUse.Amount)))
}

func (p LineFacts) number(q fleet.Quantity) string { return q.Display(p.Pool.Key.Resource) }

func (p LineFacts) figure(q fleet.Quantity) string { return p.number(q) + " " + p.Unit.Words(q) }

func day(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

func span(l request.Line) string {
	switch {
	case l.End == nil:
		return "from " + day(*l.Start)
	case l.Start == nil:
		return "until " + day(*l.End)
	}
	return day(*l.Start) + " to " + day(*l.End)
}
