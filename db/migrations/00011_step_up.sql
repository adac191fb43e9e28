-- +goose Up
-- Proofs of two factors, and the codes that stand in for a lost authenticator.

-- One proof and what it was given for. It serves nothing else, its session alone, and
-- for a while; where an act uses it up, spent_at is set in that act's transaction.
CREATE TABLE step_up (
  id         uuid PRIMARY KEY,
  session_id text NOT NULL,                               -- session_owner.id; other channels name theirs
  person_id  uuid NOT NULL REFERENCES person,
  proven_by  text NOT NULL CHECK (proven_by IN ('provider','totp','recovery')),
  digests    text[] NOT NULL CHECK (cardinality(digests) BETWEEN 1 AND 100),
  at         timestamptz NOT NULL,
  spent_at   timestamptz                                  -- NULL = not used up
);
CREATE INDEX step_up_session ON step_up (session_id, at);

-- Digests of recovery codes. Each is used once; making new ones retires the old.
CREATE TABLE recovery_code (
  person_id  uuid NOT NULL REFERENCES person,
  digest     text NOT NULL,
  made_at    timestamptz NOT NULL,
  used_at    timestamptz,
  retired_at timestamptz,
  PRIMARY KEY (person_id, digest)
);

-- +goose StatementBegin
DO $$
BEGIN
  REVOKE UPDATE, DELETE, TRUNCATE ON step_up, recovery_code FROM quartermaster_app;
  GRANT SELECT, INSERT ON step_up, recovery_code TO quartermaster_app;
  GRANT UPDATE (spent_at) ON step_up TO quartermaster_app;
  GRANT UPDATE (used_at, retired_at) ON recovery_code TO quartermaster_app;
END $$;
-- +goose StatementEnd
