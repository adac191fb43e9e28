package db

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/internal/request"
)

type listRow struct {
	ID            string        `db:"id"`
	Number        int64         `db:"number"`
	State         request.State `db:"state"`
	ProjectID     string        `db:"project_id"`
	ProjectName   string        `db:"project_name"`
	TeamName      string        `db:"team_name"`
	Environment   string        `db:"environment"`
	RequesterID   string        `db:"requester_id"`
	RequesterName string        `db:"requester_name"`
	Purpose       string        `db:"purpose"`
	StageName     string        `db:"stage_name"`
	WaitingSince  *time.Time    `db:"waiting_since"`
	DueAt         *time.Time    `db:"due_at"`
	CreatedAt     time.Time     `db:"created_at"`
	Warnings      int           `db:"warnings"`
}

func (l listRow) toDomain(key string) portal.RequestRow {
	return portal.RequestRow{Key: key, ID: l.ID, Number: l.Number, State: l.State, ProjectID: l.ProjectID, ProjectName: l.ProjectName,
		TeamName: l.TeamName, Environment: l.Environment, RequesterID: l.RequesterID, RequesterName: l.RequesterName, Purpose: l.Purpose,
		StageName: l.StageName, WaitingSince: utc(l.WaitingSince), DueAt: utc(l.DueAt), CreatedAt: l.CreatedAt.UTC(), Warnings: l.Warnings}
}

// The page is cut first (hit); names, the stage and warnings are looked up for its rows only.
const (
	listHead = `
	WITH hit AS (
		SELECT r.id, r.number, r.state, r.project_id, r.team_id, r.environment, r.requester_id, r.purpose, r.digest, r.route, r.stage_key,
		       r.waiting_since, r.due_at, r.created_at
		FROM request r WHERE true`
	listTail = `
	)
	SELECT h.id, h.number, h.state, h.project_id, p.name AS project_name, t.name AS team_name, h.environment, h.requester_id,
	       q.name AS requester_name, h.purpose, h.waiting_since, h.due_at, h.created_at,
	       coalesce((SELECT s->>'name' FROM jsonb_array_elements(h.route->'stages') s WHERE s->>'key' = h.stage_key LIMIT 1), '') AS stage_name,
	       (SELECT count(DISTINCT (c.policy_id, c.pool_id)) FROM check_result c
	        WHERE c.request_id = h.id AND c.digest = h.digest AND c.phase = 'submission' AND c.outcome <> 'pass') AS warnings
	FROM hit h JOIN project p ON p.id = h.project_id JOIN team t ON t.id = h.team_id JOIN person q ON q.id = h.requester_id
	`
)

// RequestList pages through requests: one query for the page, one for its lines.
func (r reader) RequestList(ctx context.Context, q portal.RequestQuery) ([]portal.RequestRow, error) {
	f, none, err := r.requestFilter(ctx, q)
	if err != nil || none {
		return nil, err
	}
	o, err := orderOf(q)
	if err != nil {
		return nil, err
	}
	if q.AfterKey != "" {
		if err := o.after(&f, q.AfterKey); err != nil {
			return nil, err
		}
	}
	f.args = append(f.args, pageSize(q.Limit))
	var found []listRow
	query := listHead + string(f.conditions) + " ORDER BY " + o.inside + " LIMIT ?" + listTail + " ORDER BY " + o.outside
	if err := r.all(ctx, &found, sqlx.Rebind(sqlx.DOLLAR, query), f.args...); err != nil {
		return nil, fmt.Errorf("list requests: %w", err)
	}
	rows := make([]portal.RequestRow, 0, len(found))
	for _, l := range found {
		rows = append(rows, l.toDomain(o.key(l)))
	}
	return rows, r.addLines(ctx, rows)
}

// order of a list and the key of its rows. inside is by the columns of request
// r, outside by those of the page h.
type order struct {
	inside, outside string
	key             func(listRow) string
	after           func(f *filter, key string) error
}

func orderOf(q portal.RequestQuery) (order, error) {
	byNumber := func(l listRow) string { return strconv.FormatInt(l.Number, 10) }
	switch {
	case q.WaitingFor != nil && (q.Sort == "" || q.Sort == "oldest"):
		return order{"r.waiting_since, r.number", "h.waiting_since, h.number", func(l listRow) string { return timeKey(l.WaitingSince, l.Number) },
			afterTime("(r.waiting_since, r.number) > (?, ?)")}, nil
	case q.Sort == "" || q.Sort == "newest":
		return order{"r.number DESC", "h.number DESC", byNumber, afterNumber("r.number < ?")}, nil
	case q.Sort == "oldest":
		return order{"r.number", "h.number", byNumber, afterNumber("r.number > ?")}, nil
	case q.Sort == "due":
		return order{"coalesce(r.due_at, 'infinity'), r.number", "coalesce(h.due_at, 'infinity'), h.number",
			func(l listRow) string { return timeKey(l.DueAt, l.Number) }, afterTime("(coalesce(r.due_at, 'infinity'), r.number) > (?::timestamptz, ?)")}, nil
	}
	return order{}, fault.New(fault.Invalid, "This list can be sorted by newest, oldest or due.")
}

