package db

import (
	"context"
	"fmt"

	"quartermaster/internal/portal"
)

// SignerRole is the group whose rights the signer has: it reads the record and adds
// checkpoints, and can do nothing else.
const SignerRole = "quartermaster_signer"

// SignStore is the record by the signer's own connection.
type SignStore struct{ store *Store }

var _ portal.SignStore = SignStore{}

// OpenSign connects to url as the signer's role.
func OpenSign(ctx context.Context, url string, o Options) (SignStore, error) {
	if o.MaxConns == 0 {
		o.MaxConns = 2
	}
	s, err := Open(ctx, url, o)
	return SignStore{s}, err
}

// Close ends its connections.
func (s SignStore) Close() error { return s.store.Close() }

// LogName names the log.
func (s SignStore) LogName(ctx context.Context) (string, error) { return s.store.LogName(ctx) }

// AtOneMoment gives fn reads that all show the database at one moment.
func (s SignStore) AtOneMoment(ctx context.Context, fn func(ctx context.Context, r portal.TreeReader) error) error {
	return s.store.snapshot(ctx, func(r reader) error { return fn(ctx, r) })
}

// InsertCheckpoint keeps a checkpoint. One of the same size is never replaced.
func (s SignStore) InsertCheckpoint(ctx context.Context, c portal.CheckpointRow) error {
	err := s.store.inTx(ctx, func(ctx context.Context, t *tx) error {
		_, err := t.exec(ctx, `INSERT INTO ledger_checkpoint (size, root, note, at) VALUES ($1, $2, $3, $4)`, c.Size, c.Root[:], c.Note, c.At)
		return err
	})
	if err != nil {
		return fmt.Errorf("insert checkpoint of %d: %w", c.Size, err)
	}
	return nil
}

// OnlySigns fails when the connection may do more than a signer has to: whoever can
// both write entries and sign them can make up a record.
func (s SignStore) OnlySigns(ctx context.Context) error {
	var more bool
	err := s.store.get(ctx, &more, "", `
		SELECT pg_has_role(session_user, $1, 'MEMBER') OR bool_or(
			has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE') OR pg_has_role(session_user, c.relowner, 'MEMBER')
			OR c.relname <> 'ledger_checkpoint' AND has_table_privilege(c.oid, 'INSERT'))
		FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`, AppRole)
	if err != nil {
		return fmt.Errorf("rights of the signer: %w", err)
	}
	if more {
		return fmt.Errorf("it connects as a role that may do more than add checkpoints: give it a role that is only a member of %s", SignerRole)
	}
	return nil
}
