-- Questions to users that running calls have sent to their clients (`elicitation/create`). The answer comes with another request, which any
-- server may get. A row is there while the question is open.
CREATE TABLE mcp_client_questions (
    owner TEXT NOT NULL,
    -- The id of the request to the client.
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    -- The id of the call, as JSON.
    request_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    tool_call_id TEXT NOT NULL,
    -- Empty for a question of the agent.
    approval_id TEXT NOT NULL,
    -- The hash of the arguments that the user sees.
    input_hash TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    -- Whether an answer has come, of which there is only one.
    is_answered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, id)
) STRICT;
CREATE INDEX mcp_client_questions_call ON mcp_client_questions (owner, session_id, request_id);
CREATE INDEX mcp_client_questions_conversation ON mcp_client_questions (conversation_id);
CREATE INDEX mcp_client_questions_asked ON mcp_client_questions (asked_at);
