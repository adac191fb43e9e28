package k8s

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"quartermaster/internal/fleet"
)

// Plan shows what would change, as the API server and Kueue's webhooks would
// store it: each difference is a server-side dry run. Nothing is written.
func (c *Cluster) Plan(ctx context.Context, d fleet.Desired) (fleet.Plan, error) {
	composed, err := c.compose(ctx, d)
	if err != nil {
		return fleet.Plan{}, err
	}
	plan := fleet.Plan{Desired: d, Warnings: composed.warnings, At: c.now().UTC()}
	plan.Objects = make([]fleet.ObjectDiff, len(composed.documents))
	conflicts := make([][]fleet.Conflict, len(composed.documents))
	var runs errgroup.Group
	runs.SetLimit(4)
	for i := range composed.documents {
		runs.Go(func() (err error) {
			plan.Objects[i], conflicts[i], err = c.planDocument(ctx, composed, &composed.documents[i])
			return err
		})
	}
	if err := runs.Wait(); err != nil {
		return fleet.Plan{}, err
	}
	for _, found := range conflicts {
		plan.Conflicts = append(plan.Conflicts, found...)
	}
	warnings, err := c.planWarnings(ctx, composed, d)
	plan.Warnings = append(plan.Warnings, warnings...)
	return plan, err
}

func (c *Cluster) planDocument(ctx context.Context, composed *composition, d *document) (fleet.ObjectDiff, []fleet.Conflict, error) {
	live := composed.live[d.ref]
	diff := fleet.ObjectDiff{Object: d.ref, Create: live == nil, Manager: d.manager, Version: live.version()}
	var before map[string]any
	if live != nil {
		before = live.raw
	}
	if !d.changes(live) {
		diff.Fields = d.diff(before, before)
		return diff, nil, nil
	}
	if keeper := keeperOf(live); keeper != "" {
		diff.Fields = d.diff(before, d.body)
		return diff, []fleet.Conflict{{Object: d.ref, Field: "the whole object", Manager: keeper}}, nil
	}
	if d.ref.Namespace != "" && composed.live[fleet.ObjectRef{Kind: "Namespace", Name: d.ref.Namespace}] == nil {
		diff.Fields = d.diff(before, d.body) // a dry run needs the namespace to exist
		return diff, nil, nil
	}
	result, conflicts, err := c.dryRun(ctx, d)
	if err != nil {
		return diff, nil, err
	}
	diff.Fields = d.diff(before, result.raw)
	return diff, conflicts, nil
}

// keeperOf names who would undo any change, "" for nobody.
func keeperOf(live *object) string {
	if live == nil {
		return ""
	}
	if o := ownerOf(live.meta); o.reconciled {
		return o.name
	}
	return ""
}

// dryRun asks the server. Where fields belong to somebody else it asks again
// with force, which on a dry run writes nothing, to learn the outcome as well.
func (c *Cluster) dryRun(ctx context.Context, d *document) (*object, []fleet.Conflict, error) {
	body, options := d.body, applyOptions{manager: d.manager, dryRun: true}
	if d.whole != nil {
		body, options.force = d.whole, true
	}
	result := &object{}
	err := c.apply(ctx, d.path, body, options, result)
	conflicts := conflictsOf(d.ref, err)
	if len(conflicts) > 0 {
		options.force = true
		err = c.apply(ctx, d.path, body, options, result)
	}
	if err != nil {
		return nil, nil, c.fault("plan", d.path, err)
	}
	return result, conflicts, nil
}

// planWarnings are what the decider should know besides the numbers.
func (c *Cluster) planWarnings(ctx context.Context, composed *composition, d fleet.Desired) ([]string, error) {
	if d.Binding.ClusterQueue == "" {
		return nil, nil
	}
	known := map[string]bool{}
	_, err := list(ctx, c, composed.kueue.path("resourceflavors", ""), func(f resourceFlavor) { known[f.Metadata.Name] = true })
	if err != nil {
		return nil, err
	}
	var warnings []string
	missing := map[string]bool{}
	for _, l := range d.Limits {
		if !known[l.Pool.Flavor] && !missing[l.Pool.Flavor] {
			missing[l.Pool.Flavor] = true
			warnings = append(warnings, fmt.Sprintf("The cluster has no flavor %s: the queue would admit nothing until it exists.", l.Pool.Flavor))
		}
	}
	live := composed.live[queueRef(d.Binding)]
	if live == nil {
		return warnings, nil
	}
	var queue clusterQueue
	if err := live.decode(&queue); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.Binding.ClusterQueue, err)
	}
	return append(warnings, lowerings(&queue, d)...), nil
}

// lowerings say where the new limit is below what is reserved now. Kueue never
// evicts for that.
func lowerings(queue *clusterQueue, d fleet.Desired) []string {
	var out []string
	for _, l := range d.Limits {
		reserved, _ := usage(queue.Status.FlavorsReservation, l.Pool)
		if !reserved.Known {
			continue
		}
		most := l.Nominal
		if queue.cohort() != "" {
			if l.Borrowing == nil {
				continue
			}
			most = most.Add(*l.Borrowing)
		}
		if reserved.Amount.Cmp(most) > 0 {
			out = append(out, fmt.Sprintf("%s of %s are reserved now, the new limit is %s: what runs keeps running, nothing new starts until it falls below.", reserved, l.Pool, most))
		}
	}
	return out
}
