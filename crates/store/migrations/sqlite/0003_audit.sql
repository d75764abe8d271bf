-- The audit log: one row for each tool call of an agent, chained by hash. It names ids only, so that it outlives what they name.
CREATE TABLE audit (
    -- From 1 on, without gaps.
    no              INTEGER NOT NULL PRIMARY KEY,
    -- When the call ended.
    at              INTEGER NOT NULL,
    user_id         TEXT    NOT NULL,
    agent_id        TEXT    NOT NULL,
    conversation_id TEXT    NOT NULL,
    message_id      TEXT    NOT NULL,
    run_id          TEXT    NOT NULL,
    call_id         TEXT    NOT NULL,
    tool            TEXT    NOT NULL,
    -- JSON; secrets masked, long texts cut.
    arguments       TEXT    NOT NULL,
    -- JSON: what was decided about the call, in order.
    gates           TEXT    NOT NULL,
    outcome         TEXT    NOT NULL CHECK (outcome IN ('ok', 'error', 'denied', 'refused', 'interrupted')),
    -- How long the tool ran; only where that is known.
    duration_ms     INTEGER,
    -- SHA-256 in hexadecimal: the hash of the row before, and of this row with it.
    previous        TEXT    NOT NULL,
    hash            TEXT    NOT NULL
) STRICT;

-- A call has one row, however often its end is reported.
CREATE UNIQUE INDEX audit_calls ON audit (conversation_id, message_id, call_id);
