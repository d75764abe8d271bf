-- How users want to be answered.
CREATE TABLE user_profiles (
    owner      TEXT    NOT NULL PRIMARY KEY,
    content    TEXT    NOT NULL,
    -- Unix time in milliseconds.
    updated_at INTEGER NOT NULL
) STRICT;

-- What a conversation was told when it began, empty if nothing. It stays the same, so that the beginning of each request does.
CREATE TABLE user_profile_blocks (
    conversation_id TEXT    NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    owner           TEXT    NOT NULL,
    content         TEXT    NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX user_profile_blocks_by_owner ON user_profile_blocks (owner);
