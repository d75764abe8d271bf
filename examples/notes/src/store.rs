//! The table `notes`.

use ::store::sql::{self, Row};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// The table. Notes belong to a user and are deleted with them.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "notes",
    migrations: &[Migration {
        name: "notes",
        sqlite: include_str!("../migrations/sqlite.sql"),
        postgres: include_str!("../migrations/postgres.sql"),
    }],
    tables: &[Table { name: "notes", key: "id", owner: Some("owner") }],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// A note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Note {
    /// Its id.
    pub(crate) id: String,
    /// The user whose note it is.
    pub(crate) owner: String,
    /// The text.
    pub(crate) text: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
}

impl Note {
    /// Creates a note as of now.
    pub(crate) fn new(owner: String, text: String) -> Self {
        Self { id: uuid::Uuid::now_v7().to_string(), owner, text, created_at: web::times::now_millis() }
    }
}

const INSERT: &str = "
    INSERT INTO notes (id, owner, text, folded, created_at) SELECT $1, $2, $3, $4, $5
    WHERE (SELECT count(*) FROM notes WHERE owner = $2) < $6";

const SEARCH: &str = "
    SELECT id, owner, text, created_at FROM notes
    WHERE owner = $1 AND folded LIKE $2 ESCAPE '\\' ORDER BY created_at DESC, id DESC LIMIT $3";

const ALL: &str = "
    SELECT id, owner, text, created_at FROM notes WHERE id < $1 ORDER BY id DESC LIMIT $2";

/// Sorts after all ids, which have hexadecimal digits and `-`.
const AFTER_ALL: &str = "g";

const DELETE_BEFORE: &str = "DELETE FROM notes WHERE created_at < $1";

/// Stores a note. Returns false if its owner has `most` notes already.
pub(crate) async fn insert(store: &Store, note: Note, most: u32) -> Result<bool, StoreError> {
    let Note { id, owner, text, created_at } = note;
    store
        .write(move |db| {
            Box::pin(async move {
                let folded = text.to_lowercase();
                let insert = sql::query(INSERT).bind(id).bind(owner).bind(text).bind(folded);
                let insert = insert.bind(created_at).bind(i64::from(most));
                Ok(insert.execute(db).await?.rows_affected() > 0)
            })
        })
        .await
}

/// Returns the notes of a user that contain a text, newest first, at most `most`.
pub(crate) async fn search(store: &Store, owner: &str, text: &str, most: u32) -> Result<Vec<Note>, StoreError> {
    let pattern = text.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    let search = sql::query(SEARCH).bind(owner.to_owned()).bind(format!("%{pattern}%")).bind(i64::from(most));
    store.rows(search, note).await
}

/// Returns the notes of all users, newest first, at most `most`; those that are older than the note
/// with the id `before`, if it is given. Ids begin with the time.
pub(crate) async fn all(store: &Store, before: Option<&str>, most: u32) -> Result<Vec<Note>, StoreError> {
    let list = sql::query(ALL).bind(before.unwrap_or(AFTER_ALL).to_owned()).bind(i64::from(most));
    store.rows(list, note).await
}

/// Deletes the notes that are older than this time.
pub(crate) async fn delete_before(store: &Store, time: i64) -> Result<(), StoreError> {
    store
        .write(move |db| {
            Box::pin(async move {
                sql::query(DELETE_BEFORE).bind(time).execute(db).await?;
                Ok(())
            })
        })
        .await
}

fn note(row: &Row) -> Result<Note, StoreError> {
    Ok(Note {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        text: row.try_get("text")?,
        created_at: row.try_get("created_at")?,
    })
}
