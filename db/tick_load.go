package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// TickedAt is when the named tick last ran; zero = never.
func (r reader) TickedAt(ctx context.Context, name string) (time.Time, error) {
	return r.ticked(ctx, `SELECT k.at FROM tick k WHERE k.name = $1`, name)
}

// TickForUpdate locks the named tick until the transaction ends, making it when
// it is missing, so that of two ticks at once the second sees what the first did.
func (t *tx) TickForUpdate(ctx context.Context, name string) (time.Time, error) {
	if _, err := t.exec(ctx, `INSERT INTO tick (name) VALUES ($1) ON CONFLICT DO NOTHING`, name); err != nil {
		return time.Time{}, fmt.Errorf("make tick: %w", err)
	}
	return t.ticked(ctx, `SELECT k.at FROM tick k WHERE k.name = $1 FOR UPDATE`, name)
}

// SaveTick stores when the named tick ran.
func (t *tx) SaveTick(ctx context.Context, name string, at time.Time) error {
	_, err := t.exec(ctx, `INSERT INTO tick (name, at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET at = EXCLUDED.at`, name, at)
	if err != nil {
		return fmt.Errorf("save tick: %w", err)
	}
	return nil
}

func (r reader) ticked(ctx context.Context, query, name string) (time.Time, error) {
	var rows []sql.NullTime
	if err := r.all(ctx, &rows, query, name); err != nil {
		return time.Time{}, fmt.Errorf("load tick: %w", err)
	}
	if len(rows) == 0 || !rows[0].Valid {
		return time.Time{}, nil
	}
	return rows[0].Time.UTC(), nil
}
