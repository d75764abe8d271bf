-- Runs that an agent or a command of the composer has started. The conversation gets the result.
CREATE TABLE workflow_conversation_runs (
    run_id          TEXT NOT NULL PRIMARY KEY REFERENCES workflow_runs (id) ON DELETE CASCADE,
    owner           TEXT NOT NULL,
    -- NULL: the agent was asked outside of a conversation.
    conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE,
    -- What tells the call that has started the run from others, and stays the same when it is repeated.
    call_key        TEXT UNIQUE,
    -- The name and the roles of the user when the run started, as JSON: the agent goes on with them.
    caller          TEXT NOT NULL,
    -- Whether the agent goes on when the run has ended.
    goes_on         INTEGER NOT NULL,
    -- What the agent reads with the result, as JSON.
    exposure        TEXT NOT NULL,
    -- Whether the conversation has the result.
    is_delivered    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX workflow_conversation_runs_by_conversation ON workflow_conversation_runs (conversation_id);
CREATE INDEX workflow_conversation_runs_by_owner ON workflow_conversation_runs (owner);
