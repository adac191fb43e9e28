package handlers

import (
	"net/http"

	"quartermaster/handlers/signin"
	"quartermaster/internal/org"
	"quartermaster/internal/paths"
)

// who is the first gate of a route. It keeps pages out of sight of those who
// have no business there; what somebody may do with one object is the use case's.
type who struct {
	public bool       // no session needed, and none looked at
	door   bool       // no session needed, but looked at
	anyone bool       // whoever is signed in, also without a role
	roles  []org.Role // one of these, anywhere
}

var (
	public   = who{public: true}
	visitor  = who{door: true}
	signedIn = who{anyone: true}
	// asks: may ask for capacity. Auditors and finance change nothing.
	asks = who{roles: []org.Role{org.Requester, org.TeamManager}}
	// comments: takes part in a request. Auditors and finance only read.
	comments = who{roles: []org.Role{org.Requester, org.TeamManager, org.CapacityManager, org.Compliance, org.PlatformAdmin}}
	// decides: may hold a stage of an approval route. Platform admins never decide.
	decides = who{roles: []org.Role{org.TeamManager, org.CapacityManager, org.Compliance}}
	// records: reads the record beyond the own work.
	records = who{roles: []org.Role{org.TeamManager, org.CapacityManager, org.Compliance, org.Auditor, org.PlatformAdmin}}
	// operates: sees clusters, how they are reached and what they enforce.
	operates = who{roles: []org.Role{org.CapacityManager, org.Compliance, org.Auditor, org.PlatformAdmin}}
	// steers: decides what is written to a cluster; to enforce is the capacity manager's alone.
	steers = who{roles: []org.Role{org.CapacityManager, org.PlatformAdmin}}
	admin  = who{roles: []org.Role{org.PlatformAdmin}}
	// census: sees who holds which role.
	census   = who{roles: []org.Role{org.Compliance, org.Auditor, org.PlatformAdmin}}
	takeover = who{roles: []org.Role{org.CapacityManager}}
	jobs     = who{roles: []org.Role{org.Auditor, org.PlatformAdmin}}
)

// route is one line of the table: the only place where an address gets a handler.
type route struct {
	method  string
	pattern string
	who     who
	do      page
}

// routes is the whole portal. The access test walks the router and fails for
// anything that does not stand here.
func (s *server) routes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, paths.Healthz, public, s.healthz},
		{get, paths.Readyz, public, s.readyz},
		{get, paths.Metrics, public, s.metrics},
		{get, paths.Assets + "*", public, s.assets},
		{post, paths.Theme, public, s.setTheme},
		{get, paths.Help, signedIn, s.help},

		{get, paths.Home, signedIn, s.home},
		{get, paths.Search, signedIn, s.search},

		{get, paths.Requests, signedIn, s.requestList},
		{post, paths.Requests, asks, s.requestCreate},
		{get, paths.RequestNew, asks, s.requestNew},
		{post, paths.RequestChecks, asks, s.requestChecks},
		{get, paths.RequestPattern, signedIn, s.requestView},
		{get, paths.RequestEditPattern, asks, s.requestEdit},
		{post, paths.RequestEditPattern, asks, s.requestRevise},
		{get, paths.RequestWithdrawPattern, asks, s.requestWithdrawAsk},
		{post, paths.RequestWithdrawPattern, asks, s.requestWithdraw},
		{post, paths.RequestCommentPattern, comments, s.requestComment},

		{get, paths.Approvals, decides, s.approvalList},
		{get, paths.RequestDecidePattern, decides, s.requestDecideAsk},
		{post, paths.RequestDecidePattern, decides, s.requestDecide},

		{get, paths.Projects, signedIn, s.projectList},
		{get, paths.ProjectPattern, signedIn, s.projectView},
		{get, paths.Pools, signedIn, s.poolList},
		{get, paths.PoolPattern, signedIn, s.poolView},
		{get, paths.Usage, signedIn, s.usageView},
		{get, paths.UsageCSV, signedIn, s.usageExport},

		{get, paths.History, records, s.historySearch},
		{get, paths.HistoryCSV, records, s.historyCSV},
		{get, paths.HistoryExport, records, s.historyExportAsk},
		{post, paths.HistoryExport, records, s.historyExport},
		{get, paths.HistoryEntryPattern, signedIn, s.historyEntry},
		{get, paths.HistoryReceiptPattern, signedIn, s.historyReceipt},

		{get, paths.Clusters, operates, s.clusterList},
		{post, paths.Clusters, admin, s.clusterConnect},
		{get, paths.ClusterConnect, admin, s.clusterConnectAsk},
		{get, paths.ClusterPattern, operates, s.clusterView},
		{post, paths.ClusterTestPattern, admin, s.clusterTest},
		{get, paths.ClusterPlanPattern, operates, s.clusterPlan},
		{get, paths.ClusterModePattern, steers, s.clusterModeAsk},
		{post, paths.ClusterModePattern, steers, s.clusterMode},
		{get, paths.ClusterPausePattern, steers, s.clusterPauseAsk},
		{post, paths.ClusterPausePattern, steers, s.clusterPause},
		{get, paths.ClusterAdoptPattern, operates, s.clusterAdoptAsk},
		{post, paths.ClusterAdoptPattern, admin, s.clusterAdopt},
		{post, paths.ClusterAdoptAllPattern, admin, s.clusterAdoptAll},
		{get, paths.ClusterImportPattern, admin, s.clusterImportAsk},
		{post, paths.ClusterImportPattern, admin, s.clusterImport},
		{get, paths.ChangeTakeoverPattern, takeover, s.changeTakeoverAsk},
		{post, paths.ChangeTakeoverPattern, takeover, s.changeTakeover},

		{get, paths.Findings, operates, s.findingList},
		{get, paths.FindingPattern, operates, s.findingView},
		{get, paths.FindingPutBackPattern, takeover, s.findingPutBackAsk},
		{post, paths.FindingPutBackPattern, takeover, s.findingPutBack},
		{get, paths.FindingAcceptPattern, takeover, s.findingAcceptAsk},
		{post, paths.FindingAcceptPattern, takeover, s.findingAccept},
		{get, paths.ClusterPutsBackPattern, takeover, s.clusterPutsBackAsk},
		{post, paths.ClusterPutsBackPattern, takeover, s.clusterPutsBack},

		{get, paths.People, census, s.peopleList},
		{get, paths.Jobs, jobs, s.jobsUI},
		{get, paths.Jobs + "/*", jobs, s.jobsUI},
	}
}

// signInRoutes are the addresses of handlers/signin as lines of the table.
func signInRoutes(all []signin.Route) []route {
	var out []route
	for _, x := range all {
		e := route{x.Method, x.Pattern, public, x.Do}
		if x.Session {
			e.who = visitor
		}
		if x.SignedIn {
			e.who = signedIn
		}
		out = append(out, e)
	}
	return out
}

// mayOpen says whether the navigation shows a page to whoever holds these roles.
func (s *server) mayOpen(p org.Person, path string) bool {
	for _, e := range s.entries {
		if e.method == http.MethodGet && e.pattern == path {
			return e.who.includes(p)
		}
	}
	return false
}
