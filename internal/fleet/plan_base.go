package fleet

// Base returns the limits that were live when p was made, for the pools it is
// about: what a decider saw. A pool whose object does not exist yet, or that the object
// does not name, is left out. The order is that of p.Desired.Limits.
func (p Plan) Base() []Limit {
	type seen struct {
		Limit
		nominal, bad bool
	}
	live := map[PoolKey]*seen{}
	for _, o := range p.Objects {
		if o.Create {
			continue
		}
		for _, f := range o.Fields {
			key, field, ok := f.Names()
			if !ok {
				continue
			}
			l := live[key]
			if l == nil {
				l = &seen{Limit: Limit{Pool: key}}
				live[key] = l
			}
			l.bad = !l.take(field, f.Before) || l.bad
			l.nominal = l.nominal || field == NominalField || field == TotalField
		}
	}
	var out []Limit
	for _, d := range p.Desired.Limits {
		if l, ok := live[d.Pool]; ok && l.nominal && !l.bad {
			out = append(out, l.Limit)
		}
	}
	return out
}

// take sets one value; false when the limit cannot be said: nominalQuota is absent or unreadable.
func (l *Limit) take(field string, value *string) bool {
	if value == nil {
		return field != NominalField
	}
	q, err := ParseQuantity(*value)
	if err != nil {
		return false
	}
	switch field {
	case NominalField:
		l.Nominal = q
	case BorrowingField:
		l.Borrowing = &q
	case LendingField:
		l.Lending = &q
	case TotalField:
		l.Nominal, l.Borrowing = q, &Quantity{}
	}
	return true
}

// SameLimits compares numerically; nil is "no limit" and differs from 0.
func SameLimits(a, b Limit) bool {
	return a.Pool == b.Pool && a.Nominal.Equal(b.Nominal) && sameOpen(a.Borrowing, b.Borrowing) && sameOpen(a.Lending, b.Lending)
}

func sameOpen(a, b *Quantity) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
