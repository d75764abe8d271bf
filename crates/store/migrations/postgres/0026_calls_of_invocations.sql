-- The tool calls of invocations that are running; see migrations/sqlite.
CREATE TABLE invocation_calls (
    invocation_id TEXT   COLLATE "C" NOT NULL REFERENCES invocations (id) ON DELETE CASCADE,
    call_id       TEXT   COLLATE "C" NOT NULL,
    agent_id      TEXT   COLLATE "C" NOT NULL,
    tool          TEXT   COLLATE "C" NOT NULL,
    arguments     TEXT   COLLATE "C" NOT NULL,
    gates         TEXT   COLLATE "C" NOT NULL,
    started_at    BIGINT NOT NULL,
    PRIMARY KEY (invocation_id, call_id)
);
