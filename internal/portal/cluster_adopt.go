package portal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
)

// AdoptBinding makes an existing queue carry the limits of a project and environment.
// What it gives now becomes the recorded baseline of each pool, so that nothing
// changes by being adopted; flavors that no pool names yet become pools. Nothing is written to the cluster.
func (p *Portal) AdoptBinding(ctx context.Context, actor Actor, in AdoptInput) (fleet.Binding, error) {
	out, err := p.adopt(ctx, actor, in)
	if err != nil {
		return fleet.Binding{}, p.refused(ctx, actor, ledger.BindingAdopted, "cluster", in.ClusterID, EntryRefs{ClusterID: in.ClusterID}, err)
	}
	return out, nil
}

func (p *Portal) adopt(ctx context.Context, actor Actor, in AdoptInput) (fleet.Binding, error) {
	authority, err := p.manages(actor, in.ClusterID)
	if err != nil {
		return fleet.Binding{}, err
	}
	// A second click gets the first one's result, although its proof is used up.
	if done, found, err := before[fleet.Binding](ctx, p, actor, "adopt", in.Key, in); found || err != nil {
		return done, err
	}
	shown := actDigest("adopt", in.ClusterID, in.Queue, in.Namespace, in.LocalQueue, in.ProjectID, in.Environment)
	if err := p.provenUnlessSystem(ctx, actor, shown); err != nil {
		return fleet.Binding{}, err
	}
	c, err := p.Store.Cluster(ctx, in.ClusterID)
	if err != nil {
		return fleet.Binding{}, err
	}
	o, err := p.observeQueues(ctx, c)
	if err != nil {
		return fleet.Binding{}, err
	}
	return p.adoptFrom(ctx, actor, authority, c, o, in, func(ctx context.Context, tx Tx) (StepUp, error) {
		return p.spendUnlessSystem(ctx, tx, actor, shown)
	})
}

// adoptFrom adopts one queue of a reading; prove uses up, or names, the proof that serves it.
func (p *Portal) adoptFrom(ctx context.Context, actor Actor, authority org.Assignment, c Cluster, o fleet.Observation, in AdoptInput, prove func(context.Context, Tx) (StepUp, error)) (fleet.Binding, error) {
	q, b, err := found(c.Kind, o, in)
	if err != nil {
		return fleet.Binding{}, err
	}
	if why := adoptable(c.Kind, q); why != "" {
		return fleet.Binding{}, fault.Newf(fault.Conflict, "%s cannot be adopted. %s", q.Name, why)
	}
	sent := in
	sent.Matched = "" // what the rules say may change; what was sent did not
	return once(ctx, p, actor, "adopt", in.Key, sent, func(ctx context.Context, tx Tx) (fleet.Binding, error) {
		proof, err := prove(ctx, tx)
		if err != nil {
			return fleet.Binding{}, err
		}
		return p.bindAdopted(ctx, tx, actor, authority, proof, in, q, b)
	})
}

func (p *Portal) bindAdopted(ctx context.Context, tx Tx, actor Actor, authority org.Assignment, proof StepUp, in AdoptInput, q fleet.Queue, b fleet.Binding) (fleet.Binding, error) {
	project, err := tx.Project(ctx, in.ProjectID)
	if err != nil {
		return fleet.Binding{}, err
	}
	if !slices.Contains(project.Environments, in.Environment) {
		return fleet.Binding{}, fault.Newf(fault.Invalid, "%s has no environment %s.", project.Name, in.Environment).At("project", "Choose an environment that the project has.")
	}
	bound, err := tx.Bindings(ctx, BindingQuery{ClusterID: in.ClusterID})
	if err != nil {
		return fleet.Binding{}, err
	}
	for _, o := range bound {
		if o.Queue() == q.Name {
			return fleet.Binding{}, fault.Newf(fault.Conflict, "%s already carries the limits of %s, %s. One queue carries one binding.", q.Name, o.ProjectID, o.Environment)
		}
		if o.ProjectID == in.ProjectID && o.Environment == in.Environment {
			return fleet.Binding{}, fault.Newf(fault.Conflict, "%s, %s is bound to %s on this cluster already.", project.Name, in.Environment, o.Queue())
		}
	}
	b.ID = p.NewID()
	if err := tx.InsertBinding(ctx, b); err != nil {
		return fleet.Binding{}, err
	}
	e := provenBy(by(p.entry(actor, ledger.BindingAdopted, "binding", b.ID), authority), proof)
	e.Facts["cluster"], e.Facts["queue"], e.Facts["project"], e.Facts["environment"] = b.ClusterID, b.Queue(), b.ProjectID, b.Environment
	e.Facts["namespace"], e.Facts["managers"] = b.Namespace, strings.Join(q.Managers, ", ")
	if in.Matched != "" {
		e.Facts["matched"] = in.Matched
	}
	refs := EntryRefs{ProjectID: b.ProjectID, ClusterID: b.ClusterID}
	if refs.PoolIDs, err = p.keepBaseline(ctx, tx, b, q, e.Facts); err != nil {
		return fleet.Binding{}, err
	}
	_, err = tx.Append(ctx, e, refs, openingsOf(actor, nil))
	return b, err
}

