package db

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
	"quartermaster/internal/usage"
)

// usageParts are the roll-ups of a period ($1 to $10: months, days, hours), with what
// they are of; $11 to $17 filter. Each table is entered by the time, its partitions are pruned by it.
const usageParts = `
	FROM (
		SELECT m.at, m.binding_id, m.pool_id, m.workload_type, m.expected_ms, m.in_use_ms, m.in_use_known_ms, m.nominal_ms, m.nominal_known_ms
		FROM usage_by_month m WHERE m.at >= $1 AND m.at < $2
		UNION ALL
		SELECT d.at, d.binding_id, d.pool_id, d.workload_type, d.expected_ms, d.in_use_ms, d.in_use_known_ms, d.nominal_ms, d.nominal_known_ms
		FROM usage_by_day d WHERE d.at >= $3 AND d.at < $4
		UNION ALL
		SELECT d.at, d.binding_id, d.pool_id, d.workload_type, d.expected_ms, d.in_use_ms, d.in_use_known_ms, d.nominal_ms, d.nominal_known_ms
		FROM usage_by_day d WHERE d.at >= $5 AND d.at < $6
		UNION ALL
		SELECT h.at, h.binding_id, h.pool_id, h.workload_type, h.expected_ms, h.in_use_ms, h.in_use_known_ms, h.nominal_ms, h.nominal_known_ms
		FROM usage_by_hour h WHERE h.at >= $7 AND h.at < $8
		UNION ALL
		SELECT h.at, h.binding_id, h.pool_id, h.workload_type, h.expected_ms, h.in_use_ms, h.in_use_known_ms, h.nominal_ms, h.nominal_known_ms
		FROM usage_by_hour h WHERE h.at >= $9 AND h.at < $10
	) x JOIN binding b ON b.id = x.binding_id JOIN project p ON p.id = b.project_id JOIN team t ON t.id = p.team_id JOIN pool g ON g.id = x.pool_id
	WHERE ($11::text[] IS NULL OR p.team_id = ANY($11)) AND ($12 = '' OR p.team_id = $12) AND ($13 = '' OR p.id = $13)
		AND ($14 = '' OR b.environment = $14) AND ($15 = '' OR x.pool_id = $15) AND ($16 = '' OR x.workload_type = $16) AND (NOT $17 OR x.workload_type = '')`

const usageFigures = `
	sum(x.expected_ms)::bigint AS expected_ms, sum(x.in_use_ms)::bigint AS in_use_ms, sum(x.in_use_known_ms)::bigint AS in_use_known_ms,
	sum(x.nominal_ms)::bigint AS nominal_ms, sum(x.nominal_known_ms)::bigint AS nominal_known_ms`

func usageArgs(q portal.UsageSumQuery, more ...any) []any {
	parts := q.Span.Parts()
	var args []any
	for _, s := range []usage.Span{parts.Months, parts.Days[0], parts.Days[1], parts.Hours[0], parts.Hours[1]} {
		args = append(args, s.From, s.Until)
	}
	return append(append(args, pq.Array(q.Teams), q.TeamID, q.ProjectID, q.Environment, q.PoolID, q.WorkloadType, q.UnknownType), more...)
}

// UsageSums of a period by the key of q.By and by pool.
func (r reader) UsageSums(ctx context.Context, q portal.UsageSumQuery) ([]portal.UsageSum, error) {
	var rows []struct {
		Key    string `db:"key"`
		PoolID string `db:"pool_id"`
		usage.Figures
	}
	err := r.all(ctx, &rows, `
		SELECT CASE $18 WHEN 'team' THEN p.team_id WHEN 'project' THEN p.id WHEN 'pool' THEN x.pool_id WHEN 'type' THEN x.workload_type ELSE b.environment END AS key,
			x.pool_id, `+usageFigures+usageParts+`
		GROUP BY 1, 2 ORDER BY 1, 2`, usageArgs(q, string(q.By))...)
	if err != nil {
		return nil, fmt.Errorf("sum up usage: %w", err)
	}
	out := make([]portal.UsageSum, 0, len(rows))
	for _, x := range rows {
		out = append(out, portal.UsageSum{Key: x.Key, PoolID: x.PoolID, Figures: x.Figures})
	}
	return out, nil
}

