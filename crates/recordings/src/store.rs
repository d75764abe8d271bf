//! The tables of recordings. A recording is written in one transaction, so that a server that is
//! killed leaves a whole one or none.

use crate::format::{BlobId, Entry, Header, Recording, entry_line};
use ::store::sql::{self, Db, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use web::times::now_millis;

/// The tables. Their rows are deleted with their conversation.
pub const TABLES: CapabilityTables = CapabilityTables {
    capability: "recordings",
    migrations: &[
        Migration {
            name: "recordings",
            sqlite: include_str!("../migrations/sqlite/0001_recordings.sql"),
            postgres: include_str!("../migrations/postgres/0001_recordings.sql"),
        },
        Migration {
            name: "replays",
            sqlite: include_str!("../migrations/sqlite/0002_replays.sql"),
            postgres: include_str!("../migrations/postgres/0002_replays.sql"),
        },
    ],
    tables: &[
        Table { name: "recordings", key: "run_id", owner: None },
        Table { name: "recording_blobs", key: "conversation_id, id", owner: None },
        Table { name: "recording_replays", key: "id", owner: None },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The most recordings in a list.
pub const MAX_LISTED: i64 = 1000;

/// A conversation whose runs may be recorded. `FOR SHARE` keeps it until the recording is stored.
const CONVERSATION: sql::Sql = sql::Sql::pair(
    "SELECT id FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL AND expires_at IS NULL",
    "SELECT id FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL AND expires_at IS NULL FOR SHARE",
);

const INSERT_BLOB: &str = "
    INSERT INTO recording_blobs (conversation_id, id, used_at, value) VALUES ($1, $2, $3, $4)
    ON CONFLICT (conversation_id, id) DO NOTHING";

const TOUCH_BLOB: &str = "UPDATE recording_blobs SET used_at = $3 WHERE conversation_id = $1 AND id = $2";

const INSERT: &str = "
    INSERT INTO recordings
        (run_id, conversation_id, agent_id, recorded_at, ending, steps, tokens, bytes, header, blobs, entries)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (run_id) DO NOTHING";

/// The columns of a summary, of conversations that are neither deleted nor temporary.
const LIST: &str = "
    SELECT r.run_id, r.conversation_id, r.agent_id, r.recorded_at, r.ending, r.steps, r.tokens, r.bytes
    FROM recordings r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.deleted_at IS NULL AND c.expires_at IS NULL
    ORDER BY r.recorded_at DESC, r.run_id DESC LIMIT $1";

const FIND: &str = "
    SELECT r.conversation_id, r.header, r.blobs, r.entries
    FROM recordings r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.deleted_at IS NULL AND c.expires_at IS NULL AND (r.run_id = $1 OR r.conversation_id = $1)
    ORDER BY r.recorded_at, r.run_id LIMIT $2";

/// The runs that have written an answer: several, if the user was asked meanwhile.
const FIND_OF_ANSWER: &str = "
    SELECT r.conversation_id, r.header, r.blobs, r.entries
    FROM recordings r JOIN conversations c ON c.id = r.conversation_id JOIN runs ON runs.id = r.run_id
    WHERE c.deleted_at IS NULL AND c.expires_at IS NULL AND r.conversation_id = $1 AND runs.message_id = $2
    ORDER BY r.recorded_at, r.run_id LIMIT $3";

const BLOBS: &str = "SELECT id, value FROM recording_blobs WHERE conversation_id = $1";

/// The newest time at which the recordings since then exceed a size. Those of one time count
/// together.
const CUTOFF: &str = "
    SELECT max(recorded_at)
    FROM (SELECT recorded_at, sum(bytes) OVER (ORDER BY recorded_at DESC) AS total FROM recordings) AS newest
    WHERE total > $1";

/// A recording in a list.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordingSummary {
    /// The run.
    pub run_id: String,
    /// The conversation.
    pub conversation_id: String,
    /// The agent.
    pub agent_id: String,
    /// When it was stored; Unix time, milliseconds.
    pub recorded_at: i64,
    /// The end of the run.
    pub ending: String,
    /// The number of requests to the agent's model.
    pub steps: i64,
    /// The tokens of all requests.
    pub tokens: i64,
    /// The size in bytes.
    pub bytes: i64,
}

/// Stores the recording of a run of this user. Returns whether it was stored: not for a
/// conversation that is temporary or deleted.
///
/// # Errors
/// The database failed.
pub(crate) async fn insert(store: &Store, user_id: String, recording: Recording) -> Result<bool, StoreError> {
    store.write(move |db| Box::pin(async move { insert_in(db, user_id, &recording).await })).await
}

async fn insert_in(db: &mut Db, user_id: String, recording: &Recording) -> Result<bool, StoreError> {
    let Header { run_id, conversation_id, agent_id, .. } = &recording.header;
    let find = sql::query_scalar::<String>(CONVERSATION).bind(user_id).bind(conversation_id.clone());
    if find.fetch_optional(&mut *db).await?.is_none() {
        return Ok(false);
    }
    let Some(end) = recording.end() else { return Ok(false) };
    let (now, mut bytes) = (now_millis(), 0);
    for (id, value) in &recording.blobs {
        // Most are known from earlier runs of the conversation, and are not sent again.
        let touch = sql::query(TOUCH_BLOB).bind(conversation_id.clone()).bind(id.clone()).bind(now);
        if touch.execute(&mut *db).await?.rows_affected() == 0 {
            let text = value.to_string();
            bytes += text.len();
            let add = sql::query(INSERT_BLOB).bind(conversation_id.clone()).bind(id.clone()).bind(now).bind(text);
            add.execute(&mut *db).await?;
        }
    }
    let mut entries = String::new();
    for entry in &recording.entries {
        let _ = writeln!(entries, "{}", entry_line(entry));
    }
    let json = |value: serde_json::Result<String>| value.map_err(|_| StoreError::Invalid("a recording is no JSON"));
    let header = json(serde_json::to_string(&recording.header))?;
    let blobs = json(serde_json::to_string(&recording.blobs.keys().collect::<Vec<_>>()))?;
    let bytes = bytes + entries.len() + header.len() + blobs.len();
    let tokens = end.usage.input_tokens.saturating_add(end.usage.output_tokens);
    let write = sql::query(INSERT)
        .bind(run_id.clone())
        .bind(conversation_id.clone())
        .bind(agent_id.clone())
        .bind(now)
        .bind(end.ending.clone())
        .bind(i64::from(end.steps))
        .bind(i64::try_from(tokens).unwrap_or(i64::MAX))
        .bind(i64::try_from(bytes).unwrap_or(i64::MAX))
        .bind(header)
        .bind(blobs)
        .bind(entries);
    Ok(write.execute(db).await?.rows_affected() > 0)
}

/// Returns the newest recordings of all users, at most [`MAX_LISTED`].
///
/// # Errors
/// The database failed.
pub async fn list(store: &Store) -> Result<Vec<RecordingSummary>, StoreError> {
    store.rows(sql::query(LIST).bind(MAX_LISTED), summary).await
}

fn summary(row: &Row) -> Result<RecordingSummary, StoreError> {
    Ok(RecordingSummary {
        run_id: row.try_get("run_id")?,
        conversation_id: row.try_get("conversation_id")?,
        agent_id: row.try_get("agent_id")?,
        recorded_at: row.try_get("recorded_at")?,
        ending: row.try_get("ending")?,
        steps: row.try_get("steps")?,
        tokens: row.try_get("tokens")?,
        bytes: row.try_get("bytes")?,
    })
}

/// Returns the recording of a run, or the recordings of a conversation, oldest first; none if there
/// is none.
///
/// # Errors
/// The database failed, or has a recording that this version cannot read.
pub async fn find(store: &Store, id: &str) -> Result<Vec<Recording>, StoreError> {
    load(store, sql::query(FIND).bind(id.to_owned()).bind(MAX_LISTED)).await
}

/// Returns the recordings of the runs that have written an answer, oldest first; none if there is none.
///
/// # Errors
/// As of [`find`].
pub async fn find_of_answer(
    store: &Store,
    conversation_id: &str,
    message_id: &str,
) -> Result<Vec<Recording>, StoreError> {
    let find = sql::query(FIND_OF_ANSWER).bind(conversation_id.to_owned()).bind(message_id.to_owned());
    load(store, find.bind(MAX_LISTED)).await
}

/// Returns the recordings that a statement finds, which are of one conversation.
async fn load(store: &Store, find: sql::Query) -> Result<Vec<Recording>, StoreError> {
    store
        .read(move |db| {
            Box::pin(async move {
                let rows = find.fetch_all(&mut *db).await?;
                let Some(first) = rows.first() else { return Ok(Vec::new()) };
                let conversation: String = first.try_get("conversation_id")?;
                let blobs = blobs(db, conversation).await?;
                rows.iter().map(|row| recording(row, &blobs)).collect()
            })
        })
        .await
}

async fn blobs(db: &mut Db, conversation_id: String) -> Result<BTreeMap<BlobId, Value>, StoreError> {
    let rows = sql::query(BLOBS).bind(conversation_id).fetch_all(db).await?;
    let blob = |row: &Row| -> Result<(BlobId, Value), StoreError> {
        let (id, value): (String, String) = (row.try_get("id")?, row.try_get("value")?);
        Ok((id, serde_json::from_str(&value).map_err(|_| UNREADABLE)?))
    };
    rows.iter().map(blob).collect()
}

const UNREADABLE: StoreError = StoreError::Invalid("a recording was written by another version");

fn recording(row: &Row, known: &BTreeMap<BlobId, Value>) -> Result<Recording, StoreError> {
    let text = |column: &str| row.try_get::<String>(column);
    let header: Header = serde_json::from_str(&text("header")?).map_err(|_| UNREADABLE)?;
    let ids: Vec<BlobId> = serde_json::from_str(&text("blobs")?).map_err(|_| UNREADABLE)?;
    let entries: Result<Vec<Entry>, _> = text("entries")?.lines().map(serde_json::from_str).collect();
    let blobs = ids.into_iter().filter_map(|id| Some((id.clone(), known.get(&id)?.clone()))).collect();
    Ok(Recording { header, entries: entries.map_err(|_| UNREADABLE)?, blobs })
}

/// Deletes recordings that are older than `before`, and the oldest ones until all together have at
/// most `total` bytes. Idempotent.
///
/// # Errors
/// The database failed.
pub async fn purge(store: &Store, before: i64, total: i64) -> Result<u64, StoreError> {
    let before = cutoff(store, total).await?.max(before);
    store
        .write(move |db| {
            Box::pin(async move {
                let old = sql::query("DELETE FROM recordings WHERE recorded_at < $1").bind(before);
                let deleted = old.execute(&mut *db).await?.rows_affected();
                // Blobs that a remaining recording uses are as new as that recording.
                sql::query("DELETE FROM recording_blobs WHERE used_at < $1").bind(before).execute(db).await?;
                Ok(deleted)
            })
        })
        .await
}

/// Returns the time before which recordings do not fit into `total` bytes.
async fn cutoff(store: &Store, total: i64) -> Result<i64, StoreError> {
    let find = sql::query_scalar::<Option<i64>>(CUTOFF).bind(total);
    let last = store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await?;
    Ok(last.map_or(i64::MIN, |last| last.saturating_add(1)))
}
