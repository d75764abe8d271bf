-- Runs of agents without a conversation that outlive their request: queued ones, and those that wait for an answer. The row of
-- `invocations` has their status; while that is 'running', `phase` says more.
CREATE TABLE agent_runs (
    id         TEXT    NOT NULL PRIMARY KEY REFERENCES invocations (id) ON DELETE CASCADE,
    owner      TEXT    NOT NULL,
    phase      TEXT    NOT NULL CHECK (phase IN ('pending', 'running', 'waiting')),
    -- As whom, and the request, as JSON.
    caller     TEXT    NOT NULL,
    request    TEXT    NOT NULL,
    -- From where it continues, as JSON; none before the first tool call.
    state      TEXT,
    -- The questions that wait for an answer, as JSON; none unless it waits.
    questions  TEXT,
    -- For how long it has run, in milliseconds, without the time that it waited.
    active_ms  INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL
) STRICT;

-- The number of a user's runs that have not ended.
CREATE INDEX agent_runs_of_owner ON agent_runs (owner, phase);
-- What the sweep looks for.
CREATE INDEX agent_runs_open ON agent_runs (phase, updated_at);

ALTER TABLE invocations ADD COLUMN stop_requested INTEGER NOT NULL DEFAULT 0;
