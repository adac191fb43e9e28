-- 1,000,000 entries in canonical form with whole chains: what the requests left,
-- and sign-ins for the rest. Needs load_request.

CREATE TEMP TABLE load_event AS
SELECT r.n, s.step, md5('entry' || r.n || '-' || s.step)::uuid AS id, s.type, s.kind, s.pos,
	CASE s.kind WHEN 'request' THEN r.id ELSE md5(s.kind || r.n || CASE s.kind WHEN 'grant' THEN r.flavors[1] ELSE '' END)::uuid END::text AS object_id,
	CASE s.who WHEN 'r' THEN r.requester_id::text WHEN 'm' THEN r.manager_id::text WHEN 'o' THEN r.operator_id::text ELSE 'job:change_apply' END AS actor,
	CASE s.who WHEN 'r' THEN '"role":"requester","scope":"team ' || r.team_id || '"' WHEN 'm' THEN '"role":"team_manager","scope":"team ' || r.team_id || '"'
	           WHEN 'o' THEN '"role":"capacity_manager","scope":"cluster ' || r.cluster_id || '"' ELSE '' END AS authority,
	CASE s.type
		WHEN 'request.decided' THEN format('"asked.%s":"%s","environment":"production","granted.%1$s":"%s","outcome":"%s","stage":"%s"', r.cluster_id || '-' || r.flavors[1], r.asked, r.granted,
			CASE WHEN r.state = 'rejected' THEN 'reject' ELSE 'approve' END, CASE s.who WHEN 'm' THEN 'team' ELSE 'capacity' END)
		WHEN 'request.state_changed' THEN '"from":"approved","to":"active"'
		WHEN 'grant.made' THEN format('"amount":"%s","asked":"%s","kind":"hard","pool":"%s"', r.granted, r.asked, r.cluster_id || '-' || r.flavors[1])
		WHEN 'request.commented' THEN '"text":"' || r.digest || '"'
		WHEN 'request.drafted' THEN format('"asked.%s":"%s","environment":"production"', r.cluster_id || '-' || r.flavors[1], r.asked)
		WHEN 'request.submitted' THEN format('"asked.%s":"%s","environment":"production"', r.cluster_id || '-' || r.flavors[1], r.asked)
		ELSE format('"binding":"%s","cause":"approved","cluster":"%s"', md5('binding' || r.p || 'production')::uuid, r.cluster_id) END AS facts,
	CASE WHEN s.type = 'request.decided' THEN 'reason' WHEN s.type = 'request.commented' THEN 'text' ELSE '' END AS opening,
	CASE WHEN s.step = 3 AND r.n % 50 = 0 THEN 'refused' ELSE 'done' END AS outcome,
	r.created_at + interval '5 hours' * (s.step - 1) + interval '1 millisecond' * (r.n % 1000) AS at,
	r.id AS request_id, r.project_id, (SELECT array_agg(r.cluster_id || '-' || f) FROM unnest(r.flavors) f) AS pool_ids, r.cluster_id
FROM load_request r, (VALUES (1, 'request.drafted', 'request', 1, 'r'), (2, 'request.submitted', 'request', 2, 'r'), (3, 'request.commented', 'request', 3, 'r'),
	(4, 'request.decided', 'request', 4, 'm'), (5, 'request.decided', 'request', 5, 'o'), (6, 'grant.made', 'grant', 1, 'o'), (7, 'change.planned', 'change', 1, 'o'),
	(8, 'change.begun', 'change', 2, 'j'), (9, 'change.applied', 'change', 3, 'j'), (10, 'change.verified', 'change', 4, 'j'), (11, 'request.state_changed', 'request', 6, 'j')
) AS s (step, type, kind, pos, who)
WHERE s.step <= CASE r.state WHEN 'submitted' THEN 3 WHEN 'withdrawn' THEN 3 WHEN 'in review' THEN 4 WHEN 'rejected' THEN 4 ELSE 11 END
	AND r.created_at + interval '5 hours' * (s.step - 1) < current_setting('load.now')::timestamptz;

INSERT INTO load_event (n, step, id, type, kind, pos, object_id, actor, authority, facts, opening, outcome, at, pool_ids)
SELECT k, 0, md5('sign-in' || k)::uuid, CASE WHEN k % 100 = 0 THEN 'person.sign_in_refused' ELSE 'person.signed_in' END, 'session', 1, md5('session' || k),
	md5('person' || (k * 13 % 5000 + 1))::uuid::text, '', '', '', CASE WHEN k % 100 = 0 THEN 'refused' ELSE 'done' END,
	current_setting('load.now')::timestamptz - interval '350 days' * (k::float8 / 700000), '{}'
