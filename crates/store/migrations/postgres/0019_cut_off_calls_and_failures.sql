-- What is to be known of a call that was cut off; see migrations/sqlite.
ALTER TABLE tool_calls ADD COLUMN fingerprint TEXT COLLATE "C";
ALTER TABLE tool_calls ADD COLUMN idempotent BIGINT NOT NULL DEFAULT 0;

-- An agent's conversations in which an answer failed.
CREATE INDEX conversations_of_agent_failed ON conversations (agent_id, updated_at, id) WHERE failures > 0 AND deleted_at IS NULL;
