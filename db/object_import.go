package db

import (
	"context"
	"fmt"
	"time"

	"quartermaster/internal/fleet"
	"quartermaster/internal/org"
	"quartermaster/internal/portal"
)

// saveMatching keeps a new version only when the rules differ from those in force.
func (t *tx) saveMatching(ctx context.Context, o portal.Organisation) error {
	rules := o.Matching
	if rules == nil {
		rules = []org.MatchRule{}
	}
	_, err := t.exec(ctx, `
		INSERT INTO match_rule (rules) SELECT $1::jsonb
		WHERE $1::jsonb IS DISTINCT FROM coalesce((SELECT m.rules FROM match_rule m ORDER BY m.version DESC LIMIT 1), '[]')`, jsonOf(rules))
	return err
}

// MatchRules returns the newest version; none before any was imported.
func (r reader) MatchRules(ctx context.Context) ([]org.MatchRule, error) {
	var rows []struct {
		Rules document[[]org.MatchRule] `db:"rules"`
	}
	if err := r.all(ctx, &rows, `SELECT rules FROM match_rule ORDER BY version DESC LIMIT 1`); err != nil {
		return nil, fmt.Errorf("load matching rules: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return *rows[0].Rules.Doc, nil
}

// InsertObjectImport keeps a file of objects as it was read.
func (t *tx) InsertObjectImport(ctx context.Context, i portal.ObjectImport) error {
	_, err := t.exec(ctx, `INSERT INTO object_import (id, cluster_id, file_name, digest, dump, at) VALUES ($1, $2, $3, $4, $5, $6)`,
		i.ID, i.ClusterID, i.FileName, i.Digest, jsonOf(i.Dump), i.At)
	if err != nil {
		return fmt.Errorf("insert object import: %w", err)
	}
	return nil
}

// NewestImport returns the file kept last for a cluster, nil when there is none.
func (r reader) NewestImport(ctx context.Context, clusterID string) (*portal.ObjectImport, error) {
	var rows []struct {
		ID       string               `db:"id"`
		FileName string               `db:"file_name"`
		Digest   string               `db:"digest"`
		Dump     document[fleet.Dump] `db:"dump"`
		At       time.Time            `db:"at"`
	}
	err := r.all(ctx, &rows, `SELECT id, file_name, digest, dump, at FROM object_import WHERE cluster_id = $1 ORDER BY at DESC, id LIMIT 1`, clusterID)
	if err != nil {
		return nil, fmt.Errorf("load object import: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	i := rows[0]
	return &portal.ObjectImport{ID: i.ID, ClusterID: clusterID, FileName: i.FileName, Digest: i.Digest, Dump: *i.Dump.Doc, At: i.At.UTC()}, nil
}
