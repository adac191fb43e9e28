package fleet

import (
	"sort"
	"time"
)

// GrantKind says what a grant does to a limit; the strings are those of request lines.
type GrantKind string

const (
	HardGrant  GrantKind = "hard"
	SoftGrant  GrantKind = "soft"
	BurstGrant GrantKind = "burst"
)

// Grant is what an approved request gives for one pool of one project and environment.
type Grant struct {
	ID        string
	RequestID string
	// Seq orders grants by approval: the newest in force supersedes.
	Seq     int64
	PoolID  string
	Kind    GrantKind
	Amount  Quantity   // absolute for hard and soft, extra for burst
	Start   *time.Time // nil = from approval
	End     *time.Time // exclusive; nil = until superseded
	Revoked *time.Time
}

// InForce reports whether g counts at t. Periods are half-open: [Start, End).
func (g Grant) InForce(t time.Time) bool {
	if g.Start != nil && t.Before(*g.Start) {
		return false
	}
	if g.End != nil && !t.Before(*g.End) {
		return false
	}
	return g.Revoked == nil || t.Before(*g.Revoked)
}

// Base is what a pool starts from: the baseline recorded when the cluster was
// connected, and the pool's ceiling for borrowing.
type Base struct {
	Nominal   Quantity
	Borrowing *Quantity // nil = no limit
	Lending   *Quantity // nil = all
	// Ceiling bounds the borrowing of soft limits; nil = no limit.
	Ceiling *Quantity
}

// LimitAt is the limit of one pool at t: a pure function of the base and the
// grants in force. Nothing is ever saved and restored, so an expiry, a revocation
// or a missed run needs no undo. Order of grants does not matter.
func LimitAt(t time.Time, key PoolKey, base Base, grants []Grant) Limit {
	l := Limit{Pool: key, Nominal: base.Nominal, Borrowing: base.Borrowing, Lending: base.Lending}
	sorted := append([]Grant(nil), grants...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Seq < sorted[j].Seq })
	extra, bursts := Quantity{}, false
	for _, g := range sorted {
		if !g.InForce(t) {
			continue
		}
		switch g.Kind {
		case HardGrant:
			none := Quantity{}
			l.Nominal, l.Borrowing = g.Amount, &none
		case SoftGrant:
			l.Nominal, l.Borrowing = g.Amount, base.Ceiling
		case BurstGrant:
			extra, bursts = extra.Add(g.Amount), true
		}
	}
	if bursts && l.Borrowing != nil {
		sum := l.Borrowing.Add(extra)
		l.Borrowing = &sum
	}
	if l.Lending != nil && l.Lending.Cmp(l.Nominal) > 0 {
		nominal := l.Nominal
		l.Lending = &nominal // the cluster refuses lending above nominal
	}
	return l
}

// NextChange is the first moment after t at which LimitAt may differ, or false.
func NextChange(t time.Time, grants []Grant) (time.Time, bool) {
	var at time.Time
	for _, g := range grants {
		for _, m := range []*time.Time{g.Start, g.End, g.Revoked} {
			if m != nil && m.After(t) && (at.IsZero() || m.Before(at)) {
				at = *m
			}
		}
	}
	return at, !at.IsZero()
}
