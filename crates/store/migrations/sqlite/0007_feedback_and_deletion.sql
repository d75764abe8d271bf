-- What users think of answers.
CREATE TABLE feedback (
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    rating          TEXT    NOT NULL CHECK (rating IN ('up', 'down')),
    reason          TEXT,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, message_id, owner),
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
) STRICT;

-- Messages that were deleted, each with all that follows it. They are kept for a while, so that it can be taken back.
CREATE TABLE deleted_messages (
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    -- The head of the active branch before.
    head            TEXT    NOT NULL,
    deleted_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, message_id),
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id) ON DELETE CASCADE
) STRICT;

-- What is to be forgotten now.
CREATE INDEX deleted_messages_due ON deleted_messages (deleted_at);
-- Deleting a message takes away the runs that wrote it.
CREATE INDEX runs_of_message ON runs (conversation_id, message_id);
