-- Replays of recorded runs that were kept. They go with the recording, and so with its conversation.
CREATE TABLE recording_replays (
    -- Begins with the time.
    id TEXT NOT NULL PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES recordings (run_id) ON DELETE CASCADE,
    -- What it was replayed with, for people.
    label TEXT NOT NULL,
    -- The administrator who has replayed it.
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- The request of the agent's model with which it begins.
    from_step BIGINT NOT NULL,
    -- What the recording did not have, as a JSON list.
    misses TEXT NOT NULL,
    -- What has happened, as a file of recordings.
    replayed TEXT NOT NULL
);
CREATE INDEX recording_replays_by_run ON recording_replays (run_id, id);
