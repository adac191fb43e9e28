package db_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"quartermaster/db"
	"quartermaster/db/dbtest"
	"quartermaster/internal/ledger"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
	"quartermaster/internal/soak"
)

// explained runs each query under EXPLAIN first and keeps the plans.
type explained struct {
	*sqlx.DB
	t     *testing.T
	plans []string
}

func (e *explained) explain(ctx context.Context, query string, args []any) {
	var lines []string
	require.NoError(e.t, e.DB.SelectContext(ctx, &lines, `EXPLAIN (ANALYZE, BUFFERS) `+query, args...))
	e.plans = append(e.plans, strings.Join(lines, "\n"))
}

func (e *explained) GetContext(ctx context.Context, dest any, query string, args ...any) error {
	e.explain(ctx, query, args)
	return e.DB.GetContext(ctx, dest, query, args...)
}

func (e *explained) SelectContext(ctx context.Context, dest any, query string, args ...any) error {
	e.explain(ctx, query, args)
	return e.DB.SelectContext(ctx, dest, query, args...)
}

var buffers = regexp.MustCompile(`Buffers: shared((?: (?:hit|read|dirtied|written)=\d+)+)`)

// pages counts the 8 KiB pages that the plans touched: unlike time, the same on
// every machine.
func (e *explained) pages() (n int) {
	for _, plan := range e.plans {
		plan, _, _ = strings.Cut(plan, "Planning:")
		first := buffers.FindStringSubmatch(plan)
		if first == nil {
			continue
		}
		for _, field := range strings.Fields(first[1]) {
			name, count, _ := strings.Cut(field, "=")
			if name == "hit" || name == "read" {
				v, err := strconv.Atoi(count)
				require.NoError(e.t, err)
				n += v
			}
		}
	}
	return n
}

// crowd is the size of an organisation of 5,000 people.
type crowd struct{ teams, people, clusters, open, closed, entries int }

func (c crowd) fill(t *testing.T, owner *sqlx.DB) {
	start := time.Now()
	for _, s := range []struct {
		statement string
		args      []any
	}{
		{`INSERT INTO team (id, name) SELECT 't' || n, 'Team ' || n FROM generate_series(1, $1) n`, []any{c.teams}},
		{`INSERT INTO project (id, name, team_id, environments, data_classes) SELECT 'p' || n, 'Project ' || n, 't' || n, '{development}', '{internal}' FROM generate_series(1, $1) n`, []any{c.teams}},
		{`INSERT INTO person (issuer, subject, name, groups) SELECT 'x', 's' || n, 'Person ' || n, ARRAY['t' || (1 + n % $2)] FROM generate_series(1, $1) n`, []any{c.people, c.teams}},
		{`INSERT INTO cluster (id, name, kind) SELECT 'c' || n, 'Cluster ' || n, 'kubernetes' FROM generate_series(1, $1) n`, []any{c.clusters}},
		{`INSERT INTO pool (id, cluster_id, flavor, resource, name) SELECT 'g' || n, 'c' || n, 'h100', 'nvidia.com/gpu', 'H100' FROM generate_series(1, $1) n`, []any{c.clusters}},
		{`INSERT INTO binding (project_id, environment, cluster_id, cluster_queue) SELECT 'p' || n, 'development', 'c' || (1 + n % $2), 'q' || n FROM generate_series(1, $1) n`, []any{c.teams, c.clusters}},
		{`INSERT INTO usage_now (binding_id, pool_id, nominal, in_use, at) SELECT b.id, 'g' || substr(b.cluster_id, 2), '8', '4', now() FROM binding b`, nil},
		// Open requests wait half for the team's manager, half for the capacity manager.
		{`INSERT INTO request (kind, state, project_id, environment, team_id, requester_id, purpose, editor_ids, revision, digest, route, stage_key, waiting_role, waiting_since, due_at, created_at, closed_at)
			SELECT 'quota', CASE WHEN n > $1 THEN 'submitted' ELSE 'active' END, 'p' || (1 + n % $3), 'development', 't' || (1 + n % $3), p.id, 'purpose ' || n, ARRAY[p.id], 1, 'd' || n,
			       '{"stages":[{"key":"team","name":"Team manager"},{"key":"capacity","name":"Capacity manager"}]}',
			       CASE WHEN n <= $1 THEN '' WHEN n % 2 = 0 THEN 'team' ELSE 'capacity' END, CASE WHEN n <= $1 THEN '' WHEN n % 2 = 0 THEN 'team_manager' ELSE 'capacity_manager' END,
			       CASE WHEN n > $1 THEN now() - n * interval '1 second' END, CASE WHEN n > $1 THEN now() + n * interval '1 second' END, now() - n * interval '1 minute', CASE WHEN n <= $1 THEN now() END
			FROM generate_series(1, $1::int + $2::int) n JOIN person p ON p.subject = 's' || (1 + n % $4)`, []any{c.closed, c.open, c.teams, c.people}},
		{`INSERT INTO request_waiting_place (request_id, team_id, cluster_id, pool_id)
			SELECT r.id, CASE WHEN r.stage_key = 'team' THEN r.team_id ELSE '' END, CASE WHEN r.stage_key = 'team' THEN '' ELSE 'c' || (1 + r.number % $1) END, CASE WHEN r.stage_key = 'team' THEN '' ELSE 'g' || (1 + r.number % $1) END
			FROM request r WHERE r.stage_key <> ''`, []any{c.clusters}},
		{`INSERT INTO request_revision (request_id, number, digest, content, editor_id, at) SELECT r.id, 1, r.digest, '{"lines":[]}', r.requester_id, r.created_at FROM request r`, nil},
		{`INSERT INTO request_line (request_id, position, pool_id, kind, asked) SELECT r.id, 0, 'g' || (1 + r.number % $1), 'hard', '8' FROM request r`, []any{c.clusters}},
		{`INSERT INTO check_result (request_id, digest, phase, policy_id, version, title, severity, outcome, message, at)
			SELECT r.id, r.digest, 'submission', 'check' || k, '1', 't', 'warn', 'fails', 'm', r.created_at FROM request r, generate_series(1, 3) k`, nil},
		{`INSERT INTO ledger_entry (id, digest, canonical, type, outcome, at, actor, object_kind, object_id, prev, request_id, project_id, pool_ids, cluster_id)
			SELECT gen_random_uuid(), md5(n::text) || md5((-n)::text), convert_to(repeat('x', 600), 'UTF8'),
			       (ARRAY['request.drafted','request.submitted','request.decided','person.signed_in','change.verified'])[1 + n % 5], CASE WHEN n % 1000 = 0 THEN 'refused' ELSE 'done' END,
			       now() - ($1 - n) * interval '10 seconds', p.id::text, 'request', n::text, '', CASE WHEN n % 5 < 3 THEN r.id END, CASE WHEN n % 5 < 3 THEN r.project_id END,
			       CASE WHEN n % 5 < 3 THEN ARRAY['g' || (1 + n % $2)] ELSE '{}' END, CASE WHEN n % 5 = 4 THEN 'c' || (1 + n % $2) END
			FROM generate_series(1, $1) n JOIN person p ON p.subject = 's' || (1 + n % $3) JOIN request r ON r.number = 1 + n % $4`, []any{c.entries, c.clusters, c.people, c.open + c.closed}},
	} {
		owner.MustExec(s.statement, s.args...)
	}
	owner.MustExec(`VACUUM ANALYZE`)
	t.Logf("filled %+v in %v", c, time.Since(start).Round(time.Millisecond))
}

