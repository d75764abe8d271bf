//! Tables `stored_workflows` and `stored_workflow_versions`. The definitions belong to all who may edit
//! them, so nothing here takes an owner.

use crate::store::{json as read_json, to_json};
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, Store, StoreError, append_audit};
use auth::audit_row;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// The most stored definitions.
pub(crate) const MAX_STORED: i64 = 200;
/// The most versions that are listed, the newest ones.
const MAX_VERSIONS: u32 = 50;

/// A stored definition in its current version.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredWorkflow {
    /// The id of the workflow.
    pub(crate) id: String,
    /// The version; counts from 1.
    pub(crate) version: i64,
    /// The definition.
    pub(crate) definition: Value,
    /// Whether it can be started and its triggers work.
    pub(crate) is_enabled: bool,
    /// Why the server has disabled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disabled_because: Option<String>,
    /// The user who saved the current version.
    pub(crate) author: String,
    /// The state of the author's rights.
    #[serde(skip)]
    pub(crate) author_state: AuthorState,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
    /// Unix time, milliseconds.
    pub(crate) updated_at: i64,
}

/// The state of the rights of an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AuthorState {
    /// It was an administrator, or has no account on this server, so that its roles are known only when it asks.
    Unlimited,
    /// It has an account.
    Active,
    /// Its account is disabled.
    Disabled,
    /// Its account is deleted.
    Deleted,
}

/// A version of a stored definition.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredVersion {
    /// The version; counts from 1.
    pub(crate) version: i64,
    /// The definition.
    pub(crate) definition: Value,
    /// The user who saved it.
    pub(crate) author: String,
    /// Unix time, milliseconds.
    pub(crate) created_at: i64,
}

/// A new or changed definition.
#[derive(Clone, Debug)]
pub(super) struct Save {
    pub(super) id: String,
    /// The version that was changed; `None` for a new definition.
    pub(super) after: Option<i64>,
    pub(super) definition: Value,
    pub(super) is_enabled: bool,
    pub(super) author: String,
    /// Whether the author is no administrator.
    pub(super) is_limited: bool,
    pub(super) now: i64,
}

/// The outcome of saving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SaveOutcome {
    Done,
    /// A new definition has the id of another one.
    Taken,
    /// There is no such definition.
    Unknown,
    /// Another user has saved a newer version in the meantime.
    Changed,
    /// There are too many.
    Full,
}

/// The columns that [`stored`] reads.
macro_rules! columns {
    () => {
        "SELECT id, version, definition, is_enabled, disabled_because, author, created_at, updated_at,
            CASE WHEN limited_author = 0 THEN 'unlimited' ELSE coalesce(
                (SELECT CASE WHEN users.deleted_at IS NOT NULL THEN 'deleted'
                             WHEN users.disabled_at IS NOT NULL THEN 'disabled' ELSE 'active' END
                 FROM users WHERE users.id = stored_workflows.author), 'deleted') END AS author_state
         FROM stored_workflows "
    };
}

const LIST: &str = concat!(columns!(), "WHERE deleted_at IS NULL ORDER BY id LIMIT $1");

const FIND: &str = concat!(columns!(), "WHERE id = $1 AND deleted_at IS NULL");

const LIMITED: &str =
    concat!(columns!(), "WHERE is_enabled = 1 AND deleted_at IS NULL AND limited_author = 1 ORDER BY id LIMIT $1");

/// Not a newer version, which may be that of another author.
const DISABLE: &str = "
    UPDATE stored_workflows SET is_enabled = 0, disabled_because = $3, changes = changes + 1
    WHERE id = $1 AND version = $2 AND is_enabled = 1 AND deleted_at IS NULL";

const VERSIONS: &str = "
    SELECT version, definition, author, created_at FROM stored_workflow_versions
    WHERE workflow_id = $1 ORDER BY version DESC LIMIT $2";

const VERSION: &str = "
    SELECT definition FROM stored_workflow_versions
    WHERE workflow_id = (SELECT id FROM stored_workflows WHERE id = $1 AND deleted_at IS NULL) AND version = $2";

