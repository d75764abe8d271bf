//! Replays that are stored with their recording.

use crate::format::{self, Recording};
use crate::replay::{Miss, Replayed};
use crate::report::{Comparison, compare};
use ::store::sql::{self, Row};
use ::store::{AuditEntry, Store, StoreError, append_audit};
use uuid::Uuid;
use web::times::now_millis;

/// The most replays of a run; the oldest are deleted.
const MAX_REPLAYS: i64 = 50;
/// The largest replay that is stored, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

const INSERT: &str = "
    INSERT INTO recording_replays (id, run_id, label, created_by, created_at, from_step, misses, replayed)
    SELECT $1, run_id, $3, $4, $5, $6, $7, $8 FROM recordings WHERE run_id = $2";

const DELETE_OLD: &str = "
    DELETE FROM recording_replays WHERE run_id = $1
    AND id <= (SELECT id FROM recording_replays WHERE run_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";

const LIST: &str = "
    SELECT id, label, created_by, created_at FROM recording_replays WHERE run_id = $1 ORDER BY id DESC";

const FIND: &str = "
    SELECT id, label, created_by, created_at, from_step, misses, replayed FROM recording_replays
    WHERE run_id = $1 AND id = $2";

/// A replay in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplaySummary {
    pub(crate) id: String,
    /// The config or agent of the replay.
    pub(crate) label: String,
    pub(crate) created_by: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
}

/// A stored replay.
#[derive(Clone, Debug)]
pub(crate) struct StoredReplay {
    pub(crate) summary: ReplaySummary,
    from_step: u32,
    misses: Vec<Miss>,
    replayed: Recording,
}

impl StoredReplay {
    /// Compares it with the recording.
    pub(crate) fn compare(&self, recorded: &Recording) -> Comparison {
        compare(recorded, &self.replayed, &self.misses, self.from_step)
    }
}

/// A replay to store.
pub struct NewReplay {
    /// The config or agent of the replay, for people.
    pub label: String,
    /// The user who has replayed it.
    pub created_by: String,
    /// The request of the agent's model with which it begins.
    pub from_step: u32,
    /// The replay.
    pub replayed: Replayed,
}

/// Stores a replay with its recording, and the audit entry about it. Returns its id; `None` if the
/// recording is gone, or the replay is larger than 16 MiB.
///
/// # Errors
/// The database failed.
pub async fn keep_replay(
    store: &Store,
    replay: NewReplay,
    audit: Option<AuditEntry>,
) -> Result<Option<String>, StoreError> {
    let NewReplay { label, created_by, from_step, replayed } = replay;
    let mut text = Vec::new();
    format::write(&replayed.recording, &mut text).map_err(|_| StoreError::Invalid("a replay cannot be written"))?;
    let text = String::from_utf8(text).map_err(|_| StoreError::Invalid("a replay is no text"))?;
    if text.len() > MAX_BYTES {
        return Ok(None);
    }
    let misses = serde_json::to_string(&replayed.misses).map_err(|_| StoreError::Invalid("a miss is no JSON"))?;
    let (id, run_id) = (Uuid::now_v7().to_string(), replayed.recording.header.run_id.clone());
    let insert = sql::query(INSERT).bind(id.clone()).bind(run_id.clone()).bind(label).bind(created_by);
    let insert = insert.bind(now_millis()).bind(i64::from(from_step)).bind(misses).bind(text);
    let prune = sql::query(DELETE_OLD).bind(run_id).bind(MAX_REPLAYS);
    store
        .write(move |db| {
            Box::pin(async move {
                if insert.execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(None);
                }
                prune.execute(&mut *db).await?;
                append_audit(db, audit.into_iter().collect()).await?;
                Ok(Some(id))
            })
        })
        .await
}

/// Returns the replays of a run, newest first.
pub(crate) async fn list(store: &Store, run_id: &str) -> Result<Vec<ReplaySummary>, StoreError> {
    let list = sql::query(LIST).bind(run_id.to_owned());
    store.rows(list, summary).await
}

/// Returns a replay of a run.
pub(crate) async fn find(store: &Store, run_id: &str, id: &str) -> Result<Option<StoredReplay>, StoreError> {
    let find = sql::query(FIND).bind(run_id.to_owned()).bind(id.to_owned());
    let row = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    let Some(row) = row else { return Ok(None) };
    let unreadable = || StoreError::Invalid("a replay was written by another version");
    let (misses, replayed): (String, String) = (row.try_get("misses")?, row.try_get("replayed")?);
    let from_step: i64 = row.try_get("from_step")?;
    let replayed = format::read(replayed.as_bytes()).map_err(|_| unreadable())?.into_iter().next();
    Ok(Some(StoredReplay {
        summary: summary(&row)?,
        from_step: u32::try_from(from_step).unwrap_or(1),
        misses: serde_json::from_str(&misses).map_err(|_| unreadable())?,
        replayed: replayed.ok_or_else(unreadable)?,
    }))
}

fn summary(row: &Row) -> Result<ReplaySummary, StoreError> {
    Ok(ReplaySummary {
        id: row.try_get("id")?,
        label: row.try_get("label")?,
        created_by: row.try_get("created_by")?,
        created_at: row.try_get("created_at")?,
    })
}
