-- The tables as the migrations up to 0011_added_assignees leave them, with which a new SQLite database begins.
-- `cargo run --package store --example sqlite_baseline` prints this file, and a test compares the two.

CREATE TABLE workflow_definitions (
    workflow_id TEXT    NOT NULL,
    -- A hash of the definition.
    version     TEXT    NOT NULL,
    definition  TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, version)
) STRICT;
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
, root_id TEXT NOT NULL DEFAULT '', key_base TEXT NOT NULL DEFAULT '', resumed_at INTEGER, used_before TEXT, rerun_of TEXT, causes TEXT NOT NULL DEFAULT '[]', unpriced INTEGER NOT NULL DEFAULT 0) STRICT;
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
    start_number    INTEGER NOT NULL, suspended TEXT, suspensions INTEGER NOT NULL DEFAULT 0, unpriced INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, path)
) STRICT;
CREATE INDEX workflow_steps_by_owner ON workflow_steps (owner);
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
, remind_at INTEGER, remind_ms INTEGER, max_reminders INTEGER NOT NULL DEFAULT 0, reminders INTEGER NOT NULL DEFAULT 0, reminded_at INTEGER, call_id TEXT) STRICT;
CREATE INDEX workflow_tasks_by_run ON workflow_tasks (run_id);
CREATE INDEX workflow_tasks_by_owner ON workflow_tasks (owner);
CREATE INDEX workflow_tasks_open ON workflow_tasks (id) WHERE state = 'open';
CREATE TABLE workflow_task_assignees (
    task_id TEXT NOT NULL REFERENCES workflow_tasks (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL CHECK (kind IN ('role', 'user')),
    name    TEXT NOT NULL, added_at INTEGER,
    PRIMARY KEY (task_id, kind, name)
) STRICT;
CREATE INDEX workflow_task_assignees_by_name ON workflow_task_assignees (kind, name);
CREATE TABLE workflow_waits (
    run_id     TEXT    NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
    path       TEXT    NOT NULL,
    owner      TEXT    NOT NULL,
    event      TEXT    NOT NULL,
    -- The roles of those who may report the event, as JSON.
    senders    TEXT    NOT NULL,
    -- The condition with what it reads beside the event, as JSON; NULL if there is none.
    condition  TEXT,
    -- From when on events count.
    since      INTEGER NOT NULL,
    -- The number of the last event that was compared, and up to when events were.
    checked_no INTEGER NOT NULL,
    checked_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, path)
) STRICT;
CREATE INDEX workflow_waits_by_event ON workflow_waits (event, run_id, path);
CREATE INDEX workflow_waits_by_owner ON workflow_waits (owner);
CREATE INDEX workflow_tasks_to_remind ON workflow_tasks (remind_at) WHERE state = 'open' AND remind_at IS NOT NULL;
CREATE TABLE stored_workflows (
    id         TEXT    NOT NULL PRIMARY KEY,
    -- The current version, from 1.
    version    INTEGER NOT NULL,
    definition TEXT    NOT NULL,
    is_enabled INTEGER NOT NULL,
    author     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    -- Grows with each change, also of is_enabled.
    changes    INTEGER NOT NULL
, limited_author INTEGER NOT NULL DEFAULT 0, disabled_because TEXT) STRICT;
CREATE TABLE stored_workflow_versions (
    workflow_id TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    definition  TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (workflow_id, version)
) STRICT;
CREATE TABLE workflow_conversation_runs (
    run_id          TEXT NOT NULL PRIMARY KEY REFERENCES workflow_runs (id) ON DELETE CASCADE,
    owner           TEXT NOT NULL,
    -- NULL: the agent was asked outside of a conversation.
    conversation_id TEXT REFERENCES conversations (id) ON DELETE CASCADE,
    -- What tells the call that has started the run from others, and stays the same when it is repeated.
    call_key        TEXT UNIQUE,
    -- The name and the roles of the user when the run started, as JSON: the agent goes on with them.
    caller          TEXT NOT NULL,
    -- Whether the agent goes on when the run has ended.
    goes_on         INTEGER NOT NULL,
    -- What the agent reads with the result, as JSON.
    exposure        TEXT NOT NULL,
    -- Whether the conversation has the result.
    is_delivered    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX workflow_conversation_runs_by_conversation ON workflow_conversation_runs (conversation_id);
CREATE INDEX workflow_conversation_runs_by_owner ON workflow_conversation_runs (owner);
CREATE INDEX workflow_runs_by_root ON workflow_runs (root_id) WHERE ended_at IS NULL;
CREATE INDEX workflow_steps_unknown ON workflow_steps (run_id) WHERE state = 'unknown';
