//! The tables `workflow_tasks` and `workflow_task_assignees`.

use super::{Assignee, NewReminders, json, name, optional_json, to_json};
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use chat::Caller;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use workflow_definition::Ask;

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TaskState {
    /// It waits for an answer.
    Open,
    /// It was answered.
    Answered,
    /// Nobody answered in time.
    Lapsed,
    /// The run ended before.
    Cancelled,
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskRow {
    /// Its id.
    pub(crate) id: String,
    /// The run.
    pub(crate) run_id: String,
    /// The path of the step.
    pub(crate) path: String,
    /// The call of an agent that is decided on, for a question that an agent's step asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    #[serde(skip)]
    pub(crate) owner: String,
    /// The workflow.
    pub(crate) workflow_id: String,
    /// The kind of answer that is asked for.
    pub(crate) ask: Ask,
    /// The question.
    pub(crate) title: String,
    /// The details that the person should know.
    pub(crate) details: Value,
    /// The choices, for `choose`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) choices: Vec<String>,
    /// The JSON Schema of the values, for `form`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) form: Option<Value>,
    /// Its state.
    pub(crate) state: TaskState,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Value>,
    /// The user who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answered_by: Option<String>,
    /// When it was asked; Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// When it lapses; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) due_at: Option<i64>,
    /// How many times people were reminded of it.
    pub(crate) reminders: i64,
    /// When they were last; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reminded_at: Option<i64>,
}

/// The part of a question that is stored as JSON.
#[derive(Deserialize, Serialize)]
struct Details {
    details: Value,
    choices: Vec<String>,
    form: Option<Value>,
}

/// A new task.
#[derive(Clone, Debug)]
pub(crate) struct NewTask {
    pub(crate) id: String,
    pub(crate) path: String,
    /// The call of an agent that is decided on.
    pub(crate) call_id: Option<String>,
    pub(crate) workflow_id: String,
    pub(crate) ask: Ask,
    pub(crate) title: String,
    pub(crate) details: Value,
    pub(crate) choices: Vec<String>,
    pub(crate) form: Option<Value>,
    pub(crate) assignees: Vec<Assignee>,
    pub(crate) due_at: Option<i64>,
    pub(crate) reminders: Option<NewReminders>,
}

const INSERT: &str = "
    INSERT INTO workflow_tasks
        (id, run_id, path, owner, workflow_id, ask, title, details, state, created_at, due_at, remind_at, remind_ms, max_reminders,
        call_id)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', $9, $10, $11, $12, $13, $14)";

const COLUMNS: &str =
    "id, run_id, path, owner, workflow_id, ask, title, details, state, answer, answered_by, created_at, due_at,
    reminders, reminded_at, call_id";

/// The part of a condition that selects the tasks that a caller may answer; `$1` is the user and
/// `$2` the roles.
pub(super) const MAY_ANSWER: Sql = Sql::pair(
    "EXISTS (SELECT 1 FROM workflow_task_assignees a WHERE a.task_id = workflow_tasks.id AND
        (a.kind = 'user' AND a.name = $1 OR a.kind = 'role' AND a.name IN (SELECT value FROM json_each($2))))",
    "EXISTS (SELECT 1 FROM workflow_task_assignees a WHERE a.task_id = workflow_tasks.id AND
        (a.kind = 'user' AND a.name = $1 OR a.kind = 'role' AND a.name = ANY($2)))",
);

/// As [`MAY_ANSWER`], for tasks to which the caller was added after the time `$3`, when others had it already.
const ADDED_SINCE: Sql = Sql::pair(
    "id IN (SELECT a.task_id FROM workflow_task_assignees a WHERE a.added_at > $3 AND
        (a.kind = 'user' AND a.name = $1 OR a.kind = 'role' AND a.name IN (SELECT value FROM json_each($2))))",
    "id IN (SELECT a.task_id FROM workflow_task_assignees a WHERE a.added_at > $3 AND
        (a.kind = 'user' AND a.name = $1 OR a.kind = 'role' AND a.name = ANY($2)))",
);

