-- What is to be known of a call that was cut off, so that it can be made once more: the tool as it was when the call began (its fingerprint),
-- and whether nobody needs to be asked. NULL for a call that is never made once more as it is, such as an agent's task.
ALTER TABLE tool_calls ADD COLUMN fingerprint TEXT;
ALTER TABLE tool_calls ADD COLUMN idempotent INTEGER NOT NULL DEFAULT 0;

-- An agent's conversations in which an answer failed.
CREATE INDEX conversations_of_agent_failed ON conversations (agent_id, updated_at, id) WHERE failures > 0 AND deleted_at IS NULL;
