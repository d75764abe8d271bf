-- Inserts 1,000 users and :conversations conversations of 20 messages each with their related rows, over the 60 days before `now`.
CREATE TEMP TABLE of AS SELECT CAST(unixepoch() AS INTEGER) * 1000 AS now, 5184000000 / :conversations AS apart;
CREATE TEMP TABLE n AS
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :conversations - 1) SELECT i FROM n;

INSERT INTO users (id, name, name_key, password, roles, created_at, password_changed_at)
SELECT 'u' || i, 'User ' || i, 'user ' || i, '', CASE WHEN i = 0 THEN '["admin"]' WHEN i % 10 = 0 THEN '["editor"]' ELSE '[]' END,
       now - i * 1000, now
FROM n, of WHERE i < 1000;

INSERT INTO sessions (id, user_id, token_hash, agent, created_at, seen_at)
SELECT 's' || i, 'u' || i, CASE WHEN i = 0 THEN :token_hash ELSE randomblob(32) END, 'bench', now, now FROM n, of WHERE i < 1000;

INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at)
SELECT 'c' || i, 'u' || (i % 1000), 'p', 'a' || (i % 5), 'Conversation about topic ' || (i % 500), 'c' || i || '-19', 2,
       now - i * apart - 600000, now - i * apart
FROM n, of;

INSERT INTO messages (conversation_id, id, parent_id, role, created_at, body)
SELECT 'c' || c.i, 'c' || c.i || '-' || m.i, CASE WHEN m.i > 0 THEN 'c' || c.i || '-' || (m.i - 1) END,
       CASE WHEN m.i % 2 = 0 THEN 'user' ELSE 'assistant' END, now - c.i * apart - (20 - m.i) * 30000,
       json_object('id', 'c' || c.i || '-' || m.i, 'role', CASE WHEN m.i % 2 = 0 THEN 'user' ELSE 'assistant' END,
           'parts', json_array(json_object('type', 'text', 'text', 'The order ' || (c.i * 20 + m.i) || ' about topic ' || (c.i % 500)
               || ' was asked for; a refund of part ' || ((c.i * 7 + m.i) % 997) || ' follows tomorrow.')))
FROM n c, n m, of WHERE m.i < 20;

INSERT INTO runs (id, conversation_id, submission_key, message_id, epoch, status, started_at, lease_until, ended_at, events_after, events_until)
SELECT 'r' || c.i || '-' || m.i, 'c' || c.i, 'k' || m.i, 'c' || c.i || '-' || (m.i * 2 + 1), m.i + 1, 'running',
       now - c.i * apart - (20 - m.i * 2) * 30000, 0, NULL, 0, 0
FROM n c, n m, of WHERE m.i < 1;
UPDATE runs SET status = CASE WHEN no % 50 = 0 THEN 'failed' ELSE 'done' END, ended_at = started_at + 4000;

INSERT INTO steps (at, owner, conversation_id, message_id, run_id, agent_id, number, provider, model, finish_reason, input_tokens,
                   output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd, first_part_ms, whole_ms)
SELECT now - c.i * apart, 'u' || (c.i % 1000), 'c' || c.i, 'c' || c.i || '-' || (m.i * 2 + 1), 'r' || c.i || '-0', 'a' || (c.i % 5),
       m.i + 1, 'demo', 'demo', 'stop', 1000 + c.i % 700, 200, 0, 0, 0, 0.001 * (c.i % 1000), 400, 2000
FROM n c, n m, of WHERE m.i < 2;

INSERT INTO audit (at, user_id, agent_id, conversation_id, message_id, run_id, call_id, tool, arguments, gates, outcome, duration_ms,
                   previous, hash)
SELECT now - c.i * apart, 'u' || (c.i % 1000), 'a' || (c.i % 5), 'c' || c.i, 'c' || c.i || '-1', 'r' || c.i || '-0', 'call' || m.i,
       'tool_' || (c.i % 40), '{"query":"refunds of part ' || c.i || '"}', '[]',
       CASE WHEN c.i % 97 = 0 THEN 'error' WHEN c.i % 89 = 0 THEN 'denied' ELSE 'ok' END, 120, '', ''
FROM n c, n m, of WHERE m.i < 5 ORDER BY c.i DESC;

INSERT INTO feedback (conversation_id, message_id, owner, rating, reason, updated_at)
SELECT 'c' || i, 'c' || i || '-1', 'u' || (i % 1000), CASE WHEN i % 3 = 0 THEN 'down' ELSE 'up' END, 'Because of ' || i, now - i * apart
FROM n, of WHERE i % 5 = 0;

INSERT INTO grants (id, owner, agent_id, tool, fingerprint, conversation_id, created_at)
SELECT 'g' || i, 'u' || (i % 1000), 'a' || (i % 5), 'tool_' || (i / 1000), '', NULL, now - i * apart
FROM n, of;
