package web

import "time"

// HomeView answers: what waits for me; what of mine is moving; my projects'
// figure lines; what ends in 14 days. Its main action is "New request".
type HomeView struct {
	CanAsk    bool          // show "New request"
	Waiting   []ApprovalRow // first few that wait for this person
	WaitMore  int           // how many more
	Decides   bool          // this person has a deciding role: show the part though empty
	Findings  []FindingRow  // open and this person's to resolve, worst first
	Mine      []RequestRow  // not finished, newest first
	Projects  []ProjectLines
	Ending    []Ending
	Auditor   bool // points to History instead of requests
	FirstDay  bool // nothing set up: no cluster, no project; Setup says what to do
	Setup     []Link
	Connected []ClusterRow // platform admin and capacity manager: the clusters' health in short
}

// ProjectLines is a project with one figure line a pool and environment.
type ProjectLines struct {
	Project Link
	Team    string
	Lines   []PoolLine
}

// PoolLine is one pool of one environment of a project.
type PoolLine struct {
	Pool        Link
	Cluster     string
	Environment string
	Kind        string // hard, soft, burst
	Figures     FigureLine
	Borrowed    Figure
	Until       time.Time // end of the grant; zero: none
}

// Ending is a grant that ends soon.
type Ending struct {
	Request Link
	What    string // "12 GPUs of h100 for vision-training, production"
	At      time.Time
	Renew   string // address of a prefilled new request; "" hides it
}
