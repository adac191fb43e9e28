package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"quartermaster/internal/fault"
	"quartermaster/internal/finding"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

const noFinding = "There is no such finding."

type findingRow struct {
	ID              string                  `db:"id"`
	ClusterID       string                  `db:"cluster_id"`
	BindingID       string                  `db:"binding_id"`
	PoolID          string                  `db:"pool_id"`
	Kind            finding.Kind            `db:"kind"`
	Severity        finding.Severity        `db:"severity"`
	Owner           finding.Owner           `db:"owner"`
	ObjectKind      string                  `db:"object_kind"`
	ObjectNamespace string                  `db:"object_namespace"`
	ObjectName      string                  `db:"object_name"`
	Field           string                  `db:"field"`
	Granted         *string                 `db:"granted"`
	Live            *string                 `db:"live"`
	Manager         string                  `db:"manager"`
	WroteAt         *time.Time              `db:"wrote_at"`
	Note            string                  `db:"note"`
	Mendable        bool                    `db:"mendable"`
	PoolKey         document[fleet.PoolKey] `db:"pool_key"`
	State           finding.State           `db:"state"`
	Since           time.Time               `db:"since"`
	LastSeen        time.Time               `db:"last_seen"`
	ResolvedAt      *time.Time              `db:"resolved_at"`
	How             finding.How             `db:"how"`
	By              string                  `db:"resolved_by"`
	Reopened        int                     `db:"reopened"`
	Turns           int                     `db:"turns"`
	TurnsFrom       time.Time               `db:"turns_from"`
	ChangeID        string                  `db:"change_id"`
	RequestID       string                  `db:"request_id"`
}

func (r findingRow) toDomain() finding.Finding {
	return finding.Finding{
		ID: r.ID, ClusterID: r.ClusterID, PoolID: r.PoolID,
		Seen: finding.Seen{
			Key:  finding.Key{Object: fleet.ObjectRef{Kind: r.ObjectKind, Namespace: r.ObjectNamespace, Name: r.ObjectName}, Field: r.Field},
			Kind: r.Kind, Severity: r.Severity, Owner: r.Owner, BindingID: r.BindingID, Pool: *r.PoolKey.Doc,
			Granted: r.Granted, Live: r.Live, Manager: r.Manager, At: utc(r.WroteAt), Note: r.Note, Mendable: r.Mendable,
		},
		State: r.State, Since: r.Since.UTC(), LastSeen: r.LastSeen.UTC(), ResolvedAt: utc(r.ResolvedAt), How: r.How, By: r.By,
		Reopened: r.Reopened, Turns: r.Turns, TurnsFrom: r.TurnsFrom.UTC(), ChangeID: r.ChangeID, RequestID: r.RequestID,
	}
}

const findingColumns = `f.id, f.cluster_id, coalesce(f.binding_id::text, '') AS binding_id, coalesce(f.pool_id, '') AS pool_id, f.kind, f.severity, f.owner,
		f.object_kind, f.object_namespace, f.object_name, f.field, f.granted, f.live, f.manager, f.wrote_at, f.note, f.mendable, f.pool_key, f.state, f.since,
		f.last_seen, f.resolved_at, f.how, f.resolved_by, f.reopened, f.turns, f.turns_from, coalesce(f.change_id::text, '') AS change_id,
		coalesce(f.request_id::text, '') AS request_id`

// findingNames is a finding with the names for its ids.
type findingNames struct {
	findingRow
	ClusterName   string `db:"cluster_name"`
	PoolName      string `db:"pool_name"`
	ProjectID     string `db:"project_id"`
	ProjectName   string `db:"project_name"`
	Environment   string `db:"environment"`
	RequestNumber int64  `db:"request_number"`
}

func (r findingNames) toDomain() portal.FindingRow {
	return portal.FindingRow{Finding: r.findingRow.toDomain(), ClusterName: r.ClusterName, PoolName: r.PoolName, ProjectID: r.ProjectID, ProjectName: r.ProjectName,
		Environment: r.Environment, RequestNumber: r.RequestNumber}
}

