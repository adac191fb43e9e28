package slurm

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// accountName is what the portal gives a command as an account: no list, no
// condition, no option can be made of it. Slurm folds names to lower case.
var accountName = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.@+-]{0,99}$`)

// composed is what is desired of one account beside what is live.
type composed struct {
	name    string
	live    *account // nil: there is none
	marked  bool     // the portal made it
	wants   []want
	parents []account
	facts   facts
}

// want is one limit: the number for sacctmgr, nil for none.
type want struct {
	pool  fleet.PoolKey
	total *int64
}

func ref(name string) fleet.ObjectRef { return fleet.ObjectRef{Kind: "account", Name: name} }

// compose checks what is desired and reads what is live.
func (c *Cluster) compose(ctx context.Context, d fleet.Desired) (*composed, error) {
	o := &composed{name: strings.ToLower(d.Binding.Account)}
	if !accountName.MatchString(o.name) {
		return nil, fault.Newf(fault.Invalid, "%q cannot be used as an account's name: letters, digits and . _ @ + - only.", d.Binding.Account)
	}
	if o.name == "root" {
		return nil, fault.New(fault.Invalid, "The account root is above all others: its limits are not the portal's to set.")
	}
	for _, l := range d.Limits {
		w, err := wantOf(l)
		if err != nil {
			return nil, err
		}
		o.wants = append(o.wants, w)
	}
	var err error
	if o.facts, err = c.settled(ctx); err != nil {
		return nil, err
	}
	for _, w := range o.wants {
		if w.total != nil && !o.facts.tracks(w.pool.Resource) {
			return nil, fault.Newf(fault.Invalid, "Slurm does not track %s, so it cannot limit it: add it to AccountingStorageTRES in slurm.conf.", w.pool.Resource)
		}
	}
	all, err := c.accounts(ctx, o.facts, "")
	if err != nil {
		return nil, err
	}
	byName := map[string]*account{}
	for i := range all {
		byName[all[i].Name] = &all[i]
	}
	if o.live = byName[o.name]; o.live == nil {
		return o, nil
	}
	for up := byName[o.live.Parent]; up != nil && len(o.parents) < len(all); up = byName[up.Parent] {
		o.parents = append(o.parents, *up)
	}
	marked, err := c.descriptions(ctx, o.name)
	o.marked = marked[o.name]
	return o, err
}

// wantOf folds a limit to the one number that an account has: all that may be used.
func wantOf(l fleet.Limit) (want, error) {
	w := want{pool: l.Pool}
	if !tresSyntax.MatchString(l.Pool.Resource) || !accelerator(l.Pool.Resource) {
		return w, fault.Newf(fault.Invalid, "%s is no GRES that an account can be limited by.", l.Pool)
	}
	if l.Borrowing == nil {
		return w, nil
	}
	total := l.Nominal.Add(*l.Borrowing)
	if total.Sign() < 0 || !total.IsWhole() || total.Cmp(fleet.Count(1<<31-2)) > 0 {
		return w, fault.Newf(fault.Invalid, "The limit for %s cannot be set: Slurm counts whole units from 0 on.", l.Pool)
	}
	n := total.Int64()
	w.total = &n
	return w, nil
}

// fields of the account: its limits, and for one that the portal makes the mark of that.
func (o *composed) fields(adopted bool) []fleet.Field {
	var out []fleet.Field
	for _, w := range o.wants {
		f := fleet.Field{Path: fleet.LimitPath(w.pool, fleet.TotalField), Limit: true, After: text(w.total)}
		if o.live != nil {
			if l, ok := find(o.live.Limits, w.pool.Resource); ok {
				f.Before = text(l.Limit)
			}
		}
		out = append(out, f)
	}
	if !adopted {
		mark := Mark
		f := fleet.Field{Path: "description", After: &mark}
		if o.live != nil {
			f.Before = &mark
			if !o.marked {
				other := "somebody else's"
				f.Before = &other
			}
		}
		out = append(out, f)
	}
	return out
}

func text(n *int64) *string {
	if n == nil {
		return nil
	}
	s := strconv.FormatInt(*n, 10)
	return &s
}

// diff is the one object of a plan or a read-back.
func (o *composed) diff(adopted bool) fleet.ObjectDiff {
	return fleet.ObjectDiff{Object: ref(o.name), Create: o.live == nil, Fields: o.fields(adopted), Manager: Mark}
}

// conflicts: an account that exists and that the portal neither made nor adopted
// carries somebody's limits. Two writers of one account would overwrite each other.
func (o *composed) conflicts(adopted bool) []fleet.Conflict {
	if adopted || o.live == nil || o.marked {
		return nil
	}
	return []fleet.Conflict{{Object: ref(o.name), Field: "the whole account", Manager: "somebody else: it existed before and was not adopted"}}
}

// warnings are what the decider should know besides the numbers.
func (o *composed) warnings() []string {
	var out []string
	total := map[string]*int64{}
	if o.live != nil {
		for _, l := range o.live.Limits {
			total[l.Name] = l.Limit
		}
	}
	for _, w := range o.wants {
		total[w.pool.Resource] = w.total
	}
	for _, w := range o.wants {
		name := w.pool.Resource
		base, _, typed := strings.Cut(name, ":")
		switch {
		case w.total == nil:
			out = append(out, fmt.Sprintf("%s gets no limit on %s: it may use all there is.", o.name, name))
			continue
		case typed && total[base] == nil:
			out = append(out, fmt.Sprintf("Only %s is limited. A job that asks for a GPU of no type passes by this limit: limit %s too.", name, base))
		}
		if o.live != nil {
			if l, ok := find(o.live.Limits, name); ok && l.Used.Known && l.Used.Amount.Cmp(fleet.Count(*w.total)) > 0 {
				out = append(out, fmt.Sprintf("%s of %s are in use now, the new limit is %d: what runs keeps running, nothing new starts until it falls below.", l.Used, name, *w.total))
			}
		}
		for _, p := range o.parents {
			if l, ok := find(p.Limits, name); ok && l.Limit != nil && *l.Limit < *w.total {
				out = append(out, fmt.Sprintf("Account %s above it is limited to %d of %s: that is the narrower limit.", p.Name, *l.Limit, name))
			}
		}
	}
	if !o.facts.limits() {
		out = append(out, notEnforced)
	}
	return out
}
