package k8s

import (
	"context"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

// writeAttempts bounds how often an apply starts over because an object's status
// changed between reading and writing it.
const writeAttempts = 8

// errMoved says that an object's resourceVersion moved under a write.
var errMoved = errors.New("the object changed while it was being written")

// Apply makes the plan true. What is already so is not sent. It stops before the
// first write when anything differs from what the plan saw.
func (c *Cluster) Apply(ctx context.Context, plan fleet.Plan) (fleet.Receipt, error) {
	push := &push{cluster: c, plan: plan, own: map[fleet.ObjectRef]string{}}
	for range writeAttempts {
		err := push.once(ctx)
		if errors.Is(err, errMoved) {
			continue
		}
		return fleet.Receipt{Written: push.written, At: c.now().UTC()}, err
	}
	return fleet.Receipt{Written: push.written, At: c.now().UTC()},
		fault.New(fault.Stale, "The objects change too fast to be written. The push will be tried again.").Because(errMoved)
}

// push is one Apply under way.
type push struct {
	cluster *Cluster
	plan    fleet.Plan
	// own are the versions that this push itself has written.
	own     map[fleet.ObjectRef]string
	written []fleet.Written
}

// once composes the desired state anew, checks all of it against the plan, and
// then sends what differs, in order.
func (p *push) once(ctx context.Context) error {
	composed, err := p.cluster.compose(ctx, p.plan.Desired)
	if err != nil {
		return err
	}
	var todo []*document
	for i := range composed.documents {
		d := &composed.documents[i]
		if !d.changes(composed.live[d.ref]) {
			continue
		}
		if err := p.check(d, composed.live[d.ref]); err != nil {
			return err
		}
		todo = append(todo, d)
	}
	for _, d := range todo {
		if err := p.send(ctx, d, composed.live); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a document whose object is not what the plan saw. An older plan
// thereby never lands after a newer one.
func (p *push) check(d *document, live *object) error {
	if keeper := keeperOf(live); keeper != "" {
		return &ConflictError{Conflicts: []fleet.Conflict{{Object: d.ref, Field: "the whole object", Manager: keeper}}}
	}
	stale := fault.Newf(fault.Stale, "%s changed on the cluster since the plan was made. Look at the plan again.", d.ref)
	planned := p.planned(d)
	if planned == nil {
		return stale
	}
	version := live.version()
	switch {
	case p.own[d.ref] != "" && sameSpec(p.own[d.ref], version):
		return nil
	case planned.Create && live == nil:
		return nil
	case planned.Create || live == nil || !sameSpec(planned.Version, version):
		return stale
	}
	// Core objects count no generations, so the values themselves are compared.
	seen := map[string]*string{}
	for _, f := range planned.Fields {
		seen[f.Path] = f.Before
	}
	for _, f := range d.diff(live.raw, d.body) {
		if (fleet.Field{Before: seen[f.Path], After: f.Before}).Changed() {
			return stale
		}
	}
	return nil
}

func (p *push) planned(d *document) *fleet.ObjectDiff {
	for i := range p.plan.Objects {
		if o := &p.plan.Objects[i]; o.Object == d.ref && o.Manager == d.manager {
			return o
		}
	}
	return nil
}

// send writes one document with the resourceVersion just read.
func (p *push) send(ctx context.Context, d *document, live objects) error {
	body := copyOf(d.body).(map[string]any)
	if o := live[d.ref]; o != nil {
		body["metadata"].(map[string]any)["resourceVersion"] = o.meta.ResourceVersion
	}
	result := &object{}
	options := applyOptions{manager: d.manager}
	err := p.cluster.apply(ctx, d.path, body, options, result)
	if conflicts := conflictsOf(d.ref, err); len(conflicts) > 0 {
		if !p.plan.Desired.Takeover || !p.shown(conflicts) {
			return &ConflictError{Conflicts: conflicts, cause: err}
		}
		options.force = true
		err = p.cluster.apply(ctx, d.path, body, options, result)
	}
	if isMoved(err) {
		return errMoved
	}
	if err != nil {
		return p.cluster.fault("write", d.path, err)
	}
	live[d.ref] = result
	p.own[d.ref] = result.version()
	p.written = append(p.written, fleet.Written{Object: d.ref, Version: result.meta.ResourceVersion})
	return nil
}

// shown reports whether the plan named each of the fields about to be taken
// over: a takeover is never wider than what was decided.
func (p *push) shown(conflicts []fleet.Conflict) bool {
	for _, c := range conflicts {
		if !slices.Contains(p.plan.Conflicts, c) {
			return false
		}
	}
	return true
}

// isMoved reports a refused resourceVersion, as against a field conflict.
func isMoved(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusConflict &&
		len(conflictsOf(fleet.ObjectRef{}, err)) == 0
}