const ANSWER: &str = "
    UPDATE workflow_tasks SET state = 'answered', answer = $2, answered_by = $3, answered_at = $4
    WHERE id = $1 AND state = 'open'";

const LAPSE: &str = "
    UPDATE workflow_tasks SET state = 'lapsed' WHERE run_id = $1 AND path = $2 AND state = 'open'";

const LAPSE_DUE: &str = "
    UPDATE workflow_tasks SET state = 'lapsed' WHERE run_id = $1 AND path = $2 AND state = 'open' AND due_at <= $3";

const OPEN_CALLS: &str = "
    SELECT call_id, due_at FROM workflow_tasks
    WHERE run_id = $1 AND path = $2 AND state = 'open' AND call_id IS NOT NULL";

const CANCEL_ONE: &str =
    "UPDATE workflow_tasks SET state = 'cancelled' WHERE run_id = $1 AND path = $2 AND state = 'open'";

const CANCEL: &str = "UPDATE workflow_tasks SET state = 'cancelled' WHERE run_id = $1 AND state = 'open'";

impl TaskRow {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let Details { details, choices, form } = json(row.try_get("details")?)?;
        Ok(Self {
            id: row.try_get("id")?,
            run_id: row.try_get("run_id")?,
            path: row.try_get("path")?,
            call_id: row.try_get("call_id")?,
            owner: row.try_get("owner")?,
            workflow_id: row.try_get("workflow_id")?,
            ask: name(row.try_get("ask")?)?,
            title: row.try_get("title")?,
            details,
            choices,
            form,
            state: name(row.try_get("state")?)?,
            answer: optional_json(row.try_get("answer")?)?,
            answered_by: row.try_get("answered_by")?,
            created_at: row.try_get("created_at")?,
            due_at: row.try_get("due_at")?,
            reminders: row.try_get("reminders")?,
            reminded_at: row.try_get("reminded_at")?,
        })
    }
}

/// Stores a task.
pub(crate) async fn insert_task(
    db: &mut Db,
    (run_id, owner): (&str, &str),
    new: NewTask,
    now: i64,
) -> Result<(), StoreError> {
    let details = Details { details: new.details, choices: new.choices, form: new.form };
    let insert = sql::query(INSERT).bind(&new.id).bind(run_id).bind(new.path).bind(owner).bind(new.workflow_id);
    let insert = insert.bind(new.ask.name()).bind(new.title).bind(to_json(&details)).bind(now).bind(new.due_at);
    let insert = insert.bind(new.reminders.map(|reminders| now + reminders.interval_ms));
    let insert = insert.bind(new.reminders.map(|reminders| reminders.interval_ms));
    let insert = insert.bind(new.reminders.map_or(0, |reminders| reminders.most)).bind(new.call_id);
    insert.execute(&mut *db).await?;
    super::assignees::insert(db, &new.id, &new.assignees).await
}

fn select(begin: &str, condition: Sql, rest: &str) -> sql::QueryBuilder {
    let begin: Arc<str> = format!("SELECT {COLUMNS} FROM workflow_tasks WHERE {begin} ").into();
    let rest: Arc<str> = rest.into();
    let mut query = sql::QueryBuilder::new(begin);
    query.push(condition).push(rest);
    query
}

/// Returns the open tasks that a caller may answer, oldest first, at most `most`; those after the
/// task `after`.
pub(crate) async fn tasks_for(
    store: &Store,
    caller: &Caller,
    after: &str,
    most: u32,
) -> Result<Vec<TaskRow>, StoreError> {
    let query = select("state = 'open' AND", MAY_ANSWER, " AND id > $3 ORDER BY id LIMIT $4");
    let query = query.build().bind(&caller.user_id).bind(caller.roles().to_vec()).bind(after).bind(most);
    store.rows(query, TaskRow::read).await
}

