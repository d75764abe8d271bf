//! The tables of published changes and of drafts. Published changes belong to all administrators; a draft belongs to the
//! one who writes it.

use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};

/// The tables. When a user is deleted, their published versions stay; their draft is deleted.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "config_editor",
    migrations: &[Migration {
        name: "config editor",
        sqlite: include_str!("../migrations/sqlite/0001_config_editor.sql"),
        postgres: include_str!("../migrations/postgres/0001_config_editor.sql"),
    }],
    tables: &[
        Table { name: "config_editor", key: "id", owner: None },
        Table { name: "config_versions", key: "version", owner: None },
        Table { name: "config_drafts", key: "owner", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The number of versions that are kept.
pub(crate) const MAX_VERSIONS: i64 = 50;

/// Changes that were published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredVersion {
    pub(crate) version: i64,
    pub(crate) text: String,
    pub(crate) published_by: String,
    pub(crate) published_at: i64,
    /// The earlier version that it repeats; 0 stands for the files alone.
    pub(crate) restored: Option<i64>,
}

/// A version without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VersionItem {
    pub(crate) version: i64,
    pub(crate) published_by: String,
    pub(crate) published_at: i64,
    pub(crate) restored: Option<i64>,
}

/// The draft of an administrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) text: String,
    /// The version that was the newest one when the draft was begun.
    pub(crate) based_on: i64,
    /// Grows with each change; 0 before the first one.
    pub(crate) revision: i64,
    pub(crate) changed_at: i64,
}

/// A text that is published as a new version.
#[derive(Clone, Debug)]
pub(crate) struct Publication {
    pub(crate) text: String,
    /// The version that the change is based on.
    pub(crate) based_on: i64,
    pub(crate) restored: Option<i64>,
    /// The revision of the author's draft that it is. `None` if it is no draft.
    pub(crate) revision: Option<i64>,
    pub(crate) author: String,
    pub(crate) now: i64,
}

/// The outcome of a change. Only [`ChangeOutcome::Done`] writes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeOutcome {
    /// It is stored, as this version or revision.
    Done(i64),
    /// Another administrator has published a newer version.
    Outdated,
    /// The draft has another revision.
    DraftChanged,
}

const NEWEST: &str = "SELECT version FROM config_editor WHERE id = 1";
const BELOW: &str = "
    SELECT version, text, published_by, published_at, restored FROM config_versions WHERE version < $1
    ORDER BY version DESC LIMIT 1";
const VERSION: &str =
    "SELECT version, text, published_by, published_at, restored FROM config_versions WHERE version = $1";
const LIST: &str = "
    SELECT version, published_by, published_at, restored FROM config_versions ORDER BY version DESC LIMIT $1";
