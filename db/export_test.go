package db

import (
	"context"
	"database/sql"

	"quartermaster/internal/portal"
)

// History are the tables to which rows are only ever added.
var History = history

// NewReader reads through q, so that a test sees every query.
func NewReader(q interface{ querier }) portal.Reader { return reader{q} }

// MigrateTo brings an empty schema to one version and no further.
func MigrateTo(ctx context.Context, ownerURL string, version int64) error {
	conn, err := sql.Open("postgres", ownerURL)
	if err != nil {
		return err
	}
	defer conn.Close()
	p, err := provider(conn)
	if err != nil {
		return err
	}
	_, err = p.UpTo(ctx, version)
	return err
}
