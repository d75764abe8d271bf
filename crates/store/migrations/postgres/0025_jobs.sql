-- The queue of background work; see migrations/sqlite.
CREATE TABLE jobs (
    id               TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    kind             TEXT   COLLATE "C" NOT NULL,
    owner            TEXT   COLLATE "C",
    payload          TEXT   COLLATE "C" NOT NULL,
    unique_key       TEXT   COLLATE "C",
    state            TEXT   COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
    due_at           BIGINT NOT NULL,
    delayed_at       BIGINT,
    every_ms         BIGINT,
    attempts         BIGINT NOT NULL DEFAULT 0,
    fence            BIGINT NOT NULL DEFAULT 0,
    holder           TEXT   COLLATE "C",
    beat             BIGINT NOT NULL DEFAULT 0,
    cancel_requested BIGINT NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    again_at         BIGINT,
    error            TEXT   COLLATE "C",
    created_at       BIGINT NOT NULL,
    started_at       BIGINT,
    ended_at         BIGINT
);

CREATE INDEX jobs_waiting ON jobs (kind, due_at, id) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (kind) WHERE state = 'running';
CREATE INDEX jobs_ended ON jobs (state, ended_at, kind) WHERE ended_at IS NOT NULL;
CREATE INDEX jobs_delayed ON jobs (delayed_at) WHERE state = 'waiting' AND delayed_at IS NOT NULL;
CREATE INDEX jobs_of_owner ON jobs (owner) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX jobs_pending_keys ON jobs (kind, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('waiting', 'running');
