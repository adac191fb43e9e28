// Package paths owns the URL paths of the portal, so that no page, handler or
// test spells one out. Pages link with it, the router mounts with it. It never
// knows what stands behind a path.
//
// Patterns (constants ending in Pattern) are for the router, in chi's form;
// the function of the same stem fills one in and escapes what it is given.
package paths

import "net/url"

// Pages that stand on their own.
const (
	Home      = "/"
	SignIn    = "/sign-in"          // GET: starts sign-in at the identity provider
	Callback  = "/sign-in/callback" // GET: the provider returns here
	SignedOut = "/signed-out"
	SignOut   = "/sign-out" // POST
	StepUp    = "/step-up"  // GET form, POST code
	// SecondFactor is a person's own second factor; the two below change it (POST).
	SecondFactor  = "/second-factor"
	RecoveryCodes = "/second-factor/codes"
	FactorReplace = "/second-factor/replace"
	Theme         = "/theme" // POST: theme, back
	Help          = "/help"
	Search        = "/search"
	// BackChannelLogout receives signed logout tokens from the identity provider (POST).
	BackChannelLogout = "/sign-out/back-channel"
	Requests          = "/requests" // GET list, POST a new request
	RequestNew        = "/requests/new"
	// RequestChecks takes the request form and answers its right-hand column alone.
	RequestChecks  = "/requests/checks"
	Approvals      = "/approvals"
	Projects       = "/projects"
	Pools          = "/pools"
	Usage          = "/usage"
	UsageCSV       = "/usage.csv"
	Clusters       = "/clusters" // GET list, POST a new cluster
	ClusterConnect = "/clusters/connect"
	History        = "/history"
	HistoryExport  = "/history/export" // GET asks, POST streams the CSV
	HistoryCSV     = "/history.csv"    // leads to HistoryExport
	Findings       = "/findings"
	People         = "/people"
	Jobs           = "/admin/jobs"
	Assets         = "/assets/"
	Healthz        = "/healthz"
	Readyz         = "/readyz"
	Metrics        = "/metrics"
)

// Patterns for the router.
const (
	RequestPattern         = "/requests/{request}"
	RequestEditPattern     = "/requests/{request}/edit" // GET form, POST a draft or a revision
	RequestDecidePattern   = "/requests/{request}/decide"
	RequestWithdrawPattern = "/requests/{request}/withdraw"
	RequestCommentPattern  = "/requests/{request}/comments"
	ProjectPattern         = "/projects/{project}"
	PoolPattern            = "/pools/{pool}"
	ClusterPattern         = "/clusters/{cluster}"
	ClusterModePattern     = "/clusters/{cluster}/mode"
	ClusterPausePattern    = "/clusters/{cluster}/pause"
	ClusterTestPattern     = "/clusters/{cluster}/test"
	ClusterAdoptPattern    = "/clusters/{cluster}/adopt"
	ClusterAdoptAllPattern = "/clusters/{cluster}/adopt/chosen"
	ClusterImportPattern   = "/clusters/{cluster}/import"
	ClusterPlanPattern     = "/clusters/{cluster}/plan"
	ChangeTakeoverPattern  = "/changes/{change}/takeover"
	HistoryEntryPattern    = "/history/{entry}"
	HistoryReceiptPattern  = "/history/{entry}/receipt.json"
	FindingPattern         = "/findings/{finding}"
	FindingPutBackPattern  = "/findings/{finding}/put-back" // GET asks, POST plans the change
	FindingAcceptPattern   = "/findings/{finding}/accept"   // GET form, POST submits the request
	ClusterPutsBackPattern = "/clusters/{cluster}/puts-back"
)

func under(base, id, rest string) string { return base + "/" + url.PathEscape(id) + rest }

// Request is the page of one request.
func Request(id string) string { return under("/requests", id, "") }

// RequestEdit is the form of a draft, or of the next revision after a return.
func RequestEdit(id string) string { return under("/requests", id, "/edit") }

// RequestDecide is the page on which one stage of a request is decided.
func RequestDecide(id string) string { return under("/requests", id, "/decide") }

// RequestWithdraw takes a request back: GET asks, POST does it.
func RequestWithdraw(id string) string { return under("/requests", id, "/withdraw") }

// RequestComment receives a comment.
func RequestComment(id string) string { return under("/requests", id, "/comments") }

// Project is the page of one project.
func Project(id string) string { return under("/projects", id, "") }

// Pool is the page of one pool.
func Pool(id string) string { return under("/pools", id, "") }

// Cluster is the page of one cluster.
func Cluster(id string) string { return under("/clusters", id, "") }

// ClusterMode receives a new mode (mode, reason).
func ClusterMode(id string) string { return under("/clusters", id, "/mode") }

// ClusterPause stops or resumes writing (paused=true or false, reason).
func ClusterPause(id string) string { return under("/clusters", id, "/pause") }

// ClusterTest asks the cluster who it is, now.
func ClusterTest(id string) string { return under("/clusters", id, "/test") }

// ClusterAdoptAll adopts the chosen rows of the page of ClusterAdopt.
func ClusterAdoptAll(id string) string { return under("/clusters", id, "/adopt/chosen") }

// ClusterImport reads a file of the cluster's objects: GET the form, POST a file (action=report or keep).
func ClusterImport(id string) string { return under("/clusters", id, "/import") }

// ClusterPlan shows what enforcing would change.
func ClusterPlan(id string) string { return under("/clusters", id, "/plan") }

// ClusterAdopt binds a found object to a project and environment.
func ClusterAdopt(id string) string { return under("/clusters", id, "/adopt") }

// ChangeTakeover decides on one forced apply over another owner: GET asks, POST does it.
func ChangeTakeover(id string) string { return under("/changes", id, "/takeover") }

// HistoryReceipt is the signed receipt of one ledger entry.
func HistoryReceipt(id string) string { return under("/history", id, "/receipt.json") }

// Finding is the page of one finding.
func Finding(id string) string { return under("/findings", id, "") }

// FindingPutBack makes what is granted true again.
func FindingPutBack(id string) string { return under("/findings", id, "/put-back") }

// FindingAccept asks to make what is live the granted figure.
func FindingAccept(id string) string { return under("/findings", id, "/accept") }

// ClusterPutsBack says whether drift is put back by itself (on=true or false, reason).
func ClusterPutsBack(id string) string { return under("/clusters", id, "/puts-back") }

// HistoryEntry is the permanent address of one ledger entry.
func HistoryEntry(id string) string { return under("/history", id, "") }

// With adds a query to a path; empty values are left out.
func With(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Add(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
