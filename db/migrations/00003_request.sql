-- +goose Up
-- Requests, decisions, grants, changes, usage.

CREATE TABLE request (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  number         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  kind           text NOT NULL CHECK (kind IN ('quota','reservation','exception')),
  state          text NOT NULL CHECK (state IN ('draft','submitted','in review','approved','scheduled','applying','active','expired','revoked','superseded','rejected','returned','withdrawn','lapsed')),
  project_id     text NOT NULL REFERENCES project,
  environment    text NOT NULL,
  team_id        text NOT NULL REFERENCES team,
  requester_id   uuid NOT NULL REFERENCES person,
  beneficiary_id uuid REFERENCES person,
  purpose        text NOT NULL DEFAULT '',                -- of the current revision, for lists
  editor_ids     uuid[] NOT NULL DEFAULT '{}',
  revision       int NOT NULL,
  digest         text NOT NULL,
  route          jsonb,                                   -- frozen at submission
  stage_key      text NOT NULL DEFAULT '',                -- the stage that waits; '' = none
  waiting_role   text NOT NULL DEFAULT '',
  waiting_since  timestamptz,
  due_at         timestamptz,
  corrects_id    uuid REFERENCES request,
  created_at     timestamptz NOT NULL,
  submitted_at   timestamptz,
  closed_at      timestamptz,
  version        bigint NOT NULL DEFAULT 1
);
CREATE INDEX request_waiting ON request (waiting_since, number) WHERE stage_key <> '';
CREATE INDEX request_due ON request ((coalesce(due_at, 'infinity')), number);
CREATE INDEX request_requester ON request (requester_id, number DESC);
CREATE INDEX request_beneficiary ON request (beneficiary_id, number DESC) WHERE beneficiary_id IS NOT NULL;
CREATE INDEX request_team ON request (team_id, number DESC);
CREATE INDEX request_project ON request (project_id, number DESC);
CREATE INDEX request_state ON request (state, number DESC);

-- Where the waiting stage's role has to hold: one row a place, replaced when the stage moves.
CREATE TABLE request_waiting_place (
  request_id uuid NOT NULL REFERENCES request,
  unit_id    text NOT NULL DEFAULT '',
  team_id    text NOT NULL DEFAULT '',
  cluster_id text NOT NULL DEFAULT '',
  pool_id    text NOT NULL DEFAULT '',
  PRIMARY KEY (request_id, unit_id, team_id, cluster_id, pool_id)
);
CREATE INDEX request_waiting_place_team ON request_waiting_place (team_id) WHERE team_id <> '';
CREATE INDEX request_waiting_place_pool ON request_waiting_place (pool_id) WHERE pool_id <> '';
CREATE INDEX request_waiting_place_unit ON request_waiting_place (unit_id) WHERE unit_id <> '';
CREATE INDEX request_waiting_place_cluster ON request_waiting_place (cluster_id) WHERE cluster_id <> '';

-- Every save of the content; the newest row of a request is its current revision. History.
CREATE TABLE request_revision (
  saved      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request_id uuid NOT NULL REFERENCES request,
  number     int NOT NULL,
  digest     text NOT NULL,
  content    jsonb NOT NULL,
  editor_id  uuid NOT NULL REFERENCES person,
  at         timestamptz NOT NULL
);
CREATE INDEX request_revision_request ON request_revision (request_id, saved DESC);

-- The current revision's lines, for lists and figures.
CREATE TABLE request_line (
  request_id uuid NOT NULL REFERENCES request,
  position   int NOT NULL,
  pool_id    text NOT NULL REFERENCES pool,
  kind       text NOT NULL CHECK (kind IN ('hard','soft','burst')),
  current    text,                                        -- quantity; NULL = unknown
  in_use     text,
  asked      text NOT NULL,
  granted    text,                                        -- what approvals so far give; NULL = none yet
  starts_at  timestamptz,
  ends_at    timestamptz,
  PRIMARY KEY (request_id, position)
);
CREATE INDEX request_line_pool ON request_line (pool_id, request_id);

-- History.
CREATE TABLE decision (
  id          uuid PRIMARY KEY,
  request_id  uuid NOT NULL REFERENCES request,
  revision    int NOT NULL,
  digest      text NOT NULL,
  stage_key   text NOT NULL,
  person_id   uuid NOT NULL REFERENCES person,
  identity    uuid NOT NULL,
  outcome     text NOT NULL CHECK (outcome IN ('approve','return','reject')),
  granted     jsonb NOT NULL DEFAULT '[]',
  factors     text[] NOT NULL DEFAULT '{}',
  entry_id    uuid NOT NULL UNIQUE,                       -- its ledger entry; the reason is an opening of it
  at          timestamptz NOT NULL,
  UNIQUE (request_id, digest, identity)                   -- one human being decides once on one revision
);