FROM generate_series(1, current_setting('load.entries')::int - (SELECT count(*)::int FROM load_event)) k;
CREATE INDEX ON load_event (pos);
ANALYZE load_event;

-- Links are made position by position: each entry names the digest of its object's one before.
CREATE TEMP TABLE load_entry (kind text, object_id text, pos int, id uuid, digest text, canonical bytea, prev text);
DO $$
DECLARE
	name text := (SELECT log FROM installation);
BEGIN
	FOR k IN 1..6 LOOP
		INSERT INTO load_entry
		SELECT x.kind, x.object_id, x.pos, x.id, encode(sha256('\x00'::bytea || x.canonical), 'hex'), x.canonical, x.prev FROM (
			SELECT e.kind, e.object_id, e.pos, e.id, coalesce(p.digest, '') AS prev, convert_to(
				'{"actor":{' || CASE WHEN e.actor LIKE 'job:%' THEN '"id":"' || e.actor || '"' ELSE
					'"amr":["pwd","otp"],"auth_time":"' || to_char(e.at - interval '1 hour', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '","commitment":"' || md5(e.id::text) || md5(e.actor)
					|| '","id":"' || e.actor || '","session":"' || md5(e.actor) || md5(e.actor) || '"' END
				|| '},"at":"' || to_char(e.at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '","authority":{' || CASE WHEN e.authority = '' THEN '' ELSE '"mapping_version":"1",' || e.authority END
				|| '},' || CASE WHEN e.facts = '' THEN '' ELSE '"facts":{' || e.facts || '},' END || '"id":"' || e.id || '","log":"' || name
				|| '","object":{"id":"' || e.object_id || '","kind":"' || e.kind || '"},"outcome":"' || e.outcome || '","prev":"' || coalesce(p.digest, '') || '",'
				|| CASE WHEN e.opening = 'reason' THEN '"reason":"' || md5(e.id::text) || md5(e.object_id) || '",' ELSE '' END
				|| '"type":"' || e.type || '","v":"1","via":"' || CASE WHEN e.actor LIKE 'job:%' THEN 'job' ELSE 'web' END || '"}', 'UTF8') AS canonical
			FROM load_event e LEFT JOIN load_entry p ON p.kind = e.kind AND p.object_id = e.object_id AND p.pos = e.pos - 1
			WHERE e.pos = k) x;
		ANALYZE load_entry;
	END LOOP;
END $$;

INSERT INTO ledger_entry (ordinal, id, digest, canonical, type, outcome, at, actor, object_kind, object_id, prev, request_id, project_id, pool_ids, cluster_id)
	OVERRIDING SYSTEM VALUE
SELECT row_number() OVER (ORDER BY e.at, e.id), e.id, l.digest, l.canonical, e.type, e.outcome, e.at, e.actor, e.kind, e.object_id, l.prev, e.request_id, e.project_id,
	coalesce(e.pool_ids, '{}'), e.cluster_id
FROM load_event e JOIN load_entry l ON l.id = e.id;
SELECT setval(pg_get_serial_sequence('ledger_entry', 'ordinal'), (SELECT max(ordinal) FROM ledger_entry));

INSERT INTO ledger_head SELECT DISTINCT ON (l.kind, l.object_id) l.kind, l.object_id, l.digest FROM load_entry l ORDER BY l.kind, l.object_id, l.pos DESC;

INSERT INTO ledger_opening
SELECT e.id, 'actor', decode(md5(e.id::text) || md5(e.actor), 'hex'), 'https://id.example.org' || chr(10) || 'person-' || md5(e.actor) || chr(10) || 'Somebody'
FROM load_event e WHERE e.actor NOT LIKE 'job:%'
UNION ALL
SELECT e.id, e.opening, decode(md5(e.id::text) || md5(e.actor), 'hex'), 'Looked at the last four weeks: the queue was full on nineteen days.' FROM load_event e WHERE e.opening <> '';

INSERT INTO comment SELECT md5('comment' || e.n)::uuid, e.request_id, e.actor::uuid, e.id, e.at FROM load_event e WHERE e.type = 'request.commented' AND e.outcome = 'done';

DROP TABLE load_event, load_entry, load_request;
