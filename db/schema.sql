-- The schema after all migrations, for reading. Written by make schema; do not edit.

CREATE TYPE public.river_job_state AS ENUM (
    'available',
    'cancelled',
    'completed',
    'discarded',
    'pending',
    'retryable',
    'running',
    'scheduled'
);

CREATE FUNCTION public.refuse_history_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'history: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE FUNCTION public.river_job_state_in_bitmask(bitmask bit, state public.river_job_state) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$$;

CREATE FUNCTION public.usage_partition_drop(parent text, before timestamp with time zone) RETURNS TABLE(part text, dropped bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $_$
DECLARE
  step text := CASE WHEN parent IN ('usage_sample', 'pool_sample') THEN 'day' WHEN parent IN ('usage_by_hour', 'pool_by_hour') THEN 'month' END;
  shape text := CASE step WHEN 'day' THEN 'YYYYMMDD' ELSE 'YYYYMM' END;
BEGIN
  IF step IS NULL THEN
    RAISE EXCEPTION 'usage: % has no partitions', parent USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('partition ' || parent, 0));
  FOR part IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass('public.' || parent) AND c.relname ~ ('^' || parent || '_p[0-9]+$')
      AND (to_timestamp(substring(c.relname FROM '[0-9]+$'), shape)::timestamp + ('1 ' || step)::interval) <= before AT TIME ZONE 'UTC'
    ORDER BY c.relname
  LOOP
    EXECUTE format('SELECT count(*) FROM %I', part) INTO dropped;
    EXECUTE format('DROP TABLE %I', part);
    RETURN NEXT;
  END LOOP;
END $_$;

CREATE FUNCTION public.usage_partition_make(parent text, moment timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '5s'
    AS $$
DECLARE
  step text := CASE WHEN parent IN ('usage_sample', 'pool_sample') THEN 'day' WHEN parent IN ('usage_by_hour', 'pool_by_hour') THEN 'month' END;
  first timestamptz := date_trunc(step, moment, 'UTC');
  until timestamptz := ((first AT TIME ZONE 'UTC') + ('1 ' || step)::interval) AT TIME ZONE 'UTC';
  part text := format('%s_p%s', parent, to_char(first AT TIME ZONE 'UTC', CASE step WHEN 'day' THEN 'YYYYMMDD' ELSE 'YYYYMM' END));
BEGIN
  IF step IS NULL THEN
    RAISE EXCEPTION 'usage: % has no partitions', parent USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('partition ' || parent, 0));
  IF to_regclass('public.' || part) IS NOT NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_rest');
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, parent);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE at >= %L AND at < %L RETURNING *) INSERT INTO %I SELECT * FROM moved', parent || '_rest', first, until, part);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, first, until);
  RETURN true;
END $$;

CREATE TABLE public.baseline (
    id bigint NOT NULL,
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    nominal text NOT NULL,
    borrowing text,
    lending text,
    at timestamp with time zone NOT NULL
);

