-- The definitions that runs were started with.
CREATE TABLE workflow_definitions (
    workflow_id TEXT COLLATE "C"    NOT NULL,
    -- A hash of the definition.
    version     TEXT COLLATE "C"    NOT NULL,
    definition  TEXT COLLATE "C"    NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (workflow_id, version)
);

-- All times are Unix times in milliseconds.
CREATE TABLE workflow_runs (
    id             TEXT COLLATE "C"    NOT NULL PRIMARY KEY,
    owner          TEXT COLLATE "C"    NOT NULL,
    workflow_id    TEXT COLLATE "C"    NOT NULL,
    version        TEXT COLLATE "C"    NOT NULL,
    -- The run of which this one is a step, with the path of the step.
    parent_id      TEXT COLLATE "C",
    parent_path    TEXT COLLATE "C",
    -- The runs above, a JSON array of ids.
    ancestors      TEXT COLLATE "C"    NOT NULL,
    -- The name and the roles with which the steps run, as JSON.
    caller         TEXT COLLATE "C"    NOT NULL,
    input          TEXT COLLATE "C"    NOT NULL,
    limits         TEXT COLLATE "C"    NOT NULL,
    state          TEXT COLLATE "C"    NOT NULL CHECK (state IN ('running', 'waiting', 'done', 'failed', 'stopped')),
    output         TEXT COLLATE "C",
    -- Why it has failed, as JSON.
    error          TEXT COLLATE "C",
    stop_requested BIGINT NOT NULL DEFAULT 0,
    -- What the run, its children and all attempts have used.
    requests       BIGINT NOT NULL DEFAULT 0,
    total_tokens   BIGINT NOT NULL DEFAULT 0,
    tool_calls     BIGINT NOT NULL DEFAULT 0,
    cost_usd       DOUBLE PRECISION NOT NULL DEFAULT 0,
    steps          BIGINT NOT NULL DEFAULT 0,
    created_at     BIGINT NOT NULL,
    ended_at       BIGINT,
    -- When a waiting run goes on by itself.
    wakes_at       BIGINT
);

CREATE INDEX workflow_runs_by_owner ON workflow_runs (owner, id);
CREATE INDEX workflow_runs_by_parent ON workflow_runs (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX workflow_runs_open ON workflow_runs (id) WHERE ended_at IS NULL;
CREATE INDEX workflow_runs_ended ON workflow_runs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE workflow_steps (
    run_id          TEXT COLLATE "C"    NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
    -- For example `each[3]/post`.
    path            TEXT COLLATE "C"    NOT NULL,
    owner           TEXT COLLATE "C"    NOT NULL,
    step_id         TEXT COLLATE "C"    NOT NULL,
    step_type       TEXT COLLATE "C"    NOT NULL,
    state           TEXT COLLATE "C"    NOT NULL CHECK (state IN ('running', 'unknown', 'retrying', 'waiting', 'done', 'failed')),
    attempt         BIGINT NOT NULL,
    input           TEXT COLLATE "C"    NOT NULL,
    output          TEXT COLLATE "C",
    error           TEXT COLLATE "C",
    requests        BIGINT NOT NULL DEFAULT 0,
    total_tokens    BIGINT NOT NULL DEFAULT 0,
    tool_calls      BIGINT NOT NULL DEFAULT 0,
    cost_usd        DOUBLE PRECISION NOT NULL DEFAULT 0,
    -- The run of a child workflow.
    child_id        TEXT COLLATE "C",
    started_at      BIGINT NOT NULL,
    ended_at        BIGINT,
    next_at         BIGINT,
    -- The order in which the steps of a run have started; times can be equal.
    start_number    BIGINT NOT NULL,
    PRIMARY KEY (run_id, path)
);

CREATE INDEX workflow_steps_by_owner ON workflow_steps (owner);

-- What people are asked.
CREATE TABLE workflow_tasks (
    id          TEXT COLLATE "C"    NOT NULL PRIMARY KEY,
    run_id      TEXT COLLATE "C"    NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
    path        TEXT COLLATE "C"    NOT NULL,
    -- The owner of the run.
    owner       TEXT COLLATE "C"    NOT NULL,
    workflow_id TEXT COLLATE "C"    NOT NULL,
    ask         TEXT COLLATE "C"    NOT NULL CHECK (ask IN ('approve', 'choose', 'form')),
    title       TEXT COLLATE "C"    NOT NULL,
    -- Details, choices and the schema of the form, as JSON.
    details     TEXT COLLATE "C"    NOT NULL,
    state       TEXT COLLATE "C"    NOT NULL CHECK (state IN ('open', 'answered', 'lapsed', 'cancelled')),
    answer      TEXT COLLATE "C",
    answered_by TEXT COLLATE "C",
    created_at  BIGINT NOT NULL,
    due_at      BIGINT,
    answered_at BIGINT
);

CREATE INDEX workflow_tasks_by_run ON workflow_tasks (run_id);
CREATE INDEX workflow_tasks_by_owner ON workflow_tasks (owner);
CREATE INDEX workflow_tasks_open ON workflow_tasks (id) WHERE state = 'open';

-- Who may answer.
CREATE TABLE workflow_task_assignees (
    task_id TEXT COLLATE "C" NOT NULL REFERENCES workflow_tasks (id) ON DELETE CASCADE,
    kind    TEXT COLLATE "C" NOT NULL CHECK (kind IN ('role', 'user')),
    name    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (task_id, kind, name)
);

CREATE INDEX workflow_task_assignees_by_name ON workflow_task_assignees (kind, name);