const DRAFT: &str = "SELECT text, based_on, revision, changed_at FROM config_drafts WHERE owner = $1";
const REVISION: &str = "SELECT revision FROM config_drafts WHERE owner = $1";
const SAVE_DRAFT: &str = "
    INSERT INTO config_drafts (owner, text, based_on, revision, changed_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (owner) DO UPDATE SET text = excluded.text, based_on = excluded.based_on, revision = excluded.revision,
        changed_at = excluded.changed_at";
const DELETE_DRAFT: &str = "DELETE FROM config_drafts WHERE owner = $1";
const BEGIN: &str = "INSERT INTO config_editor (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING";
/// Changes nothing, but makes other writers wait until the end of the transaction.
const LOCK: &str = "UPDATE config_editor SET version = version WHERE id = 1";
const GROW: &str = "UPDATE config_editor SET version = $1 WHERE id = 1";
const INSERT: &str =
    "INSERT INTO config_versions (version, text, published_by, published_at, restored) VALUES ($1, $2, $3, $4, $5)";
const PRUNE: &str = "DELETE FROM config_versions WHERE version <= $1";

/// Returns the newest version; 0 before the first one.
pub(crate) async fn newest(store: &Store) -> Result<i64, StoreError> {
    store.read(|db| Box::pin(async move { newest_in(db).await })).await
}

/// Returns a text that changes whenever something is published.
pub(crate) async fn version(store: &Store) -> Result<String, StoreError> {
    Ok(newest(store).await?.to_string())
}

/// Returns the newest version before this one.
pub(crate) async fn newest_below(store: &Store, version: i64) -> Result<Option<StoredVersion>, StoreError> {
    one(store, BELOW, version).await
}

/// Returns a version.
pub(crate) async fn find(store: &Store, version: i64) -> Result<Option<StoredVersion>, StoreError> {
    one(store, VERSION, version).await
}

/// Returns the versions, the newest first.
pub(crate) async fn list(store: &Store) -> Result<Vec<VersionItem>, StoreError> {
    store.rows(sql::query(LIST).bind(MAX_VERSIONS), item).await
}

/// Returns the draft of an administrator.
pub(crate) async fn draft(store: &Store, owner: &str) -> Result<Option<Draft>, StoreError> {
    let query = sql::query(DRAFT).bind(owner.to_owned());
    let draft = |row: &Row| {
        Ok(Draft {
            text: row.try_get("text")?,
            based_on: row.try_get("based_on")?,
            revision: row.try_get("revision")?,
            changed_at: row.try_get("changed_at")?,
        })
    };
    store.optional_row(query, draft).await
}

/// Saves the draft of an administrator, if the stored one has the revision of this one.
pub(crate) async fn save_draft(store: &Store, owner: &str, draft: Draft) -> Result<ChangeOutcome, StoreError> {
    let owner = owner.to_owned();
    let write = store.write(move |db| {
        Box::pin(async move {
            if revision(db, &owner).await? != draft.revision {
                return Ok(ChangeOutcome::DraftChanged);
            }
            let next = draft.revision + 1;
            let save = sql::query(SAVE_DRAFT).bind(owner).bind(draft.text).bind(draft.based_on);
            save.bind(next).bind(draft.changed_at).execute(db).await?;
            Ok(ChangeOutcome::Done(next))
        })
    });
    write.await
}

/// Deletes the draft of an administrator.
pub(crate) async fn delete_draft(store: &Store, owner: &str) -> Result<(), StoreError> {
    let delete = sql::query(DELETE_DRAFT).bind(owner.to_owned());
    store.write(move |db| Box::pin(async move { Ok(delete.execute(db).await.map(drop)?) })).await
}

/// Publishes changes with an audit entry, or neither, and deletes the author's draft that they are.
pub(crate) async fn publish(
    store: &Store,
    publication: Publication,
    entry: AuditEntry,
) -> Result<ChangeOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let Publication { text, based_on, restored, revision: draft, author, now } = publication;
            sql::query(BEGIN).execute(&mut *db).await?;
            sql::query(LOCK).execute(&mut *db).await?;
            let newest = newest_in(db).await?;
            if newest != based_on {
                return Ok(ChangeOutcome::Outdated);
            }
            if let Some(draft) = draft {
                if revision(db, &author).await? != draft {
                    return Ok(ChangeOutcome::DraftChanged);
                }
                sql::query(DELETE_DRAFT).bind(author.clone()).execute(&mut *db).await?;
            }
            let version = newest + 1;
            let insert = sql::query(INSERT).bind(version).bind(text).bind(author).bind(now).bind(restored);
            insert.execute(&mut *db).await?;
            sql::query(GROW).bind(version).execute(&mut *db).await?;
            sql::query(PRUNE).bind(version - MAX_VERSIONS).execute(&mut *db).await?;
            append_audit(db, vec![entry]).await?;
            notifier.notify_config_changed(db).await?;
            Ok(ChangeOutcome::Done(version))
        })
    });
    write.await
}

async fn newest_in(db: &mut Db) -> Result<i64, StoreError> {
    let version: Option<i64> = sql::query_scalar(NEWEST).fetch_optional(db).await?;
    Ok(version.unwrap_or_default())
}

/// Returns the revision of a draft; 0 if there is none.
async fn revision(db: &mut Db, owner: &str) -> Result<i64, StoreError> {
    let revision: Option<i64> = sql::query_scalar(REVISION).bind(owner.to_owned()).fetch_optional(db).await?;
    Ok(revision.unwrap_or_default())
}

async fn one(store: &Store, statement: &'static str, version: i64) -> Result<Option<StoredVersion>, StoreError> {
    let query = sql::query(statement).bind(version);
    store.optional_row(query, stored).await
}

fn stored(row: &Row) -> Result<StoredVersion, StoreError> {
    let VersionItem { version, published_by, published_at, restored } = item(row)?;
    Ok(StoredVersion { version, text: row.try_get("text")?, published_by, published_at, restored })
}

fn item(row: &Row) -> Result<VersionItem, StoreError> {
    Ok(VersionItem {
        version: row.try_get("version")?,
        published_by: row.try_get("published_by")?,
        published_at: row.try_get("published_at")?,
        restored: row.try_get("restored")?,
    })
}
