-- +goose Up
-- Findings: what is not as it should be on a cluster, and what became of it.

-- Put back by itself what somebody changed on the cluster; off until a capacity manager says so.
ALTER TABLE cluster ADD COLUMN puts_back boolean NOT NULL DEFAULT false;

CREATE TABLE finding (
  id               uuid PRIMARY KEY,
  cluster_id       text NOT NULL REFERENCES cluster,
  binding_id       uuid REFERENCES binding,               -- NULL = outside of every binding
  pool_id          text REFERENCES pool,                  -- NULL = no single pool
  kind             text NOT NULL CHECK (kind IN ('drift', 'bypass', 'stopped')),
  severity         int NOT NULL CHECK (severity BETWEEN 1 AND 3),
  owner            text NOT NULL CHECK (owner IN ('capacity_manager', 'platform_admin')),
  object_kind      text NOT NULL,
  object_namespace text NOT NULL,
  object_name      text NOT NULL,
  field            text NOT NULL,
  granted          text,                                  -- NULL = absent
  live             text,                                  -- NULL = absent
  manager          text NOT NULL,
  wrote_at         timestamptz,
  note             text NOT NULL,
  mendable         boolean NOT NULL,
  pool_key         jsonb NOT NULL,
  state            text NOT NULL CHECK (state IN ('open', 'resolved')),
  since            timestamptz NOT NULL,
  last_seen        timestamptz NOT NULL,
  resolved_at      timestamptz,
  how              text NOT NULL,
  resolved_by      text NOT NULL,
  reopened         int NOT NULL,
  turns            int NOT NULL,
  turns_from       timestamptz NOT NULL,
  change_id        uuid REFERENCES change,                -- puts it back
  request_id       uuid REFERENCES request,               -- would accept it
  CHECK ((state = 'resolved') = (resolved_at IS NOT NULL))
);
-- One open finding for each field of each object.
CREATE UNIQUE INDEX finding_open ON finding (cluster_id, object_kind, object_namespace, object_name, field) WHERE state = 'open';
CREATE INDEX finding_list ON finding (state, severity DESC, since DESC, id DESC);
CREATE INDEX finding_binding ON finding (binding_id);
CREATE INDEX finding_change ON finding (change_id);
CREATE INDEX finding_key ON finding (cluster_id, object_kind, object_namespace, object_name, field, since DESC);

-- What happened to a finding, with the evidence of that moment. History.
CREATE TABLE finding_event (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  finding_id uuid NOT NULL REFERENCES finding,
  entry_id   uuid NOT NULL REFERENCES ledger_entry (id),
  event      text NOT NULL,
  at         timestamptz NOT NULL,
  by_id      text NOT NULL,                               -- a person, or job:…
  granted    text,
  live       text,
  manager    text NOT NULL,
  note       text NOT NULL
);
CREATE INDEX finding_event_of ON finding_event (finding_id, id);

-- +goose StatementBegin
DO $$
BEGIN
  GRANT SELECT, INSERT, UPDATE ON finding TO quartermaster_app;
  REVOKE DELETE, TRUNCATE ON finding FROM quartermaster_app;
  REVOKE UPDATE, DELETE, TRUNCATE ON finding_event FROM quartermaster_app;
  GRANT SELECT, INSERT ON finding_event TO quartermaster_app;
  CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON finding_event FOR EACH ROW EXECUTE FUNCTION refuse_history_change();
  CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON finding_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change();
  ALTER TABLE finding_event ENABLE ALWAYS TRIGGER refuse_change;
  ALTER TABLE finding_event ENABLE ALWAYS TRIGGER refuse_truncate;
END $$;
-- +goose StatementEnd