// keepBaseline stores what the queue gives of each pool and says so in facts.
func (p *Portal) keepBaseline(ctx context.Context, tx Tx, b fleet.Binding, q fleet.Queue, facts map[string]string) ([]string, error) {
	known, err := tx.Pools(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range q.Flavors {
		added, err := p.addPool(ctx, tx, known, b.ClusterID, fleet.Pool{Key: f.Pool})
		if err != nil {
			return nil, err
		}
		known = append(known, added...)
	}
	if known, err = tx.Pools(ctx); err != nil {
		return nil, err
	}
	var ids []string
	for _, f := range q.Flavors {
		if !f.Pool.Accelerator() {
			continue // its shape, which stays as it is
		}
		i := slices.IndexFunc(known, func(s PoolState) bool { return s.ClusterID == b.ClusterID && s.Key == f.Pool })
		if i < 0 {
			continue
		}
		if !f.Nominal.Known {
			return nil, fault.Newf(fault.Unavailable, "The limit of %s on %s could not be read, so it cannot become a baseline.", f.Pool, q.Name)
		}
		base := fleet.Base{Nominal: f.Nominal.Amount, Borrowing: f.Borrowing, Lending: f.Lending}
		if err := tx.InsertBaseline(ctx, b.ID, known[i].ID, base, p.Now()); err != nil {
			return nil, fmt.Errorf("baseline of binding %s: %w", b.ID, err)
		}
		facts["baseline."+known[i].ID] = f.Nominal.String() + ", borrowing " + limitWord(f.Borrowing) + ", lending " + limitWord(f.Lending)
		ids = append(ids, known[i].ID)
	}
	return ids, nil
}

// limitWord: an absent limit is no limit, which is not 0.
func limitWord(q *fleet.Quantity) string {
	if q == nil {
		return "no limit"
	}
	return q.String()
}

// found is the queue that in names and the binding which it makes.
func found(kind fleet.Kind, o fleet.Observation, in AdoptInput) (fleet.Queue, fleet.Binding, error) {
	b := fleet.Binding{ProjectID: in.ProjectID, Environment: in.Environment, ClusterID: in.ClusterID, Adopted: true}
	if kind == fleet.Slurm {
		in.Queue = strings.ToLower(in.Queue) // as Slurm keeps it, however it is typed
	}
	q, err := queueNamed(o, in.Queue)
	if err != nil {
		return q, b, err
	}
	if kind == fleet.Slurm {
		b.Account = q.Name
		return q, b, nil
	}
	b.ClusterQueue, b.Cohort = q.Name, q.Cohort
	b.Namespace, b.LocalQueue, err = localQueueOf(q, in)
	return q, b, err
}

func queueNamed(o fleet.Observation, name string) (fleet.Queue, error) {
	if !o.QueuesKnown {
		return fleet.Queue{}, fault.New(fault.Unavailable, "The queues of the cluster could not be read.")
	}
	for _, q := range o.Queues {
		if q.Name == name {
			return q, nil
		}
	}
	return fleet.Queue{}, fault.Newf(fault.Invalid, "The cluster has no queue %s.", name).At("object", "Choose a queue that exists.")
}

// localQueueOf is the one LocalQueue through which people use the queue.
func localQueueOf(q fleet.Queue, in AdoptInput) (namespace, name string, err error) {
	var fits []string
	for _, l := range q.LocalQueues {
		ns, n, _ := strings.Cut(l, "/")
		if (in.Namespace == "" || in.Namespace == ns) && (in.LocalQueue == "" || in.LocalQueue == n) {
			fits = append(fits, l)
		}
	}
	switch len(fits) {
	case 0:
		return "", "", fault.Newf(fault.Invalid, "No LocalQueue that fits points to %s.", q.Name).At("namespace", "Choose a namespace that has a LocalQueue for this queue.")
	case 1:
		namespace, name, _ = strings.Cut(fits[0], "/")
		return namespace, name, nil
	}
	return "", "", fault.Newf(fault.Invalid, "Several LocalQueues point to %s: %s. Say which one belongs to the project.", q.Name, strings.Join(fits, ", ")).
		At("namespace", "Say the namespace.").At("local_queue", "Say the LocalQueue.")
}
