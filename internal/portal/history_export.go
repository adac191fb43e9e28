package portal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quartermaster/internal/export"
	"quartermaster/internal/fault"
	"quartermaster/internal/ledger"
)

// historyHeader names the columns of the history's CSV. New ones go to the end.
var historyHeader = []string{
	"entry", "at", "type", "outcome", "what", "person", "actor", "role", "scope", "via", "factors",
	"request", "revision", "project", "project_name", "environment", "pools", "cluster",
	"asked", "granted", "reason", "object_kind", "object_id", "entry_id", "digest",
}

// ExportHistory writes what q matches as CSV, newest first, one row at a time. That
// it was taken away is on record, and the proof of two factors for it used up, before the
// first byte leaves.
func (p *Portal) ExportHistory(ctx context.Context, actor Actor, q EntryQuery, w io.Writer, begin func()) error {
	q = visible(actor, q)
	q.Before, q.After, q.Limit = 0, 0, 0
	e := p.entry(actor, ledger.Exported, "export", p.NewID())
	filterFacts(e.Facts, q)
	e.Facts["format"] = "csv"
	err := p.Store.InTx(ctx, func(ctx context.Context, tx Tx) error {
		proof, err := p.spendUnlessSystem(ctx, tx, actor, exportDigest(q))
		if err != nil {
			return err
		}
		_, err = tx.Append(ctx, provenBy(e, proof), EntryRefs{ProjectID: q.ProjectID, ClusterID: q.ClusterID}, openingsOf(actor, map[string]string{"search": q.Search}))
		return err
	})
	if err != nil {
		if errors.Is(err, ErrStepUp) || fault.KindOf(err) == fault.Forbidden {
			return p.refused(ctx, actor, ledger.Exported, "export", e.Object.ID, EntryRefs{}, err)
		}
		return fmt.Errorf("record the export: %w", err)
	}
	if begin != nil {
		begin()
	}
	csv := export.NewCSV(w)
	if err := csv.Row(historyHeader...); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	for row, err := range p.Store.StreamEntries(ctx, q) {
		if err != nil {
			return fmt.Errorf("read the history: %w", err)
		}
		if err := csv.Row(historyRow(row)...); err != nil {
			return fmt.Errorf("write the export: %w", err)
		}
	}
	return csv.Flush()
}

func historyRow(r EntryRow) []string {
	e, request := r.Entry, ""
	if r.RequestNumber > 0 {
		request = strconv.FormatInt(r.RequestNumber, 10)
	}
	return []string{
		strconv.FormatInt(r.Ordinal, 10), export.Time(r.At), string(e.Type), string(e.Outcome), e.Words(), r.ActorName, e.Actor.ID,
		e.Authority.Role, e.Authority.Scope, e.Via, strings.Join(e.Actor.AMR, " "),
		request, e.Object.Revision, r.ProjectID, r.ProjectName, e.Facts["environment"], strings.Join(r.PoolIDs, " "), r.ClusterID,
		figures(e.Facts, "asked"), figures(e.Facts, "granted"), r.Openings[OpeningReason], e.Object.Kind, e.Object.ID, e.ID, r.Digest,
	}
}

// figures are the amounts of an entry by pool: "alpha-h100=16 alpha-a100=4"; of one
// pool alone the bare number, so that a spreadsheet can add them up.
func figures(facts map[string]string, name string) string {
	if v, ok := facts[name]; ok { // a grant's own
		return v
	}
	var pools []string
	for k := range facts {
		if pool, ok := strings.CutPrefix(k, name+"."); ok {
			pools = append(pools, pool)
		}
	}
	if len(pools) == 1 {
		return facts[name+"."+pools[0]]
	}
	slices.Sort(pools)
	for i, pool := range pools {
		pools[i] = pool + "=" + facts[name+"."+pool]
	}
	return strings.Join(pools, " ")
}

// exportDigest names what an export takes away.
func exportDigest(q EntryQuery) string {
	facts := map[string]string{"filter.search": q.Search}
	filterFacts(facts, q)
	parts := []string{"history", "csv"}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		parts = append(parts, name, facts[name])
	}
	return actDigest("export", parts...)
}

// filterFacts put what was asked for into the entry about an export.
func filterFacts(facts map[string]string, q EntryQuery) {
	var types []string
	for _, t := range q.Types {
		types = append(types, string(t))
	}
	for name, v := range map[string]string{
		"filter.person": q.PersonID, "filter.project": q.ProjectID, "filter.pool": q.PoolID, "filter.cluster": q.ClusterID,
		"filter.request": q.RequestID, "filter.types": strings.Join(types, ","), "filter.outcome": string(q.Outcome),
		"filter.from": timeOrNone(q.From), "filter.to": timeOrNone(q.To), "filter.teams": strings.Join(q.Teams, ","),
	} {
		if v != "" {
			facts[name] = v
		}
	}
}

func timeOrNone(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ledger.Time(t)
}
