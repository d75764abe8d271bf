//! The tables of workflows. Every function of a user's own data takes the owner; those of the engine
//! take the id of a run, which only the queue and other rows name.

mod assignees;
mod conversations;
mod reminders;
mod resumed;
mod run_rows;
mod runs;
mod steps;
mod suspended;
mod tasks;
mod waits;

pub(crate) use assignees::{Assignee, add_assignee, assignees};
pub(crate) use conversations::{
    ConversationLink, insert_link, is_to_deliver, link, reopen_link, run_of_call, set_delivered, waiting_conversations,
};
pub(crate) use reminders::{DueReminder, NewReminders, count_reminder, due_reminders};
pub(crate) use resumed::{failed_below, has_effects, set_caller, use_definition};
pub(crate) use run_rows::{RunCaller, RunRow, RunState, Used};
pub(crate) use runs::{
    MAX_OPEN_RUNS, NewRun, RunFilter, children, count_failed, count_undecided, definition, definition_in,
    delete_ended_before, end_run, insert_run, is_stop_requested, list, open_children, open_children_at, open_without,
    park, reopen, request_stop, run, runs_of, spend, states, used,
};
pub(crate) use steps::{
    FinishedStep, RepeatedSteps, StartedStep, StepRow, add_use, child_of, close_steps, count_steps, delay_steps,
    expire_steps, finish_step, is_child, lose_steps, put_back, settled_steps, start_step, steps_of, uncount_attempt,
};
pub(crate) use suspended::{ResumedStep, forget_suspended, resumed_step, set_suspended, suspend, suspended_state};
pub(crate) use tasks::{
    NewTask, TaskFilter, TaskRow, TaskState, answer_task, cancel_task, cancel_tasks, count_tasks, count_waiting,
    insert_task, lapse_due_tasks, lapse_task, open_calls, open_task, open_tasks, task, tasks_below, tasks_for,
    tasks_of_run, tasks_since,
};

pub(crate) use waits::{
    NewWait, WaitRow, awaited_of, delete_wait, delete_waits, insert_wait, is_awaited, set_checked, waits_for,
};

use ::store::{CapabilityTables, Migration, SqliteBaseline, StoreError, Table};
use serde::de::DeserializeOwned;

/// The tables. All rows of a user's runs are deleted with the user.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "workflows",
    migrations: &[
        Migration {
            name: "workflows",
            sqlite: include_str!("../../migrations/sqlite/0001_workflows.sql"),
            postgres: include_str!("../../migrations/postgres/0001_workflows.sql"),
        },
        Migration {
            name: "waits and reminders",
            sqlite: include_str!("../../migrations/sqlite/0002_waits_and_reminders.sql"),
            postgres: include_str!("../../migrations/postgres/0002_waits_and_reminders.sql"),
        },
        Migration {
            name: "stored definitions",
            sqlite: include_str!("../../migrations/sqlite/0003_stored_definitions.sql"),
            postgres: include_str!("../../migrations/postgres/0003_stored_definitions.sql"),
        },
        Migration {
            name: "conversations",
            sqlite: include_str!("../../migrations/sqlite/0004_conversations.sql"),
            postgres: include_str!("../../migrations/postgres/0004_conversations.sql"),
        },
        Migration {
            name: "root runs",
            sqlite: include_str!("../../migrations/sqlite/0005_root_runs.sql"),
            postgres: include_str!("../../migrations/postgres/0005_root_runs.sql"),
        },
        Migration {
            name: "resumed runs",
            sqlite: include_str!("../../migrations/sqlite/0006_resumed_runs.sql"),
            postgres: include_str!("../../migrations/postgres/0006_resumed_runs.sql"),
        },
        Migration {
            name: "authors of stored definitions",
            sqlite: include_str!("../../migrations/sqlite/0007_authors.sql"),
            postgres: include_str!("../../migrations/postgres/0007_authors.sql"),
        },
        Migration {
            name: "reruns and causes",
            sqlite: include_str!("../../migrations/sqlite/0008_reruns_and_causes.sql"),
            postgres: include_str!("../../migrations/postgres/0008_reruns_and_causes.sql"),
        },
        Migration {
            name: "calls of agents that wait for decisions",
            sqlite: include_str!("../../migrations/sqlite/0009_calls_of_agents.sql"),
            postgres: include_str!("../../migrations/postgres/0009_calls_of_agents.sql"),
        },
        Migration {
            name: "requests without a price",
            sqlite: include_str!("../../migrations/sqlite/0010_unpriced.sql"),
            postgres: include_str!("../../migrations/postgres/0010_unpriced.sql"),
        },
        Migration {
            name: "people who were added to questions",
            sqlite: include_str!("../../migrations/sqlite/0011_added_assignees.sql"),
            postgres: include_str!("../../migrations/postgres/0011_added_assignees.sql"),
        },
    ],
    tables: &[
        Table { name: "workflow_definitions", key: "workflow_id, version", owner: None },
        Table { name: "stored_workflows", key: "id", owner: None },
        Table { name: "stored_workflow_versions", key: "workflow_id, version", owner: None },
        Table { name: "workflow_runs", key: "id", owner: Some("owner") },
        Table { name: "workflow_steps", key: "run_id, path", owner: Some("owner") },
        Table { name: "workflow_tasks", key: "id", owner: Some("owner") },
        Table { name: "workflow_waits", key: "run_id, path", owner: Some("owner") },
        Table { name: "workflow_task_assignees", key: "task_id, kind, name", owner: None },
        Table { name: "workflow_conversation_runs", key: "run_id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: Some(SqliteBaseline {
        version: 11,
        statements: include_str!("../../migrations/sqlite_baseline.sql"),
    }),
};

/// Reads JSON of a column.
pub(crate) fn json<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Invalid("a row of a workflow is damaged"))
}

/// Reads JSON of a column that may be NULL.
fn optional_json<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, StoreError> {
    text.map(json).transpose()
}

/// Reads the name of a state.
fn name<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_value(text.into()).map_err(|_| StoreError::Invalid("a row of a workflow is damaged"))
}

/// Writes a value as JSON.
pub(crate) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}