const STATE: &str = "SELECT CAST(coalesce(sum(changes), 0) AS BIGINT) FROM stored_workflows";

const COUNT: &str = "SELECT count(*) FROM stored_workflows WHERE deleted_at IS NULL";

/// The versions continue after a deleted definition with the same id, so that each of them stays what it was.
const INSERT: &str = "
    INSERT INTO stored_workflows
        (id, version, definition, is_enabled, author, created_at, updated_at, changes, limited_author)
    SELECT $1, 1, $2, $3, $4, $5, $5, 1, CASE WHEN CAST($6 AS BIGINT) = 1 AND EXISTS (SELECT 1 FROM users WHERE id = $4) THEN 1 ELSE 0 END
    WHERE true
    ON CONFLICT (id) DO UPDATE SET version = stored_workflows.version + 1, definition = excluded.definition,
        is_enabled = excluded.is_enabled, author = excluded.author, created_at = excluded.created_at,
        updated_at = excluded.updated_at, deleted_at = NULL, changes = stored_workflows.changes + 1,
        limited_author = excluded.limited_author, disabled_because = NULL
    WHERE stored_workflows.deleted_at IS NOT NULL";

const UPDATE: &str = "
    UPDATE stored_workflows SET version = version + 1, definition = $3, is_enabled = $4, author = $5, updated_at = $6,
        changes = changes + 1, disabled_because = NULL,
        limited_author = CASE WHEN CAST($7 AS BIGINT) = 1 AND EXISTS (SELECT 1 FROM users WHERE id = $5) THEN 1 ELSE 0 END
    WHERE id = $1 AND version = $2 AND deleted_at IS NULL";

const INSERT_VERSION: &str = "
    INSERT INTO stored_workflow_versions (workflow_id, version, definition, author, created_at)
    SELECT id, version, definition, author, updated_at FROM stored_workflows WHERE id = $1";

const DELETE: &str = "
    UPDATE stored_workflows SET deleted_at = $2, changes = changes + 1 WHERE id = $1 AND deleted_at IS NULL";

/// Returns all stored definitions.
pub(crate) async fn list(store: &Store) -> Result<Vec<StoredWorkflow>, StoreError> {
    let list = sql::query(LIST).bind(MAX_STORED);
    store.rows(list, stored).await
}

/// Returns a text that changes whenever a server changes a stored definition.
pub(crate) async fn version(store: &Store) -> Result<String, StoreError> {
    let find = sql::query_scalar::<i64>(STATE);
    let changes = store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await?;
    Ok(changes.to_string())
}

/// Returns a stored definition.
pub(crate) async fn find(store: &Store, id: &str) -> Result<Option<StoredWorkflow>, StoreError> {
    let find = sql::query(FIND).bind(id.to_owned());
    store.optional_row(find, stored).await
}

/// Returns the versions of a definition, newest first.
pub(crate) async fn versions(store: &Store, id: &str) -> Result<Vec<StoredVersion>, StoreError> {
    let list = sql::query(VERSIONS).bind(id.to_owned()).bind(MAX_VERSIONS);
    let read = |row: &Row| {
        Ok(StoredVersion {
            version: row.try_get("version")?,
            definition: read_json(row.try_get("definition")?)?,
            author: row.try_get("author")?,
            created_at: row.try_get("created_at")?,
        })
    };
    store.rows(list, read).await
}

/// Returns a version of a definition that is not deleted.
pub(super) async fn version_of(store: &Store, id: &str, version: i64) -> Result<Option<Value>, StoreError> {
    let find = sql::query_scalar::<String>(VERSION).bind(id.to_owned()).bind(version);
    let text = store.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?) })).await?;
    text.as_deref().map(read_json).transpose()
}

/// Saves a definition with its audit entry, both or neither.
pub(super) async fn save(store: &Store, save: Save, entry: AuditEntry) -> Result<SaveOutcome, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let outcome = apply(db, save).await?;
            if outcome == SaveOutcome::Done {
                append_audit(db, vec![entry]).await?;
                notifier.notify_config_changed(db).await?;
            }
            Ok(outcome)
        })
    });
    write.await
}

