-- Inserts 200 users and 20,000 conversations with what belongs to them, over the 60 days before `now`. The user u1 has a
-- quarter of everything, the others have about the same. The administrator is u0. Times count back from `now`.
CREATE TEMP TABLE of AS SELECT CAST(unixepoch() AS INTEGER) * 1000 AS now, 5184000000 / 20000 AS apart;
-- `begin` is the beginning of an id that grows with the time.
CREATE TEMP TABLE n (i INTEGER NOT NULL PRIMARY KEY, at INTEGER NOT NULL, owner TEXT NOT NULL, begin TEXT NOT NULL);
INSERT INTO n
WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 19999)
SELECT i, now - i * apart, CASE WHEN i % 4 = 1 THEN 'u1' ELSE 'u' || (i % 200) END,
       CASE WHEN i = 8 THEN 'ffffffffffff' ELSE printf('%012x', now - i * apart) END
FROM numbers, of;

INSERT INTO users (id, name, name_key, password, roles, created_at, password_changed_at)
SELECT 'u' || i, 'User ' || i, 'user ' || i, '', CASE WHEN i = 0 THEN '["admin"]' WHEN i % 10 = 1 THEN '["editor"]' ELSE '[]' END,
       now - i * 1000, now
FROM n, of WHERE i < 200;

INSERT INTO sessions (id, user_id, token_hash, agent, created_at, seen_at)
SELECT 's' || i, owner, CASE i WHEN 0 THEN :admin WHEN 1 THEN :busy WHEN 2 THEN :member ELSE randomblob(32) END, 'bench', now, now
FROM n, of WHERE i < 600;

INSERT INTO api_keys (id, user_id, name, key_hash, scopes, created_at, expires_at)
SELECT 'k' || i, owner, 'Key ' || i, randomblob(32), '["agents"]', at, now + 8640000000 FROM n, of WHERE i < 200;

INSERT INTO user_groups (id, name, name_key, description, roles, provisioned, created_at, updated_at)
SELECT 'g' || i, 'Group ' || i, 'group ' || i, 'Who works on subject ' || i, '[]', 0, at, at FROM n WHERE i < 40;
INSERT INTO user_group_members (group_id, user_id) SELECT DISTINCT 'g' || (i % 40), 'u' || (i % 200) FROM n WHERE i < 1000;
INSERT INTO user_group_members (group_id, user_id) SELECT 'g1', 'u' || i FROM n WHERE i < 200 ON CONFLICT DO NOTHING;

INSERT INTO invitations (id, token_hash, label, roles, created_by, created_at, expires_at)
SELECT 'i' || i, randomblob(32), 'new' || i || '@example.com', '[]', 'u0', at, now + 8640000000 FROM n, of WHERE i < 100;

INSERT INTO folders (id, owner, name, created_at, position)
SELECT 'f' || i, owner, 'Folder ' || i, at, i FROM n WHERE i < 400;

INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at, pinned, archived, folder_id, deleted_at)
SELECT 'c' || i, owner, 'chat', 'a' || (i % 50), 'Conversation about topic ' || (i % 500),
       'c' || i || CASE WHEN i = 5 THEN '-999' ELSE '-9' END, 2, at - 600000, at,
       i % 100 = 1, i % 20 = 9, CASE WHEN i % 7 = 1 THEN 'f' || (i % 400) END, CASE WHEN i % 50 = 13 THEN at END
FROM n;

-- The conversation c5 of u1 is long.
INSERT INTO messages (conversation_id, id, parent_id, role, created_at, body)
SELECT 'c' || c.i, 'c' || c.i || '-' || m.i, CASE WHEN m.i > 0 THEN 'c' || c.i || '-' || (m.i - 1) END,
       CASE WHEN m.i % 2 = 0 THEN 'user' ELSE 'assistant' END, c.at - 600000 + m.i * 500,
       json_object('id', 'c' || c.i || '-' || m.i, 'role', CASE WHEN m.i % 2 = 0 THEN 'user' ELSE 'assistant' END,
           'parts', json_array(json_object('type', 'text', 'text', 'The order ' || (c.i * 10 + m.i) || ' about topic ' || (c.i % 500)
               || ' was asked for; a refund of part ' || ((c.i * 7 + m.i) % 997) || ' follows tomorrow. Please *check* it with [the rules](https://example.com/'
               || m.i || ') and answer until Friday, as the customer has waited for three weeks.')))