func timeKey(t *time.Time, number int64) string {
	at := "infinity"
	if t != nil {
		at = t.UTC().Format(time.RFC3339Nano)
	}
	return at + "_" + strconv.FormatInt(number, 10)
}

func afterNumber(condition string) func(*filter, string) error {
	return func(f *filter, key string) error {
		n, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			return badKey(err)
		}
		f.and(condition, n)
		return nil
	}
}

func afterTime(condition string) func(*filter, string) error {
	return func(f *filter, key string) error {
		at, number, _ := strings.Cut(key, "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return badKey(err)
		}
		if at != "infinity" {
			if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
				return badKey(err)
			}
		}
		f.and(condition, at, n)
		return nil
	}
}

func badKey(cause error) error {
	return fault.New(fault.Invalid, "This page of the list cannot be found. Start from the first page.").Because(cause)
}

// requestFilter turns q into conditions; none = nothing can match.
func (r reader) requestFilter(ctx context.Context, q portal.RequestQuery) (f filter, none bool, err error) {
	if q.Teams != nil {
		f.and("r.team_id = ANY(?)", pq.Array(q.Teams))
		none = len(q.Teams) == 0
	}
	if q.RequesterID != "" {
		if !isID(q.RequesterID) {
			return f, true, nil
		}
		f.and("(r.requester_id = ? OR r.beneficiary_id = ?)", q.RequesterID, q.RequesterID)
	}
	if q.ProjectID != "" {
		f.and("r.project_id = ?", q.ProjectID)
	}
	if q.PoolID != "" {
		f.and("EXISTS (SELECT FROM request_line l WHERE l.request_id = r.id AND l.pool_id = ?)", q.PoolID)
	}
	if q.ClusterID != "" {
		f.and("EXISTS (SELECT FROM request_line l JOIN pool p ON p.id = l.pool_id WHERE l.request_id = r.id AND p.cluster_id = ?)", q.ClusterID)
	}
	if len(q.States) > 0 {
		f.and("r.state = ANY(?)", pq.Array(q.States))
	}
	if s := strings.TrimSpace(q.Search); strings.HasPrefix(strings.ToUpper(s), "QM") && numberIn(s) > 0 {
		f.and("r.number = ?", numberIn(s))
	} else if s != "" {
		f.and("(r.number = ? OR r.purpose ILIKE ? OR r.project_id IN (SELECT p.id FROM project p WHERE p.name ILIKE ?))", numberIn(s), contains(s), contains(s))
	}
	if q.WaitingFor != nil {
		more, err := r.waitingFor(ctx, &f, *q.WaitingFor)
		return f, none || !more, err
	}
	return f, none, nil
}

// numberIn reads a request number as people write it: 42, QM-42, qm42, #42. Anything else is -1.
func numberIn(s string) int64 {
	s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.ToUpper(s), "QM"), "-"), "#")
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

type listLineRow struct {
	RequestID string            `db:"request_id"`
	PoolID    string            `db:"pool_id"`
	PoolName  string            `db:"pool_name"`
	Resource  string            `db:"resource"`
	Unit      fleet.Unit        `db:"unit"`
	Kind      request.LimitKind `db:"kind"`
	Current   measure           `db:"current"`
	Asked     quantity          `db:"asked"`
	Granted   measure           `db:"granted"`
	Enforced  measure           `db:"enforced"`
	InUse     measure           `db:"in_use"`
}

// addLines fills the lines of all rows with what is enforced and in use now.
func (r reader) addLines(ctx context.Context, rows []portal.RequestRow) error {
	if len(rows) == 0 {
		return nil
	}
	ids, at := make([]string, len(rows)), make(map[string]int, len(rows))
	for i, row := range rows {
		ids[i], at[row.ID] = row.ID, i
	}
	var lines []listLineRow
	err := r.all(ctx, &lines, `
		SELECT l.request_id, l.pool_id, p.name AS pool_name, p.resource, p.unit, l.kind, l.current, l.asked, l.granted, u.nominal AS enforced, u.in_use
		FROM request_line l
		JOIN request r ON r.id = l.request_id
		JOIN pool p ON p.id = l.pool_id
		LEFT JOIN binding b ON b.project_id = r.project_id AND b.environment = r.environment AND b.cluster_id = p.cluster_id
		LEFT JOIN usage_now u ON u.binding_id = b.id AND u.pool_id = l.pool_id
		WHERE l.request_id = ANY($1::uuid[]) ORDER BY l.request_id, l.position`, pq.Array(ids))
	if err != nil {
		return fmt.Errorf("list request lines: %w", err)
	}
	for _, l := range lines {
		row := &rows[at[l.RequestID]]
		row.Lines = append(row.Lines, portal.RequestRowLine{PoolID: l.PoolID, PoolName: l.PoolName, Resource: l.Resource, Unit: l.Unit, Kind: l.Kind,
			Current: l.Current.Measure, Asked: l.Asked.Quantity, Granted: l.Granted.Measure, Enforced: l.Enforced.Measure, InUse: l.InUse.Measure})
	}
	return nil
}
