-- Questions of MCP servers to the user of a running call. A row is deleted when the call goes on.
CREATE TABLE mcp_questions (
    id              TEXT    NOT NULL PRIMARY KEY,
    owner           TEXT    NOT NULL,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The JSON Schema of the values; absent if the user opens a page instead.
    form            TEXT,
    -- The answer, as JSON; absent while the question waits.
    answer          TEXT,
    -- Unix time in milliseconds.
    expires_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX mcp_questions_by_owner ON mcp_questions (owner);
CREATE INDEX mcp_questions_by_conversation ON mcp_questions (conversation_id);
