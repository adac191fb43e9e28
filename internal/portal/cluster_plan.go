package portal

import (
	"context"
	"sort"
	"time"

	"golang.org/x/sync/errgroup"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
)

const (
	// plansShown is how many bindings one page plans: each asks the cluster.
	plansShown      = 50
	modePlanTimeout = 12 * time.Second
)

// PlanQuery asks for one page of a cluster's plan; After is the queue of the last row before it.
type PlanQuery struct{ ClusterID, After string }

// ModePlan is what enforcing would change now, binding by binding, as the cluster
// itself answers to a dry run.
type ModePlan struct {
	Cluster    Cluster
	Rows       []PlanRow
	Bindings   int    // on the cluster in all
	Next       string // "" on the last page
	MayEnforce bool
	MaySteer   bool
	WhyNot     string // why it may not be enforced by this person
	At         time.Time
}

// PlanRow is one binding; Plan is nil where Problem says why.
type PlanRow struct {
	BindingRow
	Plan    *fleet.Plan
	Problem string
}

// PlanCluster asks a cluster what enforcing would change. Nothing is written.
func (p *Portal) PlanCluster(ctx context.Context, actor Actor, q PlanQuery) (ModePlan, error) {
	if err := seesClusters(actor); err != nil {
		return ModePlan{}, err
	}
	c, err := p.Store.Cluster(ctx, q.ClusterID)
	if err != nil {
		return ModePlan{}, err
	}
	out := ModePlan{Cluster: c, At: p.Now()}
	if _, err := p.enforces(ctx, p.Store, actor, c.ID); err == nil {
		out.MayEnforce = true
	} else if fault.KindOf(err) == "" {
		return out, err
	} else {
		out.WhyNot = fault.As(err).Public
	}
	_, err = p.steers(ctx, p.Store, actor, c.ID)
	out.MaySteer = err == nil
	rows, err := p.bindingRows(ctx, c.ID)
	if err != nil {
		return out, err
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Binding.Queue() < rows[j].Binding.Queue() })
	out.Bindings = len(rows)
	from := sort.Search(len(rows), func(i int) bool { return q.After == "" || rows[i].Binding.Queue() > q.After })
	rows = rows[from:]
	if len(rows) > plansShown {
		rows = rows[:plansShown]
		out.Next = rows[plansShown-1].Binding.Queue()
	}
	ctx, cancel := context.WithTimeout(ctx, modePlanTimeout)
	defer cancel()
	remote, problem := p.planner(ctx, c)
	out.Rows = make([]PlanRow, len(rows))
	var all errgroup.Group
	all.SetLimit(4)
	for i, row := range rows {
		out.Rows[i] = PlanRow{BindingRow: row, Problem: problem}
		if remote == nil {
			continue
		}
		all.Go(func() error { return p.planRow(ctx, remote, &out.Rows[i]) })
	}
	return out, all.Wait()
}

// planner is the cluster to ask, or why it cannot be asked.
func (p *Portal) planner(ctx context.Context, c Cluster) (fleet.Cluster, string) {
	remote, err := p.Dial(ctx, c.ID)
	if err != nil {
		return nil, pollProblem(err)
	}
	return remote, ""
}

func (p *Portal) planRow(ctx context.Context, remote fleet.Cluster, row *PlanRow) error {
	d, err := p.DesiredFor(ctx, p.Store, row.Binding.ID, p.Now())
	if err != nil {
		return err
	}
	plan, err := remote.Plan(ctx, d)
	switch {
	case err == nil:
		row.Plan = &plan
	case ctx.Err() != nil:
		row.Problem = "The cluster did not answer in time."
	default:
		p.Log.WarnContext(ctx, "plan of a binding", "binding", row.Binding.ID, "cluster", row.Binding.ClusterID, "err", err)
		row.Problem = pollProblem(err)
	}
	return nil
}

// verifyBaselines has each adopted binding that was never pushed read back once: where
// the cluster still holds the baseline nothing is sent, and where somebody changed it meanwhile
// the change stops with that finding instead of setting it back.
func (p *Portal) verifyBaselines(ctx context.Context, tx Tx, actor Actor, clusterID string) error {
	bindings, err := tx.Bindings(ctx, BindingQuery{ClusterID: clusterID})
	if err != nil {
		return err
	}
	for _, b := range bindings {
		if !b.Adopted {
			continue
		}
		before, err := tx.ChangesOfBinding(ctx, b.ID, 1)
		if err != nil {
			return err
		}
		if len(before) > 0 {
			continue
		}
		d, err := p.DesiredFor(ctx, tx, b.ID, p.Now())
		if err != nil {
			return err
		}
		if len(d.Limits) == 0 {
			continue
		}
		if _, err := p.planChange(ctx, tx, actor, b, "", "baseline", d.Limits, EntryRefs{ProjectID: b.ProjectID}); err != nil {
			return err
		}
	}
	return nil
}
