package slurm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// reading is all that one look at the cluster found; each part has its own error.
type reading struct {
	facts    facts
	accounts []account
	marked   map[string]bool // accounts that the portal made
	jobs     []fleet.Workload
	nodes    []machine
	problems []string

	accountsErr, markedErr, jobsErr, nodesErr error
}

// read asks for the parts side by side. It is an error only when nothing could be read.
func (c *Cluster) read(ctx context.Context) (*reading, error) {
	f, err := c.settled(ctx)
	if err != nil {
		return nil, err
	}
	r := &reading{facts: f}
	var jobProblems, nodeProblems []string
	var all sync.WaitGroup
	all.Go(func() { r.accounts, r.accountsErr = c.accounts(ctx, f, "") })
	all.Go(func() { r.marked, r.markedErr = c.descriptions(ctx, "") })
	all.Go(func() {
		var text []byte
		if text, r.jobsErr = c.run(ctx, "squeue", "--json"); r.jobsErr == nil {
			r.jobs, jobProblems, r.jobsErr = readJobs(text)
		}
	})
	all.Go(func() {
		var text []byte
		if text, r.nodesErr = c.run(ctx, "sinfo", "--json"); r.nodesErr == nil {
			r.nodes, nodeProblems, r.nodesErr = readNodes(text)
		}
	})
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, timeOf(err)
	}
	if r.accountsErr != nil && r.jobsErr != nil && r.nodesErr != nil {
		return nil, r.accountsErr
	}
	for _, part := range []struct {
		name string
		err  error
	}{{"accounts", r.accountsErr}, {"accounts' descriptions", r.markedErr}, {"jobs", r.jobsErr}, {"nodes", r.nodesErr}} {
		if part.err != nil {
			r.problems = append(r.problems, fmt.Sprintf("Could not read the %s: %s", part.name, public(part.err)))
		}
	}
	const most = 5
	named := append(jobProblems, nodeProblems...)
	if more := len(named) - most; more > 0 {
		named = append(named[:most], fmt.Sprintf("%d more entries could not be read.", more))
	}
	r.problems = append(r.problems, named...)
	if !f.limits() {
		r.problems = append(r.problems, notEnforced)
	}
	return r, nil
}

const notEnforced = "AccountingStorageEnforce does not name limits: Slurm keeps the limits of accounts and enforces none of them."

func public(err error) string {
	if f := fault.As(err); f != nil {
		return f.Public
	}
	return "The answer could not be understood."
}

// accounts reads what the controller enforces; name "" reads all.
func (c *Cluster) accounts(ctx context.Context, f facts, name string) ([]account, error) {
	args := []string{"show", "assoc_mgr", "flags=assoc"}
	if name != "" {
		args = append(args, "accounts="+name)
	}
	text, err := c.run(ctx, "scontrol", args...)
	if err != nil {
		return nil, err
	}
	return readAccounts(string(text), f.name)
}

// descriptions tells which accounts the portal made.
func (c *Cluster) descriptions(ctx context.Context, name string) (map[string]bool, error) {
	args := []string{"-nP", "show", "account", "format=account,description"}
	if name != "" {
		args = append(args, "where", "name="+name)
	}
	text, err := c.run(ctx, "sacctmgr", args...)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		account, description, _ := strings.Cut(strings.TrimSpace(line), "|")
		out[strings.ToLower(account)] = description == Mark
	}
	return out, nil
}

