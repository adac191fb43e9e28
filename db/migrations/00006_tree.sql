-- +goose Up
-- The tree over the record, its signed checkpoints and what checks of it found.

-- History. One row a leaf: which entry it is, and the nodes of the RFC 6962 tree that
-- it completes, the leaf hash first. No reference to ledger_entry: it would lock every
-- entry once more, and verify compares the two anyway.
CREATE TABLE ledger_leaf (
  index   bigint PRIMARY KEY CHECK (index >= 0),
  ordinal bigint NOT NULL UNIQUE,
  hashes  bytea NOT NULL CHECK (length(hashes) >= 32 AND length(hashes) % 32 = 0)
);

-- History. One size has one root, for ever. Only the signer adds to it.
CREATE TABLE ledger_checkpoint (
  size bigint PRIMARY KEY CHECK (size > 0),
  root bytea NOT NULL CHECK (length(root) = 32),
  note text NOT NULL,                                     -- C2SP checkpoint, signed
  at   timestamptz NOT NULL
);

-- History. The newest row says whether the record may be signed and pushed from.
CREATE TABLE ledger_check (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at       timestamptz NOT NULL,
  kind     text NOT NULL CHECK (kind IN ('range', 'whole', 'cleared')),
  size     bigint NOT NULL,                               -- of the tree that was looked at
  ok       boolean NOT NULL,
  problem  text NOT NULL DEFAULT '',
  entry_id uuid NOT NULL
);
CREATE INDEX ledger_check_whole ON ledger_check (at) WHERE kind = 'whole';

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  REVOKE ALL ON ledger_leaf, ledger_checkpoint, ledger_check FROM quartermaster_app;
  GRANT SELECT, INSERT ON ledger_leaf, ledger_check TO quartermaster_app;
  GRANT SELECT ON ledger_checkpoint TO quartermaster_app;
  GRANT USAGE, SELECT ON SEQUENCE ledger_check_id_seq TO quartermaster_app;
  GRANT SELECT ON ledger_leaf TO quartermaster_signer;
  GRANT SELECT, INSERT ON ledger_checkpoint TO quartermaster_signer;
  FOREACH t IN ARRAY ARRAY['ledger_leaf','ledger_checkpoint','ledger_check'] LOOP
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_history_change()', t);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()', t);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER refuse_change', t);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER refuse_truncate', t);
  END LOOP;
END $$;
-- +goose StatementEnd
