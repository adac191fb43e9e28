-- People, teams, projects, clusters, pools, bindings and what the bindings use.
-- load.now is the moment up to which the installation has lived.

INSERT INTO org_version (digest, imported_by) VALUES ('load', 'cli:import');

INSERT INTO unit SELECT 'unit-' || lpad(u::text, 2, '0'), 'Business unit ' || u FROM generate_series(1, 20) u;

INSERT INTO team SELECT 'team-' || lpad(t::text, 3, '0'), 'Team ' || t, 'unit-' || lpad(((t - 1) % 20 + 1)::text, 2, '0') FROM generate_series(1, 500) t;

-- People 1 to 500 manage a team; up to 4900 are members; the last hundred have offices.
INSERT INTO person (id, issuer, subject, name, email, identity, groups, groups_at, last_sign_in)
SELECT md5('person' || n)::uuid, 'https://id.example.org', 'person-' || lpad(n::text, 4, '0'),
	(ARRAY['Ada','Ben','Chen','Dana','Emil','Femi','Gita','Hugo','Ines','Jonas','Kira','Lena','Mona','Nils','Olga','Paul','Rosa','Sami','Tara','Yuri'])[n % 20 + 1]
		|| ' ' || (ARRAY['Abel','Brandt','Costa','Diaz','Eder','Fuchs','Gomez','Haas','Ito','Jung','Kaya','Lind','Mori','Novak','Okoye','Patel','Quist','Rossi','Silva','Weber'])[(n / 20) % 20 + 1]
		|| ' ' || n,
	'person-' || lpad(n::text, 4, '0') || '@example.org', md5('identity' || n)::uuid,
	CASE WHEN n <= 500 THEN ARRAY['team-' || lpad(n::text, 3, '0'), 'team-' || lpad(n::text, 3, '0') || '-managers']
	     WHEN n <= 4900 THEN ARRAY['team-' || lpad(((n - 1) % 500 + 1)::text, 3, '0')]
	     WHEN n <= 4920 THEN ARRAY['gpu-operators-' || lpad((n - 4900)::text, 2, '0')]
	     ELSE ARRAY[(ARRAY['gpu-operators', 'managers', 'auditors', 'compliance', 'platform', 'finance'])[n % 6 + 1]] END,
	current_setting('load.now')::timestamptz, current_setting('load.now')::timestamptz - interval '1 hour' * (n % 700)
FROM generate_series(1, 5000) n;

INSERT INTO role_mapping (group_name, role, scope_kind, scope_id, version)
SELECT g.name, g.role, g.kind, g.id, 1 FROM (
	SELECT t.id AS name, 'requester' AS role, 'team' AS kind, t.id FROM team t
	UNION ALL SELECT t.id || '-managers', 'team_manager', 'team', t.id FROM team t
	UNION ALL SELECT 'gpu-operators-' || lpad(((c - 1) / 5 + 1)::text, 2, '0'), 'capacity_manager', 'cluster', 'cluster-' || lpad(c::text, 3, '0') FROM generate_series(1, 100) c
	UNION ALL VALUES ('gpu-operators', 'capacity_manager', 'organisation', ''), ('managers', 'team_manager', 'organisation', ''),
		('managers', 'capacity_manager', 'organisation', ''), ('auditors', 'auditor', 'organisation', ''),
		('compliance', 'compliance_officer', 'organisation', ''), ('platform', 'platform_admin', 'organisation', ''), ('finance', 'finance', 'organisation', '')
) g;

INSERT INTO project SELECT 'project-' || lpad(p::text, 4, '0'),
	(ARRAY['Street scenes','Speech','Protein folding','Weather','Ranking','Code model','Grid forecast','Radiology'])[p % 8 + 1] || ' ' || p,
	'team-' || lpad(((p - 1) % 500 + 1)::text, 3, '0'), 'person-' || lpad(((p - 1) % 500 + 501)::text, 4, '0'), (4000 + p % 200)::text,
	ARRAY['development', 'production'], ARRAY['public', 'internal']
FROM generate_series(1, 2000) p;

INSERT INTO cluster (id, name, kind, mode, root_cohort, last_poll_at, last_good_at)
SELECT 'cluster-' || lpad(c::text, 3, '0'), 'Cluster ' || lpad(c::text, 3, '0'), 'simulated', 'enforce', 'root',
	current_setting('load.now')::timestamptz - interval '10 seconds', current_setting('load.now')::timestamptz - interval '10 seconds'
FROM generate_series(1, 100) c;

INSERT INTO pool (id, cluster_id, flavor, resource, name, tier, hourly_cents, borrow_ceiling, cpu_per_unit, memory_per_unit, unit, product, capacity, cards,
	nodes, nominal, reserved, in_use, borrowed, pending, observed_at)
SELECT c.id || '-' || f.flavor, c.id, f.flavor, 'nvidia.com/gpu', f.name, 'standard', f.cents, '64', '8', '64Gi', 'card', f.product, f.capacity, f.capacity,
	f.capacity::int / 8, '400', '300', '280', '12', '30', c.last_good_at
FROM cluster c, (VALUES ('a100', 'A100 80 GB', 180, 'NVIDIA-A100-SXM4-80GB', '512'), ('h100', 'H100 80 GB', 320, 'NVIDIA-H100-80GB-HBM3', '512'),
	('l40s', 'L40S', 90, 'NVIDIA-L40S', '256')) AS f (flavor, name, cents, product, capacity);