// queues are the accounts but root, which is above all of them.
func (r *reading) queues() []fleet.Queue {
	if r.accountsErr != nil {
		return nil
	}
	waiting, running := map[string]int64{}, map[string]int64{}
	for _, w := range r.jobs {
		switch w.State {
		case fleet.Pending:
			waiting[w.Queue]++
		case fleet.Admitted:
			running[w.Queue]++
		}
	}
	out := make([]fleet.Queue, 0, len(r.accounts))
	for _, a := range r.accounts {
		if a.Name == "root" {
			continue
		}
		q := fleet.Queue{Name: a.Name, Active: true, Ours: r.marked[a.Name], Notes: notes(a)}
		if a.Parent != "root" {
			q.Parent = a.Parent
		}
		if r.jobsErr == nil {
			q.Pending, q.Admitted = fleet.Known(fleet.Count(waiting[a.Name])), fleet.Known(fleet.Count(running[a.Name]))
		}
		for _, l := range a.Limits {
			q.Flavors = append(q.Flavors, l.use())
		}
		slices.SortFunc(q.Flavors, func(a, b fleet.FlavorUse) int { return strings.Compare(a.Pool.String(), b.Pool.String()) })
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b fleet.Queue) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// use is a limit as the portal knows one: no limit guarantees nothing and refuses nothing.
func (l limited) use() fleet.FlavorUse {
	f := fleet.FlavorUse{Pool: poolKey(l.Name), Nominal: fleet.Known(fleet.Quantity{}), Reserved: l.Used, InUse: l.Used, Borrowed: fleet.Known(fleet.Quantity{})}
	if l.Limit != nil {
		f.Nominal, f.Borrowing = fleet.Known(fleet.Count(*l.Limit)), &fleet.Quantity{}
	}
	if l.Limit != nil && l.Used.Known && l.Used.Amount.Cmp(fleet.Count(*l.Limit)) > 0 {
		f.Notes = append(f.Notes, "over the limit by "+l.Used.Amount.Sub(fleet.Count(*l.Limit)).String())
	}
	return f
}

// notes are what people should know of an account's limits.
func notes(a account) []string {
	var out []string
	for _, l := range a.Limits {
		base, _, typed := strings.Cut(l.Name, ":")
		if total, ok := find(a.Limits, base); typed && l.Limit != nil && (!ok || total.Limit == nil) {
			out = append(out, fmt.Sprintf("%s is limited and %s is not: a job that names no type passes by the limit", l.Name, base))
		}
	}
	for _, m := range a.Minutes {
		if m.Limit != nil {
			b := MinuteBudget{Limit: *m.Limit}
			if m.Used.Known {
				n := m.Used.Amount.Int64()
				b.Counted = &n
			}
			out = append(out, m.Name+" "+b.String())
		}
	}
	return out
}

// Observe reads limits in force, use, nodes and jobs.
func (c *Cluster) Observe(ctx context.Context) (fleet.Observation, error) {
	r, err := c.read(ctx)
	if err != nil {
		return fleet.Observation{}, err
	}
	o := fleet.Observation{At: c.now().UTC(), Queues: r.queues(), Workloads: r.jobs, Problems: r.problems,
		QueuesKnown: r.accountsErr == nil && r.markedErr == nil, WorkloadsKnown: r.jobsErr == nil, PoolsKnown: r.nodesErr == nil}
	// Slurm has no ResourceQuotas: that list is known to be empty.
	o.QuotasKnown = o.QueuesKnown
	o.Pools, _ = poolsOf(r.nodes, r.facts.tracks)
	return o, nil
}

// Discover says what is there.
func (c *Cluster) Discover(ctx context.Context) (fleet.Discovery, error) {
	if err := c.token.valid(c.now()); err != nil {
		return fleet.Discovery{}, err
	}
	if err := reach(ctx, c.address.Controller); err != nil {
		return fleet.Discovery{}, err
	}
	if _, err := c.ask(ctx); err != nil { // anew: a configuration changes
		return fleet.Discovery{}, err
	}
	r, err := c.read(ctx)
	if err != nil {
		return fleet.Discovery{}, err
	}
	if r.markedErr != nil { // connecting to an accounting daemon that does not answer would only fail later
		return fleet.Discovery{}, r.markedErr
	}
	d := fleet.Discovery{Kind: fleet.Slurm, Version: r.facts.version, Queues: r.queues(), At: c.now().UTC(), Nodes: len(r.nodes),
		Capabilities: []string{"accounts", "limits:" + strings.Join(r.facts.enforces, "+")}}
	var untracked []string
	d.Pools, untracked = poolsOf(r.nodes, r.facts.tracks)
	d.Problems = append(r.problems, untracked...)
	if end := c.token.ends; !end.IsZero() {
		d.Problems = append(d.Problems, fmt.Sprintf("The token of Slurm user %s ends on %s.", c.token.who(), end.Format("2 Jan 2006, 15:04 UTC")))
	} else {
		d.Problems = append(d.Problems, fmt.Sprintf("The token of Slurm user %s has no end.", c.token.who()))
	}
	return d, nil
}
