-- How users want to be answered.
CREATE TABLE user_profiles (
    owner      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    content    TEXT COLLATE "C" NOT NULL,
    -- Unix time in milliseconds.
    updated_at BIGINT NOT NULL
);

-- What a conversation was told when it began, empty if nothing. It stays the same, so that the beginning of each request does.
CREATE TABLE user_profile_blocks (
    conversation_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    owner           TEXT COLLATE "C" NOT NULL,
    content         TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL
);

CREATE INDEX user_profile_blocks_by_owner ON user_profile_blocks (owner);