INSERT INTO binding (id, project_id, environment, cluster_id, namespace, local_queue, cluster_queue, cohort, root_cohort)
SELECT md5('binding' || p || e.environment)::uuid, 'project-' || lpad(p::text, 4, '0'), e.environment,
	'cluster-' || lpad(((p - e.back) % 100 + 1)::text, 3, '0'), 'project-' || lpad(p::text, 4, '0') || '-' || e.environment, 'main',
	'project-' || lpad(p::text, 4, '0') || '-' || e.environment, 'team-' || lpad(((p - 1) % 500 + 1)::text, 3, '0'), 'root'
FROM generate_series(1, 2000) p, (VALUES ('production', 1), ('development', 0)) AS e (environment, back)
WHERE e.environment = 'production' OR p <= 1000;

INSERT INTO usage_now (binding_id, pool_id, nominal, borrowing, borrowing_known, reserved, in_use, borrowed, pending, pending_amount, active, at)
SELECT b.id, p.id, '16', '0', true, '14', '12', '0', 1, '8', true, current_setting('load.now')::timestamptz - interval '10 seconds'
FROM binding b JOIN pool p ON p.cluster_id = b.cluster_id;

INSERT INTO baseline (binding_id, pool_id, nominal, borrowing, at)
SELECT b.id, p.id, '0', '0', current_setting('load.now')::timestamptz - interval '400 days' FROM binding b JOIN pool p ON p.cluster_id = b.cluster_id;

-- What the last good poll said of each cluster, as fleet.Discovery and fleet.Observation.
WITH pools AS (
	SELECT p.cluster_id, jsonb_agg(jsonb_build_object('key', jsonb_build_object('flavor', p.flavor, 'resource', p.resource), 'capacity', p.capacity,
		'cards', p.cards, 'unit', p.unit, 'product', p.product, 'nodes', p.nodes, 'labels', jsonb_build_object('nvidia.com/gpu.product', p.product),
		'cpu', '4096', 'memory', '32Ti', 'notes', '[]'::jsonb)) AS list
	FROM pool p GROUP BY p.cluster_id
), queues AS (
	SELECT b.cluster_id, jsonb_agg(jsonb_build_object('name', b.cluster_queue, 'cohort', b.cohort, 'namespaces', jsonb_build_array(b.namespace),
		'local_queues', jsonb_build_array(b.namespace || '/main'), 'stop_policy', 'None', 'active', true, 'inactive', '', 'pending', '1', 'admitted', '5',
		'managers', '["quartermaster"]'::jsonb, 'owner', '', 'ours', true, 'notes', '[]'::jsonb, 'flavors', (
			SELECT jsonb_agg(jsonb_build_object('pool', jsonb_build_object('flavor', p.flavor, 'resource', p.resource), 'nominal', '16', 'borrowing', '0',
				'lending', NULL, 'reserved', '14', 'in_use', '12', 'borrowed', '0', 'notes', '[]'::jsonb))
			FROM pool p WHERE p.cluster_id = b.cluster_id))) AS list
	FROM binding b GROUP BY b.cluster_id
)
UPDATE cluster c SET
	discovery = jsonb_build_object('kind', 'simulated', 'version', 'v1.35.4', 'kueue_version', 'v0.17.0', 'kueue_api', 'v1beta2', 'capabilities', '["kueue"]'::jsonb,
		'nodes', 160, 'pools', pools.list, 'queues', queues.list, 'quotas', '[]'::jsonb, 'problems', '[]'::jsonb, 'at', c.last_good_at),
	observation = jsonb_build_object('at', c.last_good_at, 'pools', pools.list, 'queues', queues.list, 'quotas', '[]'::jsonb, 'workloads', NULL, 'problems', '[]'::jsonb,
		'queues_known', true, 'quotas_known', true, 'workloads_known', true, 'pools_known', true)
FROM pools, queues WHERE pools.cluster_id = c.id AND queues.cluster_id = c.id;

INSERT INTO poll (cluster_id, at, ok, took_ms)
SELECT c.id, current_setting('load.now')::timestamptz - interval '30 seconds' * n, true, 200 + n % 100 FROM generate_series(1000, 1, -1) n, cluster c;

-- Six live workloads a binding and the finished ones of some days.
INSERT INTO workload (cluster_id, uid, namespace, name, job, local_queue, queue, submitter, state, reason, message, amounts, node, created_at, admitted_at, finished_at, seen_at)
SELECT b.cluster_id, b.namespace || '-' || w, b.namespace, 'job-train-' || w, 'Job train-' || w, 'main', b.cluster_queue, 'person-0501',
	CASE WHEN w = 1 THEN 'pending' WHEN w <= 6 THEN 'admitted' ELSE 'finished' END,
	CASE WHEN w = 1 THEN 'Pending' ELSE '' END, CASE WHEN w = 1 THEN 'insufficient unused quota for nvidia.com/gpu in flavor h100, 6 more needed' ELSE '' END,
	jsonb_build_array(jsonb_build_object('pool', jsonb_build_object('flavor', CASE WHEN w = 1 THEN '' ELSE 'h100' END, 'resource', 'nvidia.com/gpu'), 'amount', '8')),
	CASE WHEN w = 1 THEN '' ELSE 'node-' || w END, current_setting('load.now')::timestamptz - interval '1 hour' * w,
	CASE WHEN w > 1 THEN current_setting('load.now')::timestamptz - interval '59 minutes' * w END,
	CASE WHEN w > 6 THEN current_setting('load.now')::timestamptz - interval '30 minutes' * w END, current_setting('load.now')::timestamptz
FROM binding b, generate_series(1, 30) w;