const (
	fromFinding = `
		FROM finding f JOIN cluster c ON c.id = f.cluster_id LEFT JOIN pool p ON p.id = f.pool_id
		LEFT JOIN binding b ON b.id = f.binding_id LEFT JOIN project j ON j.id = b.project_id LEFT JOIN request q ON q.id = f.request_id `
	selectFindingNames = `SELECT ` + findingColumns + `, c.name AS cluster_name, coalesce(p.name, '') AS pool_name, coalesce(j.id, '') AS project_id,
		coalesce(j.name, '') AS project_name, coalesce(b.environment, '') AS environment, coalesce(q.number, 0) AS request_number` + fromFinding
)

// Finding by id.
func (r reader) Finding(ctx context.Context, id string) (portal.FindingRow, error) {
	if !isID(id) {
		return portal.FindingRow{}, fault.New(fault.NotFound, noFinding)
	}
	var row findingNames
	if err := r.get(ctx, &row, noFinding, selectFindingNames+`WHERE f.id = $1`, id); err != nil {
		return portal.FindingRow{}, fmt.Errorf("load finding: %w", err)
	}
	return row.toDomain(), nil
}

// Findings that q names: worst first, then newest.
func (r reader) Findings(ctx context.Context, q portal.FindingQuery) ([]portal.FindingRow, error) {
	f := findingFilter(q)
	if q.AfterID != "" {
		if !isID(q.AfterID) {
			return nil, fault.New(fault.NotFound, noFinding)
		}
		f.and(`(f.severity, f.since, f.id) < (SELECT x.severity, x.since, x.id FROM finding x WHERE x.id = ?)`, q.AfterID)
	}
	f.args = append(f.args, pageSize(q.Limit))
	var rows []findingNames
	query := sqlx.Rebind(sqlx.DOLLAR, selectFindingNames+`WHERE true`+string(f.conditions)+` ORDER BY f.severity DESC, f.since DESC, f.id DESC LIMIT ?`)
	if err := r.all(ctx, &rows, query, f.args...); err != nil {
		return nil, fmt.Errorf("load findings: %w", err)
	}
	out := make([]portal.FindingRow, 0, len(rows))
	for _, x := range rows {
		out = append(out, x.toDomain())
	}
	return out, nil
}

// CountFindings counts what q names, up to limit.
func (r reader) CountFindings(ctx context.Context, q portal.FindingQuery, limit int) (int, error) {
	f := findingFilter(q)
	f.args = append(f.args, limit)
	var n int
	query := sqlx.Rebind(sqlx.DOLLAR, `SELECT count(*) FROM (SELECT 1`+fromFinding+`WHERE true`+string(f.conditions)+` LIMIT ?) x`)
	if err := r.get(ctx, &n, "", query, f.args...); err != nil {
		return 0, fmt.Errorf("count findings: %w", err)
	}
	return n, nil
}

func findingFilter(q portal.FindingQuery) filter {
	var f filter
	for _, c := range []struct{ condition, value string }{
		{`f.state = ?`, string(q.State)}, {`f.kind = ?`, string(q.Kind)}, {`f.cluster_id = ?`, q.ClusterID}, {`b.project_id = ?`, q.ProjectID},
	} {
		if c.value != "" {
			f.and(c.condition, c.value)
		}
	}
	if q.Severity > 0 {
		f.and(`f.severity = ?`, int(q.Severity))
	}
	if q.Owned != nil {
		owned := jsonOf(q.Owned)
		f.and(`EXISTS (SELECT FROM jsonb_to_recordset(?) AS o ("Role" text, "Everywhere" boolean, "ClusterID" text, "PoolID" text)
			WHERE o."Role" = f.owner AND (o."Everywhere" OR o."ClusterID" = f.cluster_id OR o."PoolID" = f.pool_id
				OR f.pool_id IS NULL AND o."PoolID" <> '' AND EXISTS (SELECT FROM pool x WHERE x.id = o."PoolID" AND x.cluster_id = f.cluster_id)))`, owned)
	}
	return f
}

// FindingsToCompare of a cluster: the open ones, and those resolved since, oldest first.
func (r reader) FindingsToCompare(ctx context.Context, clusterID string, since time.Time) ([]finding.Finding, error) {
	return r.findings(ctx, `SELECT `+findingColumns+` FROM finding f
		WHERE f.cluster_id = $1 AND (f.state = 'open' OR f.resolved_at > $2) ORDER BY f.since, f.id`, clusterID, since)
}

// FindingsOfChange are those that a change puts back.
func (r reader) FindingsOfChange(ctx context.Context, changeID string) ([]finding.Finding, error) {
	return r.findings(ctx, `SELECT `+findingColumns+` FROM finding f WHERE f.change_id = $1 ORDER BY f.since, f.id`, changeID)
}

