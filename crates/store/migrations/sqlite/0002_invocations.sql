-- Questions of programs, outside of conversations (B-11).
CREATE TABLE invocations (
    id         TEXT    NOT NULL PRIMARY KEY,
    owner      TEXT    NOT NULL,
    agent_id   TEXT    NOT NULL,
    status     TEXT    NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'timeout')),
    -- JSON; only of one that succeeded.
    output     TEXT,
    -- For the caller; only of one that did not.
    error      TEXT,
    -- Tokens, as JSON.
    usage      TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER,
    CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;

-- The list, newest first.
CREATE INDEX invocations_list ON invocations (owner, created_at DESC, id DESC);
