-- Links to versions of files, which anybody with the link may read. They are deleted with their conversation.
-- A version does not change, so the link refers to its content. `file_uses` keeps that as long as the link, also when the
-- version is dropped for newer ones or its file is deleted.
CREATE TABLE artifact_shares (
    -- The secret in the link.
    id              TEXT    NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    version         INTEGER NOT NULL,
    path            TEXT    NOT NULL,
    file_id         TEXT    NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    -- The name of the user when they made the link, if it was known.
    shared_by       TEXT,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX artifact_shares_of_conversation ON artifact_shares (conversation_id, created_at);

-- For the foreign key, and to find out whether a content is still needed.
CREATE INDEX artifact_shares_of_file ON artifact_shares (file_id);
