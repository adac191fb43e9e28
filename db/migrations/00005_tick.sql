-- +goose Up
-- What the schedule remembers, so that each start and end of a grant is handled once.

CREATE TABLE tick (
  name text PRIMARY KEY,
  at   timestamptz                                        -- when it last ran; NULL = never
);

-- A grant whose own start was handled. History; its end is in grant_end.
CREATE TABLE grant_start (
  grant_id uuid PRIMARY KEY REFERENCES grant_line,
  at       timestamptz NOT NULL
);

-- +goose StatementBegin
DO $$
BEGIN
  GRANT SELECT, INSERT, UPDATE ON tick TO quartermaster_app;
  REVOKE UPDATE, DELETE, TRUNCATE ON grant_start FROM quartermaster_app;
  GRANT SELECT, INSERT ON grant_start TO quartermaster_app;
  CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON grant_start FOR EACH ROW EXECUTE FUNCTION refuse_history_change();
  CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON grant_start FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change();
  ALTER TABLE grant_start ENABLE ALWAYS TRIGGER refuse_change;
  ALTER TABLE grant_start ENABLE ALWAYS TRIGGER refuse_truncate;
END $$;
-- +goose StatementEnd
