package db

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/fleet"
	"quartermaster/internal/portal"
)

const noBinding = "There is no such place on this cluster."

type bindingRow struct {
	ID            string `db:"id"`
	ProjectID     string `db:"project_id"`
	Environment   string `db:"environment"`
	ClusterID     string `db:"cluster_id"`
	Namespace     string `db:"namespace"`
	LocalQueue    string `db:"local_queue"`
	ClusterQueue  string `db:"cluster_queue"`
	Cohort        string `db:"cohort"`
	RootCohort    string `db:"root_cohort"`
	ResourceQuota string `db:"resource_quota"`
	Account       string `db:"account"`
	Adopted       bool   `db:"adopted"`
}

func (b bindingRow) toDomain() fleet.Binding { return fleet.Binding(b) }

const (
	bindingColumns = `b.id, b.project_id, b.environment, b.cluster_id, b.namespace, b.local_queue, b.cluster_queue, b.cohort, b.root_cohort,
		b.resource_quota, b.account, b.adopted`
	selectBinding = `SELECT ` + bindingColumns + ` FROM binding b `
)

// Binding by id.
func (r reader) Binding(ctx context.Context, id string) (fleet.Binding, error) {
	if !isID(id) {
		return fleet.Binding{}, fault.New(fault.NotFound, noBinding)
	}
	return r.binding(ctx, selectBinding+`WHERE b.id = $1`, id)
}

// BindingAt returns where (project, environment) is bound on a cluster.
func (r reader) BindingAt(ctx context.Context, projectID, environment, clusterID string) (fleet.Binding, error) {
	return r.binding(ctx, selectBinding+`WHERE b.project_id = $1 AND b.environment = $2 AND b.cluster_id = $3`, projectID, environment, clusterID)
}

func (r reader) binding(ctx context.Context, query string, args ...any) (fleet.Binding, error) {
	var row bindingRow
	if err := r.get(ctx, &row, noBinding, query, args...); err != nil {
		return fleet.Binding{}, fmt.Errorf("load binding: %w", err)
	}
	return row.toDomain(), nil
}

// Bindings that q names, in a fixed order.
func (r reader) Bindings(ctx context.Context, q portal.BindingQuery) ([]fleet.Binding, error) {
	var rows []bindingRow
	err := r.all(ctx, &rows, selectBinding+`
		WHERE ($1 = '' OR b.project_id = $1) AND ($2 = '' OR b.environment = $2) AND ($3 = '' OR b.cluster_id = $3)
		  AND ($4::text[] IS NULL OR b.project_id = ANY($4))
		ORDER BY b.project_id, b.environment, b.cluster_id`, q.ProjectID, q.Environment, q.ClusterID, pq.Array(q.ProjectIDs))
	if err != nil {
		return nil, fmt.Errorf("load bindings: %w", err)
	}
	out := make([]fleet.Binding, 0, len(rows))
	for _, b := range rows {
		out = append(out, b.toDomain())
	}
	return out, nil
}

// Baselines of a binding by pool: the newest row of each, with the pool's ceiling.
func (r reader) Baselines(ctx context.Context, bindingID string) (map[string]fleet.Base, error) {
	if !isID(bindingID) {
		return nil, fault.New(fault.NotFound, noBinding)
	}
	of, err := r.BaselinesOf(ctx, []string{bindingID})
	if err != nil {
		return nil, err
	}
	if of[bindingID] == nil {
		return map[string]fleet.Base{}, nil
	}
	return of[bindingID], nil
}

// BaselinesOf bindings, by binding and pool.
func (r reader) BaselinesOf(ctx context.Context, bindingIDs []string) (map[string]map[string]fleet.Base, error) {
	var rows []struct {
		BindingID string   `db:"binding_id"`
		PoolID    string   `db:"pool_id"`
		Nominal   quantity `db:"nominal"`
		Borrowing bound    `db:"borrowing"`
		Lending   bound    `db:"lending"`
		Ceiling   bound    `db:"borrow_ceiling"`
	}
	err := r.all(ctx, &rows, `
		SELECT DISTINCT ON (l.binding_id, l.pool_id) l.binding_id, l.pool_id, l.nominal, l.borrowing, l.lending, p.borrow_ceiling
		FROM baseline l JOIN pool p ON p.id = l.pool_id
		WHERE l.binding_id = ANY($1::uuid[]) ORDER BY l.binding_id, l.pool_id, l.id DESC`, pq.Array(bindingIDs))
	if err != nil {
		return nil, fmt.Errorf("load baselines: %w", err)
	}
	out := map[string]map[string]fleet.Base{}
	for _, l := range rows {
		if out[l.BindingID] == nil {
			out[l.BindingID] = map[string]fleet.Base{}
		}
		out[l.BindingID][l.PoolID] = fleet.Base{Nominal: l.Nominal.Quantity, Borrowing: l.Borrowing.limit, Lending: l.Lending.limit, Ceiling: l.Ceiling.limit}
	}
	return out, nil
}
