-- +goose Up
-- The history of use: samples and hours in partitions by time, that retention drops as
-- a whole, and roll-ups by the hour, day and month that are computed anew from what lies
-- below them. All boundaries are UTC. usage_hour and pool_hour are what the version
-- before kept; nothing reads them any more, and a later migration removes them.

-- Readings of queues. A reading holds until the next one, but never longer than
-- holds_ms: what comes after is unknown.
ALTER TABLE usage_sample RENAME TO usage_sample_before;
ALTER INDEX usage_sample_pkey RENAME TO usage_sample_before_pkey;
ALTER TABLE pool_sample RENAME TO pool_sample_before;
ALTER INDEX pool_sample_pkey RENAME TO pool_sample_before_pkey;

CREATE TABLE usage_sample (
  binding_id uuid NOT NULL,
  pool_id    text NOT NULL,
  at         timestamptz NOT NULL,
  nominal    double precision,                            -- NULL = unknown
  reserved   double precision,
  in_use     double precision,
  borrowed   double precision,
  pending    double precision,
  holds_ms   int NOT NULL DEFAULT 60000 CHECK (holds_ms BETWEEN 0 AND 3600000),
  PRIMARY KEY (binding_id, pool_id, at)
) PARTITION BY RANGE (at);
CREATE TABLE pool_sample (
  pool_id  text NOT NULL,
  at       timestamptz NOT NULL,
  capacity double precision,
  nominal  double precision,
  reserved double precision,
  in_use   double precision,
  borrowed double precision,
  holds_ms int NOT NULL DEFAULT 60000 CHECK (holds_ms BETWEEN 0 AND 3600000),
  PRIMARY KEY (pool_id, at)
) PARTITION BY RANGE (at);

-- One hour of one pool of a binding. _ms after a figure is unit-milliseconds: the
-- figure times how long it was known; _known_ms is that time. expected_ms is how much of the
-- hour there was something to know: what is expected and not known is a gap, never 0.
CREATE TABLE usage_by_hour (
  binding_id        uuid NOT NULL,
  pool_id           text NOT NULL,
  at                timestamptz NOT NULL,                 -- start of the hour
  workload_type     text NOT NULL,                        -- of the newest grant in force in it; '' = not known
  expected_ms       bigint NOT NULL,
  nominal           double precision,                     -- the last one known, for charts
  nominal_ms        bigint NOT NULL, nominal_known_ms  bigint NOT NULL,
  reserved_ms       bigint NOT NULL, reserved_known_ms bigint NOT NULL,
  in_use_ms         bigint NOT NULL, in_use_known_ms   bigint NOT NULL,
  borrowed_ms       bigint NOT NULL, borrowed_known_ms bigint NOT NULL,
  pending_ms        bigint NOT NULL, pending_known_ms  bigint NOT NULL,
  PRIMARY KEY (binding_id, pool_id, at)
) PARTITION BY RANGE (at);
CREATE INDEX usage_by_hour_at ON usage_by_hour (at);
CREATE TABLE pool_by_hour (
  pool_id           text NOT NULL,
  at                timestamptz NOT NULL,
  capacity          double precision,
  nominal           double precision,
  reserved_ms       bigint NOT NULL, reserved_known_ms bigint NOT NULL,
  in_use_ms         bigint NOT NULL, in_use_known_ms   bigint NOT NULL,
  borrowed_ms       bigint NOT NULL, borrowed_known_ms bigint NOT NULL,
  PRIMARY KEY (pool_id, at)
) PARTITION BY RANGE (at);

-- Sums of the hours of a day, and of the days of a month: what an account is made from.
CREATE TABLE usage_by_day (
  at               timestamptz NOT NULL,                  -- start of the day
  binding_id       uuid NOT NULL,
  pool_id          text NOT NULL,
  workload_type    text NOT NULL,
  expected_ms      bigint NOT NULL,
  nominal_ms       bigint NOT NULL, nominal_known_ms bigint NOT NULL,
  in_use_ms        bigint NOT NULL, in_use_known_ms  bigint NOT NULL,
  PRIMARY KEY (at, binding_id, pool_id, workload_type)
);
CREATE TABLE usage_by_month (
  at               timestamptz NOT NULL,                  -- start of the month
  binding_id       uuid NOT NULL,
  pool_id          text NOT NULL,
  workload_type    text NOT NULL,
  expected_ms      bigint NOT NULL,
  nominal_ms       bigint NOT NULL, nominal_known_ms bigint NOT NULL,
  in_use_ms        bigint NOT NULL, in_use_known_ms  bigint NOT NULL,
  PRIMARY KEY (at, binding_id, pool_id, workload_type)
);

