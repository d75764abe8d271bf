-- Runs that an agent or a command of the composer has started. The conversation gets the result.
CREATE TABLE workflow_conversation_runs (
    run_id          TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES workflow_runs (id) ON DELETE CASCADE,
    owner           TEXT COLLATE "C" NOT NULL,
    -- NULL: the agent was asked outside of a conversation.
    conversation_id TEXT COLLATE "C" REFERENCES conversations (id) ON DELETE CASCADE,
    -- What tells the call that has started the run from others, and stays the same when it is repeated.
    call_key        TEXT COLLATE "C" UNIQUE,
    -- The name and the roles of the user when the run started, as JSON: the agent goes on with them.
    caller          TEXT COLLATE "C" NOT NULL,
    -- Whether the agent goes on when the run has ended.
    goes_on         BIGINT NOT NULL,
    -- What the agent reads with the result, as JSON.
    exposure        TEXT COLLATE "C" NOT NULL,
    -- Whether the conversation has the result.
    is_delivered    BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX workflow_conversation_runs_by_conversation ON workflow_conversation_runs (conversation_id);
CREATE INDEX workflow_conversation_runs_by_owner ON workflow_conversation_runs (owner);
