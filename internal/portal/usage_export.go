package portal

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"quartermaster/internal/export"
	"quartermaster/internal/ledger"
	"quartermaster/internal/usage"
)

// usageHeader names the columns of the account's CSV. New ones go to the end.
var usageHeader = []string{
	"from", "to", "team", "team_name", "project", "project_name", "cost_centre", "environment", "cluster", "pool", "pool_name", "resource",
	"workload_type", "unit", "unit_hours", "known_hours", "expected_hours", "limit_unit_hours", "limit_known_hours", "rate", "cost", "currency",
}

// ExportUsage writes the account of a period as CSV: one row a day (UTC), project,
// environment, pool and workload type. That it was taken away is on record before the first byte leaves.
func (p *Portal) ExportUsage(ctx context.Context, actor Actor, ask UsageAsk, w io.Writer, begin func()) error {
	q, _, err := p.usageQuery(actor, ask)
	if err != nil {
		return err
	}
	e := p.entry(actor, ledger.Exported, "export", p.NewID())
	e.Facts["format"], e.Facts["what"] = "csv", "usage"
	for name, v := range map[string]string{"from": ledger.Time(q.Span.From), "to": ledger.Time(q.Span.Until), "team": q.TeamID, "project": q.ProjectID,
		"environment": q.Environment, "pool": q.PoolID, "type": q.WorkloadType} {
		if v != "" {
			e.Facts["filter."+name] = v
		}
	}
	err = p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		refs := EntryRefs{ProjectID: q.ProjectID}
		if q.PoolID != "" {
			refs.PoolIDs = []string{q.PoolID}
		}
		_, err := tx.Append(ctx, e, refs, openingsOf(actor, nil))
		return err
	})
	if err != nil {
		return fmt.Errorf("record the export: %w", err)
	}
	if begin != nil {
		begin()
	}
	csv := export.NewCSV(w)
	if err := csv.Row(usageHeader...); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	for line, err := range p.Store.StreamUsage(ctx, q) {
		if err != nil {
			return fmt.Errorf("read the usage: %w", err)
		}
		if err := csv.Row(usageRowCells(line)...); err != nil {
			return fmt.Errorf("write the export: %w", err)
		}
	}
	return csv.Flush()
}

// usageRowCells leave empty what is not known: an empty cell is never taken for 0.
func usageRowCells(l UsageLine) []string {
	out := []string{
		export.Time(l.From), export.Time(l.To), l.TeamID, l.TeamName, l.ProjectID, l.ProjectName, l.CostCentre, l.Environment, l.ClusterID, l.PoolID, l.PoolName, l.Resource,
		l.WorkloadType, string(l.Unit), "", exactHours(l.InUseKnown), exactHours(l.Expected), "", exactHours(l.LimitKnown), "", "", "",
	}
	if l.Known() {
		out[14] = exactHours(l.InUse)
	}
	if l.LimitKnown > 0 {
		out[17] = exactHours(l.Limit)
	}
	if l.HourlyCents > 0 && l.Currency != "" {
		out[19], out[21] = cents(l.HourlyCents), l.Currency
		if l.Known() {
			out[20] = cents(usage.Round(usage.Cents(l.InUse, l.HourlyCents)))
		}
	}
	return out
}

// exactHours writes milliseconds as hours with six decimals, so that a spreadsheet's
// sum of many rows still agrees with the page.
func exactHours(ms int64) string { return strconv.FormatFloat(float64(ms)/3_600_000, 'f', 6, 64) }

func cents(n int64) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }
