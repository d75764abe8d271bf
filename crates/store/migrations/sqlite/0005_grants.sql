-- Standing approvals: a user's yes for further calls of a tool. Without a conversation it holds in all of them.
CREATE TABLE grants (
    id              TEXT    NOT NULL PRIMARY KEY,
    owner           TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    -- Of the tool as it was; it does not hold for another one.
    fingerprint     TEXT    NOT NULL,
    conversation_id TEXT    REFERENCES conversations (id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL
) STRICT;

-- What covers a call, and one for each; the list begins with the owner, too.
CREATE UNIQUE INDEX grants_calls ON grants (owner, agent_id, tool, coalesce(conversation_id, ''));
-- For the foreign key.
CREATE INDEX grants_conversations ON grants (conversation_id);