-- Hours of a cluster whose roll-up is older than a reading in them.
CREATE TABLE usage_due (
  cluster_id text NOT NULL REFERENCES cluster,
  at         timestamptz NOT NULL,                        -- start of the hour
  marks      bigint NOT NULL DEFAULT 1,
  PRIMARY KEY (cluster_id, at)
);

-- When a pool of a binding was first read: before that nothing is missing.
ALTER TABLE usage_now ADD COLUMN since timestamptz;

CREATE INDEX poll_at ON poll USING brin (at);
CREATE INDEX workload_finished ON workload (coalesce(finished_at, gone_at)) WHERE finished_at IS NOT NULL OR gone_at IS NOT NULL;

-- Whatever no partition was made for is kept here, so that a reading never fails for
-- want of one, and moves when its partition is made.
CREATE TABLE usage_sample_rest PARTITION OF usage_sample DEFAULT;
CREATE TABLE pool_sample_rest PARTITION OF pool_sample DEFAULT;
CREATE TABLE usage_by_hour_rest PARTITION OF usage_by_hour DEFAULT;
CREATE TABLE pool_by_hour_rest PARTITION OF pool_by_hour DEFAULT;

-- The app owns no table, so it makes and drops partitions by these two, and only those
-- of the four tables of this file.

-- usage_partition_make makes the partition that holds a moment and moves into it what
-- lay in the rest; false when it was there.
-- +goose StatementBegin
CREATE FUNCTION usage_partition_make(parent text, moment timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '5s' AS $$
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
-- +goose StatementEnd

-- usage_partition_drop drops the partitions that lie wholly before a moment and says
-- how many rows went with each.
-- +goose StatementBegin
CREATE FUNCTION usage_partition_drop(parent text, before timestamptz) RETURNS TABLE (part text, dropped bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '5s' AS $$
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
END $$;
-- +goose StatementEnd

-- What was read before moves here as it is; its hours are computed anew from it.
-- +goose StatementBegin
DO $$
DECLARE d timestamptz;
BEGIN
  SET LOCAL timezone = 'UTC';
  FOR d IN SELECT DISTINCT date_trunc('day', at, 'UTC') FROM usage_sample_before LOOP
    PERFORM usage_partition_make('usage_sample', d);
  END LOOP;
  FOR d IN SELECT DISTINCT date_trunc('day', at, 'UTC') FROM pool_sample_before LOOP
    PERFORM usage_partition_make('pool_sample', d);
  END LOOP;
  FOR d IN SELECT DISTINCT date_trunc('month', at, 'UTC') FROM (SELECT at FROM usage_hour UNION SELECT at FROM pool_hour) h LOOP
    PERFORM usage_partition_make('usage_by_hour', d);
    PERFORM usage_partition_make('pool_by_hour', d);
  END LOOP;
  INSERT INTO usage_sample (binding_id, pool_id, at, nominal, reserved, in_use, borrowed, pending)
    SELECT binding_id, pool_id, at, nominal, reserved, in_use, borrowed, pending FROM usage_sample_before;
  INSERT INTO pool_sample (pool_id, at, capacity, nominal, reserved, in_use, borrowed)
    SELECT pool_id, at, capacity, nominal, reserved, in_use, borrowed FROM pool_sample_before;
  UPDATE usage_now u SET since = f.at
    FROM (SELECT binding_id, pool_id, min(at) AS at FROM usage_sample GROUP BY binding_id, pool_id) f
    WHERE f.binding_id = u.binding_id AND f.pool_id = u.pool_id;
  INSERT INTO usage_due (cluster_id, at)
    SELECT p.cluster_id, date_trunc('hour', s.at + k * interval '60 seconds', 'UTC')
    FROM (SELECT pool_id, at FROM usage_sample UNION ALL SELECT pool_id, at FROM pool_sample) s JOIN pool p ON p.id = s.pool_id, generate_series(0, 1) k
    GROUP BY 1, 2;
END $$;
-- +goose StatementEnd
DROP TABLE usage_sample_before;
DROP TABLE pool_sample_before;

REVOKE EXECUTE ON FUNCTION usage_partition_make(text, timestamptz), usage_partition_drop(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION usage_partition_make(text, timestamptz), usage_partition_drop(text, timestamptz) TO quartermaster_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON usage_sample, pool_sample, usage_by_hour, pool_by_hour, usage_by_day, usage_by_month, usage_due,
  usage_sample_rest, pool_sample_rest, usage_by_hour_rest, pool_by_hour_rest TO quartermaster_app;
