-- The queue of background work, which the crate `jobs` reads and writes. Times are Unix milliseconds.
CREATE TABLE jobs (
    id               TEXT    NOT NULL PRIMARY KEY,
    kind             TEXT    NOT NULL,
    -- The user whose work it is, and with whom it is deleted; NULL for work of the server.
    owner            TEXT,
    payload          TEXT    NOT NULL,
    -- At most one job of a kind with this key waits or runs.
    unique_key       TEXT,
    state            TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    due_at           INTEGER NOT NULL,
    -- When the delay until due_at began; NULL if due_at is a time that the caller has chosen.
    delayed_at       INTEGER,
    -- The time between two runs of a recurring job; NULL for others.
    every_ms         INTEGER,
    attempts         INTEGER NOT NULL DEFAULT 0,
    -- Grows with each attempt. Every write of an attempt names it.
    fence            INTEGER NOT NULL DEFAULT 0,
    -- The worker that runs it, and a number that grows as long as this worker lives.
    holder           TEXT,
    beat             INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    -- When it is due again, if it was enqueued with its key while it ran.
    again_at         INTEGER,
    -- Why the last attempt failed.
    error            TEXT,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER,
    ended_at         INTEGER
) STRICT;

-- What a worker claims: the first due jobs of a kind.
CREATE INDEX jobs_waiting ON jobs (kind, due_at, id) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (kind) WHERE state = 'running';
CREATE INDEX jobs_ended ON jobs (state, ended_at, kind) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_delayed ON jobs (delayed_at) WHERE state = 'waiting' AND delayed_at IS NOT NULL;
CREATE INDEX jobs_of_owner ON jobs (owner) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX jobs_pending_keys ON jobs (kind, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('waiting', 'running');
