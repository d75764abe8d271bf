-- Of a call of an agent below another one: that agent, and what was decided about the call before it ran (JSON, as in `audit`). No message
-- holds such a call, so this is what its audit row is made of when the server dies while it runs. NULL for all others.
ALTER TABLE tool_calls ADD COLUMN agent_id TEXT;
ALTER TABLE tool_calls ADD COLUMN gates TEXT;

-- Keys for the programs of users who are kept elsewhere. As `api_keys`, with what is known of the user.
CREATE TABLE outside_keys (
    id         TEXT    NOT NULL PRIMARY KEY,
    -- How callers were told apart when it was made: in another mode the same id may be somebody else.
    mode       TEXT    NOT NULL,
    user_id    TEXT    NOT NULL,
    user_name  TEXT,
    -- Those that he had when he came last: a JSON list of texts.
    roles      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    -- SHA-256 of the key.
    key_hash   BLOB    NOT NULL UNIQUE,
    -- A JSON list of texts.
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    -- Not written at each request.
    used_at    INTEGER
) STRICT;

-- A user's own.
CREATE INDEX outside_keys_of_user ON outside_keys (user_id, mode, created_at);

-- The standing approvals of all users by their tools.
CREATE INDEX grants_by_tool ON grants (tool, id);

-- An agent's conversations by what they cost, and its rows of the log.
CREATE INDEX conversations_of_agent_by_cost ON conversations (agent_id, cost_usd, id) WHERE deleted_at IS NULL;
CREATE INDEX audit_of_agent ON audit (agent_id, no);

-- Sums over many days are read from the index alone: the rows lie by their owners.
DROP INDEX usage_days_by_day;
CREATE INDEX usage_days_by_day ON usage_days
    (day, agent_id, owner, messages, failures, steps, input_tokens, output_tokens, cost_usd, first_part_ms, whole_ms);
