//! Table `events`: what capabilities emit and programs report.

use crate::sql::{self, Db, Row};
use crate::{Store, StoreError, StoredEvent};
use serde_json::Value;

/// The largest event in bytes.
const MAX_BYTES: usize = 256 << 10;
/// The number of events that are kept at most.
const MOST: i64 = 100_000;
/// The number of rows that are deleted in a transaction.
const BATCH: i64 = 2_000;

/// An event to store.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// The name, for example `document.ready`.
    pub name: String,
    /// A text that no other event of this name has. An event with a known key is not stored again.
    pub key: String,
    /// When it happened; Unix time in milliseconds.
    pub at: i64,
    /// Whom and what it is about, as an object.
    pub data: Value,
    /// The roles of the user who reports it; `None` for an event of the product.
    pub roles: Option<Vec<String>>,
}

/// A stored event with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedEvent {
    /// The number, which grows with each event.
    pub no: i64,
    /// The event.
    pub event: StoredEvent,
    /// The roles of the user who has reported it; `None` for an event of the product.
    pub roles: Option<Vec<String>>,
}

/// Transactions that write follow each other, so a number is taken once, and what has a lower number is visible.
const INSERT: &str = "
    INSERT INTO events (name, event_key, no, at, data, roles)
    SELECT $1, $2, (SELECT coalesce(max(no), 0) + 1 FROM events), $3, $4, $5
    WHERE NOT EXISTS (SELECT 1 FROM events WHERE name = $1 AND event_key = $2)";

const AFTER: &str = "
    SELECT no, at, event_key AS key, data, roles FROM events WHERE name = $1 AND no > $2 ORDER BY no LIMIT $3";

/// The newest event stays, so that no number is taken again.
const PRUNE: &str = "
    DELETE FROM events WHERE no IN (
        SELECT no FROM events
        WHERE (at < $1 OR no <= (SELECT max(no) FROM events) - $2) AND no < (SELECT max(no) FROM events)
        ORDER BY no LIMIT $3)";

/// Stores an event, in a transaction with what it is about. Workflows that wait for it, and triggers,
/// find it within seconds. Returns false if an event with this name and key is known.
///
/// # Errors
/// The event is too large, or the database failed.
pub async fn append_event(db: &mut Db, event: NewEvent) -> Result<bool, StoreError> {
    let data = event.data.to_string();
    if data.len() > MAX_BYTES {
        return Err(StoreError::Invalid("an event is too large"));
    }
    let roles = event.roles.map(|roles| Value::from(roles).to_string());
    let insert = sql::query(INSERT).bind(event.name).bind(event.key).bind(event.at).bind(data).bind(roles);
    Ok(insert.execute(db).await?.rows_affected() > 0)
}

impl Store {
    /// Returns the events of a name whose numbers are higher than `no`, oldest first, at most `limit`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn events_after(&self, name: &str, no: i64, limit: u32) -> Result<Vec<NumberedEvent>, StoreError> {
        let find = sql::query(AFTER).bind(name.to_owned()).bind(no).bind(limit);
        self.rows(find, numbered).await
    }

    /// Deletes a batch of events from before this time, and of those above the highest number that are
    /// kept. Returns whether there may be more.
    ///
    /// # Errors
    /// The database failed.
    pub async fn prune_events(&self, before: i64) -> Result<bool, StoreError> {
        let delete = sql::query(PRUNE).bind(before).bind(MOST).bind(BATCH);
        Ok(self.execute(delete).await? >= BATCH.unsigned_abs())
    }
}

fn numbered(row: &Row) -> Result<NumberedEvent, StoreError> {
    let roles: Option<String> = row.try_get("roles")?;
    let roles = roles.map(|roles| serde_json::from_str(&roles).map_err(|_| damaged())).transpose()?;
    let event = StoredEvent { at: row.try_get("at")?, key: row.try_get("key")?, data: data(row)? };
    Ok(NumberedEvent { no: row.try_get("no")?, event, roles })
}

/// Reads the data of an event.
pub(super) fn data(row: &Row) -> Result<Value, StoreError> {
    let text: String = row.try_get("data")?;
    serde_json::from_str(&text).map_err(|_| damaged())
}

fn damaged() -> StoreError {
    StoreError::Invalid("a stored event is damaged")
}
