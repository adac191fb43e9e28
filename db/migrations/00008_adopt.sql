-- +goose Up
-- How objects that exist on a cluster are matched to projects, and files of objects that were kept.

-- The matching rules in force: JSON array in the order of trying. The newest version counts.
CREATE TABLE match_rule (
  version bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  rules   jsonb NOT NULL,
  at      timestamptz NOT NULL DEFAULT now()
);

-- A file of manifests or a dump that somebody kept, as it was read. History.
CREATE TABLE object_import (
  id         uuid PRIMARY KEY,
  cluster_id text NOT NULL REFERENCES cluster,
  file_name  text NOT NULL,
  digest     text NOT NULL,                               -- SHA-256 of the file, hexadecimal
  dump       jsonb NOT NULL,
  at         timestamptz NOT NULL
);
CREATE INDEX object_import_newest ON object_import (cluster_id, at DESC);

-- +goose StatementBegin
DO $$
DECLARE
  kept text;
BEGIN
  FOREACH kept IN ARRAY ARRAY['match_rule', 'object_import'] LOOP
    EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM quartermaster_app', kept);
    EXECUTE format('GRANT SELECT, INSERT ON %I TO quartermaster_app', kept);
    EXECUTE format('CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION refuse_history_change()', kept);
    EXECUTE format('CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()', kept);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER refuse_change', kept);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER refuse_truncate', kept);
  END LOOP;
END $$;
-- +goose StatementEnd
