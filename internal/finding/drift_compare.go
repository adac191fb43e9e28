package finding

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"quartermaster/internal/fleet"
)

// Place is one binding with what is desired there now.
type Place struct {
	Desired fleet.Desired
	// Written: the portal's last change of it wrote the limits, so that they are its to keep.
	Written bool
	// Settling: a change is under way or stopped, so that a difference says nothing.
	Settling bool
}

// Comparison is what one poll says of the places of a cluster.
type Comparison struct {
	Seen []Seen
	// blind keys, bindings and kinds could not be judged: what is open there stays open.
	blind    map[Key]bool
	settling map[string]bool
	noQueues bool
	noQuotas bool
	noLoose  bool
}

// Judged reports whether the poll looked at what f is about, so that not seeing it
// means that it is over. Stopped changes are known without a poll.
func (c *Comparison) Judged(f Finding) bool {
	switch {
	case f.Kind == Stopped:
		return true
	case c.settling[f.BindingID], c.blind[f.Key]:
		return false
	case f.Kind == Bypass && f.Field != FieldQueue:
		return !c.noLoose
	case f.Object.Kind == "ResourceQuota":
		return !c.noQuotas && !c.noQueues
	}
	return !c.noQueues
}

// Compare holds what was observed against what is granted.
func Compare(kind fleet.Kind, places []Place, o fleet.Observation) *Comparison {
	c := &Comparison{blind: map[Key]bool{}, settling: map[string]bool{}, noQueues: !o.QueuesKnown, noQuotas: !o.QuotasKnown, noLoose: !o.LooseKnown}
	queues := make(map[string]*fleet.Queue, len(o.Queues))
	leads := make(map[string]string, len(o.Queues)) // LocalQueue → queue
	for i := range o.Queues {
		q := &o.Queues[i]
		queues[q.Name] = q
		for _, l := range q.LocalQueues {
			leads[l] = q.Name
		}
	}
	quotas := map[fleet.ObjectRef][]fleet.Quota{}
	for _, q := range o.Quotas {
		ref := fleet.ObjectRef{Kind: "ResourceQuota", Namespace: q.Namespace, Name: q.Name}
		quotas[ref] = append(quotas[ref], q)
	}
	for _, p := range places {
		b := p.Desired.Binding
		if p.Settling {
			c.settling[b.ID] = true
			continue
		}
		if c.noQueues || b.Queue() == "" {
			continue
		}
		at := &placeCheck{c: c, p: p, ref: fleet.ObjectRef{Kind: kind.QueueWord(), Name: b.Queue()}}
		at.queue(queues[b.Queue()])
		at.local(leads)
		at.quota(quotas, queues[b.Queue()])
	}
	if !c.noQueues {
		c.strayQueues(places, leads)
	}
	c.loose(o)
	return c
}

// placeCheck compares one binding.
type placeCheck struct {
	c   *Comparison
	p   Place
	ref fleet.ObjectRef
}

func (at *placeCheck) add(s Seen) {
	s.BindingID = at.p.Desired.Binding.ID
	if s.Kind == "" {
		s.Kind = Drift
	}
	if s.Owner == "" {
		s.Owner = CapacityManager
	}
	at.c.Seen = append(at.c.Seen, s)
}

func text(s string) *string { return &s }

func (at *placeCheck) queue(q *fleet.Queue) {
	d := at.p.Desired
	if q == nil {
		at.add(Seen{Key: Key{at.ref, FieldExists}, Severity: High, Granted: text("exists"), Mendable: !d.Binding.Adopted,
			Note: at.ref.String() + " is gone from the cluster, and with it every limit that was granted there."})
		return
	}
	before := len(at.c.Seen)
	for _, limits := range [][]fleet.Limit{d.Limits, d.Companions} {
		for _, l := range limits {
			at.limit(q, l)
		}
	}
	limitsDiffer := len(at.c.Seen) > before
	at.settings(q)
	if at.p.Written && !limitsDiffer && len(q.Managers) > 0 && !slices.Contains(q.Managers, fleet.Manager) {
		w := q.Writer(fleet.PartLimits)
		at.add(Seen{Key: Key{at.ref, FieldManager}, Severity: Low, Granted: text(fleet.Manager), Live: text(strings.Join(q.Managers, ", ")), Manager: w.Manager, At: w.At,
			Note: "The values are as granted. The next change of these limits stops and asks for a takeover."})
	}
}

