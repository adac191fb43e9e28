-- What polls every 30 seconds left: two days of them, and the hours of 30 days.
-- All bindings and pools would be 26 million polls a day, so only clusters 2 and 3
-- have theirs, in the order in which they came; a chart reads one binding's.

INSERT INTO usage_sample (binding_id, pool_id, at, nominal, reserved, in_use, borrowed, pending)
SELECT u.binding_id, u.pool_id, current_setting('load.now')::timestamptz - interval '30 seconds' * n, 16, 14, 8 + n % 7, 0, n % 3
FROM generate_series(2880, 1, -1) n, usage_now u JOIN binding b ON b.id = u.binding_id WHERE b.cluster_id IN ('cluster-002', 'cluster-003');

INSERT INTO pool_sample (pool_id, at, capacity, nominal, reserved, in_use, borrowed)
SELECT p.id, current_setting('load.now')::timestamptz - interval '30 seconds' * n, 512, 400, 300, 200 + n % 100, 12
FROM generate_series(5760, 1, -1) n, pool p WHERE p.cluster_id IN ('cluster-002', 'cluster-003');

INSERT INTO usage_hour (binding_id, pool_id, at, nominal, reserved_sum, reserved_n, in_use_sum, in_use_n, borrowed_sum, borrowed_n, pending_sum, pending_n)
SELECT u.binding_id, u.pool_id, date_trunc('hour', current_setting('load.now')::timestamptz) - interval '1 hour' * n, 16, 1680, 120, 960 + n % 300, 120, 0, 120, n % 100, 120
FROM generate_series(720, 0, -1) n, usage_now u JOIN binding b ON b.id = u.binding_id WHERE b.cluster_id IN ('cluster-002', 'cluster-003');

INSERT INTO pool_hour (pool_id, at, capacity, nominal, reserved_sum, reserved_n, in_use_sum, in_use_n, borrowed_sum, borrowed_n)
SELECT p.id, date_trunc('hour', current_setting('load.now')::timestamptz) - interval '1 hour' * n, 512, 400, 36000, 120, 24000 + n % 9000, 120, 1440, 120
FROM generate_series(720, 0, -1) n, pool p;
