package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"quartermaster/db/dbload"
	"quartermaster/internal/paths"
)

// sight is one page as one role looks at it.
type sight struct {
	name, as, method, target string
	form                     url.Values
}

func (l *large) sights(b *testing.B) []sight {
	var entry string
	require.NoError(b, l.owner.Get(&entry, `SELECT id FROM ledger_entry WHERE type = 'request.decided' AND ordinal > 800000 ORDER BY ordinal LIMIT 1`))
	var open, closed, person string
	require.NoError(b, l.owner.Get(&open, `SELECT r.number FROM request r WHERE r.team_id = 'team-002' AND r.state = 'submitted' AND EXISTS (SELECT FROM request_line l WHERE l.request_id = r.id AND l.position = 1) ORDER BY r.number LIMIT 1`))
	require.NoError(b, l.owner.Get(&closed, `SELECT number FROM request WHERE team_id = 'team-002' AND state = 'active' ORDER BY number DESC LIMIT 1`))
	require.NoError(b, l.owner.Get(&person, `SELECT id FROM person WHERE subject = $1`, dbload.Requester))
	asked := url.Values{"project": {dbload.Project}, "environment": {"production"}, "data_class": {"internal"}, "workload_type": {"training"}, "purpose": {"Train"},
		"justification": {"Season"}, "runtime_hours": {"24"}, "line.0.pool": {dbload.Pool}, "line.0.asked": {"32"}, "line.0.kind": {"hard"}, "idempotency_key": {"00000000-0000-4000-8000-000000000000"}}
	get := func(name, as, target string) sight { return sight{name, as, http.MethodGet, target, nil} }
	history := func(name, query string) sight {
		return get("History "+name, dbload.Auditor, paths.History+"?"+query)
	}
	return []sight{
		get("Home, requester", dbload.Requester, paths.Home), get("Home, team manager", dbload.Manager, paths.Home),
		get("Home, capacity manager", dbload.Operator, paths.Home), get("Home, all roles", dbload.Decider, paths.Home), get("Home, auditor", dbload.Auditor, paths.Home), get("Home, admin", dbload.Admin, paths.Home),
		get("Requests, mine", dbload.Requester, paths.Requests), get("Requests, all", dbload.Auditor, paths.Requests+"?tab=all"),
		get("Requests, search", dbload.Auditor, paths.Requests+"?tab=all&q=speech"), get("Requests, project", dbload.Auditor, paths.Requests+"?tab=all&project="+dbload.Project),
		get("Request, open", dbload.Requester, paths.Request(open)), get("Request, active", dbload.Requester, paths.Request(closed)),
		get("New request", dbload.Requester, paths.RequestNew), get("New request, all teams", dbload.Decider, paths.RequestNew), {"New request, checks", dbload.Requester, http.MethodPost, paths.RequestChecks, asked},
		get("Approvals, team manager", dbload.Manager, paths.Approvals), get("Approvals, operator", dbload.Operator, paths.Approvals),
		get("Approvals, 10,000", dbload.Decider, paths.Approvals), get("Approvals, 10,000, due", dbload.Decider, paths.Approvals+"?sort=due"), get("Approvals, 10,000, newest", dbload.Decider, paths.Approvals+"?sort=newest"),
		get("Approvals, 10,000, search", dbload.Decider, paths.Approvals+"?q=speech"), get("Decide", dbload.Manager, paths.RequestDecide(open)),
		get("Projects, requester", dbload.Requester, paths.Projects), get("Projects, auditor", dbload.Auditor, paths.Projects), get("Projects, search", dbload.Auditor, paths.Projects+"?q=speech"),
		get("Project", dbload.Requester, paths.Project(dbload.Project)), get("Project, 30 d", dbload.Requester, paths.Project(dbload.Project)+"?range=30d"),
		get("Pools", dbload.Requester, paths.Pools), get("Pool", dbload.Operator, paths.Pool(dbload.Pool)), get("Pool, 30 d", dbload.Auditor, paths.Pool(dbload.Pool)+"?range=30d"),
		get("Usage, 30 d", dbload.Auditor, paths.Usage), get("Usage, 400 d by project", dbload.Auditor, paths.Usage+"?by=project&from=2025-10-29&to=2026-12-02"), get("Usage, 90 d by pool, Berlin", dbload.Auditor, paths.Usage+"?by=pool&period=90d&zone=Europe/Berlin"),
		get("Usage, requester", dbload.Requester, paths.Usage+"?by=project"), get("Project, 90 d", dbload.Requester, paths.Project(dbload.Project)+"?range=90d"), get("Pool, 90 d", dbload.Auditor, paths.Pool(dbload.Pool)+"?range=90d"),
		get("Clusters", dbload.Auditor, paths.Clusters), get("Cluster", dbload.Auditor, paths.Cluster(dbload.Cluster)), get("Cluster, admin", dbload.Admin, paths.Cluster(dbload.Cluster)),
		history("", ""), history("person", "person="+person), history("project", "project="+dbload.Project), history("pool", "pool="+dbload.Pool),
		history("cluster", "cluster="+dbload.Cluster), history("kind", "kind=request.decided"), history("kind, rare", "kind=org.imported"), history("outcome", "outcome=refused"),
		history("outcome done", "outcome=done"), history("period, old", "from=2026-03-01&to=2026-03-02"), history("search project", "q=speech"), history("search number", "q=42"),
		history("search person", "q=Ada+Abel"), history("project + kind", "project="+dbload.Project+"&kind=grant.made"), history("pool + outcome", "pool="+dbload.Pool+"&outcome=refused"),
		history("person + old period", "person="+person+"&from=2026-03-01&to=2026-04-01"), history("cluster + rare kind", "cluster="+dbload.Cluster+"&kind=cluster.mode_changed"),
		get("History, team manager", dbload.Manager, paths.History), get("Entry", dbload.Auditor, paths.HistoryEntry(entry)),
		get("People", dbload.Admin, paths.People), get("People, search", dbload.Admin, paths.People+"?q=rosa"),
		get("Search", dbload.Auditor, paths.Search+"?q=speech"), get("Search, requester", dbload.Requester, paths.Search+"?q=speech"),
	}
}