FROM n c JOIN n m ON m.i < CASE WHEN c.i = 5 THEN 1000 ELSE 10 END;

INSERT INTO runs (id, conversation_id, submission_key, message_id, epoch, status, started_at, lease_until, ended_at, events_after, events_until)
SELECT 'r' || c.i || '-' || m.i, 'c' || c.i, 'k' || m.i, 'c' || c.i || '-' || (m.i * 2 + 1), m.i + 1, CASE WHEN m.i < 4 THEN 'done' ELSE 'running' END,
       c.at - 600000 + m.i * 1000, 0, CASE WHEN m.i < 4 THEN c.at - 599100 + m.i * 1000 END, 0, 0
FROM n c JOIN n m ON m.i < 5;
UPDATE runs SET status = CASE WHEN no % 50 = 0 THEN 'failed' ELSE 'done' END, ended_at = started_at + 900 WHERE status = 'running';

INSERT INTO steps (at, owner, conversation_id, message_id, run_id, agent_id, number, provider, model, finish_reason, input_tokens,
                   output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, first_part_ms, whole_ms)
SELECT c.at, c.owner, 'c' || c.i, 'c' || c.i || '-' || (m.i * 2 + 1), 'r' || c.i || '-' || m.i, 'a' || (c.i % 50), 1, 'demo',
       CASE c.i % 3 WHEN 0 THEN 'demo' WHEN 1 THEN 'demo-quick' ELSE 'demo-thorough' END, 'stop',
       1000 + c.i % 700, 200, 0, 0, 0, 0.001 * (c.i % 1000), 400, 2000
FROM n c JOIN n m ON m.i < 5;

INSERT INTO audit (at, user_id, agent_id, conversation_id, message_id, run_id, call_id, tool, arguments, gates, outcome, duration_ms,
                   previous, hash)
SELECT c.at, c.owner, 'a' || (c.i % 50), 'c' || c.i, 'c' || c.i || '-' || (m.i * 2 + 1), 'r' || c.i || '-' || m.i, 'call' || m.i,
       'tool_' || (c.i % 40), '{"query":"refunds of part ' || c.i || '"}', '[]',
       CASE WHEN c.i % 97 = 0 THEN 'error' WHEN c.i % 89 = 0 THEN 'denied' ELSE 'ok' END, 120, '', ''
FROM n c JOIN n m ON m.i < 5 ORDER BY c.i DESC;

INSERT INTO feedback (conversation_id, message_id, owner, rating, reason, updated_at)
SELECT 'c' || i, 'c' || i || '-1', owner, CASE WHEN i % 3 = 0 THEN 'down' ELSE 'up' END, 'Because of ' || i, at FROM n WHERE i % 5 = 0;

INSERT INTO grants (id, owner, agent_id, tool, fingerprint, conversation_id, created_at)
SELECT 'g' || i, 'u' || (i % 200), 'a' || (i % 50), 'tool_' || (i / 200), '', NULL, at FROM n WHERE i < 4000;

INSERT INTO shares (id, conversation_id, created_at, copy) SELECT 'share' || i, 'c' || i, at, '{}' FROM n WHERE i % 40 = 0;

INSERT INTO invocations (id, owner, agent_id, status, output, usage, created_at, ended_at)
SELECT printf('%012x-v%d', at, i), owner, 'a' || (i % 50), CASE WHEN i % 10 = 0 THEN 'failed' ELSE 'succeeded' END, '{}', NULL, at, at + 5000
FROM n WHERE i < 10000;

