//! The table `a2a_push_configs`. Each function that a caller reaches takes their id.

use ::store::sql::{self, Db, Row};
use ::store::{Store, StoreError};

/// The most addresses of a task.
pub(crate) const MAX_CONFIGS: i64 = 10;
/// The most deliveries that are found at once.
const MAX_DUE: i64 = 500;

macro_rules! select {
    ($rest:literal) => {
        concat!("SELECT task_id, id, owner, agent_id, url, sealed, origin, sent_at FROM a2a_push_configs WHERE ", $rest)
    };
}

const OF_TASK: &str = select!("owner = $1 AND task_id = $2 ORDER BY created_at, id");

const ONE: &str = select!("task_id = $1 AND id = $2 AND is_open = 1");

const KEEP: &str = "
    INSERT INTO a2a_push_configs (task_id, id, owner, agent_id, url, sealed, origin, sent_at, is_open, created_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, 0, 1, $8
    WHERE (SELECT count(*) FROM a2a_push_configs WHERE task_id = $1 AND id <> $2) < $9
    ON CONFLICT (task_id, id) DO UPDATE SET url = excluded.url, sealed = excluded.sealed, origin = excluded.origin,
        sent_at = 0, is_open = 1
    WHERE a2a_push_configs.owner = excluded.owner";

const DELETE: &str = "DELETE FROM a2a_push_configs WHERE owner = $1 AND task_id = $2 AND id = $3";

const SENT: &str = "
    UPDATE a2a_push_configs SET sent_at = $4, is_open = $5
    WHERE task_id = $1 AND id = $2 AND url = $3";

/// Those whose task has reached another state than the one of which the client was told last.
const DUE: &str = "
    SELECT p.task_id, p.id, p.owner FROM a2a_push_configs p
    JOIN a2a_tasks t ON t.id = p.task_id
    JOIN runs r ON r.no = (
        SELECT max(n.no) FROM runs n WHERE n.conversation_id = t.conversation_id AND n.message_id = t.id)
    WHERE p.is_open = 1 AND r.status <> 'running' AND COALESCE(r.ended_at, r.started_at) > p.sent_at
        AND ($1 = '' OR t.conversation_id = $1)
    ORDER BY p.created_at LIMIT $2";

/// An address to which the states of a task are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PushRow {
    pub(crate) task_id: String,
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) agent_id: String,
    pub(crate) url: String,
    pub(crate) sealed: String,
    pub(crate) origin: String,
    /// Unix time in milliseconds.
    pub(crate) sent_at: i64,
}

/// One that is due: the task, the id and the owner.
pub(crate) type Due = (String, String, String);

fn read(row: &Row) -> Result<PushRow, StoreError> {
    Ok(PushRow {
        task_id: row.try_get("task_id")?,
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        agent_id: row.try_get("agent_id")?,
        url: row.try_get("url")?,
        sealed: row.try_get("sealed")?,
        origin: row.try_get("origin")?,
        sent_at: row.try_get("sent_at")?,
    })
}

/// Stores one, in place of that with the same id. Returns false if the task has too many.
pub(crate) async fn keep(db: &mut Db, row: PushRow, now: i64) -> Result<bool, StoreError> {
    let PushRow { task_id, id, owner, agent_id, url, sealed, origin, .. } = row;
    let keep = sql::query(KEEP).bind(task_id).bind(id).bind(owner).bind(agent_id).bind(url).bind(sealed).bind(origin);
    Ok(keep.bind(now).bind(MAX_CONFIGS).execute(db).await?.rows_affected() > 0)
}

/// Returns those of a task of an owner.
pub(crate) async fn of_task(store: &Store, owner: &str, task_id: &str) -> Result<Vec<PushRow>, StoreError> {
    let list = sql::query(OF_TASK).bind(owner).bind(task_id);
    store.rows(list, read).await
}

/// Returns one whose client is to be told something.
pub(crate) async fn open(store: &Store, task_id: &str, id: &str) -> Result<Option<PushRow>, StoreError> {
    let find = sql::query(ONE).bind(task_id).bind(id);
    store.optional_row(find, read).await
}

/// Deletes one of an owner. Returns false if there was none.
pub(crate) async fn delete(store: &Store, owner: &str, task_id: &str, id: &str) -> Result<bool, StoreError> {
    let delete = sql::query(DELETE).bind(owner).bind(task_id).bind(id);
    store.write(move |db| Box::pin(async move { Ok(delete.execute(db).await?.rows_affected() > 0) })).await
}

/// Returns the statement that records the state of which a client was told. `is_open` says whether others follow. One
/// that was replaced by another address meanwhile stays as it is.
pub(crate) fn sent(row: &PushRow, at: i64, is_open: bool) -> sql::Query {
    let PushRow { task_id, id, url, .. } = row.clone();
    sql::query(SENT).bind(task_id).bind(id).bind(url).bind(at).bind(i64::from(is_open))
}

/// Returns those that are due, in a conversation or, if it is empty, in all.
pub(crate) async fn due(store: &Store, conversation_id: &str) -> Result<Vec<Due>, StoreError> {
    let find = sql::query(DUE).bind(conversation_id).bind(MAX_DUE);
    store.rows(find, |row| Ok((row.try_get("task_id")?, row.try_get("id")?, row.try_get("owner")?))).await
}
