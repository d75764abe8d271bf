-- What is known of the calls of agents below others, and keys of users who are kept elsewhere; see migrations/sqlite.
ALTER TABLE tool_calls ADD COLUMN agent_id TEXT COLLATE "C";
ALTER TABLE tool_calls ADD COLUMN gates TEXT COLLATE "C";

CREATE TABLE outside_keys (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    mode       TEXT COLLATE "C" NOT NULL,
    user_id    TEXT COLLATE "C" NOT NULL,
    user_name  TEXT COLLATE "C",
    roles      TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    key_hash   BYTEA            NOT NULL UNIQUE,
    scopes     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT           NOT NULL,
    expires_at BIGINT           NOT NULL,
    used_at    BIGINT
);

CREATE INDEX outside_keys_of_user ON outside_keys (user_id, mode, created_at);

-- The standing approvals of all users by their tools.
CREATE INDEX grants_by_tool ON grants (tool, id);

CREATE INDEX conversations_of_agent_by_cost ON conversations (agent_id, cost_usd, id) WHERE deleted_at IS NULL;
CREATE INDEX audit_of_agent ON audit (agent_id, no);
