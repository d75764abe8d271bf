-- The tool calls of invocations that are running. A row is written before the call's effect and deleted with the call's entry in the
-- audit log, so that recovery knows which calls a server that died was executing.
CREATE TABLE invocation_calls (
    invocation_id TEXT    NOT NULL REFERENCES invocations (id) ON DELETE CASCADE,
    call_id       TEXT    NOT NULL,
    agent_id      TEXT    NOT NULL,
    tool          TEXT    NOT NULL,
    arguments     TEXT    NOT NULL,
    gates         TEXT    NOT NULL,
    started_at    INTEGER NOT NULL,
    PRIMARY KEY (invocation_id, call_id)
) STRICT, WITHOUT ROWID;
