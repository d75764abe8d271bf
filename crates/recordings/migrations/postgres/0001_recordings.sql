-- Recordings of runs. They go with their conversation.
CREATE TABLE recordings (
    run_id TEXT NOT NULL PRIMARY KEY,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL,
    recorded_at BIGINT NOT NULL,
    -- How the run ended, and what it used.
    ending TEXT NOT NULL,
    steps BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    -- The size of the recording, with the blobs that were new with it.
    bytes BIGINT NOT NULL,
    -- The header, as JSON.
    header TEXT NOT NULL,
    -- The ids of the blobs, as a JSON list.
    blobs TEXT NOT NULL,
    -- The entries, as JSON lines.
    entries TEXT NOT NULL
);
CREATE INDEX recordings_by_conversation ON recordings (conversation_id);
CREATE INDEX recordings_by_time ON recordings (recorded_at, bytes);

-- Values of recordings by their hash, such as messages, prompts and lists of tools. What is equal in a
-- conversation is stored once.
CREATE TABLE recording_blobs (
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    -- When the newest recording with it was stored.
    used_at BIGINT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (conversation_id, id)
);
CREATE INDEX recording_blobs_by_time ON recording_blobs (used_at);
