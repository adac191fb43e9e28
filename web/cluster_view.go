package web

import "time"

// ClusterList is "Clusters".
type ClusterList struct {
	Rows       []ClusterRow
	CanConnect bool
	Empty      Empty
}

// ClusterRow is one cluster in short.
type ClusterRow struct {
	ID        string
	Name      string
	Kind      string // "Kubernetes", "Slurm", "simulated"
	Simulated bool
	State     Badge // answers, stale, does not answer, never answered
	Mode      Badge // ModeBadge; "paused" where writing is paused
	Version   string
	Kueue     string
	Nodes     Figure
	GPUs      Figure
	Polled    time.Time // last good poll; zero: never
	Problem   string
	Changes   int // waiting
}

// ClusterConnect is the form for a new cluster. It posts to paths.Clusters:
//
//	name, kind (kubernetes, slurm), server (https URL or host:port), ca (PEM), token, idempotency_key
//	action    test | connect
//
// test answers the form again with Found; the token field is never filled again.
type ClusterConnect struct {
	IdempotencyKey string
	Proof          string // of the second factor, once it was given for this form
	Name           Field
	Kind           Field
	Server         Field
	CA             Field
	Token          Field
	Found          *ClusterFound
	Errors         []string
}

// ClusterFound is what a connection test found.
type ClusterFound struct {
	State   Badge
	Text    string // "Kubernetes 1.35.4 answered in 40 ms", or what went wrong and what to do
	Version string
	Kueue   string // "0.17.0, kueue.x-k8s.io/v1beta2"; "" = not installed
	NoKueue bool   // a scheduler that is not Kubernetes
	Nodes   Figure
	Pools   []FoundPool
	Limits  []FoundLimit
	Lacks   []string // rights the token lacks
	At      time.Time
}

// FoundPool is a pool seen on the nodes.
type FoundPool struct {
	Name     string // flavor
	Link     string // pool page; "" before it is connected
	Resource string
	Capacity Figure
	Product  string
	Kind     string // "whole cards", "MIG devices", "time-sliced replicas"
	Nodes    Figure
	Rate     Money // an hour
}

// FoundLimit is one limit in force and who owns it.
type FoundLimit struct {
	Object  string
	Field   string // flavor and resource, or the key of a ResourceQuota
	Value   Figure // nominal
	Borrows Figure // how much above it; "no limit"
	Granted Figure // what the portal granted there; unknown before adoption
	Owner   string // field manager or tool: "argocd-controller"
	Tool    bool   // owned by Argo CD or Flux: stays theirs, so it is not adopted
	Adopt   string // address to adopt it; "" hides
}

// limitsShown is how many limits are in sight before the rest folds.
const limitsShown = 20

// ClusterView is the page of one cluster. Posts:
//
//	paths.ClusterTest(id):   idempotency_key
//	paths.ClusterMode(id):   mode = observe | plan | enforce, reason, idempotency_key
//	paths.ClusterPause(id):  paused = true | false, reason, idempotency_key
//	paths.ClusterAdopt(id):  object, project, environment, idempotency_key
type ClusterView struct {
	ID             string
	Name           string
	Server         string
	Simulated      bool
	State          Badge
	StateText      string // "answered in 40 ms, 12 s ago"
	Mode           string // observe, plan, enforce
	Paused         bool
	PausedText     string // by whom, when, why
	CanManage      bool
	CanSteer       bool          // may change mode and pause
	Sanity         []QuotaSanity // all quotas of a flavor and resource beside its nodes
	IdempotencyKey string
	Facts          []Fact // version, Kueue, API, nodes, token age, poll period
	Found          ClusterFound
	Bindings       []ClusterBinding
	Waiting        []Change
	Polls          []ClusterPoll // newest first
	Headroom       []PoolHeadroom
	Findings       []FindingRow // open, worst first
	Adoptable      []Option     // projects/environments to adopt for: value "project/environment"
}

// QuotaSanity is what all queues give of one flavor and resource beside its nodes.
type QuotaSanity struct {
	Pool string
	Text string // "quota is 3.1 percent of capacity 32768"
	Odd  bool
}

// ClusterBinding is which object carries the limits of a project and environment.
type ClusterBinding struct {
	Project Link
	Env     string
	Object  string
	Queue   string
	How     string // "template", "adopted"
	State   Badge
}

// ClusterPoll is one reading of a cluster.
type ClusterPoll struct {
	At   time.Time
	Took time.Duration
	OK   bool
	Text string
}

func pollTone(ok bool) Tone {
	if ok {
		return Done
	}
	return Refused
}

func pollText(p ClusterPoll) string {
	took := Count(p.Took.Milliseconds()) + " ms"
	if p.Text == "" {
		return "answered in " + took
	}
	return p.Text
}

// pauseValue is what the button sends: the state after the click.
func pauseValue(paused bool) string {
	if paused {
		return "false"
	}
	return "true"
}
