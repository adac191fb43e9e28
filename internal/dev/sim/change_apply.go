package sim

import (
	"context"
	"fmt"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// Apply writes what differs, object by object. What is already so is not sent; an
// object that changed since the plan is refused, before anything is written.
func (c *Cluster) Apply(ctx context.Context, p fleet.Plan) (fleet.Receipt, error) {
	leave, err := c.enter(ctx, "apply")
	if err != nil {
		return fleet.Receipt{}, err
	}
	defer leave()
	if err := c.check(p.Desired); err != nil {
		return fleet.Receipt{}, err
	}
	r := fleet.Receipt{At: c.cfg.Now()}
	var todo []wanted
	versions := map[fleet.ObjectRef]string{}
	for _, d := range p.Objects {
		versions[d.Object] = d.Version
	}
	for _, w := range wants(p.Desired) {
		o := c.objects[w.ref]
		if o != nil && !c.differs(o, w) {
			continue
		}
		if seen, ok := versions[w.ref]; !ok || seen != o.resourceVersion() {
			return r, fault.Newf(fault.Stale, "%s changed on the cluster meanwhile. Look at the plan again.", w.ref)
		}
		for _, f := range w.fields {
			if other := c.owner(o, f.path, w.manager); other != "" && !p.Desired.Takeover && (fleet.Field{Before: o.text(f.path), After: f.text}).Changed() {
				return r, fault.Newf(fault.Conflict, "%s of %s is managed by %s.", f.path, w.ref, other)
			}
		}
		todo = append(todo, w)
	}
	for _, w := range todo {
		c.write(w, p.Desired)
		if err := c.save(); err != nil {
			return r, fmt.Errorf("apply: %w", err)
		}
		r.Written = append(r.Written, fleet.Written{Object: w.ref, Version: c.objects[w.ref].resourceVersion()})
		if c.afterWrite != nil {
			if err := c.afterWrite(w.ref); err != nil {
				c.world.reshape(c.objects)
				return r, err
			}
		}
	}
	c.world.reshape(c.objects)
	c.world.admitAll(c.cfg.Now())
	return r, nil
}

func (c *Cluster) differs(o *object, w wanted) bool {
	for _, f := range w.fields {
		if (fleet.Field{Before: o.text(f.path), After: f.text}).Changed() {
			return true
		}
	}
	return false
}

// write makes one object as wanted. The manager owns what it writes from then on.
func (c *Cluster) write(w wanted, d fleet.Desired) {
	o := c.objects[w.ref]
	if o == nil {
		o = &object{Ref: w.ref, Fields: map[string]value{}}
		c.objects[w.ref] = o
	}
	for _, f := range w.fields {
		if f.text == nil {
			delete(o.Fields, f.path)
			continue
		}
		o.Fields[f.path] = value{*f.text, w.manager}
	}
	o.Annotations = map[string]string{"quartermaster/request": d.RequestID, "quartermaster/url": d.RequestURL}
	c.version++
	o.Version = c.version
	c.writes[w.ref]++
}

// ReadBack compares what is stored now with what is desired.
func (c *Cluster) ReadBack(ctx context.Context, d fleet.Desired) (fleet.ReadBack, error) {
	leave, err := c.enter(ctx, "read back")
	if err != nil {
		return fleet.ReadBack{}, err
	}
	defer leave()
	rb := fleet.ReadBack{At: c.cfg.Now()}
	for _, w := range wants(d) {
		o := c.objects[w.ref]
		diff := fleet.ObjectDiff{Object: w.ref, Manager: w.manager, Version: o.resourceVersion(), Create: o == nil}
		for _, f := range w.fields {
			diff.Fields = append(diff.Fields, fleet.Field{Path: f.path, Before: o.text(f.path), After: f.text, Limit: f.limit})
		}
		rb.Objects = append(rb.Objects, diff)
	}
	rb.Active, rb.ActiveReason = c.active(c.objects[queueRef(d.Binding.ClusterQueue)])
	return rb, nil
}

// active is the cluster's word on a queue.
func (c *Cluster) active(o *object) (bool, string) {
	if o == nil {
		return false, "the queue does not exist"
	}
	if o.get(stopPath) == "Hold" || o.get(stopPath) == "HoldAndDrain" {
		return false, "Stopped: Can't admit new workloads: is stopped."
	}
	if len(o.limits()) == 0 {
		return false, "NoFlavors: the queue has no flavors"
	}
	return true, ""
}

// Edit changes fields of an object as another manager would, for demonstrations and
// tests; nil removes a field.
func (c *Cluster) Edit(ref fleet.ObjectRef, manager string, fields map[string]*string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.objects[ref]
	if o == nil {
		o = &object{Ref: ref, Fields: map[string]value{}}
		c.objects[ref] = o
	}
	for path, text := range fields {
		if text == nil {
			delete(o.Fields, path)
			continue
		}
		o.Fields[path] = value{*text, manager}
	}
	c.version++
	o.Version = c.version
	c.world.reshape(c.objects)
	c.world.admitAll(c.cfg.Now())
	return c.save()
}

func tooSlow(cause error) error {
	return fault.New(fault.Unavailable, "The cluster did not answer in time.").Because(cause)
}
