package fleet

import "sort"

// DifferenceState is how an object of a file stands to what is held.
type DifferenceState string

const (
	DifferenceNew     DifferenceState = "new"
	DifferenceChanged DifferenceState = "changed"
	DifferenceSame    DifferenceState = "same"
)

// Difference is one object of a file beside what was known of it before. Equal
// amounts in another notation are the same.
type Difference struct {
	Object ObjectRef       `json:"object"`
	State  DifferenceState `json:"state"`
	Owner  string          `json:"owner"`
	Fields []Field         `json:"fields"` // all, the unchanged ones included
	Notes  []string        `json:"notes"`
}

// Compare lists what d brings beside held, in the order of objects' names.
func (d Discovery) Compare(held Discovery) []Difference {
	before := map[ObjectRef]flat{}
	for _, f := range flatten(held) {
		before[f.object] = f
	}
	var out []Difference
	for _, f := range flatten(d) {
		x := Difference{Object: f.object, State: DifferenceNew, Owner: f.owner, Notes: f.notes}
		was, known := before[f.object]
		if known {
			x.State = DifferenceSame
		}
		for _, path := range union(was.paths, f.paths) {
			field := Field{Path: path, Before: was.value(path), After: f.value(path), Limit: true}
			x.Fields = append(x.Fields, field)
			if known && field.Changed() {
				x.State = DifferenceChanged
			}
		}
		out = append(out, x)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Object.String() < out[j].Object.String() })
	return out
}

// flat is an object as paths and values; an absent path is unset.
type flat struct {
	object ObjectRef
	owner  string
	paths  []string
	values map[string]string
	notes  []string
}

func (f *flat) set(path, value string) {
	if f.values == nil {
		f.values = map[string]string{}
	}
	if _, seen := f.values[path]; !seen {
		f.paths = append(f.paths, path)
	}
	f.values[path] = value
}

func (f flat) value(path string) *string {
	if v, ok := f.values[path]; ok {
		return &v
	}
	return nil
}

func (f *flat) limits(uses []FlavorUse) {
	for _, u := range uses {
		key := u.Pool.String()
		f.set(key+" nominalQuota", u.Nominal.String())
		if u.Borrowing != nil {
			f.set(key+" borrowingLimit", u.Borrowing.String())
		}
		if u.Lending != nil {
			f.set(key+" lendingLimit", u.Lending.String())
		}
		for _, n := range u.Notes {
			f.notes = append(f.notes, key+": "+n)
		}
	}
}

func flatten(d Discovery) []flat {
	var out []flat
	for _, q := range d.Queues {
		f := flat{object: ObjectRef{Kind: "ClusterQueue", Name: q.Name}, owner: q.Owner, notes: append([]string{}, q.Notes...)}
		if q.Cohort != "" {
			f.set("cohort", q.Cohort)
		}
		f.set("stopPolicy", q.StopPolicy)
		f.limits(q.Flavors)
		out = append(out, f)
	}
	at := map[ObjectRef]int{}
	for _, q := range d.Quotas {
		ref := ObjectRef{Kind: "ResourceQuota", Namespace: q.Namespace, Name: q.Name}
		i, seen := at[ref]
		if !seen {
			i = len(out)
			at[ref] = i
			out = append(out, flat{object: ref, owner: q.Owner})
		}
		out[i].set("hard "+q.Key, q.Hard.String())
		for _, n := range q.Notes {
			out[i].notes = append(out[i].notes, q.Key+": "+n)
		}
	}
	for _, o := range d.Objects {
		f := flat{object: o.Ref, owner: o.Owner, notes: o.Notes}
		switch {
		case o.Parent == "":
		case o.Ref.Kind == "LocalQueue":
			f.set("clusterQueue", o.Parent)
		default:
			f.set("parent", o.Parent)
		}
		f.limits(o.Limits)
		out = append(out, f)
	}
	for _, p := range d.Pools {
		f := flat{object: ObjectRef{Kind: "pool", Name: p.Key.String()}, notes: p.Notes}
		f.set("capacity", p.Capacity.String())
		if p.Cards.Known {
			f.set("cards", p.Cards.String())
		}
		f.set("unit", string(p.Unit))
		out = append(out, f)
	}
	return out
}

func union(a, b []string) []string {
	out := append([]string{}, a...)
	seen := map[string]bool{}
	for _, s := range a {
		seen[s] = true
	}
	for _, s := range b {
		if !seen[s] {
			out = append(out, s)
		}
	}
	return out
}