-- Done jobs are kept for a day, failed ones for 30 days. One job in a hundred still waits for its time.
INSERT INTO jobs (id, kind, owner, payload, state, due_at, created_at, started_at, ended_at, attempts, error)
SELECT printf('%012x-j%d', at, i), 'bench.' || (i % 5), owner, '{}', state, CASE state WHEN 'waiting' THEN at + 864000000 ELSE at END, at,
       CASE WHEN state <> 'waiting' THEN at END, CASE WHEN state <> 'waiting' THEN at + 100 END, 1,
       CASE state WHEN 'failed' THEN 'It has failed.' END
FROM (SELECT i, owner, now - i * CASE WHEN i % 10 = 7 THEN 120000 ELSE 6000 END AS at,
             CASE WHEN i % 100 = 0 THEN 'waiting' WHEN i % 10 = 7 THEN 'failed' ELSE 'done' END AS state
      FROM n, of WHERE i < 12000);

-- One run in eight waits for an editor.
INSERT INTO workflow_runs (id, owner, workflow_id, version, ancestors, caller, input, limits, state, output, created_at, ended_at, root_id, steps)
SELECT begin || '-w' || i, owner, 'w' || (i % 2), 'none', '[]', json_object('name', owner, 'isAuthenticated', json('true'), 'roles', json('["editor"]')),
       '{"text":"The order"}', '{}',
       CASE WHEN i % 8 = 0 THEN 'waiting' WHEN i % 31 = 7 THEN 'failed' ELSE 'done' END, '{}', at, CASE WHEN i % 8 > 0 THEN at + 9000 END,
       begin || '-w' || i, 2
FROM n WHERE i < 10000;

INSERT INTO workflow_steps (run_id, path, owner, step_id, step_type, state, attempt, input, output, started_at, ended_at, start_number)
SELECT n.begin || '-w' || n.i, s.id, n.owner, s.id, s.type, CASE WHEN n.i % 8 = 0 AND s.no = 1 THEN 'waiting' ELSE 'done' END, 1, '{}', '{}',
       n.at, CASE WHEN n.i % 8 > 0 OR s.no = 0 THEN n.at + 4000 END, s.no
FROM n, (SELECT 0 AS no, 'read' AS id, 'endpoint' AS type UNION ALL SELECT 1, 'ask', 'human') s WHERE n.i < 10000;

INSERT INTO workflow_tasks (id, run_id, path, owner, workflow_id, ask, title, details, state, created_at)
SELECT begin || '-t' || i, begin || '-w' || i, 'ask', owner, 'w0', 'approve', 'Is order ' || i || ' right?',
       '{"details":{"found":"The order"},"choices":[],"form":null}', 'open', at
FROM n WHERE i < 10000 AND i % 8 = 0;
INSERT INTO workflow_task_assignees (task_id, kind, name) SELECT id, 'role', 'editor' FROM workflow_tasks;

INSERT INTO trigger_deliveries (id, workflow_id, trigger_id, delivery_key, received_at, is_test, outcome)
SELECT begin || '-d' || i, 'w1', 'nightly', 'd' || i, at, 0, CASE WHEN i % 9 = 0 THEN 'failed' ELSE 'done' END FROM n WHERE i < 5000;

INSERT INTO projects (id, owner, name, color, instructions, written_by, libraries, agent_id, model_id, version, created_at, updated_at)
SELECT 'p' || i, owner, 'Project ' || i, 'blue', 'Answer in one sentence.', owner, '[]', '', '', 1, at, at FROM n WHERE i < 80;
INSERT INTO project_members (project_id, user_id, role, folder_id, joined_at)
SELECT 'p' || i, owner, 'owner', 'f' || i, at FROM n WHERE i < 80;
INSERT INTO project_members (project_id, user_id, role, joined_at)
SELECT 'p' || (i % 80), 'u' || (i % 199), 'viewer', at FROM n WHERE i < 600 ON CONFLICT DO NOTHING;

INSERT INTO prompts (id, owner, name, name_key, description, content, roles, version, created_at, updated_at)
SELECT 'p' || i, CASE WHEN i < 50 THEN '' ELSE owner END, 'prompt-' || i, 'prompt-' || i, 'For topic ' || i, 'Sum up {{text}}.', '[]', 1, at, at
FROM n WHERE i < 400;

