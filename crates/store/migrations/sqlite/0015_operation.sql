-- Conversations that go by themselves: then, whatever the rules of the config say. NULL: by the rules.
ALTER TABLE conversations ADD COLUMN expires_at INTEGER;
CREATE INDEX conversations_expiring ON conversations (expires_at) WHERE expires_at IS NOT NULL;

-- Questions of programs that are old enough to go.
CREATE INDEX invocations_ended ON invocations (ended_at) WHERE ended_at IS NOT NULL;

-- The standing approvals of all users, newest first.
CREATE INDEX grants_all ON grants (created_at, id);
