-- The definitions that runs were started with.
CREATE TABLE workflow_definitions (
    workflow_id TEXT    NOT NULL,
    -- A hash of the definition.
    version     TEXT    NOT NULL,
    definition  TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, version)
) STRICT;

-- All times are Unix times in milliseconds.
CREATE TABLE workflow_runs (
    id             TEXT    NOT NULL PRIMARY KEY,
    owner          TEXT    NOT NULL,
    workflow_id    TEXT    NOT NULL,
    version        TEXT    NOT NULL,
    -- The run of which this one is a step, with the path of the step.
    parent_id      TEXT,
    parent_path    TEXT,
    -- The runs above, a JSON array of ids.
    ancestors      TEXT    NOT NULL,
    -- The name and the roles with which the steps run, as JSON.
    caller         TEXT    NOT NULL,
    input          TEXT    NOT NULL,
    limits         TEXT    NOT NULL,
    state          TEXT    NOT NULL CHECK (state IN ('running', 'waiting', 'done', 'failed', 'stopped')),
    output         TEXT,
    -- Why it has failed, as JSON.
    error          TEXT,
    stop_requested INTEGER NOT NULL DEFAULT 0,
    -- What the run, its children and all attempts have used.
    requests       INTEGER NOT NULL DEFAULT 0,
    total_tokens   INTEGER NOT NULL DEFAULT 0,
    tool_calls     INTEGER NOT NULL DEFAULT 0,
    cost_usd       REAL    NOT NULL DEFAULT 0,
    steps          INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    ended_at       INTEGER,
    -- When a waiting run goes on by itself.
    wakes_at       INTEGER
) STRICT;

CREATE INDEX workflow_runs_by_owner ON workflow_runs (owner, id);
CREATE INDEX workflow_runs_by_parent ON workflow_runs (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX workflow_runs_open ON workflow_runs (id) WHERE ended_at IS NULL;
CREATE INDEX workflow_runs_ended ON workflow_runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE workflow_steps (
    run_id          TEXT    NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
    -- For example `each[3]/post`.
    path            TEXT    NOT NULL,
    owner           TEXT    NOT NULL,
    step_id         TEXT    NOT NULL,
    step_type       TEXT    NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('running', 'unknown', 'retrying', 'waiting', 'done', 'failed')),
    attempt         INTEGER NOT NULL,
    input           TEXT    NOT NULL,
    output          TEXT,
    error           TEXT,
    requests        INTEGER NOT NULL DEFAULT 0,
    total_tokens    INTEGER NOT NULL DEFAULT 0,
    tool_calls      INTEGER NOT NULL DEFAULT 0,
    cost_usd        REAL    NOT NULL DEFAULT 0,
    -- The run of a child workflow.
    child_id        TEXT,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    next_at         INTEGER,
    -- The order in which the steps of a run have started; times can be equal.
    start_number    INTEGER NOT NULL,
    PRIMARY KEY (run_id, path)
) STRICT;

CREATE INDEX workflow_steps_by_owner ON workflow_steps (owner);

-- What people are asked.
CREATE TABLE workflow_tasks (
    id          TEXT    NOT NULL PRIMARY KEY,
    run_id      TEXT    NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
    path        TEXT    NOT NULL,
    -- The owner of the run.
    owner       TEXT    NOT NULL,
    workflow_id TEXT    NOT NULL,
    ask         TEXT    NOT NULL CHECK (ask IN ('approve', 'choose', 'form')),
    title       TEXT    NOT NULL,
    -- Details, choices and the schema of the form, as JSON.
    details     TEXT    NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('open', 'answered', 'lapsed', 'cancelled')),
    answer      TEXT,
    answered_by TEXT,
    created_at  INTEGER NOT NULL,
    due_at      INTEGER,
    answered_at INTEGER
) STRICT;

CREATE INDEX workflow_tasks_by_run ON workflow_tasks (run_id);
CREATE INDEX workflow_tasks_by_owner ON workflow_tasks (owner);
CREATE INDEX workflow_tasks_open ON workflow_tasks (id) WHERE state = 'open';

-- Who may answer.
CREATE TABLE workflow_task_assignees (
    task_id TEXT NOT NULL REFERENCES workflow_tasks (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL CHECK (kind IN ('role', 'user')),
    name    TEXT NOT NULL,
    PRIMARY KEY (task_id, kind, name)
) STRICT;

CREATE INDEX workflow_task_assignees_by_name ON workflow_task_assignees (kind, name);
