package portal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/request"
)

// workloadsShown per cluster on the page of a request.
const workloadsShown = 50

// viewChanges adds what happened on clusters, where the grant is used, and what
// waits or runs there.
func (p *Portal) viewChanges(ctx context.Context, r Reader, v *RequestDetail, at place, grants []GrantRow) error {
	changes, err := r.ChangesOfRequest(ctx, v.Request.ID)
	if err != nil {
		return err
	}
	clusters := map[string]Cluster{}
	for _, c := range changes {
		cl, seen := clusters[c.ClusterID]
		if !seen {
			if cl, err = r.Cluster(ctx, c.ClusterID); err != nil {
				return err
			}
			clusters[c.ClusterID] = cl
		}
		b := at.bindings[c.ClusterID]
		if b.ID != c.BindingID {
			if b, err = r.Binding(ctx, c.BindingID); err != nil {
				return err
			}
		}
		v.Changes = append(v.Changes, DetailChange{Change: c, ClusterName: cl.Name, Simulated: cl.Kind == fleet.Simulated, ClusterMode: cl.Mode, Paused: cl.Paused, Binding: b})
	}
	if v.Request.State != request.Active && v.Request.State != request.Applying {
		return nil
	}
	return p.viewPlaces(ctx, r, v, at, grants)
}

// viewPlaces shows, for each cluster with a grant in force, where Jobs go and which are there.
func (p *Portal) viewPlaces(ctx context.Context, r Reader, v *RequestDetail, at place, grants []GrantRow) error {
	seen := map[string]bool{}
	for _, g := range grants {
		s := at.pools[g.PoolID]
		b, bound := at.bindings[s.ClusterID]
		if seen[s.ClusterID] || !bound || !g.InForce(v.At) {
			continue
		}
		seen[s.ClusterID] = true
		if b.Home() == "" {
			continue
		}
		v.Places = append(v.Places, GrantPlace{ClusterID: s.ClusterID, ClusterName: s.ClusterName, Simulated: s.ClusterKind == fleet.Simulated,
			Namespace: b.Namespace, LocalQueue: b.LocalQueue, Account: b.Account, Until: g.End, Manifest: jobExample(b, s)})
		workloads, err := r.Workloads(ctx, s.ClusterID, b.Home(), workloadsShown)
		if err != nil {
			return err
		}
		for _, w := range workloads {
			cw := ClusterWorkload{Workload: w, ClusterID: s.ClusterID, ClusterName: s.ClusterName}
			switch w.State {
			case fleet.Pending:
				v.Pending = append(v.Pending, cw)
			case fleet.Admitted:
				v.Running = append(v.Running, cw)
			}
		}
	}
	return nil
}

// jobExample is a job that the limits of b admit, as the cluster's users write it.
func jobExample(b fleet.Binding, s PoolState) string {
	if b.Account != "" {
		gres, _ := strings.CutPrefix(s.Key.Resource, "gres/")
		return fmt.Sprintf("#!/bin/bash\n#SBATCH --account=%s\n#SBATCH --gres=%s:1\nsrun hostname\n", b.Account, gres)
	}
	return jobManifest(b, s)
}

// jobManifest is a Job that the queue of b admits: one unit of the pool, with the
// cpu and memory that come with it. Kueue reads the queue-name label and keeps the Job suspended
// until there is quota (https://kueue.sigs.k8s.io/docs/tasks/run/jobs/).
func jobManifest(b fleet.Binding, s PoolState) string {
	cpu, memory := s.CPUPerUnit, s.MemoryPerUnit
	if cpu.Sign() <= 0 {
		cpu = fleet.Count(1)
	}
	if memory.Sign() <= 0 {
		memory = fleet.MustQuantity("1Gi")
	}
	var y strings.Builder
	fmt.Fprintf(&y, "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: %s-\n  namespace: %s\n  labels:\n    kueue.x-k8s.io/queue-name: %s\n", jobName(b.ProjectID), b.Namespace, b.LocalQueue)
	fmt.Fprintf(&y, "spec:\n  suspend: true\n  parallelism: 1\n  completions: 1\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n")
	fmt.Fprintf(&y, "        - name: main\n          image: busybox:1.37\n          command: [\"sleep\", \"600\"]\n          resources:\n")
	fmt.Fprintf(&y, "            requests:\n              cpu: %q\n              memory: %q\n              %s: \"1\"\n", cpu, memory, s.Key.Resource)
	fmt.Fprintf(&y, "            limits:\n              %s: \"1\"\n", s.Key.Resource)
	return y.String()
}

// jobName leaves room for the characters that generateName adds.
func jobName(project string) string {
	name := objectName(project)
	if len(name) > 50 {
		name = strings.Trim(name[:50], "-")
	}
	return name
}

// nextStep says what happens next, by whom and by when.
func nextStep(v RequestDetail, actor Actor) NextStep {
	r := v.Request
	mine := owns(actor, r)
	requester := []PersonName{v.Requester}
	switch r.State {
	case request.Draft:
		return NextStep{What: "Submit the draft", Who: requester, Count: 1, Yours: mine}
	case request.Returned:
		n := NextStep{What: "Change the request and submit it again", Who: requester, Count: 1, Yours: mine}
		if len(v.Decisions) > 0 {
			last := v.Decisions[len(v.Decisions)-1]
			n.Note = last.PersonName + " asked: " + last.Reason
		}
		return n
	case request.Submitted, request.InReview:
		for _, s := range v.Stages {
			if s.Current {
				return NextStep{What: s.Name + " decides", Who: s.People, Count: s.Count, By: s.Due, Note: s.Missing, Yours: v.MayDecide}
			}
		}
	case request.Approved, request.Scheduled:
		n := NextStep{What: "The limits change when the grant starts"}
		for _, l := range v.Lines {
			if l.Grant != nil && l.Grant.Start != nil && (n.On == nil || l.Grant.Start.Before(*n.On)) {
				n.On = l.Grant.Start
			}
		}
		return n
	case request.Applying:
		return applyingStep(v)
	case request.Active:
		return activeStep(v)
	}
	return NextStep{What: "Nothing: the request is " + string(r.State), Over: true}
}

func applyingStep(v RequestDetail) NextStep {
	n := NextStep{What: "The portal writes the limits and reads them back"}
	for _, c := range v.Changes {
		switch c.State {
		case ChangeWaiting:
			n.Note = fmt.Sprintf("%s does not answer. The change waits and is not lost.", c.ClusterName)
		case ChangeHeld:
			n.What = "A platform admin lets the portal write to " + c.ClusterName
			n.Note = c.Problem
		case ChangeStopped:
			n.What = "A platform admin or the pool's capacity manager looks at the stopped change"
			n.Note = c.Problem
			return n
		}
	}
	return n
}

func activeStep(v RequestDetail) NextStep {
	var ends *time.Time
	for _, l := range v.Lines {
		if l.Grant != nil && l.Grant.End != nil && (ends == nil || l.Grant.End.Before(*ends)) {
			ends = l.Grant.End
		}
	}
	if ends != nil {
		return NextStep{What: "The grant ends and the limits go back", By: ends}
	}
	return NextStep{What: "The limits are in force", Held: true}
}

func publicOf(err error) string {
	if f := fault.As(err); f != nil {
		return f.Public
	}
	return ""
}
