-- +goose Up
-- The record, and the rules that close history tables.

-- History. canonical is the JCS form (RFC 8785); digest its RFC 6962 leaf hash.
-- The other columns repeat what canonical says, for search; verify compares them.
CREATE TABLE ledger_entry (
  ordinal     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          uuid NOT NULL UNIQUE,
  digest      text NOT NULL UNIQUE,
  canonical   bytea NOT NULL,
  type        text NOT NULL,
  outcome     text NOT NULL,
  at          timestamptz NOT NULL,
  actor       text NOT NULL,                              -- person id or job:…
  object_kind text NOT NULL,
  object_id   text NOT NULL,
  prev        text NOT NULL,
  request_id  uuid,
  project_id  text,
  pool_ids    text[] NOT NULL DEFAULT '{}',
  cluster_id  text,
  CONSTRAINT ledger_entry_one_successor UNIQUE (object_kind, object_id, prev)
);
CREATE INDEX ledger_entry_type ON ledger_entry (type, ordinal DESC);
CREATE INDEX ledger_entry_actor ON ledger_entry (actor, ordinal DESC);
CREATE INDEX ledger_entry_object ON ledger_entry (object_kind, object_id, ordinal DESC);
CREATE INDEX ledger_entry_request ON ledger_entry (request_id, ordinal) WHERE request_id IS NOT NULL;
CREATE INDEX ledger_entry_project ON ledger_entry (project_id, ordinal DESC) WHERE project_id IS NOT NULL;
CREATE INDEX ledger_entry_cluster ON ledger_entry (cluster_id, ordinal DESC) WHERE cluster_id IS NOT NULL;
CREATE INDEX ledger_entry_pools ON ledger_entry USING gin (pool_ids) WHERE pool_ids <> '{}';
CREATE INDEX ledger_entry_outcome ON ledger_entry (outcome, ordinal DESC) WHERE outcome <> 'done';
CREATE INDEX ledger_entry_at ON ledger_entry (at, ordinal);

-- Free text bound by a salted commitment inside the entry. Erasing the text (by the
-- owner, never by the app) leaves every digest whole. History for the app.
CREATE TABLE ledger_opening (
  entry_id uuid NOT NULL,
  name     text NOT NULL,
  salt     bytea NOT NULL,
  text     text,
  PRIMARY KEY (entry_id, name)
);

-- The last entry of each object: gives the next one its prev, and shows a removed tail.
CREATE TABLE ledger_head (
  object_kind text NOT NULL,
  object_id   text NOT NULL,
  digest      text NOT NULL,
  PRIMARY KEY (object_kind, object_id)
);

-- +goose StatementBegin
CREATE FUNCTION refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'history: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  GRANT USAGE ON SCHEMA public TO quartermaster_app, quartermaster_signer;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO quartermaster_app;
  GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO quartermaster_app;
  GRANT SELECT ON ledger_entry, ledger_opening, ledger_head, installation TO quartermaster_signer;
  ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO quartermaster_app;
  ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO quartermaster_app;
  -- Nothing that people or the record refer to is ever deleted, and the record keeps its name.
  REVOKE DELETE ON unit, team, project, route, person, cluster, pool, binding, session_owner, request, change, ledger_head FROM quartermaster_app;
  REVOKE INSERT, UPDATE, DELETE ON installation FROM quartermaster_app;
  FOREACH t IN ARRAY ARRAY['org_version','request_revision','decision','check_result','comment','grant_line','grant_end','baseline','ledger_entry','ledger_opening'] LOOP
    EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM quartermaster_app', t);
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_history_change()', t);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()', t);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER refuse_change', t);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER refuse_truncate', t);
  END LOOP;
END $$;
-- +goose StatementEnd