// limit compares the numbers of one pool; unknown is no difference.
func (at *placeCheck) limit(q *fleet.Queue, want fleet.Limit) {
	w := q.Writer(fleet.PartLimits)
	severity := func(more bool) Severity {
		switch {
		case !want.Pool.Accelerator():
			return Low
		case more:
			return High
		}
		return Medium
	}
	see := func(field string, granted, live *string, more bool) {
		at.add(Seen{Key: Key{at.ref, fleet.LimitPath(want.Pool, field)}, Severity: severity(more), Pool: want.Pool, Granted: granted, Live: live,
			Manager: w.Manager, At: w.At, Mendable: true})
	}
	i := slices.IndexFunc(q.Flavors, func(f fleet.FlavorUse) bool { return f.Pool == want.Pool })
	if i < 0 {
		if want.Nominal.Sign() > 0 || want.Borrowing == nil || want.Borrowing.Sign() > 0 { // a pool that is not there gives as much as 0
			see(at.total(), amount(&want.Nominal), nil, false)
		}
		return
	}
	live := q.Flavors[i]
	if !live.Nominal.Known {
		for _, field := range []string{at.total(), fleet.BorrowingField, fleet.LendingField} {
			at.c.blind[Key{at.ref, fleet.LimitPath(want.Pool, field)}] = true
		}
		return
	}
	if at.p.Desired.Binding.Account != "" { // one number holds all that may be used
		granted, now := bounded(want.Nominal, want.Borrowing), bounded(live.Nominal.Amount, live.Borrowing)
		if differ(granted, now) {
			see(fleet.TotalField, granted, now, now == nil || granted != nil && live.Nominal.Amount.Cmp(want.Nominal) > 0)
		}
		return
	}
	if !live.Nominal.Amount.Equal(want.Nominal) {
		see(fleet.NominalField, amount(&want.Nominal), amount(&live.Nominal.Amount), live.Nominal.Amount.Cmp(want.Nominal) > 0)
	}
	if q.Cohort == "" {
		return // nobody to borrow from or lend to, whatever the fields say
	}
	if differ(amount(want.Borrowing), amount(live.Borrowing)) {
		see(fleet.BorrowingField, amount(want.Borrowing), amount(live.Borrowing), live.Borrowing == nil || want.Borrowing != nil && live.Borrowing.Cmp(*want.Borrowing) > 0)
	}
	if differ(amount(want.Lending), amount(live.Lending)) {
		see(fleet.LendingField, amount(want.Lending), amount(live.Lending), false)
	}
}

// total is the field that says how much is guaranteed.
func (at *placeCheck) total() string {
	if at.p.Desired.Binding.Account != "" {
		return fleet.TotalField
	}
	return fleet.NominalField
}

func amount(q *fleet.Quantity) *string {
	if q == nil {
		return nil
	}
	return text(q.String())
}

// bounded is the one number of a scheduler that has no borrowing; nil = no limit.
func bounded(nominal fleet.Quantity, borrowing *fleet.Quantity) *string {
	if borrowing == nil {
		return nil
	}
	return amount(&nominal)
}

// settings are what a queue is besides its numbers. Of an adopted queue the portal
// writes none of it.
func (at *placeCheck) settings(q *fleet.Queue) {
	d := at.p.Desired
	b := d.Binding
	if b.Account != "" {
		return
	}
	see := func(part, field string, severity Severity, granted, live string, mendable bool, note string) {
		w := q.Writer(part)
		at.add(Seen{Key: Key{at.ref, field}, Severity: severity, Granted: text(granted), Live: text(live), Manager: w.Manager, At: w.At, Mendable: mendable, Note: note})
	}
	stop := "None"
	if d.Hold {
		stop = "Hold"
	}
	holds := q.StopPolicy != "None"
	switch {
	case q.StopPolicy == "" || holds == d.Hold && !holds:
	case holds == d.Hold && q.StopPolicy != "HoldAndDrain":
	default:
		note := "Nothing new is admitted, whatever is granted."
		if q.StopPolicy == "HoldAndDrain" {
			note = "Nothing new is admitted, and what runs is evicted."
		}
		severity := Medium
		if !holds {
			severity, note = High, "The queue admits, although nothing is granted now."
		}
		see(fleet.PartStop, FieldStop, severity, stop, q.StopPolicy, false, note)
	}
	if q.Cohort != b.Cohort {
		see(fleet.PartCohort, FieldCohort, Medium, orNone(b.Cohort), orNone(q.Cohort), !b.Adopted, "The queue borrows from and lends to others than agreed.")
	}
	if want := fleet.NamespaceSelector(b.Namespace); !b.Adopted && q.Selector != nil && *q.Selector != want {
		see(fleet.PartSelector, FieldSelector, High, want, *q.Selector, true, "Other namespaces than the project's own may use the queue, or its own may not.")
	}
}