/// Deletes a definition with its audit entry; its versions stay. Returns false if there is none.
pub(super) async fn delete(store: &Store, id: &str, now: i64, entry: AuditEntry) -> Result<bool, StoreError> {
    let (delete, notifier) = (sql::query(DELETE).bind(id.to_owned()).bind(now), store.clone());
    let write = store.write(move |db| {
        Box::pin(async move {
            let was_there = delete.execute(&mut *db).await?.rows_affected() > 0;
            if was_there {
                append_audit(db, vec![entry]).await?;
                notifier.notify_config_changed(db).await?;
            }
            Ok(was_there)
        })
    });
    write.await
}

/// Returns the definitions in use of authors who are no administrators and have accounts.
pub(super) async fn limited(store: &Store) -> Result<Vec<StoredWorkflow>, StoreError> {
    let list = sql::query(LIMITED).bind(MAX_STORED);
    store.rows(list, stored).await
}

/// Disables definitions, each for its cause, with an audit entry for each. Returns the ids of those that were in use.
pub(super) async fn disable(store: &Store, found: Vec<(StoredWorkflow, String)>) -> Result<Vec<String>, StoreError> {
    let notifier = store.clone();
    let write = store.write(move |db| {
        Box::pin(async move {
            let mut disabled = Vec::new();
            for (StoredWorkflow { id, version, author, .. }, cause) in found {
                let disable = sql::query(DISABLE).bind(&id).bind(version).bind(&cause);
                if disable.execute(&mut *db).await?.rows_affected() == 0 {
                    continue;
                }
                let about = json!({ "workflowId": id, "author": author, "cause": cause });
                append_audit(db, vec![audit_row(&author, "admin:workflow_disabled_itself", "", about)]).await?;
                disabled.push(id);
            }
            if !disabled.is_empty() {
                notifier.notify_config_changed(db).await?;
            }
            Ok(disabled)
        })
    });
    write.await
}

async fn apply(db: &mut Db, save: Save) -> Result<SaveOutcome, StoreError> {
    let Save { id, after, definition, is_enabled, author, is_limited, now } = save;
    let is_limited = i64::from(is_limited);
    let definition = to_json(&definition);
    let changed = match after {
        None => {
            let count: i64 = sql::query_scalar(COUNT).fetch_one(&mut *db).await?;
            if count >= MAX_STORED {
                return Ok(SaveOutcome::Full);
            }
            let insert =
                sql::query(INSERT).bind(&id).bind(definition).bind(i64::from(is_enabled)).bind(author).bind(now);
            insert.bind(is_limited).execute(&mut *db).await?.rows_affected()
        }
        Some(after) => {
            let update = sql::query(UPDATE).bind(&id).bind(after).bind(definition).bind(i64::from(is_enabled));
            update.bind(author).bind(now).bind(is_limited).execute(&mut *db).await?.rows_affected()
        }
    };
    if changed == 0 {
        let is_known = sql::query(FIND).bind(&id).fetch_optional(db).await?.is_some();
        return Ok(match (after, is_known) {
            (None, _) => SaveOutcome::Taken,
            (Some(_), true) => SaveOutcome::Changed,
            (Some(_), false) => SaveOutcome::Unknown,
        });
    }
    sql::query(INSERT_VERSION).bind(&id).execute(db).await?;
    Ok(SaveOutcome::Done)
}

fn stored(row: &Row) -> Result<StoredWorkflow, StoreError> {
    Ok(StoredWorkflow {
        id: row.try_get("id")?,
        version: row.try_get("version")?,
        definition: read_json(row.try_get("definition")?)?,
        is_enabled: row.try_get("is_enabled")?,
        disabled_because: row.try_get("disabled_because")?,
        author_state: match row.try_get::<String>("author_state")?.as_str() {
            "unlimited" => AuthorState::Unlimited,
            "active" => AuthorState::Active,
            "disabled" => AuthorState::Disabled,
            _ => AuthorState::Deleted,
        },
        author: row.try_get("author")?,
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}