ALTER TABLE public.baseline ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.baseline_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.binding (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    project_id text NOT NULL,
    environment text NOT NULL,
    cluster_id text NOT NULL,
    namespace text DEFAULT ''::text NOT NULL,
    local_queue text DEFAULT ''::text NOT NULL,
    cluster_queue text DEFAULT ''::text NOT NULL,
    cohort text DEFAULT ''::text NOT NULL,
    root_cohort text DEFAULT ''::text NOT NULL,
    resource_quota text DEFAULT ''::text NOT NULL,
    account text DEFAULT ''::text NOT NULL,
    adopted boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.change (
    id uuid NOT NULL,
    seq bigint NOT NULL,
    binding_id uuid NOT NULL,
    cluster_id text NOT NULL,
    request_id uuid,
    cause text NOT NULL,
    state text NOT NULL,
    takeover boolean DEFAULT false NOT NULL,
    expected jsonb DEFAULT '[]'::jsonb NOT NULL,
    plan jsonb,
    receipt jsonb,
    readback jsonb,
    problem text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    applied_at timestamp with time zone,
    verified_at timestamp with time zone,
    CONSTRAINT change_state_check CHECK ((state = ANY (ARRAY['planned'::text, 'held'::text, 'waiting'::text, 'applying'::text, 'applied'::text, 'verified'::text, 'stopped'::text, 'superseded'::text])))
);

ALTER TABLE public.change ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.change_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.check_result (
    id bigint NOT NULL,
    request_id uuid NOT NULL,
    digest text NOT NULL,
    phase text NOT NULL,
    policy_id text NOT NULL,
    version text NOT NULL,
    title text NOT NULL,
    severity text NOT NULL,
    outcome text NOT NULL,
    message text NOT NULL,
    pool_id text DEFAULT ''::text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT check_result_outcome_check CHECK ((outcome = ANY (ARRAY['pass'::text, 'fails'::text, 'unknown'::text]))),
    CONSTRAINT check_result_phase_check CHECK ((phase = ANY (ARRAY['submission'::text, 'decision'::text, 'dispatch'::text]))),
    CONSTRAINT check_result_severity_check CHECK ((severity = ANY (ARRAY['deny'::text, 'needs approval'::text, 'warn'::text])))
);

ALTER TABLE public.check_result ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.check_result_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.cluster (
    id text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    mode text DEFAULT 'observe'::text NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    server text DEFAULT ''::text NOT NULL,
    ca text DEFAULT ''::text NOT NULL,
    token_sealed bytea,
    token_set_at timestamp with time zone,
    root_cohort text DEFAULT ''::text NOT NULL,
    discovery jsonb,
    observation jsonb,
    last_poll_at timestamp with time zone,
    last_good_at timestamp with time zone,
    last_problem text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    puts_back boolean DEFAULT false NOT NULL,
    CONSTRAINT cluster_kind_check CHECK ((kind = ANY (ARRAY['kubernetes'::text, 'slurm'::text, 'simulated'::text]))),
    CONSTRAINT cluster_mode_check CHECK ((mode = ANY (ARRAY['observe'::text, 'plan'::text, 'enforce'::text])))
);

CREATE TABLE public.comment (
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    person_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.decision (
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    revision integer NOT NULL,
    digest text NOT NULL,
    stage_key text NOT NULL,
    person_id uuid NOT NULL,
    identity uuid NOT NULL,
    outcome text NOT NULL,
    granted jsonb DEFAULT '[]'::jsonb NOT NULL,
    factors text[] DEFAULT '{}'::text[] NOT NULL,
    entry_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT decision_outcome_check CHECK ((outcome = ANY (ARRAY['approve'::text, 'return'::text, 'reject'::text])))
);

CREATE TABLE public.finding (
    id uuid NOT NULL,
    cluster_id text NOT NULL,
    binding_id uuid,
    pool_id text,
    kind text NOT NULL,
    severity integer NOT NULL,
    owner text NOT NULL,
    object_kind text NOT NULL,
    object_namespace text NOT NULL,
    object_name text NOT NULL,
    field text NOT NULL,
    granted text,
    live text,
    manager text NOT NULL,
    wrote_at timestamp with time zone,
    note text NOT NULL,
    mendable boolean NOT NULL,
    pool_key jsonb NOT NULL,
    state text NOT NULL,
    since timestamp with time zone NOT NULL,
    last_seen timestamp with time zone NOT NULL,
    resolved_at timestamp with time zone,
    how text NOT NULL,
    resolved_by text NOT NULL,
    reopened integer NOT NULL,
    turns integer NOT NULL,
    turns_from timestamp with time zone NOT NULL,
    change_id uuid,
    request_id uuid,
    CONSTRAINT finding_check CHECK (((state = 'resolved'::text) = (resolved_at IS NOT NULL))),
    CONSTRAINT finding_kind_check CHECK ((kind = ANY (ARRAY['drift'::text, 'bypass'::text, 'stopped'::text]))),
    CONSTRAINT finding_owner_check CHECK ((owner = ANY (ARRAY['capacity_manager'::text, 'platform_admin'::text]))),
    CONSTRAINT finding_severity_check CHECK (((severity >= 1) AND (severity <= 3))),
    CONSTRAINT finding_state_check CHECK ((state = ANY (ARRAY['open'::text, 'resolved'::text])))
);

CREATE TABLE public.finding_event (
    id bigint NOT NULL,
    finding_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    event text NOT NULL,
    at timestamp with time zone NOT NULL,
    by_id text NOT NULL,
    granted text,
    live text,
    manager text NOT NULL,
    note text NOT NULL
);

ALTER TABLE public.finding_event ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.finding_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.grant_end (
    grant_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    cause text NOT NULL,
    CONSTRAINT grant_end_cause_check CHECK ((cause = ANY (ARRAY['revoked'::text, 'superseded'::text, 'expired'::text])))
);

CREATE TABLE public.grant_line (
    id uuid NOT NULL,
    seq bigint NOT NULL,
    request_id uuid NOT NULL,
    digest text NOT NULL,
    project_id text NOT NULL,
    environment text NOT NULL,
    pool_id text NOT NULL,
    kind text NOT NULL,
    asked text NOT NULL,
    amount text NOT NULL,
    starts_at timestamp with time zone,
    ends_at timestamp with time zone,
    made_at timestamp with time zone NOT NULL,
    CONSTRAINT grant_line_kind_check CHECK ((kind = ANY (ARRAY['hard'::text, 'soft'::text, 'burst'::text])))
);

ALTER TABLE public.grant_line ALTER COLUMN seq ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.grant_line_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.grant_start (
    grant_id uuid NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.idempotency (
    person_id uuid NOT NULL,
    key text NOT NULL,
    use_case text NOT NULL,
    result jsonb NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.installation (
    one boolean DEFAULT true NOT NULL,
    log text DEFAULT replace((gen_random_uuid())::text, '-'::text, ''::text) NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT installation_one_check CHECK (one)
);

CREATE TABLE public.ledger_check (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    size bigint NOT NULL,
    ok boolean NOT NULL,
    problem text DEFAULT ''::text NOT NULL,
    entry_id uuid NOT NULL,
    CONSTRAINT ledger_check_kind_check CHECK ((kind = ANY (ARRAY['range'::text, 'whole'::text, 'cleared'::text])))
);

ALTER TABLE public.ledger_check ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ledger_check_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.ledger_checkpoint (
    size bigint NOT NULL,
    root bytea NOT NULL,
    note text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_checkpoint_root_check CHECK ((length(root) = 32)),
    CONSTRAINT ledger_checkpoint_size_check CHECK ((size > 0))
);

CREATE TABLE public.ledger_entry (
    ordinal bigint NOT NULL,
    id uuid NOT NULL,
    digest text NOT NULL,
    canonical bytea NOT NULL,
    type text NOT NULL,
    outcome text NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    object_kind text NOT NULL,
    object_id text NOT NULL,
    prev text NOT NULL,
    request_id uuid,
    project_id text,
    pool_ids text[] DEFAULT '{}'::text[] NOT NULL,
    cluster_id text
);

ALTER TABLE public.ledger_entry ALTER COLUMN ordinal ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ledger_entry_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.ledger_head (
    object_kind text NOT NULL,
    object_id text NOT NULL,
    digest text NOT NULL
);

CREATE TABLE public.ledger_leaf (
    index bigint NOT NULL,
    ordinal bigint NOT NULL,
    hashes bytea NOT NULL,
    CONSTRAINT ledger_leaf_hashes_check CHECK (((length(hashes) >= 32) AND ((length(hashes) % 32) = 0))),
    CONSTRAINT ledger_leaf_index_check CHECK ((index >= 0))
);

CREATE TABLE public.ledger_opening (
    entry_id uuid NOT NULL,
    name text NOT NULL,
    salt bytea NOT NULL,
    text text
);

CREATE TABLE public.logout_token (
    jti text NOT NULL,
    expires timestamp with time zone NOT NULL
);

CREATE TABLE public.match_rule (
    version bigint NOT NULL,
    rules jsonb NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.match_rule ALTER COLUMN version ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.match_rule_version_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.object_import (
    id uuid NOT NULL,
    cluster_id text NOT NULL,
    file_name text NOT NULL,
    digest text NOT NULL,
    dump jsonb NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.org_version (
    version bigint NOT NULL,
    digest text NOT NULL,
    imported_by text NOT NULL,
    imported_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.org_version ALTER COLUMN version ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.org_version_version_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.person (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    name text NOT NULL,
    email text DEFAULT ''::text NOT NULL,
    identity uuid DEFAULT gen_random_uuid() NOT NULL,
    active boolean DEFAULT true NOT NULL,
    groups text[] DEFAULT '{}'::text[] NOT NULL,
    groups_at timestamp with time zone,
    last_sign_in timestamp with time zone,
    totp_sealed bytea,
    totp_pending bytea,
    totp_last_step bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.poll (
    id bigint NOT NULL,
    cluster_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    ok boolean NOT NULL,
    took_ms integer NOT NULL,
    problem text DEFAULT ''::text NOT NULL
);

ALTER TABLE public.poll ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.poll_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.pool (
    id text NOT NULL,
    cluster_id text NOT NULL,
    flavor text NOT NULL,
    resource text NOT NULL,
    name text NOT NULL,
    tier text DEFAULT ''::text NOT NULL,
    hourly_cents bigint DEFAULT 0 NOT NULL,
    currency text DEFAULT 'EUR'::text NOT NULL,
    borrow_ceiling text,
    cpu_per_unit text DEFAULT '0'::text NOT NULL,
    memory_per_unit text DEFAULT '0'::text NOT NULL,
    data_classes text[] DEFAULT '{}'::text[] NOT NULL,
    unit text DEFAULT 'unit'::text NOT NULL,
    product text DEFAULT ''::text NOT NULL,
    capacity text,
    cards text,
    nodes integer,
    notes text[] DEFAULT '{}'::text[] NOT NULL,
    nominal text,
    reserved text,
    in_use text,
    borrowed text,
    pending text,
    observed_at timestamp with time zone,
    CONSTRAINT pool_hourly_cents_check CHECK ((hourly_cents >= 0))
);

CREATE TABLE public.pool_by_hour (
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    capacity double precision,
    nominal double precision,
    reserved_ms bigint NOT NULL,
    reserved_known_ms bigint NOT NULL,
    in_use_ms bigint NOT NULL,
    in_use_known_ms bigint NOT NULL,
    borrowed_ms bigint NOT NULL,
    borrowed_known_ms bigint NOT NULL
)
PARTITION BY RANGE (at);

CREATE TABLE public.pool_by_hour_rest (
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    capacity double precision,
    nominal double precision,
    reserved_ms bigint NOT NULL,
    reserved_known_ms bigint NOT NULL,
    in_use_ms bigint NOT NULL,
    in_use_known_ms bigint NOT NULL,
    borrowed_ms bigint NOT NULL,
    borrowed_known_ms bigint NOT NULL
);

CREATE TABLE public.pool_hour (
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    capacity double precision,
    nominal double precision,
    reserved_sum double precision NOT NULL,
    reserved_n integer NOT NULL,
    in_use_sum double precision NOT NULL,
    in_use_n integer NOT NULL,
    borrowed_sum double precision NOT NULL,
    borrowed_n integer NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE public.pool_sample (
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    capacity double precision,
    nominal double precision,
    reserved double precision,
    in_use double precision,
    borrowed double precision,
    holds_ms integer DEFAULT 60000 NOT NULL,
    CONSTRAINT pool_sample_holds_ms_check CHECK (((holds_ms >= 0) AND (holds_ms <= 3600000)))
)
PARTITION BY RANGE (at);

CREATE TABLE public.pool_sample_rest (
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    capacity double precision,
    nominal double precision,
    reserved double precision,
    in_use double precision,
    borrowed double precision,
    holds_ms integer DEFAULT 60000 NOT NULL,
    CONSTRAINT pool_sample_holds_ms_check CHECK (((holds_ms >= 0) AND (holds_ms <= 3600000)))
);

CREATE TABLE public.project (
    id text NOT NULL,
    name text NOT NULL,
    team_id text NOT NULL,
    owner_subject text DEFAULT ''::text NOT NULL,
    cost_centre text DEFAULT ''::text NOT NULL,
    environments text[] NOT NULL,
    data_classes text[] NOT NULL
);

CREATE TABLE public.recovery_code (
    person_id uuid NOT NULL,
    digest text NOT NULL,
    made_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    retired_at timestamp with time zone
);

CREATE TABLE public.request (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    number bigint NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    project_id text NOT NULL,
    environment text NOT NULL,
    team_id text NOT NULL,
    requester_id uuid NOT NULL,
    beneficiary_id uuid,
    purpose text DEFAULT ''::text NOT NULL,
    editor_ids uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    revision integer NOT NULL,
    digest text NOT NULL,
    route jsonb,
    stage_key text DEFAULT ''::text NOT NULL,
    waiting_role text DEFAULT ''::text NOT NULL,
    waiting_since timestamp with time zone,
    due_at timestamp with time zone,
    corrects_id uuid,
    created_at timestamp with time zone NOT NULL,
    submitted_at timestamp with time zone,
    closed_at timestamp with time zone,
    version bigint DEFAULT 1 NOT NULL,
    CONSTRAINT request_kind_check CHECK ((kind = ANY (ARRAY['quota'::text, 'reservation'::text, 'exception'::text]))),
    CONSTRAINT request_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'submitted'::text, 'in review'::text, 'approved'::text, 'scheduled'::text, 'applying'::text, 'active'::text, 'expired'::text, 'revoked'::text, 'superseded'::text, 'rejected'::text, 'returned'::text, 'withdrawn'::text, 'lapsed'::text])))
);

CREATE TABLE public.request_line (
    request_id uuid NOT NULL,
    "position" integer NOT NULL,
    pool_id text NOT NULL,
    kind text NOT NULL,
    current text,
    in_use text,
    asked text NOT NULL,
    granted text,
    starts_at timestamp with time zone,
    ends_at timestamp with time zone,
    CONSTRAINT request_line_kind_check CHECK ((kind = ANY (ARRAY['hard'::text, 'soft'::text, 'burst'::text])))
);

ALTER TABLE public.request ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.request_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.request_revision (
    saved bigint NOT NULL,
    request_id uuid NOT NULL,
    number integer NOT NULL,
    digest text NOT NULL,
    content jsonb NOT NULL,
    editor_id uuid NOT NULL,
    at timestamp with time zone NOT NULL
);

ALTER TABLE public.request_revision ALTER COLUMN saved ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.request_revision_saved_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.request_waiting_place (
    request_id uuid NOT NULL,
    unit_id text DEFAULT ''::text NOT NULL,
    team_id text DEFAULT ''::text NOT NULL,
    cluster_id text DEFAULT ''::text NOT NULL,
    pool_id text DEFAULT ''::text NOT NULL
);

CREATE TABLE public.role_mapping (
    group_name text NOT NULL,
    role text NOT NULL,
    scope_kind text NOT NULL,
    scope_id text DEFAULT ''::text NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT role_mapping_scope_kind_check CHECK ((scope_kind = ANY (ARRAY['organisation'::text, 'unit'::text, 'team'::text, 'cluster'::text, 'pool'::text])))
);

CREATE TABLE public.route (
    version bigint NOT NULL,
    stages jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE public.route ALTER COLUMN version ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.route_version_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.session_owner (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    person_id uuid NOT NULL,
    provider_sid text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone
);

CREATE TABLE public.sessions (
    token text NOT NULL,
    data bytea NOT NULL,
    expiry timestamp with time zone NOT NULL
);

CREATE TABLE public.step_up (
    id uuid NOT NULL,
    session_id text NOT NULL,
    person_id uuid NOT NULL,
    proven_by text NOT NULL,
    digests text[] NOT NULL,
    at timestamp with time zone NOT NULL,
    spent_at timestamp with time zone,
    CONSTRAINT step_up_digests_check CHECK (((cardinality(digests) >= 1) AND (cardinality(digests) <= 100))),
    CONSTRAINT step_up_proven_by_check CHECK ((proven_by = ANY (ARRAY['provider'::text, 'totp'::text, 'recovery'::text])))
);

CREATE TABLE public.team (
    id text NOT NULL,
    name text NOT NULL,
    unit_id text
);

CREATE TABLE public.tick (
    name text NOT NULL,
    at timestamp with time zone
);

CREATE TABLE public.unit (
    id text NOT NULL,
    name text NOT NULL
);

CREATE TABLE public.usage_by_day (
    at timestamp with time zone NOT NULL,
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    workload_type text NOT NULL,
    expected_ms bigint NOT NULL,
    nominal_ms bigint NOT NULL,
    nominal_known_ms bigint NOT NULL,
    in_use_ms bigint NOT NULL,
    in_use_known_ms bigint NOT NULL
);

CREATE TABLE public.usage_by_hour (
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    workload_type text NOT NULL,
    expected_ms bigint NOT NULL,
    nominal double precision,
    nominal_ms bigint NOT NULL,
    nominal_known_ms bigint NOT NULL,
    reserved_ms bigint NOT NULL,
    reserved_known_ms bigint NOT NULL,
    in_use_ms bigint NOT NULL,
    in_use_known_ms bigint NOT NULL,
    borrowed_ms bigint NOT NULL,
    borrowed_known_ms bigint NOT NULL,
    pending_ms bigint NOT NULL,
    pending_known_ms bigint NOT NULL
)
PARTITION BY RANGE (at);

CREATE TABLE public.usage_by_hour_rest (
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    workload_type text NOT NULL,
    expected_ms bigint NOT NULL,
    nominal double precision,
    nominal_ms bigint NOT NULL,
    nominal_known_ms bigint NOT NULL,
    reserved_ms bigint NOT NULL,
    reserved_known_ms bigint NOT NULL,
    in_use_ms bigint NOT NULL,
    in_use_known_ms bigint NOT NULL,
    borrowed_ms bigint NOT NULL,
    borrowed_known_ms bigint NOT NULL,
    pending_ms bigint NOT NULL,
    pending_known_ms bigint NOT NULL
);

CREATE TABLE public.usage_by_month (
    at timestamp with time zone NOT NULL,
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    workload_type text NOT NULL,
    expected_ms bigint NOT NULL,
    nominal_ms bigint NOT NULL,
    nominal_known_ms bigint NOT NULL,
    in_use_ms bigint NOT NULL,
    in_use_known_ms bigint NOT NULL
);

CREATE TABLE public.usage_due (
    cluster_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    marks bigint DEFAULT 1 NOT NULL
);

CREATE TABLE public.usage_hour (
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    nominal double precision,
    reserved_sum double precision NOT NULL,
    reserved_n integer NOT NULL,
    in_use_sum double precision NOT NULL,
    in_use_n integer NOT NULL,
    borrowed_sum double precision NOT NULL,
    borrowed_n integer NOT NULL,
    pending_sum double precision NOT NULL,
    pending_n integer NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE public.usage_now (
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    nominal text,
    borrowing text,
    borrowing_known boolean DEFAULT false NOT NULL,
    reserved text,
    in_use text,
    borrowed text,
    pending integer,
    pending_amount text,
    active boolean,
    inactive_reason text DEFAULT ''::text NOT NULL,
    at timestamp with time zone NOT NULL,
    since timestamp with time zone
);

CREATE TABLE public.usage_sample (
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    nominal double precision,
    reserved double precision,
    in_use double precision,
    borrowed double precision,
    pending double precision,
    holds_ms integer DEFAULT 60000 NOT NULL,
    CONSTRAINT usage_sample_holds_ms_check CHECK (((holds_ms >= 0) AND (holds_ms <= 3600000)))
)
PARTITION BY RANGE (at);

CREATE TABLE public.usage_sample_rest (
    binding_id uuid NOT NULL,
    pool_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    nominal double precision,
    reserved double precision,
    in_use double precision,
    borrowed double precision,
    pending double precision,
    holds_ms integer DEFAULT 60000 NOT NULL,
    CONSTRAINT usage_sample_holds_ms_check CHECK (((holds_ms >= 0) AND (holds_ms <= 3600000)))
);

CREATE TABLE public.workload (
    cluster_id text NOT NULL,
    uid text NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL,
    job text DEFAULT ''::text NOT NULL,
    local_queue text DEFAULT ''::text NOT NULL,
    queue text DEFAULT ''::text NOT NULL,
    submitter text DEFAULT ''::text NOT NULL,
    state text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    message text DEFAULT ''::text NOT NULL,
    amounts jsonb DEFAULT '[]'::jsonb NOT NULL,
    node text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    admitted_at timestamp with time zone,
    finished_at timestamp with time zone,
    gone_at timestamp with time zone,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT workload_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'admitted'::text, 'finished'::text, 'evicted'::text])))
);

ALTER TABLE ONLY public.pool_by_hour ATTACH PARTITION public.pool_by_hour_rest DEFAULT;

ALTER TABLE ONLY public.pool_sample ATTACH PARTITION public.pool_sample_rest DEFAULT;

ALTER TABLE ONLY public.usage_by_hour ATTACH PARTITION public.usage_by_hour_rest DEFAULT;

ALTER TABLE ONLY public.usage_sample ATTACH PARTITION public.usage_sample_rest DEFAULT;

ALTER TABLE ONLY public.baseline
    ADD CONSTRAINT baseline_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.binding
    ADD CONSTRAINT binding_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.binding
    ADD CONSTRAINT binding_project_id_environment_cluster_id_key UNIQUE (project_id, environment, cluster_id);

ALTER TABLE ONLY public.change
    ADD CONSTRAINT change_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.change
    ADD CONSTRAINT change_seq_key UNIQUE (seq);

ALTER TABLE ONLY public.check_result
    ADD CONSTRAINT check_result_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.cluster
    ADD CONSTRAINT cluster_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.comment
    ADD CONSTRAINT comment_entry_id_key UNIQUE (entry_id);

ALTER TABLE ONLY public.comment
    ADD CONSTRAINT comment_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.decision
    ADD CONSTRAINT decision_entry_id_key UNIQUE (entry_id);

ALTER TABLE ONLY public.decision
    ADD CONSTRAINT decision_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.decision
    ADD CONSTRAINT decision_request_id_digest_identity_key UNIQUE (request_id, digest, identity);

ALTER TABLE ONLY public.finding_event
    ADD CONSTRAINT finding_event_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.grant_end
    ADD CONSTRAINT grant_end_pkey PRIMARY KEY (grant_id);

ALTER TABLE ONLY public.grant_line
    ADD CONSTRAINT grant_line_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.grant_line
    ADD CONSTRAINT grant_line_request_id_pool_id_key UNIQUE (request_id, pool_id);

ALTER TABLE ONLY public.grant_line
    ADD CONSTRAINT grant_line_seq_key UNIQUE (seq);

ALTER TABLE ONLY public.grant_start
    ADD CONSTRAINT grant_start_pkey PRIMARY KEY (grant_id);

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (person_id, key);

ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (one);

ALTER TABLE ONLY public.ledger_check
    ADD CONSTRAINT ledger_check_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.ledger_checkpoint
    ADD CONSTRAINT ledger_checkpoint_pkey PRIMARY KEY (size);

ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_digest_key UNIQUE (digest);

ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_id_key UNIQUE (id);

ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_one_successor UNIQUE (object_kind, object_id, prev);

ALTER TABLE ONLY public.ledger_entry
    ADD CONSTRAINT ledger_entry_pkey PRIMARY KEY (ordinal);

ALTER TABLE ONLY public.ledger_head
    ADD CONSTRAINT ledger_head_pkey PRIMARY KEY (object_kind, object_id);

ALTER TABLE ONLY public.ledger_leaf
    ADD CONSTRAINT ledger_leaf_ordinal_key UNIQUE (ordinal);

ALTER TABLE ONLY public.ledger_leaf
    ADD CONSTRAINT ledger_leaf_pkey PRIMARY KEY (index);

ALTER TABLE ONLY public.ledger_opening
    ADD CONSTRAINT ledger_opening_pkey PRIMARY KEY (entry_id, name);

ALTER TABLE ONLY public.logout_token
    ADD CONSTRAINT logout_token_pkey PRIMARY KEY (jti);

ALTER TABLE ONLY public.match_rule
    ADD CONSTRAINT match_rule_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.object_import
    ADD CONSTRAINT object_import_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.org_version
    ADD CONSTRAINT org_version_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.person
    ADD CONSTRAINT person_issuer_subject_key UNIQUE (issuer, subject);

ALTER TABLE ONLY public.person
    ADD CONSTRAINT person_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.poll
    ADD CONSTRAINT poll_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.pool_by_hour
    ADD CONSTRAINT pool_by_hour_pkey PRIMARY KEY (pool_id, at);

ALTER TABLE ONLY public.pool_by_hour_rest
    ADD CONSTRAINT pool_by_hour_rest_pkey PRIMARY KEY (pool_id, at);

ALTER TABLE ONLY public.pool
    ADD CONSTRAINT pool_cluster_id_flavor_resource_key UNIQUE (cluster_id, flavor, resource);

ALTER TABLE ONLY public.pool_hour
    ADD CONSTRAINT pool_hour_pkey PRIMARY KEY (pool_id, at);

ALTER TABLE ONLY public.pool
    ADD CONSTRAINT pool_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.pool_sample
    ADD CONSTRAINT pool_sample_pkey PRIMARY KEY (pool_id, at);

ALTER TABLE ONLY public.pool_sample_rest
    ADD CONSTRAINT pool_sample_rest_pkey PRIMARY KEY (pool_id, at);

ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_pkey PRIMARY KEY (person_id, digest);

ALTER TABLE ONLY public.request_line
    ADD CONSTRAINT request_line_pkey PRIMARY KEY (request_id, "position");

ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_number_key UNIQUE (number);

ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.request_revision
    ADD CONSTRAINT request_revision_pkey PRIMARY KEY (saved);

ALTER TABLE ONLY public.request_waiting_place
    ADD CONSTRAINT request_waiting_place_pkey PRIMARY KEY (request_id, unit_id, team_id, cluster_id, pool_id);

ALTER TABLE ONLY public.role_mapping
    ADD CONSTRAINT role_mapping_pkey PRIMARY KEY (group_name, role, scope_kind, scope_id);

ALTER TABLE ONLY public.route
    ADD CONSTRAINT route_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.session_owner
    ADD CONSTRAINT session_owner_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (token);

ALTER TABLE ONLY public.step_up
    ADD CONSTRAINT step_up_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.tick
    ADD CONSTRAINT tick_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.unit
    ADD CONSTRAINT unit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.usage_by_day
    ADD CONSTRAINT usage_by_day_pkey PRIMARY KEY (at, binding_id, pool_id, workload_type);

ALTER TABLE ONLY public.usage_by_hour
    ADD CONSTRAINT usage_by_hour_pkey PRIMARY KEY (binding_id, pool_id, at);

ALTER TABLE ONLY public.usage_by_hour_rest
    ADD CONSTRAINT usage_by_hour_rest_pkey PRIMARY KEY (binding_id, pool_id, at);

ALTER TABLE ONLY public.usage_by_month
    ADD CONSTRAINT usage_by_month_pkey PRIMARY KEY (at, binding_id, pool_id, workload_type);

ALTER TABLE ONLY public.usage_due
    ADD CONSTRAINT usage_due_pkey PRIMARY KEY (cluster_id, at);

ALTER TABLE ONLY public.usage_hour
    ADD CONSTRAINT usage_hour_pkey PRIMARY KEY (binding_id, pool_id, at);

ALTER TABLE ONLY public.usage_now
    ADD CONSTRAINT usage_now_pkey PRIMARY KEY (binding_id, pool_id);

ALTER TABLE ONLY public.usage_sample
    ADD CONSTRAINT usage_sample_pkey PRIMARY KEY (binding_id, pool_id, at);

ALTER TABLE ONLY public.usage_sample_rest
    ADD CONSTRAINT usage_sample_rest_pkey PRIMARY KEY (binding_id, pool_id, at);

ALTER TABLE ONLY public.workload
    ADD CONSTRAINT workload_pkey PRIMARY KEY (cluster_id, uid);

CREATE INDEX baseline_binding ON public.baseline USING btree (binding_id, pool_id, id DESC);

CREATE UNIQUE INDEX binding_account ON public.binding USING btree (cluster_id, lower(account)) WHERE (account <> ''::text);

CREATE INDEX binding_namespace ON public.binding USING btree (cluster_id, namespace);

CREATE UNIQUE INDEX binding_queue ON public.binding USING btree (cluster_id, cluster_queue) WHERE (cluster_queue <> ''::text);

CREATE INDEX change_binding ON public.change USING btree (binding_id, seq DESC);

CREATE INDEX change_open ON public.change USING btree (cluster_id, seq) WHERE (state = ANY (ARRAY['planned'::text, 'held'::text, 'waiting'::text, 'applying'::text, 'applied'::text]));

CREATE INDEX change_request ON public.change USING btree (request_id, seq);

CREATE INDEX change_stopped ON public.change USING btree (cluster_id, seq) WHERE (state = 'stopped'::text);

CREATE INDEX check_result_request ON public.check_result USING btree (request_id, id);

CREATE INDEX comment_request ON public.comment USING btree (request_id, at);

CREATE INDEX finding_binding ON public.finding USING btree (binding_id);

CREATE INDEX finding_change ON public.finding USING btree (change_id);

CREATE INDEX finding_event_of ON public.finding_event USING btree (finding_id, id);

CREATE INDEX finding_key ON public.finding USING btree (cluster_id, object_kind, object_namespace, object_name, field, since DESC);

CREATE INDEX finding_list ON public.finding USING btree (state, severity DESC, since DESC, id DESC);

CREATE UNIQUE INDEX finding_open ON public.finding USING btree (cluster_id, object_kind, object_namespace, object_name, field) WHERE (state = 'open'::text);

CREATE INDEX grant_end_at ON public.grant_end USING btree (at);

CREATE INDEX grant_line_ends ON public.grant_line USING btree (ends_at) WHERE (ends_at IS NOT NULL);

CREATE INDEX grant_line_place ON public.grant_line USING btree (project_id, environment, pool_id, seq DESC);

CREATE INDEX grant_line_starts ON public.grant_line USING btree (starts_at) WHERE (starts_at IS NOT NULL);

CREATE INDEX ledger_check_whole ON public.ledger_check USING btree (at) WHERE (kind = 'whole'::text);

CREATE INDEX ledger_entry_actor ON public.ledger_entry USING btree (actor, ordinal DESC);

CREATE INDEX ledger_entry_at ON public.ledger_entry USING btree (at, ordinal);

CREATE INDEX ledger_entry_cluster ON public.ledger_entry USING btree (cluster_id, ordinal DESC) WHERE (cluster_id IS NOT NULL);

CREATE INDEX ledger_entry_object ON public.ledger_entry USING btree (object_kind, object_id, ordinal DESC);

CREATE INDEX ledger_entry_outcome ON public.ledger_entry USING btree (outcome, ordinal DESC) WHERE (outcome <> 'done'::text);

CREATE INDEX ledger_entry_pools ON public.ledger_entry USING gin (pool_ids) WHERE (pool_ids <> '{}'::text[]);

CREATE INDEX ledger_entry_project ON public.ledger_entry USING btree (project_id, ordinal DESC) WHERE (project_id IS NOT NULL);

CREATE INDEX ledger_entry_request ON public.ledger_entry USING btree (request_id, ordinal) WHERE (request_id IS NOT NULL);

CREATE INDEX ledger_entry_type ON public.ledger_entry USING btree (type, ordinal DESC);

CREATE INDEX object_import_newest ON public.object_import USING btree (cluster_id, at DESC);

CREATE INDEX person_groups ON public.person USING gin (groups);

CREATE INDEX person_identity ON public.person USING btree (identity);

CREATE INDEX person_name ON public.person USING btree (name, id);

CREATE INDEX poll_at ON public.poll USING brin (at);

CREATE INDEX poll_cluster ON public.poll USING btree (cluster_id, id DESC);

CREATE INDEX project_team ON public.project USING btree (team_id);

CREATE INDEX request_beneficiary ON public.request USING btree (beneficiary_id, number DESC) WHERE (beneficiary_id IS NOT NULL);

CREATE INDEX request_due ON public.request USING btree (COALESCE(due_at, 'infinity'::timestamp with time zone), number);

CREATE INDEX request_line_pool ON public.request_line USING btree (pool_id, request_id);

CREATE INDEX request_project ON public.request USING btree (project_id, number DESC);

CREATE INDEX request_requester ON public.request USING btree (requester_id, number DESC);

CREATE INDEX request_revision_request ON public.request_revision USING btree (request_id, saved DESC);

CREATE INDEX request_state ON public.request USING btree (state, number DESC);

CREATE INDEX request_team ON public.request USING btree (team_id, number DESC);

CREATE INDEX request_waiting ON public.request USING btree (waiting_since, number) WHERE (stage_key <> ''::text);

CREATE INDEX request_waiting_place_cluster ON public.request_waiting_place USING btree (cluster_id) WHERE (cluster_id <> ''::text);

CREATE INDEX request_waiting_place_pool ON public.request_waiting_place USING btree (pool_id) WHERE (pool_id <> ''::text);

CREATE INDEX request_waiting_place_team ON public.request_waiting_place USING btree (team_id) WHERE (team_id <> ''::text);

CREATE INDEX request_waiting_place_unit ON public.request_waiting_place USING btree (unit_id) WHERE (unit_id <> ''::text);

CREATE INDEX session_owner_person ON public.session_owner USING btree (person_id) WHERE (ended_at IS NULL);

CREATE INDEX session_owner_provider ON public.session_owner USING btree (provider_sid) WHERE ((ended_at IS NULL) AND (provider_sid <> ''::text));

CREATE INDEX sessions_expiry ON public.sessions USING btree (expiry);

CREATE INDEX step_up_session ON public.step_up USING btree (session_id, at);

CREATE INDEX usage_by_hour_at ON ONLY public.usage_by_hour USING btree (at);

CREATE INDEX usage_by_hour_rest_at_idx ON public.usage_by_hour_rest USING btree (at);

CREATE INDEX usage_now_pool ON public.usage_now USING btree (pool_id);

CREATE INDEX workload_finished ON public.workload USING btree (COALESCE(finished_at, gone_at)) WHERE ((finished_at IS NOT NULL) OR (gone_at IS NOT NULL));

CREATE INDEX workload_namespace ON public.workload USING btree (cluster_id, namespace, state, created_at DESC);

ALTER INDEX public.pool_by_hour_pkey ATTACH PARTITION public.pool_by_hour_rest_pkey;

ALTER INDEX public.pool_sample_pkey ATTACH PARTITION public.pool_sample_rest_pkey;

ALTER INDEX public.usage_by_hour_at ATTACH PARTITION public.usage_by_hour_rest_at_idx;

ALTER INDEX public.usage_by_hour_pkey ATTACH PARTITION public.usage_by_hour_rest_pkey;

ALTER INDEX public.usage_sample_pkey ATTACH PARTITION public.usage_sample_rest_pkey;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.baseline FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.baseline ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.check_result FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.check_result ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.comment FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.comment ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.decision FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.decision ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.finding_event FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.finding_event ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.grant_end FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.grant_end ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.grant_line FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.grant_line ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.grant_start FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.grant_start ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.ledger_check FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_check ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.ledger_checkpoint FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_checkpoint ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.ledger_entry FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_entry ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.ledger_leaf FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_leaf ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.ledger_opening FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_opening ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.match_rule FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.match_rule ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.object_import FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.object_import ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.org_version FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.org_version ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.request_revision FOR EACH ROW EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.request_revision ENABLE ALWAYS TRIGGER refuse_change;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.baseline FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.baseline ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.check_result FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.check_result ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.comment FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.comment ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.decision FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.decision ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.finding_event FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.finding_event ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.grant_end FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.grant_end ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.grant_line FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.grant_line ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.grant_start FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.grant_start ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.ledger_check FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_check ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.ledger_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_checkpoint ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.ledger_entry FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_entry ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.ledger_leaf FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_leaf ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.ledger_opening FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.ledger_opening ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.match_rule FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.match_rule ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.object_import FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.object_import ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.org_version FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.org_version ENABLE ALWAYS TRIGGER refuse_truncate;

CREATE TRIGGER refuse_truncate BEFORE TRUNCATE ON public.request_revision FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_history_change();

ALTER TABLE public.request_revision ENABLE ALWAYS TRIGGER refuse_truncate;

ALTER TABLE ONLY public.baseline
    ADD CONSTRAINT baseline_binding_id_fkey FOREIGN KEY (binding_id) REFERENCES public.binding(id);

ALTER TABLE ONLY public.baseline
    ADD CONSTRAINT baseline_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES public.pool(id);

ALTER TABLE ONLY public.binding
    ADD CONSTRAINT binding_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

ALTER TABLE ONLY public.binding
    ADD CONSTRAINT binding_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.project(id);

ALTER TABLE ONLY public.change
    ADD CONSTRAINT change_binding_id_fkey FOREIGN KEY (binding_id) REFERENCES public.binding(id);

ALTER TABLE ONLY public.change
    ADD CONSTRAINT change_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

ALTER TABLE ONLY public.change
    ADD CONSTRAINT change_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.check_result
    ADD CONSTRAINT check_result_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.comment
    ADD CONSTRAINT comment_person_id_fkey FOREIGN KEY (person_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.comment
    ADD CONSTRAINT comment_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.decision
    ADD CONSTRAINT decision_person_id_fkey FOREIGN KEY (person_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.decision
    ADD CONSTRAINT decision_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_binding_id_fkey FOREIGN KEY (binding_id) REFERENCES public.binding(id);

ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_change_id_fkey FOREIGN KEY (change_id) REFERENCES public.change(id);

ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

ALTER TABLE ONLY public.finding_event
    ADD CONSTRAINT finding_event_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES public.ledger_entry(id);

ALTER TABLE ONLY public.finding_event
    ADD CONSTRAINT finding_event_finding_id_fkey FOREIGN KEY (finding_id) REFERENCES public.finding(id);

ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES public.pool(id);

ALTER TABLE ONLY public.finding
    ADD CONSTRAINT finding_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.grant_end
    ADD CONSTRAINT grant_end_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.grant_line(id);

ALTER TABLE ONLY public.grant_line
    ADD CONSTRAINT grant_line_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES public.pool(id);

ALTER TABLE ONLY public.grant_line
    ADD CONSTRAINT grant_line_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.project(id);

ALTER TABLE ONLY public.grant_line
    ADD CONSTRAINT grant_line_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.grant_start
    ADD CONSTRAINT grant_start_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES public.grant_line(id);

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_person_id_fkey FOREIGN KEY (person_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.object_import
    ADD CONSTRAINT object_import_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

ALTER TABLE ONLY public.poll
    ADD CONSTRAINT poll_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

ALTER TABLE ONLY public.pool
    ADD CONSTRAINT pool_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

ALTER TABLE ONLY public.project
    ADD CONSTRAINT project_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);

ALTER TABLE ONLY public.recovery_code
    ADD CONSTRAINT recovery_code_person_id_fkey FOREIGN KEY (person_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_beneficiary_id_fkey FOREIGN KEY (beneficiary_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_corrects_id_fkey FOREIGN KEY (corrects_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.request_line
    ADD CONSTRAINT request_line_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES public.pool(id);

ALTER TABLE ONLY public.request_line
    ADD CONSTRAINT request_line_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_project_id_fkey FOREIGN KEY (project_id) REFERENCES public.project(id);

ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_requester_id_fkey FOREIGN KEY (requester_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.request_revision
    ADD CONSTRAINT request_revision_editor_id_fkey FOREIGN KEY (editor_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.request_revision
    ADD CONSTRAINT request_revision_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.request
    ADD CONSTRAINT request_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.team(id);

ALTER TABLE ONLY public.request_waiting_place
    ADD CONSTRAINT request_waiting_place_request_id_fkey FOREIGN KEY (request_id) REFERENCES public.request(id);

ALTER TABLE ONLY public.role_mapping
    ADD CONSTRAINT role_mapping_version_fkey FOREIGN KEY (version) REFERENCES public.org_version(version);

ALTER TABLE ONLY public.session_owner
    ADD CONSTRAINT session_owner_person_id_fkey FOREIGN KEY (person_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.step_up
    ADD CONSTRAINT step_up_person_id_fkey FOREIGN KEY (person_id) REFERENCES public.person(id);

ALTER TABLE ONLY public.team
    ADD CONSTRAINT team_unit_id_fkey FOREIGN KEY (unit_id) REFERENCES public.unit(id);

ALTER TABLE ONLY public.usage_due
    ADD CONSTRAINT usage_due_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

ALTER TABLE ONLY public.usage_now
    ADD CONSTRAINT usage_now_binding_id_fkey FOREIGN KEY (binding_id) REFERENCES public.binding(id);

ALTER TABLE ONLY public.usage_now
    ADD CONSTRAINT usage_now_pool_id_fkey FOREIGN KEY (pool_id) REFERENCES public.pool(id);

ALTER TABLE ONLY public.workload
    ADD CONSTRAINT workload_cluster_id_fkey FOREIGN KEY (cluster_id) REFERENCES public.cluster(id);

GRANT USAGE ON SCHEMA public TO quartermaster_app;
GRANT USAGE ON SCHEMA public TO quartermaster_signer;

REVOKE ALL ON FUNCTION public.usage_partition_drop(parent text, before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.usage_partition_drop(parent text, before timestamp with time zone) TO quartermaster_app;

REVOKE ALL ON FUNCTION public.usage_partition_make(parent text, moment timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.usage_partition_make(parent text, moment timestamp with time zone) TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.baseline TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.baseline_id_seq TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.binding TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.change TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.change_seq_seq TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.check_result TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.check_result_id_seq TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.cluster TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.comment TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.decision TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.finding TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.finding_event TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.finding_event_id_seq TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.grant_end TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.grant_line TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.grant_line_seq_seq TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.grant_start TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency TO quartermaster_app;

GRANT SELECT ON TABLE public.installation TO quartermaster_app;
GRANT SELECT ON TABLE public.installation TO quartermaster_signer;

GRANT SELECT,INSERT ON TABLE public.ledger_check TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.ledger_check_id_seq TO quartermaster_app;

GRANT SELECT ON TABLE public.ledger_checkpoint TO quartermaster_app;
GRANT SELECT,INSERT ON TABLE public.ledger_checkpoint TO quartermaster_signer;

GRANT SELECT,INSERT ON TABLE public.ledger_entry TO quartermaster_app;
GRANT SELECT ON TABLE public.ledger_entry TO quartermaster_signer;

GRANT SELECT,USAGE ON SEQUENCE public.ledger_entry_ordinal_seq TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.ledger_head TO quartermaster_app;
GRANT SELECT ON TABLE public.ledger_head TO quartermaster_signer;

GRANT SELECT,INSERT ON TABLE public.ledger_leaf TO quartermaster_app;
GRANT SELECT ON TABLE public.ledger_leaf TO quartermaster_signer;

GRANT SELECT,INSERT ON TABLE public.ledger_opening TO quartermaster_app;
GRANT SELECT ON TABLE public.ledger_opening TO quartermaster_signer;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.logout_token TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.match_rule TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.match_rule_version_seq TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.object_import TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.org_version TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.org_version_version_seq TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.person TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.poll TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.poll_id_seq TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.pool TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pool_by_hour TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pool_by_hour_rest TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pool_hour TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pool_sample TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pool_sample_rest TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.project TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.recovery_code TO quartermaster_app;

GRANT UPDATE(used_at) ON TABLE public.recovery_code TO quartermaster_app;

GRANT UPDATE(retired_at) ON TABLE public.recovery_code TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.request TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.request_line TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.request_number_seq TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.request_revision TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.request_revision_saved_seq TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.request_waiting_place TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.role_mapping TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.route TO quartermaster_app;

GRANT SELECT,USAGE ON SEQUENCE public.route_version_seq TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.session_owner TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO quartermaster_app;

GRANT SELECT,INSERT ON TABLE public.step_up TO quartermaster_app;

GRANT UPDATE(spent_at) ON TABLE public.step_up TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.team TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tick TO quartermaster_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.unit TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_by_day TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_by_hour TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_by_hour_rest TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_by_month TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_due TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_hour TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_now TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_sample TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.usage_sample_rest TO quartermaster_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.workload TO quartermaster_app;

ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA public GRANT SELECT,USAGE ON SEQUENCES  TO quartermaster_app;

ALTER DEFAULT PRIVILEGES FOR ROLE postgres IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO quartermaster_app;
