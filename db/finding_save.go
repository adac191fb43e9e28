package db

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"quartermaster/internal/fault"
	"quartermaster/internal/finding"
	"quartermaster/internal/portal"
)

// FindingForUpdate locks the finding until the transaction ends.
func (t *tx) FindingForUpdate(ctx context.Context, id string) (finding.Finding, error) {
	if !isID(id) {
		return finding.Finding{}, fault.New(fault.NotFound, noFinding)
	}
	var row findingRow
	if err := t.get(ctx, &row, noFinding, `SELECT `+findingColumns+` FROM finding f WHERE f.id = $1 FOR UPDATE`, id); err != nil {
		return finding.Finding{}, fmt.Errorf("lock finding: %w", err)
	}
	return row.toDomain(), nil
}

// SaveFinding stores a new finding, or where a known one stands now.
func (t *tx) SaveFinding(ctx context.Context, f finding.Finding) error {
	_, err := t.exec(ctx, `
		INSERT INTO finding AS f (id, cluster_id, binding_id, pool_id, kind, severity, owner, object_kind, object_namespace, object_name, field, granted, live,
			manager, wrote_at, note, mendable, pool_key, state, since, last_seen, resolved_at, how, resolved_by, reopened, turns, turns_from, change_id, request_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)
		ON CONFLICT (id) DO UPDATE SET binding_id = EXCLUDED.binding_id, pool_id = EXCLUDED.pool_id, kind = EXCLUDED.kind, severity = EXCLUDED.severity,
			owner = EXCLUDED.owner, granted = EXCLUDED.granted, live = EXCLUDED.live, manager = EXCLUDED.manager, wrote_at = EXCLUDED.wrote_at,
			note = EXCLUDED.note, mendable = EXCLUDED.mendable, pool_key = EXCLUDED.pool_key, state = EXCLUDED.state, since = EXCLUDED.since,
			last_seen = EXCLUDED.last_seen, resolved_at = EXCLUDED.resolved_at, how = EXCLUDED.how, resolved_by = EXCLUDED.resolved_by,
			reopened = EXCLUDED.reopened, turns = EXCLUDED.turns, turns_from = EXCLUDED.turns_from, change_id = EXCLUDED.change_id, request_id = EXCLUDED.request_id`,
		f.ID, f.ClusterID, orNull(f.BindingID), orNull(f.PoolID), f.Kind, int(f.Severity), f.Owner, f.Object.Kind, f.Object.Namespace, f.Object.Name, f.Field,
		f.Granted, f.Live, f.Manager, f.At, f.Note, f.Mendable, jsonOf(f.Pool), f.State, f.Since, f.LastSeen, f.ResolvedAt, f.How, f.By, f.Reopened, f.Turns,
		f.TurnsFrom, orNull(f.ChangeID), orNull(f.RequestID))
	if err != nil {
		return fmt.Errorf("save finding: %w", err)
	}
	return nil
}

// TouchFindings moves when findings were last seen.
func (t *tx) TouchFindings(ctx context.Context, ids []string, at time.Time) error {
	if _, err := t.exec(ctx, `UPDATE finding SET last_seen = greatest(last_seen, $2) WHERE id = ANY($1::uuid[])`, pq.Array(ids), at); err != nil {
		return fmt.Errorf("touch findings: %w", err)
	}
	return nil
}

// InsertFindingEvent keeps what happened to a finding.
func (t *tx) InsertFindingEvent(ctx context.Context, e portal.FindingEvent) error {
	_, err := t.exec(ctx, `INSERT INTO finding_event (finding_id, entry_id, event, at, by_id, granted, live, manager, note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		e.FindingID, e.EntryID, e.Event, e.At, e.By, e.Granted, e.Live, e.Manager, e.Note)
	if err != nil {
		return fmt.Errorf("insert event of a finding: %w", err)
	}
	return nil
}

// SavePutsBack stores whether a cluster puts drift back by itself.
func (t *tx) SavePutsBack(ctx context.Context, clusterID string, on bool) error {
	if err := t.one(ctx, noCluster, `UPDATE cluster SET puts_back = $2 WHERE id = $1`, clusterID, on); err != nil {
		return fmt.Errorf("save policy of a cluster: %w", err)
	}
	return nil
}
