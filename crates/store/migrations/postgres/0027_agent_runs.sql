-- Runs of agents without a conversation that outlive their request; see migrations/sqlite.
CREATE TABLE agent_runs (
    id         TEXT   COLLATE "C" NOT NULL PRIMARY KEY REFERENCES invocations (id) ON DELETE CASCADE,
    owner      TEXT   COLLATE "C" NOT NULL,
    phase      TEXT   COLLATE "C" NOT NULL CHECK (phase IN ('pending', 'running', 'waiting')),
    caller     TEXT   COLLATE "C" NOT NULL,
    request    TEXT   COLLATE "C" NOT NULL,
    state      TEXT   COLLATE "C",
    questions  TEXT   COLLATE "C",
    active_ms  BIGINT NOT NULL DEFAULT 0,
    updated_at BIGINT NOT NULL
);

CREATE INDEX agent_runs_of_owner ON agent_runs (owner, phase);
CREATE INDEX agent_runs_open ON agent_runs (phase, updated_at);

ALTER TABLE invocations ADD COLUMN stop_requested BIGINT NOT NULL DEFAULT 0;
