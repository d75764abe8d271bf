-- The tables as the migrations up to 0002_openai_chains leave them, with which a new SQLite database begins.
-- `cargo run --package store --example sqlite_baseline` prints this file, and a test compares the two.

CREATE TABLE openai_responses (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    -- The invocation.
    run_id TEXT NOT NULL,
    -- The conversation and its answer; NULL until there is one, and if there is none.
    conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE,
    message_id TEXT,
    -- in_progress, completed, incomplete, failed, cancelled
    status TEXT NOT NULL,
    -- The response, as JSON.
    body TEXT NOT NULL,
    -- The items of the input, as JSON, without the contents of files.
    input TEXT NOT NULL,
    created_at INTEGER NOT NULL
, previous_id TEXT, instructions TEXT) STRICT;
CREATE INDEX openai_responses_owner ON openai_responses (owner);
CREATE INDEX openai_responses_conversation ON openai_responses (conversation_id);
CREATE INDEX openai_responses_created ON openai_responses (created_at) WHERE conversation_id IS NULL;
