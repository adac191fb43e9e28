-- +goose Up
-- The organisation, clusters and people. Roles are groups (NOLOGIN): the owner
-- migrates, the app role is what serve connects as.

-- +goose StatementBegin
DO $$
BEGIN
  CREATE ROLE quartermaster_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- roles are shared by all databases of a server
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
DO $$
BEGIN
  CREATE ROLE quartermaster_signer NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
-- +goose StatementEnd

-- One row: the random name of this installation's log.
CREATE TABLE installation (
  one        boolean PRIMARY KEY DEFAULT true CHECK (one),
  log        text NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
  created_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO installation DEFAULT VALUES;

CREATE TABLE unit (
  id   text PRIMARY KEY,
  name text NOT NULL
);

CREATE TABLE team (
  id      text PRIMARY KEY,
  name    text NOT NULL,
  unit_id text REFERENCES unit
);

CREATE TABLE project (
  id            text PRIMARY KEY,
  name          text NOT NULL,
  team_id       text NOT NULL REFERENCES team,
  owner_subject text NOT NULL DEFAULT '',
  cost_centre   text NOT NULL DEFAULT '',
  environments  text[] NOT NULL,
  data_classes  text[] NOT NULL
);
CREATE INDEX project_team ON project (team_id);

-- Each import of an organisation file; mappings name the version that made them.
CREATE TABLE org_version (
  version     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest      text NOT NULL,
  imported_by text NOT NULL,
  imported_at timestamptz NOT NULL DEFAULT now()
);

-- Group → role, in force now.
CREATE TABLE role_mapping (
  group_name text NOT NULL,
  role       text NOT NULL,
  scope_kind text NOT NULL CHECK (scope_kind IN ('organisation','unit','team','cluster','pool')),
  scope_id   text NOT NULL DEFAULT '',
  version    bigint NOT NULL REFERENCES org_version,
  PRIMARY KEY (group_name, role, scope_kind, scope_id)
);

-- The approval route in force: JSON array of stage templates.
CREATE TABLE route (
  version    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  stages     jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE person (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  issuer         text NOT NULL,
  subject        text NOT NULL,
  name           text NOT NULL,
  email          text NOT NULL DEFAULT '',
  identity       uuid NOT NULL DEFAULT gen_random_uuid(), -- shared by linked accounts of one human being
  active         boolean NOT NULL DEFAULT true,
  groups         text[] NOT NULL DEFAULT '{}',
  groups_at      timestamptz,
  last_sign_in   timestamptz,
  totp_sealed    bytea,                                   -- envelope-encrypted; NULL = none enrolled
  totp_pending   bytea,                                   -- secret shown at enrolment, not yet confirmed
  totp_last_step bigint NOT NULL DEFAULT 0,
  created_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (issuer, subject)
);
CREATE INDEX person_groups ON person USING gin (groups);
CREATE INDEX person_identity ON person (identity);
CREATE INDEX person_name ON person (name, id);

CREATE TABLE cluster (
  id            text PRIMARY KEY,
  name          text NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('kubernetes','slurm','simulated')),
  mode          text NOT NULL DEFAULT 'observe' CHECK (mode IN ('observe','plan','enforce')),
  paused        boolean NOT NULL DEFAULT false,           -- "pause writing"
  server        text NOT NULL DEFAULT '',
  ca            text NOT NULL DEFAULT '',                 -- PEM
  token_sealed  bytea,
  token_set_at  timestamptz,
  root_cohort   text NOT NULL DEFAULT '',
  discovery     jsonb,                                    -- fleet.Discovery of the last good test or poll
  observation   jsonb,                                    -- queues and quotas of the last good poll (without workloads)
  last_poll_at  timestamptz,
  last_good_at  timestamptz,
  last_problem  text NOT NULL DEFAULT '',                 -- public sentence of the last failed poll
  created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE pool (
  id              text PRIMARY KEY,
  cluster_id      text NOT NULL REFERENCES cluster,
  flavor          text NOT NULL,
  resource        text NOT NULL,
  name            text NOT NULL,
  tier            text NOT NULL DEFAULT '',
  hourly_cents    bigint NOT NULL DEFAULT 0 CHECK (hourly_cents >= 0),
  currency        text NOT NULL DEFAULT 'EUR',
  borrow_ceiling  text,                                   -- quantity; NULL = no limit
  cpu_per_unit    text NOT NULL DEFAULT '0',
  memory_per_unit text NOT NULL DEFAULT '0',
  data_classes    text[] NOT NULL DEFAULT '{}',           -- empty = all
  unit            text NOT NULL DEFAULT 'unit',           -- card, MIG device, time share
  product         text NOT NULL DEFAULT '',
  capacity        text,                                   -- quantity; NULL = unknown
  cards           text,                                   -- physical cards; NULL = unknown
  nodes           int,
  notes           text[] NOT NULL DEFAULT '{}',
  -- Sums over every queue of the cluster that holds the pool; quantities, NULL = unknown.
  nominal         text,
  reserved        text,
  in_use          text,
  borrowed        text,
  pending         text,                                   -- workloads waiting
  observed_at     timestamptz,
  UNIQUE (cluster_id, flavor, resource)
);

CREATE TABLE binding (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project_id     text NOT NULL REFERENCES project,
  environment    text NOT NULL,
  cluster_id     text NOT NULL REFERENCES cluster,
  namespace      text NOT NULL DEFAULT '',
  local_queue    text NOT NULL DEFAULT '',
  cluster_queue  text NOT NULL DEFAULT '',
  cohort         text NOT NULL DEFAULT '',
  root_cohort    text NOT NULL DEFAULT '',
  resource_quota text NOT NULL DEFAULT '',
  account        text NOT NULL DEFAULT '',
  adopted        boolean NOT NULL DEFAULT false,
  created_at     timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, environment, cluster_id)
);
-- One object carries the limits of one binding: two would overwrite each other (the last writer would win silently).
CREATE UNIQUE INDEX binding_queue ON binding (cluster_id, cluster_queue) WHERE cluster_queue <> '';
CREATE UNIQUE INDEX binding_account ON binding (cluster_id, lower(account)) WHERE account <> '';
CREATE INDEX binding_namespace ON binding (cluster_id, namespace);

-- Sessions of alexedwards/scs (tokens hashed) and what a back-channel logout needs to find them.
CREATE TABLE sessions (
  token  text PRIMARY KEY,
  data   bytea NOT NULL,
  expiry timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expiry);
CREATE TABLE session_owner (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(), -- kept inside the session; never the token
  person_id   uuid NOT NULL REFERENCES person,
  provider_sid text NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL DEFAULT now(),
  ended_at    timestamptz
);
CREATE INDEX session_owner_person ON session_owner (person_id) WHERE ended_at IS NULL;
CREATE INDEX session_owner_provider ON session_owner (provider_sid) WHERE ended_at IS NULL AND provider_sid <> '';
-- jti of logout tokens seen, against replay.
CREATE TABLE logout_token (
  jti     text PRIMARY KEY,
  expires timestamptz NOT NULL
);
