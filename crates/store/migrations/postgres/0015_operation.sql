-- What keeps a server in order; see migrations/sqlite.

ALTER TABLE conversations ADD COLUMN expires_at BIGINT;
CREATE INDEX conversations_expiring ON conversations (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX invocations_ended ON invocations (ended_at) WHERE ended_at IS NOT NULL;

CREATE INDEX grants_all ON grants (created_at, id);
