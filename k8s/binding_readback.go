package k8s

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fleet"
)

// judgedWithin is how long a read-back waits for Kueue's word on a queue that
// was just written; it usually comes within a tenth of a second.
const judgedWithin = 5 * time.Second

// ReadBack reads the binding's objects anew and compares each desired field.
func (c *Cluster) ReadBack(ctx context.Context, d fleet.Desired) (fleet.ReadBack, error) {
	composed, err := c.compose(ctx, d)
	if err != nil {
		return fleet.ReadBack{}, err
	}
	out := fleet.ReadBack{At: c.now().UTC(), Active: true}
	for i := range composed.documents {
		document := &composed.documents[i]
		live := composed.live[document.ref]
		diff := fleet.ObjectDiff{Object: document.ref, Create: live == nil, Manager: document.manager, Version: live.version()}
		if live != nil {
			diff.Fields = document.diff(live.raw, document.body)
			if document.onlyCreate {
				diff.Fields = nil
			}
			document.keepers(diff.Fields, live)
		}
		out.Objects = append(out.Objects, diff)
	}
	if d.Binding.ClusterQueue != "" {
		out.Active, out.ActiveReason, err = c.awaitJudgement(ctx, composed.kueue, d.Binding)
	}
	return out, err
}

// keepers names, on fields that are not as desired, who else owns the live value: a
// value that is left out of an apply stays for as long as another manager owns it.
func (d *document) keepers(diff []fleet.Field, live *object) {
	for i := range diff {
		if !diff[i].Changed() {
			continue
		}
		for _, f := range d.fields {
			if f.path != diff[i].Path || len(f.owned) == 0 {
				continue
			}
			for _, manager := range live.meta.managersOf(f.owned...) {
				if manager != LimitsManager && manager != ShapeManager {
					diff[i].Owner = manager
				}
			}
		}
	}
}

// awaitJudgement reads whether the queue works, once Kueue has looked at its
// present specification or the wait is over.
func (c *Cluster) awaitJudgement(ctx context.Context, kueue kueueAPI, b fleet.Binding) (active bool, reason string, err error) {
	ctx, cancel := context.WithTimeout(ctx, judgedWithin)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var queue clusterQueue
		found, err := c.get(ctx, kueue.path("clusterqueues", "", b.ClusterQueue), &queue)
		if err != nil && ctx.Err() == nil {
			return false, "", err
		}
		if err == nil && !found {
			return false, fmt.Sprintf("ClusterQueue %s does not exist", b.ClusterQueue), nil
		}
		if err == nil {
			active, reason = activeQueue(&queue)
			judged, ok := conditionOf(queue.Status.Conditions, "Active")
			if ok && judged.ObservedGeneration >= queue.Metadata.Generation {
				return active, reason, nil
			}
		}
		select {
		case <-ctx.Done():
			if reason == "" {
				reason = "Kueue has not judged the queue yet"
			}
			return active, reason, nil
		case <-tick.C:
		}
	}
}
