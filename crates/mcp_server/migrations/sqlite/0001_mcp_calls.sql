-- Calls of agents over MCP that are running, so that a notification can cancel them through any server.
CREATE TABLE mcp_calls (
    owner TEXT NOT NULL,
    session_id TEXT NOT NULL,
    -- The id of the request, as JSON.
    request_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    started_at INTEGER NOT NULL,
    PRIMARY KEY (owner, session_id, request_id)
) STRICT;
CREATE INDEX mcp_calls_conversation ON mcp_calls (conversation_id);
CREATE INDEX mcp_calls_started ON mcp_calls (started_at);