/// Returns the open tasks that have begun to wait for a caller after a time, oldest first, at most `most`: newer ones, and
/// older ones that the caller may answer since then. `since` is a Unix time in milliseconds.
pub(crate) async fn tasks_since(
    store: &Store,
    caller: &Caller,
    since: i64,
    most: u32,
) -> Result<Vec<TaskRow>, StoreError> {
    // Ids begin with the time in milliseconds, which has 12 hexadecimal digits.
    let mut tasks = tasks_for(store, caller, &format!("{:012x}", since.max(0)), most).await?;
    tasks.retain(|task| task.created_at > since);
    let query = select("state = 'open' AND", ADDED_SINCE, " ORDER BY id LIMIT $4");
    let query = query.build().bind(&caller.user_id).bind(caller.roles().to_vec()).bind(since).bind(most);
    tasks.extend(store.rows(query, TaskRow::read).await?);
    tasks.sort_by(|one, other| one.id.cmp(&other.id));
    tasks.dedup_by(|one, other| one.id == other.id);
    tasks.truncate(most as usize);
    Ok(tasks)
}

/// Returns the open tasks of a run that no other one started, and of the runs below it, that a caller may
/// answer, oldest first.
pub(crate) async fn tasks_below(
    store: &Store,
    caller: &Caller,
    run_id: &str,
    most: u32,
) -> Result<Vec<TaskRow>, StoreError> {
    let below =
        " AND run_id IN (SELECT id FROM workflow_runs WHERE root_id = $3 AND ended_at IS NULL) ORDER BY id LIMIT $4";
    let query = select("state = 'open' AND", MAY_ANSWER, below);
    let query = query.build().bind(&caller.user_id).bind(caller.roles().to_vec()).bind(run_id).bind(most);
    store.rows(query, TaskRow::read).await
}

/// Counts the open tasks that a caller may answer, up to `most`.
pub(crate) async fn count_tasks(store: &Store, caller: &Caller, most: u32) -> Result<u32, StoreError> {
    let mut query = sql::QueryBuilder::new(
        "SELECT count(*) AS waiting FROM (SELECT 1 FROM workflow_tasks WHERE state = 'open' AND ",
    );
    query.push(MAY_ANSWER).push(" LIMIT $3) AS open_tasks");
    let query = query.build().bind(&caller.user_id).bind(caller.roles().to_vec()).bind(most);
    let count = store.read(move |db| {
        Box::pin(async move {
            let row = query.fetch_optional(db).await?;
            Ok(row.map_or(Ok(0), |row| row.try_get::<i64>("waiting"))?)
        })
    });
    Ok(u32::try_from(count.await?).unwrap_or(most))
}

const COUNT_WAITING: &str = "
    SELECT (SELECT count(*) FROM (SELECT 1 FROM workflow_tasks WHERE state = 'open' LIMIT $1) AS open_tasks) AS tasks,
        (SELECT count(*) FROM (SELECT DISTINCT run_id FROM workflow_steps WHERE state = 'unknown' LIMIT $1) AS undecided) AS runs";

/// Counts the open tasks of all users, and the runs with a step whose outcome is unknown, each up to `most`.
pub(crate) async fn count_waiting(store: &Store, most: u32) -> Result<(u32, u32), StoreError> {
    let count = sql::query(COUNT_WAITING).bind(most);
    let row = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await?;
    let number = |column: &str| Ok::<_, StoreError>(u32::try_from(row.try_get::<i64>(column)?).unwrap_or(most));
    Ok((number("tasks")?, number("runs")?))
}

/// The filter of an administrator's list of open tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskFilter {
    /// The workflow.
    pub(crate) workflow: Option<String>,
    /// The user to whom the run belongs.
    pub(crate) owner: Option<String>,
    /// Only tasks that were created at this time or later; Unix time in milliseconds.
    pub(crate) from: Option<i64>,
    /// Only tasks that were created before this time.
    pub(crate) to: Option<i64>,
}