// Every list and search of a large organisation touches few pages. The figures
// are of EXPLAIN ANALYZE on the full size; the small size must keep them too.
func TestReadsOfALargeOrganisationTouchFewPages(t *testing.T) {
	c := crowd{teams: soak.Count(50, 500), people: soak.Count(300, 5000), clusters: soak.Count(20, 100),
		open: soak.Count(1000, 10_000), closed: soak.Count(2000, 100_000), entries: soak.Count(8000, 1_000_000)}
	address := dbtest.URL(t)
	owner := dbtest.Open(t, address)
	c.fill(t, owner)
	app := dbtest.Open(t, dbtest.AppURL(t, address))

	s := dbtest.StoreAt(t, address)
	someone, err := s.PersonBySubject(t.Context(), "x", "s17")
	require.NoError(t, err)
	as := func(role org.Role, kind org.ScopeKind, id string) *org.Person {
		p := someone
		p.Roles = []org.Assignment{{Role: role, Scope: org.Scope{Kind: kind, ID: id}}}
		return &p
	}
	teamLead, capacity, poolOwner := as(org.TeamManager, org.TeamScope, "t7"), as(org.CapacityManager, org.Everywhere, ""), as(org.CapacityManager, org.PoolScope, "g7")
	one, err := s.RequestByNumber(t.Context(), int64(c.closed-2))
	require.NoError(t, err)
	list := func(q portal.RequestQuery) func(context.Context, portal.Reader) error {
		return func(ctx context.Context, r portal.Reader) error { _, err := r.RequestList(ctx, q); return err }
	}
	count := func(p *org.Person) func(context.Context, portal.Reader) error {
		return func(ctx context.Context, r portal.Reader) error { _, err := r.CountWaiting(ctx, *p, 100); return err }
	}
	entries := func(q portal.EntryQuery) func(context.Context, portal.Reader) error {
		return func(ctx context.Context, r portal.Reader) error { _, err := r.Entries(ctx, q); return err }
	}
	for _, x := range []struct {
		name  string
		pages int
		read  func(context.Context, portal.Reader) error
	}{
		{"requests, newest", 2500, list(portal.RequestQuery{})},
		{"requests, oldest", 2500, list(portal.RequestQuery{Sort: "oldest"})},
		{"requests, due", 2500, list(portal.RequestQuery{Sort: "due"})},
		{"requests of a team", 2500, list(portal.RequestQuery{Teams: []string{"t7"}})},
		{"requests of a person", 2500, list(portal.RequestQuery{RequesterID: someone.ID})},
		{"requests by words", 10_000, list(portal.RequestQuery{Search: "purpose 77"})}, // reads every purpose
		{"requests of a project", 2500, list(portal.RequestQuery{ProjectID: "p7"})},
		{"requests in a state", 2500, list(portal.RequestQuery{States: []request.State{request.Submitted}})},
		{"requests by number", 100, list(portal.RequestQuery{Search: "QM-77"})},
		{"what waits for a team's manager", 2500, list(portal.RequestQuery{WaitingFor: teamLead})},
		{"what waits for the capacity manager", 2500, list(portal.RequestQuery{WaitingFor: capacity})},
		{"what waits for a pool's owner", 2500, list(portal.RequestQuery{WaitingFor: poolOwner})},
		{"count for a team's manager", 1000, count(teamLead)},
		{"count for the capacity manager", 1000, count(capacity)},
		{"count for a pool's owner", 1500, count(poolOwner)},
		{"one request", 50, func(ctx context.Context, r portal.Reader) error { _, err := r.Request(ctx, one.ID); return err }},
		{"one person", 50, func(ctx context.Context, r portal.Reader) error { _, err := r.Person(ctx, someone.ID); return err }},
		{"history, newest", 1500, entries(portal.EntryQuery{})},
		{"history, middle", 1500, entries(portal.EntryQuery{Before: int64(c.entries / 2)})},
		{"history of a person", 1500, entries(portal.EntryQuery{PersonID: someone.ID})},
		{"history of a project", 1500, entries(portal.EntryQuery{ProjectID: "p7"})},
		{"history of a pool", 3000, entries(portal.EntryQuery{PoolID: "g7"})},
		{"history of a cluster", 1500, entries(portal.EntryQuery{ClusterID: "c5"})},
		{"history of a type", 1500, entries(portal.EntryQuery{Types: []ledger.Type{ledger.RequestDecided}})},
		{"history of two types", 1500, entries(portal.EntryQuery{Types: []ledger.Type{ledger.RequestDecided, ledger.SignedIn}})},
		{"refusals", 1500, entries(portal.EntryQuery{Outcome: ledger.Refused})},
		{"history of a day", 1500, entries(portal.EntryQuery{From: time.Now().Add(-30 * time.Hour), To: time.Now().Add(-6 * time.Hour)})},
		{"history of a team", 3000, entries(portal.EntryQuery{Teams: []string{"t7"}})},
		{"history of a request", 1500, func(ctx context.Context, r portal.Reader) error {
			_, err := r.EntriesOfRequest(ctx, one.ID)
			return err
		}},
		{"history searched for a person", 3000, entries(portal.EntryQuery{Search: "Person 417"})},
		{"history searched for a common word", 3000, entries(portal.EntryQuery{Search: "Person"})},
		{"history of a team searched", 3000, entries(portal.EntryQuery{Teams: []string{"t7"}, Search: "Person 4"})},
		{"history searched for a number", 3000, entries(portal.EntryQuery{Search: "QM-99"})},
		{"usage of a project", 100, func(ctx context.Context, r portal.Reader) error {
			_, err := r.Usage(ctx, portal.UsageQuery{ProjectID: "p7"})
			return err
		}},
		{"usage of a pool", 200, func(ctx context.Context, r portal.Reader) error {
			_, err := r.Usage(ctx, portal.UsageQuery{PoolID: "g7"})
			return err
		}},
		{"pools of a place", 200, func(ctx context.Context, r portal.Reader) error {
			_, err := r.PoolsNear(ctx, portal.PoolQuery{ProjectID: "p7", Environment: "development", PoolIDs: []string{"g9"}})
			return err
		}},
		{"people to ask for, of every team", 2500, func(ctx context.Context, r portal.Reader) error {
			_, err := r.PeopleHoldingNamed(ctx, org.Requester, nil, "Person 4", "", 101)
			return err
		}},
		{"what is coming to a pool", 3000, func(ctx context.Context, r portal.Reader) error {
			_, err := r.ComingOfPools(ctx, []string{"g7"}, portal.PlaceKey{ProjectID: "p7", Environment: "development"}, time.Now())
			return err
		}},
		{"grants that stand", 500, func(ctx context.Context, r portal.Reader) error {
			_, err := r.GrantsStanding(ctx, []string{"p7"}, time.Now())
			return err
		}},
		{"count of a search", 3000, func(ctx context.Context, r portal.Reader) error {
			_, err := r.CountEntries(ctx, portal.EntryQuery{Search: "Person 4"}, 1001)
			return err
		}},
		{"bindings of a place", 50, func(ctx context.Context, r portal.Reader) error {
			_, err := r.Bindings(ctx, portal.BindingQuery{ProjectID: "p7", Environment: "development"})
			return err
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			e := &explained{DB: app, t: t}
			start := time.Now()
			require.NoError(t, x.read(t.Context(), db.NewReader(e)))
			t.Logf("%d pages, %d queries, %v", e.pages(), len(e.plans), time.Since(start).Round(100*time.Microsecond))
			if e.pages() > x.pages {
				t.Errorf("touches %d pages, at most %d expected:\n%s", e.pages(), x.pages, strings.Join(e.plans, "\n\n"))
			}
			require.LessOrEqual(t, len(e.plans), 5, "no query a row")
		})
	}
}
