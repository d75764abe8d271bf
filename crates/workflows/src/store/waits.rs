//! The table `workflow_waits`: the events for which runs wait.

use super::{json, optional_json, to_json};
use ::store::sql::{self, Db, Row, Sql};
use ::store::{Store, StoreError};
use serde_json::Value;

/// The maximum difference between the order of events by their times and the order in which they are stored,
/// in milliseconds.
const DISORDER_MS: i64 = 60_000;

/// A wait that starts.
#[derive(Clone, Debug)]
pub(crate) struct NewWait {
    pub(crate) path: String,
    pub(crate) event: String,
    /// The roles of those who may report the event.
    pub(crate) senders: Vec<String>,
    pub(crate) condition: Option<Value>,
    /// The time from which events count; Unix time in milliseconds.
    pub(crate) since: i64,
}

/// A wait.
#[derive(Clone, Debug)]
pub(crate) struct WaitRow {
    pub(crate) run_id: String,
    pub(crate) path: String,
    pub(crate) owner: String,
    pub(crate) senders: Vec<String>,
    pub(crate) condition: Option<Value>,
    pub(crate) since: i64,
    /// The number of the last event that was compared, and up to when events were.
    pub(crate) checked_no: i64,
    pub(crate) checked_at: i64,
}

/// Events of a name that are surely older than the wait are not looked at.
const INSERT: &str = "
    INSERT INTO workflow_waits (run_id, path, owner, event, senders, condition, since, checked_at, checked_no)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $7, coalesce(
        (SELECT no FROM events WHERE name = $4 AND at < $8 ORDER BY at DESC, event_key DESC LIMIT 1), 0))
    ON CONFLICT (run_id, path) DO UPDATE SET event = excluded.event, senders = excluded.senders,
        condition = excluded.condition, since = excluded.since, checked_at = excluded.checked_at,
        checked_no = excluded.checked_no";

const DELETE: &str = "DELETE FROM workflow_waits WHERE run_id = $1 AND path = $2";

const DELETE_OF_RUN: &str = "DELETE FROM workflow_waits WHERE run_id = $1";

const FOR_EVENT: &str = "
    SELECT run_id, path, owner, senders, condition, since, checked_no, checked_at FROM workflow_waits
    WHERE event = $1 AND (run_id > $2 OR run_id = $2 AND path > $3) ORDER BY run_id, path LIMIT $4";

const CHECKED: &str = "
    UPDATE workflow_waits SET checked_no = $3, checked_at = $4
    WHERE run_id = $1 AND path = $2 AND checked_no <= $3 AND checked_at <= $4";

const AWAITED_OF: Sql = Sql::pair(
    "SELECT DISTINCT event FROM workflow_waits WHERE event IN (SELECT value FROM json_each($1))",
    "SELECT DISTINCT event FROM workflow_waits WHERE event = ANY($1)",
);

const SENDERS: &str = "SELECT DISTINCT senders FROM workflow_waits WHERE event = $1 LIMIT 100";

/// Stores a wait.
pub(crate) async fn insert_wait(db: &mut Db, (run_id, owner): (&str, &str), new: &NewWait) -> Result<(), StoreError> {
    let insert = sql::query(INSERT).bind(run_id).bind(&new.path).bind(owner).bind(&new.event);
    let insert = insert.bind(to_json(&new.senders)).bind(new.condition.as_ref().map(to_json)).bind(new.since);
    insert.bind(new.since - DISORDER_MS).execute(db).await?;
    Ok(())
}

/// Deletes a wait that has ended.
pub(crate) async fn delete_wait(db: &mut Db, run_id: &str, path: &str) -> Result<(), StoreError> {
    sql::query(DELETE).bind(run_id).bind(path).execute(db).await?;
    Ok(())
}

/// Deletes the waits of a run.
pub(crate) async fn delete_waits(db: &mut Db, run_id: &str) -> Result<(), StoreError> {
    sql::query(DELETE_OF_RUN).bind(run_id).execute(db).await?;
    Ok(())
}

/// Returns the waits for an event after one of them, at most `most`.
pub(crate) async fn waits_for(
    store: &Store,
    event: &str,
    after: &(String, String),
    most: u32,
) -> Result<Vec<WaitRow>, StoreError> {
    let find = sql::query(FOR_EVENT).bind(event.to_owned()).bind(after.0.clone()).bind(after.1.clone()).bind(most);
    store.rows(find, wait).await
}

/// Stores up to which event waits were compared.
pub(crate) async fn set_checked(store: &Store, waits: Vec<WaitRow>, (no, at): (i64, i64)) -> Result<(), StoreError> {
    // Most of the time nothing has happened, and there is nothing to store.
    let is_new = |wait: &WaitRow| no > wait.checked_no || at - wait.checked_at > DISORDER_MS / 2;
    let waits: Vec<_> = waits.into_iter().filter(is_new).collect();
    if waits.is_empty() {
        return Ok(());
    }
    let write = store.write(move |db| {
        Box::pin(async move {
            for WaitRow { run_id, path, checked_no, .. } in waits {
                let no = no.max(checked_no);
                sql::query(CHECKED).bind(run_id).bind(path).bind(no).bind(at).execute(&mut *db).await?;
            }
            Ok(())
        })
    });
    write.await
}

/// Returns those of these events for which a run waits.
pub(crate) async fn awaited_of(store: &Store, names: Vec<String>) -> Result<Vec<String>, StoreError> {
    let find = sql::query_scalar::<String>(AWAITED_OF).bind(names);
    store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await
}

/// Returns whether a run waits for an event that a user with these roles may report.
pub(crate) async fn is_awaited(store: &Store, event: &str, roles: &[String]) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<String>(SENDERS).bind(event.to_owned());
    let found = store.read(move |db| Box::pin(async move { Ok(find.fetch_all(db).await?) })).await?;
    for senders in found {
        let senders: Vec<String> = json(&senders)?;
        if senders.iter().any(|sender| roles.contains(sender)) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn wait(row: &Row) -> Result<WaitRow, StoreError> {
    Ok(WaitRow {
        run_id: row.try_get("run_id")?,
        path: row.try_get("path")?,
        owner: row.try_get("owner")?,
        senders: json(row.try_get("senders")?)?,
        condition: optional_json(row.try_get("condition")?)?,
        since: row.try_get("since")?,
        checked_no: row.try_get("checked_no")?,
        checked_at: row.try_get("checked_at")?,
    })
}