// BenchmarkLarge loads the installation once for all tables.
func BenchmarkLarge(b *testing.B) {
	l := newLarge(b)
	b.Run("pages", l.pages)
	b.Run("floors", l.floors)
}

// cpu is the processor time spent so far by this process and, where the database is
// on this machine, by its connections.
func (l *large) cpu(b *testing.B) time.Duration {
	var own syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	sum := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	var pids []int
	require.NoError(b, l.owner.Select(&pids, `SELECT pid FROM pg_stat_activity WHERE datname = current_database()`))
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			continue // on another machine
		}
		ns, err := strconv.ParseInt(strings.Fields(string(raw))[0], 10, 64)
		require.NoError(b, err)
		sum += time.Duration(ns)
	}
	return sum
}

// onlyPage is the beginning of the names of the pages to measure.
const onlyPage = "QM_BENCH_PAGE"

// measured is how many answers the figures of one page are of.
const measured = 6

// pages says how long the server needs for each page: its processor time with that
// of its database connections, which is what an answer takes on a machine that has
// nothing else to do, and the median and the worst on this one.
func (l *large) pages(b *testing.B) {
	fmt.Printf("\n%-34s %10s %10s %10s %6s\n", "page", "CPU ms", "median ms", "worst ms", "KiB")
	for _, x := range l.sights(b) {
		if !strings.HasPrefix(x.name, os.Getenv(onlyPage)) {
			continue
		}
		var took []time.Duration
		size, busy := 0, time.Duration(0)
		for i := range 2 + measured {
			if i == 2 {
				busy = -l.cpu(b)
			}
			start := time.Now()
			w := l.send(x.as, x.method, x.target, x.form)
			if i >= 2 { // the first ones prepare connections and fill caches
				took = append(took, time.Since(start))
			}
			if w.Code != http.StatusOK {
				b.Errorf("%s %s: %d", x.name, x.target, w.Code)
				break
			}
			size = w.Body.Len()
		}
		if len(took) > 0 {
			busy += l.cpu(b)
			slices.Sort(took)
			fmt.Printf("%-34s %10.1f %10.1f %10.1f %6d\n", x.name, busy.Seconds()*1000/measured, took[len(took)/2].Seconds()*1000, took[len(took)-1].Seconds()*1000, size/1024)
		}
	}
}