func orNone(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// local compares where the project's own LocalQueue leads.
func (at *placeCheck) local(leads map[string]string) {
	b := at.p.Desired.Binding
	if b.LocalQueue == "" || b.Account != "" {
		return
	}
	ref := fleet.ObjectRef{Kind: "LocalQueue", Namespace: b.Namespace, Name: b.LocalQueue}
	switch to := leads[b.Namespace+"/"+b.LocalQueue]; to {
	case b.ClusterQueue:
	case "":
		at.add(Seen{Key: Key{ref, FieldTarget}, Severity: High, Granted: text(b.ClusterQueue), Mendable: !b.Adopted,
			Note: "The LocalQueue is gone or leads to no queue: nothing that is sent to it starts."})
	default:
		at.add(Seen{Key: Key{ref, FieldTarget}, Severity: High, Granted: text(b.ClusterQueue), Live: text(to), Mendable: !b.Adopted,
			Note: "What is sent to the LocalQueue counts against another queue."})
	}
}

// quota compares the portal's own ResourceQuota, which follows from the queue's limits.
func (at *placeCheck) quota(all map[fleet.ObjectRef][]fleet.Quota, q *fleet.Queue) {
	b := at.p.Desired.Binding
	if b.ResourceQuota == "" || at.c.noQuotas || q == nil || !at.p.Written {
		return
	}
	ref := fleet.ObjectRef{Kind: "ResourceQuota", Namespace: b.Namespace, Name: b.ResourceQuota}
	want := map[string]*string{}
	for key, sum := range reach(at.p.Desired.Limits, b.Cohort != "") {
		want["requests."+key] = amount(sum)
	}
	seen := map[string]bool{}
	for _, live := range all[ref] {
		seen[live.Key] = true
		key := Key{ref, "hard " + live.Key}
		if !live.Hard.Known {
			at.c.blind[key] = true
			continue
		}
		granted, ours := want[live.Key]
		if !ours && !live.Ours || !differ(granted, amount(&live.Hard.Amount)) {
			continue
		}
		at.add(Seen{Key: key, Severity: Medium, Granted: granted, Live: amount(&live.Hard.Amount), Mendable: true,
			Note: "The namespace is bounded by another figure than its queue."})
	}
	for name, granted := range want {
		if granted != nil && !seen[name] && *granted != "0" {
			at.add(Seen{Key: Key{ref, "hard " + name}, Severity: Medium, Granted: granted, Mendable: true, Note: "Pods outside of the queue are not bounded."})
		}
	}
}

// reach is the most that each resource may come to over all pools; nil without a bound.
func reach(limits []fleet.Limit, cohort bool) map[string]*fleet.Quantity {
	out := map[string]*fleet.Quantity{}
	for _, l := range limits {
		sum, open := fleet.Quantity{}, false
		if old, ok := out[l.Pool.Resource]; ok {
			if open = old == nil; !open {
				sum = *old
			}
		}
		sum = sum.Add(l.Nominal)
		if cohort {
			if l.Borrowing == nil {
				open = true
			} else {
				sum = sum.Add(*l.Borrowing)
			}
		}
		out[l.Pool.Resource] = &sum
		if open {
			out[l.Pool.Resource] = nil
		}
	}
	return out
}

// OfChange is the finding that a stopped change is.
func OfChange(kind fleet.Kind, b fleet.Binding, problem string, at time.Time) Seen {
	return Seen{Key: Key{fleet.ObjectRef{Kind: kind.QueueWord(), Name: b.Queue()}, FieldChange}, Kind: Stopped, Severity: Medium, Owner: CapacityManager,
		BindingID: b.ID, Granted: text("verified"), Live: text("stopped"), At: &at, Note: problem, Mendable: true}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
