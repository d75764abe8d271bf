-- Ids are text, times Unix milliseconds. Ownership hangs on the conversation; everything else belongs to one.

CREATE TABLE conversations (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    page_id    TEXT    NOT NULL,
    agent_id   TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    -- The newest message of the active branch.
    head       TEXT    NOT NULL,
    -- Counts the runs; a stream cursor is EPOCH.SEQ, so no number is used twice for different events.
    epoch      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- The list, newest first.
CREATE INDEX conversations_list ON conversations (owner, updated_at DESC, id DESC);

CREATE TABLE messages (
    -- The order of insertion.
    no              INTEGER NOT NULL PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    id              TEXT    NOT NULL,
    -- A parent is older than its children, so messages form a tree.
    parent_id       TEXT    CHECK (parent_id <> id),
    role            TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    body            TEXT    NOT NULL,
    UNIQUE (conversation_id, id),
    FOREIGN KEY (conversation_id, parent_id) REFERENCES messages (conversation_id, id)
) STRICT;

-- For the foreign key; also what a message's branches are found by.
CREATE INDEX messages_children ON messages (conversation_id, parent_id);
-- The whole tree without sorting the bodies.
CREATE INDEX messages_in_order ON messages (conversation_id, no);

CREATE TABLE runs (
    no              INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id              TEXT    NOT NULL UNIQUE,
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    submission_key  TEXT    NOT NULL,
    -- The assistant message that the run writes.
    message_id      TEXT    NOT NULL,
    epoch           INTEGER NOT NULL,
    status          TEXT    NOT NULL
        CHECK (status IN ('running', 'done', 'waiting', 'stopped', 'limit', 'failed', 'interrupted')),
    started_at      INTEGER NOT NULL,
    lease_until     INTEGER NOT NULL,
    ended_at        INTEGER,
    usage           TEXT,
    -- The cause, for the operator.
    error           TEXT,
    -- Its events are rows of run_events after the first and up to the second number; open while it is active.
    events_after    INTEGER NOT NULL,
    events_until    INTEGER,
    CHECK ((status = 'running') = (ended_at IS NULL)),
    UNIQUE (conversation_id, submission_key),
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages (conversation_id, id)
) STRICT;

-- At most one active run in a conversation.
CREATE UNIQUE INDEX runs_active ON runs (conversation_id) WHERE status = 'running';
-- From which event on the journal is still needed.
CREATE INDEX runs_ended ON runs (ended_at);

-- The journal: consecutive events of a run, as the bytes of their SSE frames, in the order in which they were appended.
-- Deleting a run deletes its events by hand: a foreign key would need an index by run, see below.
CREATE TABLE run_events (
    no        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run       INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL CHECK (last_seq >= first_seq),
    frames    BLOB    NOT NULL
) STRICT;

-- A run's events are found stripe by stripe. An index by run alone would make every flush write one page for each active
-- run; within a stripe of 4096 rows all active runs share a few pages. With 500 runs that is a quarter of the CPU time (examples/journal_bench.rs).
CREATE INDEX run_events_stripes ON run_events (no / 4096, run, last_seq);

-- The tool ledger: a row is written before the tool's effect and completed after it.
CREATE TABLE tool_calls (
    conversation_id TEXT    NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    call_id         TEXT    NOT NULL,
    run             INTEGER NOT NULL REFERENCES runs (no) ON DELETE CASCADE,
    name            TEXT    NOT NULL,
    input           TEXT    NOT NULL,
    started_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    outcome         TEXT    CHECK (outcome IN ('ok', 'error')),
    CHECK ((outcome IS NULL) = (finished_at IS NULL)),
    PRIMARY KEY (conversation_id, call_id)
) STRICT;

-- For the foreign key.
CREATE INDEX tool_calls_run ON tool_calls (run);
