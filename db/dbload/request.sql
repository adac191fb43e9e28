-- 50,000 requests over a year; the newest 10,000 wait, half of them in each stage.

CREATE TEMP TABLE load_request AS
SELECT r.n, md5('request' || r.n)::uuid AS id, r.p, (r.p - 1) % 500 + 1 AS t, 'project-' || lpad(r.p::text, 4, '0') AS project_id,
	'team-' || lpad(((r.p - 1) % 500 + 1)::text, 3, '0') AS team_id, 'unit-' || lpad((((r.p - 1) % 500) % 20 + 1)::text, 2, '0') AS unit_id,
	'cluster-' || lpad(((r.p - 1) % 100 + 1)::text, 3, '0') AS cluster_id,
	md5('person' || ((r.p - 1) % 500 + 1 + 500 * (1 + r.n % 8)))::uuid AS requester_id,
	md5('person' || ((r.p - 1) % 500 + 1))::uuid AS manager_id, 'identity' || ((r.p - 1) % 500 + 1) AS manager,
	md5('person' || (4901 + ((r.p - 1) % 100) / 5))::uuid AS operator_id, 'identity' || (4901 + ((r.p - 1) % 100) / 5) AS operator,
	CASE WHEN r.n % 3 = 0 THEN ARRAY['h100', 'a100'] ELSE ARRAY[(ARRAY['h100', 'a100', 'l40s'])[r.n % 3 + 1]] END AS flavors,
	(8 * (1 + r.n % 6))::text AS asked, (8 * (1 + r.n % 4))::text AS granted,
	encode(sha256(('revision' || r.n)::bytea), 'hex') AS digest,
	current_setting('load.now')::timestamptz - interval '10 minutes' * (50001 - r.n) AS created_at,
	CASE WHEN r.n > 40000 AND r.n % 2 = 1 THEN 'submitted' WHEN r.n > 40000 THEN 'in review'
	     WHEN r.n % 10 = 0 THEN 'rejected' WHEN r.n % 10 = 1 THEN 'withdrawn' WHEN r.n % 10 = 2 THEN 'expired' WHEN r.n % 10 < 8 THEN 'superseded' ELSE 'active' END AS state
FROM (SELECT n, (n * 7919) % 2000 + 1 AS p FROM generate_series(1, 50000) n) r;
ANALYZE load_request;

INSERT INTO request (id, number, kind, state, project_id, environment, team_id, requester_id, purpose, editor_ids, revision, digest, route, stage_key, waiting_role,
	waiting_since, due_at, created_at, submitted_at, closed_at) OVERRIDING SYSTEM VALUE
SELECT r.id, r.n, 'quota', r.state, r.project_id, 'production', r.team_id, r.requester_id, 'Train model ' || r.n || ' before the season ends', ARRAY[r.requester_id], 1, r.digest,
	jsonb_build_object('version', 1, 'why', 'default route: the team''s manager, then the capacity manager of the pools', 'stages', jsonb_build_array(
		jsonb_build_object('key', 'team', 'name', 'Team manager', 'role', 'team_manager', 'quorum', 1, 'respond_within', 172800000000000, 'places',
			jsonb_build_array(jsonb_build_object('UnitID', r.unit_id, 'TeamID', r.team_id, 'ClusterID', '', 'PoolID', ''))),
		jsonb_build_object('key', 'capacity', 'name', 'Capacity manager', 'role', 'capacity_manager', 'quorum', 1, 'respond_within', 172800000000000, 'places',
			(SELECT jsonb_agg(jsonb_build_object('UnitID', '', 'TeamID', '', 'ClusterID', r.cluster_id, 'PoolID', r.cluster_id || '-' || f)) FROM unnest(r.flavors) f)))),
	CASE r.state WHEN 'submitted' THEN 'team' WHEN 'in review' THEN 'capacity' ELSE '' END,
	CASE r.state WHEN 'submitted' THEN 'team_manager' WHEN 'in review' THEN 'capacity_manager' ELSE '' END,
	CASE WHEN r.n > 40000 THEN r.created_at + interval '5 minutes' END, CASE WHEN r.n > 40000 THEN r.created_at + interval '2 days' END,
	r.created_at, r.created_at + interval '5 minutes', CASE WHEN r.n <= 40000 AND r.state <> 'active' THEN r.created_at + interval '3 days' END
FROM load_request r;
SELECT setval(pg_get_serial_sequence('request', 'number'), 50000);

INSERT INTO request_waiting_place (request_id, unit_id, team_id)
SELECT r.id, r.unit_id, r.team_id FROM load_request r WHERE r.state = 'submitted';
INSERT INTO request_waiting_place (request_id, cluster_id, pool_id)
SELECT r.id, r.cluster_id, r.cluster_id || '-' || f FROM load_request r, unnest(r.flavors) f WHERE r.state = 'in review';