INSERT INTO knowledge_libraries (id, owner, name, about, created_at, updated_at)
SELECT 'lib' || i, owner, 'Library ' || i, 'About ' || i, at, at FROM n WHERE i < 100;
INSERT INTO knowledge_documents (id, library_id, identity, file_name, media_type, bytes, added_by, metadata, state, pages, chunks, version_id,
                                 created_at, updated_at)
SELECT printf('%012x-d%d', at, i), 'lib' || CASE WHEN i % 2 = 0 THEN 1 ELSE i % 100 END, 'doc' || i, 'Report ' || i || '.md', 'text/markdown', 5000, owner, '{}',
       'ready', 3, 3, 'ver' || i, at, at
FROM n WHERE i < 6000;
INSERT INTO knowledge_versions (id, document_id, bytes, created_at)
SELECT 'ver' || i, printf('%012x-d%d', at, i), 5000, at FROM n WHERE i < 6000;
INSERT INTO knowledge_chunks (version_id, no, place, heading, content)
SELECT 'ver' || d.i, c.i, '{}', 'Part ' || c.i, 'The rules for order ' || d.i || ' and part ' || c.i || ' are in the handbook.' FROM n d JOIN n c ON c.i < 3 WHERE d.i < 6000;
INSERT INTO knowledge_parts (version_id, no, place, heading, content)
SELECT version_id, no, place, heading, content FROM knowledge_chunks WHERE version_id LIKE 'ver%';

INSERT INTO memory_updates (id, owner, conversation_id, created_at) SELECT 'up' || i, owner, 'c' || i, at FROM n WHERE i < 4000;
INSERT INTO memory_facts (id, owner, agent_id, content, category, topic, confidence, conversation_id, message_id, created_at, updated_at, edited, update_id)
SELECT 'fact' || i, owner, 'a0', 'Works on order ' || i, 'context', 'workContext', 0.9, 'c' || i, 'c' || i || '-0', at, at, 0, 'up' || i
FROM n WHERE i < 400;

INSERT INTO push_subscriptions (id, owner, endpoint, p256dh, auth, browser, created_at)
SELECT 'push' || i, owner, 'https://push.example.com/' || i, 'x', 'x', 'Firefox on Linux', at FROM n WHERE i < 300 AND owner <> 'u1';

INSERT INTO data_records (id, collection, owner, data, version, created_at, updated_at)
SELECT 'rec' || i, 'notes', owner, '{"text":"Note"}', 1, at, at FROM n WHERE i < 5000;

INSERT INTO recordings (run_id, conversation_id, agent_id, recorded_at, ending, steps, tokens, bytes, header, blobs, entries)
SELECT 'r' || i || '-0', 'c' || i, 'a' || (i % 50), at, 'done', 1, 1200, 2000, '{}', '[]', '' FROM n WHERE i < 3000;

INSERT INTO eval_datasets (id, name, agent_id, scorers, version, created_by, created_at, updated_at)
SELECT 'set' || i, 'Dataset ' || i, 'a' || i, '[]', 1, 'u0', at, at FROM n WHERE i < 30;
INSERT INTO eval_cases (id, dataset_id, case_id, added_in, owner, is_masked, created_by, created_at, content)
SELECT printf('case%05d', i), 'set' || (i % 30), 'case-' || i, 1, '', 0, 'u0', at, json_object('id', 'case-' || i, 'input', 'Hello')
FROM n WHERE i < 3000;

INSERT INTO files (id, owner, name, media_type, size, created_at) SELECT 'file' || i, owner, 'file' || i || '.txt', 'text/plain', 100, at FROM n WHERE i < 3000;
INSERT INTO file_uses (file_id, conversation_id) SELECT 'file' || i, 'c' || i FROM n WHERE i < 3000;

INSERT INTO events (name, event_key, no, at, data) SELECT 'bench.' || (i % 4), 'e' || i, i + 1000000, at, '{}' FROM n WHERE i < 10000;

DROP TABLE n;
DROP TABLE of;
