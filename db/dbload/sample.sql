-- What polls every 30 seconds left: two days of them, and 400 days of roll-ups.
-- All bindings and pools would be 26 million polls a day, so only clusters 2 and 3
-- have theirs, in the order in which they came; a chart reads one binding's.

SELECT usage_partition_make(t, current_setting('load.now')::timestamptz - interval '1 day' * n) FROM unnest(ARRAY['usage_sample', 'pool_sample']) t, generate_series(0, 3) n;
SELECT usage_partition_make(t, current_setting('load.now')::timestamptz - interval '20 days' * n) FROM unnest(ARRAY['usage_by_hour', 'pool_by_hour']) t, generate_series(0, 20) n;

INSERT INTO usage_sample (binding_id, pool_id, at, nominal, reserved, in_use, borrowed, pending)
SELECT u.binding_id, u.pool_id, current_setting('load.now')::timestamptz - interval '30 seconds' * n, 16, 14, 8 + n % 7, 0, n % 3
FROM generate_series(2880, 1, -1) n, usage_now u JOIN binding b ON b.id = u.binding_id WHERE b.cluster_id IN ('cluster-002', 'cluster-003');

INSERT INTO pool_sample (pool_id, at, capacity, nominal, reserved, in_use, borrowed)
SELECT p.id, current_setting('load.now')::timestamptz - interval '30 seconds' * n, 512, 400, 300, 200 + n % 100, 12
FROM generate_series(5760, 1, -1) n, pool p WHERE p.cluster_id IN ('cluster-002', 'cluster-003');

-- Hours of 400 days of 1,000 bindings with one pool each: 9.6 million rows.
CREATE TEMP TABLE load_series AS
SELECT DISTINCT ON (u.binding_id) u.binding_id, u.pool_id, row_number() OVER (ORDER BY u.binding_id) AS n FROM usage_now u JOIN binding b ON b.id = u.binding_id
WHERE b.cluster_id IN ('cluster-002', 'cluster-003') OR b.id IN (SELECT x.id FROM binding x ORDER BY x.id LIMIT 950);
INSERT INTO usage_by_hour (binding_id, pool_id, at, workload_type, expected_ms, nominal, nominal_ms, nominal_known_ms,
	reserved_ms, reserved_known_ms, in_use_ms, in_use_known_ms, borrowed_ms, borrowed_known_ms, pending_ms, pending_known_ms)
SELECT s.binding_id, s.pool_id, h, (ARRAY['training', 'inference', ''])[1 + s.n % 3], 3600000, 16, 16 * 3600000::bigint, 3600000,
	14 * 3600000::bigint, 3600000, (8 + s.n % 7) * 3600000::bigint, 3600000, 0, 3600000, 0, 3600000
FROM generate_series(date_trunc('hour', current_setting('load.now')::timestamptz) - interval '400 days', date_trunc('hour', current_setting('load.now')::timestamptz) - interval '1 hour', interval '1 hour') h, load_series s;
INSERT INTO pool_by_hour (pool_id, at, capacity, nominal, reserved_ms, reserved_known_ms, in_use_ms, in_use_known_ms, borrowed_ms, borrowed_known_ms)
SELECT p.id, h, 512, 400, 300 * 3600000::bigint, 3600000, 200 * 3600000::bigint, 3600000, 12 * 3600000::bigint, 3600000
FROM generate_series(date_trunc('hour', current_setting('load.now')::timestamptz) - interval '400 days', date_trunc('hour', current_setting('load.now')::timestamptz) - interval '1 hour', interval '1 hour') h, pool p;
INSERT INTO usage_by_day (at, binding_id, pool_id, workload_type, expected_ms, nominal_ms, nominal_known_ms, in_use_ms, in_use_known_ms)
SELECT date_trunc('day', h.at, 'UTC'), h.binding_id, h.pool_id, h.workload_type, sum(h.expected_ms), sum(h.nominal_ms), sum(h.nominal_known_ms), sum(h.in_use_ms), sum(h.in_use_known_ms)
FROM usage_by_hour h GROUP BY 1, 2, 3, 4;
INSERT INTO usage_by_month (at, binding_id, pool_id, workload_type, expected_ms, nominal_ms, nominal_known_ms, in_use_ms, in_use_known_ms)
SELECT date_trunc('month', d.at, 'UTC'), d.binding_id, d.pool_id, d.workload_type, sum(d.expected_ms), sum(d.nominal_ms), sum(d.nominal_known_ms), sum(d.in_use_ms), sum(d.in_use_known_ms)
FROM usage_by_day d GROUP BY 1, 2, 3, 4;
DROP TABLE load_series;
