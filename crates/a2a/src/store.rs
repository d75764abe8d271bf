//! The tables of tasks and messages. Each function takes their owner.

use ::store::sql::{self, Row, Sql};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use a2a_types::TaskState;
use serde_json::json;

/// The tables. Rows are deleted with their answer and its conversation, and all with their owner.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "a2a",
    migrations: &[
        Migration {
            name: "a2a_tasks",
            sqlite: include_str!("../migrations/sqlite/0001_a2a_tasks.sql"),
            postgres: include_str!("../migrations/postgres/0001_a2a_tasks.sql"),
        },
        Migration {
            name: "a2a_push_configs",
            sqlite: include_str!("../migrations/sqlite/0002_a2a_push_configs.sql"),
            postgres: include_str!("../migrations/postgres/0002_a2a_push_configs.sql"),
        },
    ],
    tables: &[
        Table { name: "a2a_tasks", key: "id", owner: Some("owner") },
        Table { name: "a2a_messages", key: "owner, agent_id, message_id", owner: Some("owner") },
        Table { name: "a2a_push_configs", key: "task_id, id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

const INSERT_TASK: &str = "
    INSERT INTO a2a_tasks (id, owner, agent_id, conversation_id, created_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO NOTHING";

const INSERT_MESSAGE: &str = "
    INSERT INTO a2a_messages (owner, agent_id, message_id, task_id, answers) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (owner, agent_id, message_id) DO NOTHING";

const MESSAGE: &str =
    "SELECT task_id, answers FROM a2a_messages WHERE owner = $1 AND agent_id = $2 AND message_id = $3";

/// The tasks of an owner with an agent, by the newest run of each. Those that the user has deleted are not there (any
/// more), although they can be restored for some time: conversations, and messages with all that follow them.
macro_rules! tasks {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM (
                SELECT t.id, t.conversation_id, COALESCE(r.ended_at, r.started_at) AS updated_at,
                    CASE r.status WHEN 'running' THEN 'working' WHEN 'waiting' THEN 'waiting' WHEN 'done' THEN 'done'
                        WHEN 'stopped' THEN 'stopped' ELSE 'failed' END AS state
                FROM a2a_tasks t
                JOIN conversations c ON c.id = t.conversation_id
                JOIN runs r ON r.no = (
                    SELECT max(n.no) FROM runs n WHERE n.conversation_id = t.conversation_id AND n.message_id = t.id)
                WHERE t.owner = $1 AND t.agent_id = $2 AND c.owner = $1 AND c.deleted_at IS NULL AND (
                    NOT EXISTS (SELECT 1 FROM deleted_messages d WHERE d.conversation_id = t.conversation_id)
                    OR NOT EXISTS (
                        WITH RECURSIVE above (id) AS (
                            SELECT m.id FROM messages m WHERE m.conversation_id = t.conversation_id AND m.id = t.id
                            UNION
                            SELECT m.parent_id FROM above a
                            JOIN messages m ON m.conversation_id = t.conversation_id AND m.id = a.id
                        )
                        SELECT 1 FROM above a JOIN deleted_messages d
                            ON d.conversation_id = t.conversation_id AND d.message_id = a.id))
            ) AS tasks ",
            $rest
        )
    };
}

const ONE: &str = tasks!("id, conversation_id, updated_at, state", "WHERE id = $3");

const COUNT: &str =
    tasks!("count(*)", "WHERE ($3 = '' OR conversation_id = $3) AND ($4 = '' OR state = $4) AND updated_at >= $5");

const PAGE: &str = tasks!(
    "id, conversation_id, updated_at, state",
    "WHERE ($3 = '' OR conversation_id = $3) AND ($4 = '' OR state = $4) AND updated_at >= $5
        AND (updated_at < $6 OR (updated_at = $6 AND id < $7))
    ORDER BY updated_at DESC, id DESC LIMIT $8"
);

/// A task, as far as it is known without its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskRow {
    /// The id, which is that of the answer.
    pub(crate) id: String,
    pub(crate) conversation_id: String,
    pub(crate) state: TaskState,
    /// When the state was reached. Unix time in milliseconds.
    pub(crate) updated_at: i64,
}

/// A message that a client has sent before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownMessage {
    pub(crate) task_id: String,
    /// The ids of the requests that it answers; `None` if it began the task.
    pub(crate) answers: Option<Vec<String>>,
}

/// A task that begins, or whose beginning is repeated.
#[derive(Clone, Debug)]
pub(crate) struct NewTask {
    pub(crate) id: String,
    pub(crate) conversation_id: String,
    /// The client's message.
    pub(crate) message_id: String,
}

/// Which tasks are listed.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) conversation_id: Option<String>,
    pub(crate) state: Option<TaskState>,
    /// Unix time in milliseconds.
    pub(crate) updated_since: i64,
}

/// The position behind a task in the list, which begins with the newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) updated_at: i64,
    pub(crate) id: String,
}