// FindingsOfRequest are those that a request would accept.
func (r reader) FindingsOfRequest(ctx context.Context, requestID string) ([]finding.Finding, error) {
	return r.findings(ctx, `SELECT `+findingColumns+` FROM finding f WHERE f.request_id = $1 ORDER BY f.since, f.id`, requestID)
}

// FindingOf is the newest finding about a key; nil = none.
func (r reader) FindingOf(ctx context.Context, clusterID string, key finding.Key) (*finding.Finding, error) {
	all, err := r.findings(ctx, `SELECT `+findingColumns+` FROM finding f
		WHERE f.cluster_id = $1 AND f.object_kind = $2 AND f.object_namespace = $3 AND f.object_name = $4 AND f.field = $5
		ORDER BY f.state = 'open' DESC, f.since DESC LIMIT 1`, clusterID, key.Object.Kind, key.Object.Namespace, key.Object.Name, key.Field)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (r reader) findings(ctx context.Context, query string, args ...any) ([]finding.Finding, error) {
	var rows []findingRow
	if err := r.all(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("load findings: %w", err)
	}
	out := make([]finding.Finding, 0, len(rows))
	for _, x := range rows {
		out = append(out, x.toDomain())
	}
	return out, nil
}

// FindingEvents of a finding, oldest first.
func (r reader) FindingEvents(ctx context.Context, findingID string) ([]portal.FindingEvent, error) {
	var rows []struct {
		EntryID string    `db:"entry_id"`
		Event   string    `db:"event"`
		At      time.Time `db:"at"`
		By      string    `db:"by_id"`
		ByName  string    `db:"by_name"`
		Granted *string   `db:"granted"`
		Live    *string   `db:"live"`
		Manager string    `db:"manager"`
		Note    string    `db:"note"`
	}
	err := r.all(ctx, &rows, `
		SELECT e.entry_id, e.event, e.at, e.by_id, coalesce(p.name, e.by_id) AS by_name, e.granted, e.live, e.manager, e.note
		FROM finding_event e LEFT JOIN person p ON p.id::text = e.by_id WHERE e.finding_id = $1 ORDER BY e.id`, findingID)
	if err != nil {
		return nil, fmt.Errorf("load history of a finding: %w", err)
	}
	out := make([]portal.FindingEvent, 0, len(rows))
	for _, x := range rows {
		out = append(out, portal.FindingEvent{FindingID: findingID, EntryID: x.EntryID, Event: x.Event, At: x.At.UTC(), By: x.By, ByName: x.ByName,
			Granted: x.Granted, Live: x.Live, Manager: x.Manager, Note: x.Note})
	}
	return out, nil
}

// LastChanges of a cluster's bindings, by binding.
func (r reader) LastChanges(ctx context.Context, clusterID string) (map[string]portal.LastChange, error) {
	var rows []struct {
		BindingID  string             `db:"binding_id"`
		ID         string             `db:"id"`
		State      portal.ChangeState `db:"state"`
		VerifiedAt *time.Time         `db:"verified_at"`
		Wrote      bool               `db:"wrote"`
	}
	err := r.all(ctx, &rows, `
		SELECT DISTINCT ON (c.binding_id) c.binding_id, c.id, c.state, c.verified_at,
			CASE WHEN jsonb_typeof(c.receipt->'written') = 'array' THEN jsonb_array_length(c.receipt->'written') > 0 ELSE false END AS wrote
		FROM change c WHERE c.cluster_id = $1 ORDER BY c.binding_id, c.seq DESC`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("load last changes: %w", err)
	}
	out := make(map[string]portal.LastChange, len(rows))
	for _, x := range rows {
		out[x.BindingID] = portal.LastChange{ID: x.ID, State: x.State, VerifiedAt: utc(x.VerifiedAt), Wrote: x.Wrote}
	}
	return out, nil
}

// PutsBack: the cluster's policy is to put drift back by itself.
func (r reader) PutsBack(ctx context.Context, clusterID string) (bool, error) {
	var on bool
	if err := r.get(ctx, &on, noCluster, `SELECT c.puts_back FROM cluster c WHERE c.id = $1`, clusterID); err != nil {
		return false, fmt.Errorf("load policy of a cluster: %w", err)
	}
	return on, nil
}