// UsageOverTime of a period by bucket and unit, oldest first.
func (r reader) UsageOverTime(ctx context.Context, q portal.UsageSumQuery, bucket usage.Bucket) ([]portal.UsageBucket, error) {
	var rows []struct {
		At   time.Time  `db:"at"`
		Unit fleet.Unit `db:"unit"`
		usage.Figures
	}
	args := usageArgs(q, string(bucket))
	switch parts := q.Span.Parts(); {
	case bucket == usage.Hour:
		for i := range 6 {
			args[i] = time.Time{} // an empty period
		}
		args[6], args[7], args[8], args[9] = q.Span.From, q.Span.Until, time.Time{}, time.Time{}
	case bucket == usage.Day && !parts.Months.Empty(): // the sum of a month does not say its days
		args[0], args[1], args[2], args[3], args[4], args[5] = time.Time{}, time.Time{}, parts.Days[0].From, parts.Days[1].Until, time.Time{}, time.Time{}
	}
	err := r.all(ctx, &rows, `SELECT date_trunc($18, x.at, 'UTC') AS at, g.unit, `+usageFigures+usageParts+` GROUP BY 1, 2 ORDER BY 1, 2`, args...)
	if err != nil {
		return nil, fmt.Errorf("usage over time: %w", err)
	}
	out := make([]portal.UsageBucket, 0, len(rows))
	for _, x := range rows {
		out = append(out, portal.UsageBucket{At: x.At.UTC(), Unit: x.Unit, Figures: x.Figures})
	}
	return out, nil
}

type usageLineRow struct {
	TeamID       string     `db:"team_id"`
	TeamName     string     `db:"team_name"`
	ProjectID    string     `db:"project_id"`
	ProjectName  string     `db:"project_name"`
	CostCentre   string     `db:"cost_centre"`
	Environment  string     `db:"environment"`
	ClusterID    string     `db:"cluster_id"`
	PoolID       string     `db:"pool_id"`
	PoolName     string     `db:"pool_name"`
	Resource     string     `db:"resource"`
	WorkloadType string     `db:"workload_type"`
	Unit         fleet.Unit `db:"unit"`
	HourlyCents  int64      `db:"hourly_cents"`
	Currency     string     `db:"currency"`
	usage.Figures
}

func (l usageLineRow) toDomain(s usage.Span) portal.UsageLine {
	return portal.UsageLine{From: s.From, To: s.Until, TeamID: l.TeamID, TeamName: l.TeamName, ProjectID: l.ProjectID, ProjectName: l.ProjectName, CostCentre: l.CostCentre,
		Environment: l.Environment, ClusterID: l.ClusterID, PoolID: l.PoolID, PoolName: l.PoolName, Resource: l.Resource, WorkloadType: l.WorkloadType,
		Unit: l.Unit, HourlyCents: l.HourlyCents, Currency: l.Currency, Figures: l.Figures}
}

// StreamUsage yields what each project used by the day, oldest first. A day is read
// to its end before the next; all of them show one moment.
func (s *Store) StreamUsage(ctx context.Context, q portal.UsageSumQuery) iter.Seq2[portal.UsageLine, error] {
	return atOneMoment(ctx, s, func(r reader) iter.Seq2[portal.UsageLine, error] { return r.StreamUsage(ctx, q) })
}

// StreamUsage of the reader shows what its transaction sees.
func (r reader) StreamUsage(ctx context.Context, q portal.UsageSumQuery) iter.Seq2[portal.UsageLine, error] {
	return func(yield func(portal.UsageLine, error) bool) {
		for _, day := range q.Span.Split(usage.Day) {
			q.Span = day
			var rows []usageLineRow
			err := r.all(ctx, &rows, `
				SELECT p.team_id, t.name AS team_name, p.id AS project_id, p.name AS project_name, p.cost_centre, b.environment, b.cluster_id,
					x.pool_id, g.name AS pool_name, g.resource, x.workload_type, g.unit, g.hourly_cents, g.currency, `+usageFigures+usageParts+`
				GROUP BY p.team_id, t.name, p.id, p.name, p.cost_centre, b.environment, b.cluster_id, x.pool_id, g.name, g.resource, x.workload_type, g.unit, g.hourly_cents, g.currency
				ORDER BY p.team_id, p.id, b.environment, b.cluster_id, x.pool_id, x.workload_type`, usageArgs(q)...)
			if err != nil {
				yield(portal.UsageLine{}, fmt.Errorf("read usage: %w", err))
				return
			}
			for _, row := range rows {
				if !yield(row.toDomain(day), nil) {
					return
				}
			}
		}
	}
}

// UsageTypes are the workload types that ever stood in an account.
func (r reader) UsageTypes(ctx context.Context) ([]string, error) {
	var out []string
	// The month is small whatever the size of the history.
	err := r.all(ctx, &out, `SELECT DISTINCT m.workload_type FROM usage_by_month m WHERE m.workload_type <> '' ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("load workload types: %w", err)
	}
	return out, nil
}