/// Stores a task and the message that began it. `now` is Unix time in milliseconds.
pub(crate) async fn begin(
    store: &Store,
    owner: &str,
    agent_id: &str,
    new: NewTask,
    now: i64,
) -> Result<(), StoreError> {
    let NewTask { id, conversation_id, message_id } = new;
    let task = sql::query(INSERT_TASK).bind(id.clone()).bind(owner).bind(agent_id).bind(conversation_id).bind(now);
    let message = sql::query(INSERT_MESSAGE).bind(owner).bind(agent_id).bind(message_id).bind(id);
    let message = message.bind(None::<String>);
    store
        .write(move |db| {
            Box::pin(async move {
                task.execute(&mut *db).await?;
                message.execute(db).await?;
                Ok(())
            })
        })
        .await
}

/// Stores which requests a message answers. Returns false if the message is known already; what it answers stays then.
pub(crate) async fn answer(
    store: &Store,
    owner: &str,
    agent_id: &str,
    message_id: &str,
    known: KnownMessage,
) -> Result<bool, StoreError> {
    let answers = known.answers.map(|answers| json!(answers).to_string());
    let insert = sql::query(INSERT_MESSAGE).bind(owner).bind(agent_id).bind(message_id);
    let insert = insert.bind(known.task_id).bind(answers);
    store.write(move |db| Box::pin(async move { Ok(insert.execute(db).await?.rows_affected() > 0) })).await
}

/// Returns what is known of a message.
pub(crate) async fn message(
    store: &Store,
    owner: &str,
    agent_id: &str,
    message_id: &str,
) -> Result<Option<KnownMessage>, StoreError> {
    let find = sql::query(MESSAGE).bind(owner).bind(agent_id).bind(message_id);
    let row = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    let Some(row) = row else { return Ok(None) };
    let answers: Option<String> = row.try_get("answers")?;
    let answers = answers.map(|answers| serde_json::from_str(&answers).unwrap_or_default());
    Ok(Some(KnownMessage { task_id: row.try_get("task_id")?, answers }))
}

/// Returns a task of the owner with an agent.
pub(crate) async fn one(store: &Store, owner: &str, agent_id: &str, id: &str) -> Result<Option<TaskRow>, StoreError> {
    let find = sql::query(ONE).bind(owner).bind(agent_id).bind(id);
    store.optional_row(find, read).await
}

/// Returns tasks of the owner with an agent, the newest first, and how many there are in all.
pub(crate) async fn page(
    store: &Store,
    owner: &str,
    agent_id: &str,
    filter: Filter,
    after: Option<Cursor>,
    most: i64,
) -> Result<(Vec<TaskRow>, i64), StoreError> {
    let Cursor { updated_at, id } = after.unwrap_or(Cursor { updated_at: i64::MAX, id: String::new() });
    let filtered = |sql: &'static str| {
        let conversation_id = filter.conversation_id.clone().unwrap_or_default();
        let state = filter.state.as_ref().map_or("", name);
        sql::query(Sql::from(sql))
            .bind(owner)
            .bind(agent_id)
            .bind(conversation_id)
            .bind(state)
            .bind(filter.updated_since)
    };
    let (count, page) = (filtered(COUNT), filtered(PAGE).bind(updated_at).bind(id).bind(most));
    let (count, rows) = store
        .read(move |db| {
            Box::pin(async move {
                let count = count.fetch_one(&mut *db).await?.try_get::<i64>(0)?;
                Ok((count, page.fetch_all(db).await?))
            })
        })
        .await?;
    Ok((rows.iter().map(read).collect::<Result<_, _>>()?, count))
}

fn read(row: &Row) -> Result<TaskRow, StoreError> {
    let state: String = row.try_get("state")?;
    let state = match state.as_str() {
        "working" => TaskState::Working,
        "waiting" => TaskState::InputRequired,
        "done" => TaskState::Completed,
        "stopped" => TaskState::Canceled,
        _ => TaskState::Failed,
    };
    Ok(TaskRow {
        id: row.try_get("id")?,
        conversation_id: row.try_get("conversation_id")?,
        state,
        updated_at: row.try_get("updated_at")?,
    })
}

/// Returns the name of a state in the query; one that no task has for a state that tasks here never have.
fn name(state: &TaskState) -> &'static str {
    match state {
        TaskState::Working => "working",
        TaskState::InputRequired => "waiting",
        TaskState::Completed => "done",
        TaskState::Canceled => "stopped",
        TaskState::Failed => "failed",
        TaskState::Unspecified => "",
        TaskState::Submitted | TaskState::Rejected | TaskState::AuthRequired => "none",
    }
}

impl Cursor {
    /// Returns the position behind a task.
    pub(crate) fn after(row: &TaskRow) -> Self {
        Self { updated_at: row.updated_at, id: row.id.clone() }
    }

    /// Reads `TIME.ID`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (updated_at, id) = text.split_once('.')?;
        Some(Self { updated_at: updated_at.parse().ok()?, id: id.to_owned() }).filter(|cursor| wire::is_id(&cursor.id))
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.updated_at, self.id)
    }
}

#[cfg(test)]
pub(crate) mod tests;