/// Returns the open tasks of all users, oldest first, for administrators.
pub(crate) async fn open_tasks(
    store: &Store,
    after: &str,
    filter: TaskFilter,
    most: u32,
) -> Result<Vec<TaskRow>, StoreError> {
    let TaskFilter { workflow, owner, from, to } = filter;
    let text: Arc<str> = format!(
        "SELECT {COLUMNS} FROM workflow_tasks WHERE state = 'open' AND id > $1
            AND ($2 = '' OR workflow_id = $2) AND ($3 = '' OR owner = $3) AND created_at >= $4 AND created_at < $5
        ORDER BY id LIMIT $6"
    )
    .into();
    let query = sql::query(text).bind(after).bind(workflow.unwrap_or_default()).bind(owner.unwrap_or_default());
    let query = query.bind(from.unwrap_or_default()).bind(to.unwrap_or(i64::MAX)).bind(most);
    store.rows(query, TaskRow::read).await
}

/// Returns a task that a caller may answer.
pub(crate) async fn open_task(store: &Store, caller: &Caller, id: &str) -> Result<Option<TaskRow>, StoreError> {
    let query = select("", MAY_ANSWER, " AND id = $3");
    let query = query.build().bind(&caller.user_id).bind(caller.roles().to_vec()).bind(id);
    store.optional_row(query, TaskRow::read).await
}

/// Returns a task, for administrators.
pub(crate) async fn task(store: &Store, id: &str) -> Result<Option<TaskRow>, StoreError> {
    let text: Arc<str> = format!("SELECT {COLUMNS} FROM workflow_tasks WHERE id = $1").into();
    let query = sql::query(text).bind(id);
    store.optional_row(query, TaskRow::read).await
}

/// Returns the tasks of a run.
pub(crate) async fn tasks_of_run(store: &Store, run_id: &str) -> Result<Vec<TaskRow>, StoreError> {
    let text: Arc<str> = format!("SELECT {COLUMNS} FROM workflow_tasks WHERE run_id = $1 ORDER BY id").into();
    let query = sql::query(text).bind(run_id);
    store.rows(query, TaskRow::read).await
}

/// Stores an answer. Returns false if the task is not open any more.
pub(crate) async fn answer_task(db: &mut Db, id: &str, answer: &Value, by: &str, now: i64) -> Result<bool, StoreError> {
    let answer = sql::query(ANSWER).bind(id).bind(to_json(answer)).bind(by).bind(now);
    Ok(answer.execute(db).await?.rows_affected() > 0)
}

/// Stores that nobody answered in time.
pub(crate) async fn lapse_task(db: &mut Db, run_id: &str, path: &str) -> Result<(), StoreError> {
    sql::query(LAPSE).bind(run_id).bind(path).execute(db).await?;
    Ok(())
}

/// Stores that nobody answered those questions of a step in time that have lapsed by now.
pub(crate) async fn lapse_due_tasks(db: &mut Db, run_id: &str, path: &str, now: i64) -> Result<(), StoreError> {
    sql::query(LAPSE_DUE).bind(run_id).bind(path).bind(now).execute(db).await?;
    Ok(())
}

/// Returns the ids of the calls of a step's agent that wait for a decision, each with the time at which its question
/// lapses.
pub(crate) async fn open_calls(
    db: &mut Db,
    run_id: &str,
    path: &str,
) -> Result<Vec<(String, Option<i64>)>, StoreError> {
    let read = |row: &Row| -> Result<(String, Option<i64>), StoreError> {
        Ok((row.try_get("call_id")?, row.try_get("due_at")?))
    };
    sql::query(OPEN_CALLS).bind(run_id).bind(path).fetch_all(db).await?.iter().map(read).collect()
}

/// Cancels the open task of a step.
pub(crate) async fn cancel_task(db: &mut Db, run_id: &str, path: &str) -> Result<(), StoreError> {
    sql::query(CANCEL_ONE).bind(run_id).bind(path).execute(db).await?;
    Ok(())
}

/// Cancels the open tasks of a run.
pub(crate) async fn cancel_tasks(db: &mut Db, run_id: &str) -> Result<(), StoreError> {
    sql::query(CANCEL).bind(run_id).execute(db).await?;
    Ok(())
}