-- Checks as they stood. History.
CREATE TABLE check_result (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  request_id uuid NOT NULL REFERENCES request,
  digest     text NOT NULL,
  phase      text NOT NULL CHECK (phase IN ('submission','decision','dispatch')),
  policy_id  text NOT NULL,
  version    text NOT NULL,
  title      text NOT NULL,
  severity   text NOT NULL CHECK (severity IN ('deny','needs approval','warn')),
  outcome    text NOT NULL CHECK (outcome IN ('pass','fails','unknown')),
  message    text NOT NULL,
  pool_id    text NOT NULL DEFAULT '',
  at         timestamptz NOT NULL
);
CREATE INDEX check_result_request ON check_result (request_id, id);

-- History: the text is an opening of the entry.
CREATE TABLE comment (
  id         uuid PRIMARY KEY,
  request_id uuid NOT NULL REFERENCES request,
  person_id  uuid NOT NULL REFERENCES person,
  entry_id   uuid NOT NULL UNIQUE,
  at         timestamptz NOT NULL
);
CREATE INDEX comment_request ON comment (request_id, at);

-- What approvals gave. "grant" is a keyword of SQL. History.
CREATE TABLE grant_line (
  id          uuid PRIMARY KEY,
  seq         bigint GENERATED ALWAYS AS IDENTITY UNIQUE, -- the newest in force supersedes
  request_id  uuid NOT NULL REFERENCES request,
  digest      text NOT NULL,
  project_id  text NOT NULL REFERENCES project,
  environment text NOT NULL,
  pool_id     text NOT NULL REFERENCES pool,
  kind        text NOT NULL CHECK (kind IN ('hard','soft','burst')),
  asked       text NOT NULL,
  amount      text NOT NULL,
  starts_at   timestamptz,
  ends_at     timestamptz,
  made_at     timestamptz NOT NULL,
  UNIQUE (request_id, pool_id)
);
CREATE INDEX grant_line_place ON grant_line (project_id, environment, pool_id, seq DESC);
CREATE INDEX grant_line_starts ON grant_line (starts_at) WHERE starts_at IS NOT NULL;
CREATE INDEX grant_line_ends ON grant_line (ends_at) WHERE ends_at IS NOT NULL;

-- A grant that ended before or otherwise than its own end. History.
CREATE TABLE grant_end (
  grant_id uuid PRIMARY KEY REFERENCES grant_line,
  at       timestamptz NOT NULL,
  cause    text NOT NULL CHECK (cause IN ('revoked','superseded','expired'))
);
CREATE INDEX grant_end_at ON grant_end (at);

-- Limits a binding had when it was adopted, or 0 for a new one. History: the newest row counts.
CREATE TABLE baseline (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  binding_id uuid NOT NULL REFERENCES binding,
  pool_id    text NOT NULL REFERENCES pool,
  nominal    text NOT NULL,
  borrowing  text,                                        -- NULL = no limit
  lending    text,                                        -- NULL = all
  at         timestamptz NOT NULL
);
CREATE INDEX baseline_binding ON baseline (binding_id, pool_id, id DESC);

CREATE TABLE change (
  id          uuid PRIMARY KEY,
  seq         bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  binding_id  uuid NOT NULL REFERENCES binding,
  cluster_id  text NOT NULL REFERENCES cluster,
  request_id  uuid REFERENCES request,                    -- NULL: caused by an end, a mode change …
  cause       text NOT NULL,
  state       text NOT NULL CHECK (state IN ('planned','held','waiting','applying','applied','verified','stopped','superseded')),
  takeover    boolean NOT NULL DEFAULT false,
  expected    jsonb NOT NULL DEFAULT '[]',                -- limits that the decider saw live; a different base stops the change
  plan        jsonb,                                      -- fleet.Plan
  receipt     jsonb,                                      -- fleet.Receipt
  readback    jsonb,                                      -- fleet.ReadBack
  problem     text NOT NULL DEFAULT '',                   -- public sentence for waiting, held and stopped
  created_at  timestamptz NOT NULL,
  applied_at  timestamptz,
  verified_at timestamptz
);
CREATE INDEX change_request ON change (request_id, seq);
CREATE INDEX change_binding ON change (binding_id, seq DESC);
CREATE INDEX change_open ON change (cluster_id, seq) WHERE state IN ('planned','held','waiting','applying','applied');
CREATE INDEX change_stopped ON change (cluster_id, seq) WHERE state = 'stopped';