INSERT INTO request_revision (request_id, number, digest, content, editor_id, at)
SELECT r.id, 1, r.digest, jsonb_build_object('kind', 'quota', 'project', r.project_id, 'environment', 'production', 'data_class', 'internal', 'workload_type', 'training',
	'purpose', 'Train model ' || r.n || ' before the season ends', 'justification', 'The runs of the last weeks waited for two days on average; the season ends in March.',
	'runtime_hours', 24, 'lines', (SELECT jsonb_agg(jsonb_build_object('pool', r.cluster_id || '-' || f, 'current', '8', 'in_use', '8', 'asked', r.asked, 'kind', 'hard')) FROM unnest(r.flavors) f)),
	r.requester_id, r.created_at
FROM load_request r;

INSERT INTO request_line (request_id, position, pool_id, kind, current, in_use, asked, granted)
SELECT r.id, f.place - 1, r.cluster_id || '-' || f.flavor, 'hard', '8', '8', r.asked, CASE WHEN r.state NOT IN ('submitted', 'rejected', 'withdrawn') THEN r.granted END
FROM load_request r, unnest(r.flavors) WITH ORDINALITY AS f (flavor, place);

INSERT INTO check_result (request_id, digest, phase, policy_id, version, title, severity, outcome, message, at)
SELECT r.id, r.digest, 'submission', 'check-' || k, '1', 'Check ' || k, 'warn', CASE WHEN k = 3 AND r.n % 4 = 0 THEN 'fails' ELSE 'pass' END, 'The figures were compared with the pool.', r.created_at
FROM load_request r, generate_series(1, 3) k;

INSERT INTO decision (id, request_id, revision, digest, stage_key, person_id, identity, outcome, granted, factors, entry_id, at)
SELECT md5('decision' || r.n || s.stage)::uuid, r.id, 1, r.digest, s.stage, CASE s.stage WHEN 'team' THEN r.manager_id ELSE r.operator_id END,
	md5(CASE s.stage WHEN 'team' THEN r.manager ELSE r.operator END)::uuid, CASE WHEN r.state = 'rejected' THEN 'reject' ELSE 'approve' END,
	(SELECT jsonb_agg(jsonb_build_object('pool', r.cluster_id || '-' || f, 'amount', r.granted)) FROM unnest(r.flavors) f), ARRAY['pwd', 'otp'],
	md5('entry' || r.n || '-' || s.step)::uuid, r.created_at + interval '5 hours' * s.step
FROM load_request r, (VALUES ('team', 4), ('capacity', 5)) AS s (stage, step)
WHERE r.state NOT IN ('submitted', 'withdrawn') AND (s.stage = 'team' OR r.state NOT IN ('in review', 'rejected'));

INSERT INTO grant_line (id, request_id, digest, project_id, environment, pool_id, kind, asked, amount, ends_at, made_at)
SELECT md5('grant' || r.n || f)::uuid, r.id, r.digest, r.project_id, 'production', r.cluster_id || '-' || f, 'hard', r.asked, r.granted,
	CASE WHEN r.n % 10 = 2 THEN r.created_at + interval '30 days' END, r.created_at + interval '25 hours'
FROM load_request r, unnest(r.flavors) f WHERE r.state IN ('expired', 'superseded', 'active') ORDER BY r.n;
INSERT INTO grant_end SELECT md5('grant' || r.n || f)::uuid, r.created_at + interval '30 days', r.state
FROM load_request r, unnest(r.flavors) f WHERE r.state IN ('expired', 'superseded');

INSERT INTO change (id, binding_id, cluster_id, request_id, cause, state, plan, receipt, readback, created_at, applied_at, verified_at)
SELECT md5('change' || r.n)::uuid, md5('binding' || r.p || 'production')::uuid, r.cluster_id, r.id, 'approved', 'verified',
	d.plan, jsonb_build_object('written', '[]'::jsonb, 'at', r.created_at + interval '26 hours'),
	jsonb_build_object('objects', d.plan->'objects', 'active', true, 'active_reason', '', 'at', r.created_at + interval '26 hours'),
	r.created_at + interval '25 hours', r.created_at + interval '26 hours', r.created_at + interval '26 hours'
FROM load_request r, LATERAL (SELECT jsonb_build_object('objects', jsonb_build_array(jsonb_build_object('object',
	jsonb_build_object('kind', 'ClusterQueue', 'name', r.project_id || '-production'), 'create', false, 'manager', 'quartermaster', 'version', r.n::text, 'fields',
	jsonb_build_array(jsonb_build_object('path', 'h100 nvidia.com/gpu nominalQuota', 'before', '8', 'after', r.granted, 'limit', true),
		jsonb_build_object('path', 'h100 nvidia.com/gpu borrowingLimit', 'before', '0', 'after', '0', 'limit', true)))),
	'conflicts', '[]'::jsonb, 'warnings', '[]'::jsonb, 'at', r.created_at + interval '25 hours') AS plan) d
WHERE r.state IN ('expired', 'superseded', 'active') ORDER BY r.n;
