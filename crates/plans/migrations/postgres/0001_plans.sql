-- The plan of a conversation, by the message of the answer that wrote it: each branch has its own. The
-- plan of a branch is that of its newest message which has one.
CREATE TABLE plans (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    -- Identifies this state of the plan.
    revision TEXT NOT NULL,
    -- The steps, as JSON.
    todos TEXT NOT NULL,
    -- 1 if the model has read this state, 0 if the user has changed it since.
    is_read BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, message_id)
);