-- Last good figures of each pool of a binding. limit_known tells an unread limit from 0; NULL = unknown.
CREATE TABLE usage_now (
  binding_id        uuid NOT NULL REFERENCES binding,
  pool_id           text NOT NULL REFERENCES pool,
  nominal           text,
  borrowing         text,                                 -- NULL with borrowing_known = no limit
  borrowing_known   boolean NOT NULL DEFAULT false,
  reserved          text,
  in_use            text,
  borrowed          text,
  pending           int,                                  -- workloads waiting
  pending_amount    text,
  active            boolean,
  inactive_reason   text NOT NULL DEFAULT '',
  at                timestamptz NOT NULL,                 -- when these values were read
  PRIMARY KEY (binding_id, pool_id)
);
CREATE INDEX usage_now_pool ON usage_now (pool_id);

-- One row a poll; charts read it.
CREATE TABLE usage_sample (
  binding_id uuid NOT NULL,
  pool_id    text NOT NULL,
  at         timestamptz NOT NULL,
  nominal    double precision,                            -- NULL = unknown
  reserved   double precision,
  in_use     double precision,
  borrowed   double precision,
  pending    double precision,
  PRIMARY KEY (binding_id, pool_id, at)
);
CREATE INDEX usage_sample_at ON usage_sample USING brin (at);

-- The whole pool, all queues of the cluster whoever owns them.
CREATE TABLE pool_sample (
  pool_id  text NOT NULL,
  at       timestamptz NOT NULL,
  capacity double precision,
  nominal  double precision,
  reserved double precision,
  in_use   double precision,
  borrowed double precision,
  PRIMARY KEY (pool_id, at)
);

-- The same by the hour, for charts of many days: the last limit that was known, and of
-- each use the sum and how many polls knew it. What no poll of the hour knew is NULL, or has n = 0.
CREATE TABLE usage_hour (
  binding_id   uuid NOT NULL,
  pool_id      text NOT NULL,
  at           timestamptz NOT NULL,                      -- start of the hour, UTC
  nominal      double precision,
  reserved_sum double precision NOT NULL, reserved_n  int NOT NULL,
  in_use_sum   double precision NOT NULL, in_use_n    int NOT NULL,
  borrowed_sum double precision NOT NULL, borrowed_n  int NOT NULL,
  pending_sum  double precision NOT NULL, pending_n   int NOT NULL,
  PRIMARY KEY (binding_id, pool_id, at)
) WITH (fillfactor = 80);                                 -- each row is updated for an hour: in place
CREATE TABLE pool_hour (
  pool_id      text NOT NULL,
  at           timestamptz NOT NULL,
  capacity     double precision,
  nominal      double precision,
  reserved_sum double precision NOT NULL, reserved_n  int NOT NULL,
  in_use_sum   double precision NOT NULL, in_use_n    int NOT NULL,
  borrowed_sum double precision NOT NULL, borrowed_n  int NOT NULL,
  PRIMARY KEY (pool_id, at)
) WITH (fillfactor = 80);

CREATE TABLE workload (
  cluster_id  text NOT NULL REFERENCES cluster,
  uid         text NOT NULL,
  namespace   text NOT NULL,
  name        text NOT NULL,
  job         text NOT NULL DEFAULT '',
  local_queue text NOT NULL DEFAULT '',
  queue       text NOT NULL DEFAULT '',
  submitter   text NOT NULL DEFAULT '',
  state       text NOT NULL CHECK (state IN ('pending','admitted','finished','evicted')),
  reason      text NOT NULL DEFAULT '',
  message     text NOT NULL DEFAULT '',
  amounts     jsonb NOT NULL DEFAULT '[]',
  node        text NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL,
  admitted_at timestamptz,
  finished_at timestamptz,
  gone_at     timestamptz,                                -- deleted on the cluster
  seen_at     timestamptz NOT NULL,
  PRIMARY KEY (cluster_id, uid)
);
CREATE INDEX workload_namespace ON workload (cluster_id, namespace, state, created_at DESC);

CREATE TABLE poll (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cluster_id text NOT NULL REFERENCES cluster,
  at         timestamptz NOT NULL,
  ok         boolean NOT NULL,
  took_ms    int NOT NULL,
  problem    text NOT NULL DEFAULT ''
);
CREATE INDEX poll_cluster ON poll (cluster_id, id DESC);

-- A key a person's form carried and what came of it: a second click answers the first one's result.
CREATE TABLE idempotency (
  person_id uuid NOT NULL REFERENCES person,
  key       text NOT NULL,
  use_case  text NOT NULL,
  result    jsonb NOT NULL,
  at        timestamptz NOT NULL,
  PRIMARY KEY (person_id, key)
);
