//! The table `prompts`. Every function takes the owner, and returns and changes only what is theirs; shared
//! prompts have the owner [`SHARED`].

use crate::prompt::{PromptContent, name_key};
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "prompt_library",
    migrations: &[Migration {
        name: "prompts",
        sqlite: include_str!("../migrations/sqlite/0001_prompts.sql"),
        postgres: include_str!("../migrations/postgres/0001_prompts.sql"),
    }],
    tables: &[Table { name: "prompts", key: "id", owner: Some("owner") }],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The owner of shared prompts, which no user has.
pub(crate) const SHARED: &str = "";
/// How much of its text a prompt in a list has, in characters.
pub(crate) const BEGINNING: usize = 200;

/// A stored prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredPrompt {
    pub(crate) id: String,
    pub(crate) content: PromptContent,
    /// The roles that see it; empty for everybody. Of a shared prompt.
    pub(crate) roles: Vec<String>,
    /// Counts from 1.
    pub(crate) version: i64,
    /// Unix time in milliseconds.
    pub(crate) updated_at: i64,
}

/// A new version of a prompt that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavePrompt {
    pub(crate) owner: String,
    /// The id of a new or of a known prompt.
    pub(crate) id: String,
    /// The version that was changed; `None` for a new prompt.
    pub(crate) after: Option<i64>,
    pub(crate) content: PromptContent,
    pub(crate) roles: Vec<String>,
    /// The most prompts of the owner.
    pub(crate) most: u32,
    pub(crate) now: i64,
}

/// The outcome of [`SavePrompt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaveOutcome {
    /// There is a new version.
    Saved,
    /// It was already like this.
    Unchanged,
    /// The owner has no such prompt.
    Unknown,
    /// It was changed in the meantime.
    Changed,
    /// The owner has another prompt with this name.
    NameTaken,
    /// The owner has as many prompts as they may have.
    Full,
}

/// Selects prompts, given an expression for their texts.
macro_rules! select {
    ($content:literal, $rest:literal) => {
        concat!(
            "SELECT id, name, description, ",
            $content,
            " AS content, roles, version, updated_at FROM prompts ",
            $rest
        )
    };
}

const LIST: &str = select!("substr(content, 1, 200)", "WHERE owner = $1 ORDER BY name_key");
const LIST_WHOLE: &str = select!("content", "WHERE owner = $1 ORDER BY name_key");
const FIND: &str = select!("content", "WHERE owner = $1 AND id = $2");
const COUNT: &str = "SELECT count(*) FROM prompts WHERE owner = $1";
const NAMESAKE: &str = "SELECT id FROM prompts WHERE owner = $1 AND name_key = $2 AND id <> $3";

const INSERT: &str = "
    INSERT INTO prompts (id, owner, name, name_key, description, content, roles, version, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8) ON CONFLICT DO NOTHING";

const UPDATE: &str = "
    UPDATE prompts SET name = $3, name_key = $4, description = $5, content = $6, roles = $7, version = version + 1,
        updated_at = $8
    WHERE id = $1 AND owner = $2 AND version = $9";

const DELETE: &str = "DELETE FROM prompts WHERE owner = $1 AND id = $2";

/// Returns the prompts of an owner by their names, with the first [`BEGINNING`] characters of their texts.
///
/// # Errors
/// The database failed, or a row is damaged.
pub(crate) async fn list(store: &Store, owner: &str) -> Result<Vec<StoredPrompt>, StoreError> {
    let list = sql::query(LIST).bind(owner);
    store.rows(list, read).await
}

/// Returns the prompts of an owner by their names.
///
/// # Errors
/// The errors of [`list`].
pub(crate) async fn list_whole(store: &Store, owner: &str) -> Result<Vec<StoredPrompt>, StoreError> {
    let list = sql::query(LIST_WHOLE).bind(owner);
    store.rows(list, read).await
}

/// Returns a prompt of an owner.
///
/// # Errors
/// The errors of [`list`].
pub(crate) async fn find(store: &Store, owner: &str, id: &str) -> Result<Option<StoredPrompt>, StoreError> {
    let find = sql::query(FIND).bind(owner).bind(id);
    store.optional_row(find, read).await
}

/// Stores a prompt with its row in the audit log, both or neither.
///
/// # Errors
/// The database failed.
pub(crate) async fn save(store: &Store, save: SavePrompt, audit: AuditEntry) -> Result<SaveOutcome, StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            let outcome = match save.after {
                None => insert(db, &save).await?,
                Some(after) => update(db, &save, after).await?,
            };
            if outcome == SaveOutcome::Saved {
                append_audit(db, vec![audit]).await?;
            }
            Ok(outcome)
        })
    });
    write.await
}

async fn insert(db: &mut Db, save: &SavePrompt) -> Result<SaveOutcome, StoreError> {
    if has_namesake(db, save).await? {
        return Ok(SaveOutcome::NameTaken);
    }
    let count: i64 = sql::query_scalar(COUNT).bind(&save.owner).fetch_one(&mut *db).await?;
    if count >= i64::from(save.most) {
        return Ok(SaveOutcome::Full);
    }
    // Another server may have stored the name since it was looked for.
    match written(INSERT, save)?.execute(db).await?.rows_affected() {
        0 => Ok(SaveOutcome::NameTaken),
        _ => Ok(SaveOutcome::Saved),
    }
}

async fn update(db: &mut Db, save: &SavePrompt, after: i64) -> Result<SaveOutcome, StoreError> {
    let found = sql::query(FIND).bind(&save.owner).bind(&save.id).fetch_optional(&mut *db).await?;
    let Some(found) = found.as_ref().map(read).transpose()? else { return Ok(SaveOutcome::Unknown) };
    if found.version != after {
        return Ok(SaveOutcome::Changed);
    }
    if found.content == save.content && found.roles == save.roles {
        return Ok(SaveOutcome::Unchanged);
    }
    if has_namesake(db, save).await? {
        return Ok(SaveOutcome::NameTaken);
    }
    match written(UPDATE, save)?.bind(after).execute(db).await?.rows_affected() {
        0 => Ok(SaveOutcome::Changed),
        _ => Ok(SaveOutcome::Saved),
    }
}

async fn has_namesake(db: &mut Db, save: &SavePrompt) -> Result<bool, StoreError> {
    let find = sql::query_scalar::<String>(NAMESAKE).bind(&save.owner).bind(name_key(&save.content.name));
    Ok(find.bind(&save.id).fetch_optional(db).await?.is_some())
}

/// Binds what is stored to a statement.
fn written(statement: &'static str, save: &SavePrompt) -> Result<sql::Query, StoreError> {
    let PromptContent { name, description, text } = &save.content;
    let roles = serde_json::to_string(&save.roles).map_err(|error| StoreError::Failed(error.to_string()))?;
    let query = sql::query(statement).bind(&save.id).bind(&save.owner).bind(name).bind(name_key(name));
    Ok(query.bind(description).bind(text).bind(roles).bind(save.now))
}

/// Deletes a prompt of an owner with its row in the audit log. Returns false if there is none.
///
/// # Errors
/// The database failed.
pub(crate) async fn delete(store: &Store, owner: &str, id: &str, audit: AuditEntry) -> Result<bool, StoreError> {
    let delete = sql::query(DELETE).bind(owner).bind(id);
    let write = store.write(move |db| {
        Box::pin(async move {
            let is_deleted = delete.execute(&mut *db).await?.rows_affected() > 0;
            if is_deleted {
                append_audit(db, vec![audit]).await?;
            }
            Ok(is_deleted)
        })
    });
    write.await
}

fn read(row: &Row) -> Result<StoredPrompt, StoreError> {
    let roles: String = row.try_get("roles")?;
    Ok(StoredPrompt {
        id: row.try_get("id")?,
        content: PromptContent {
            name: row.try_get("name")?,
            description: row.try_get("description")?,
            text: row.try_get("content")?,
        },
        roles: serde_json::from_str(&roles).map_err(|_| StoreError::Invalid("a row of a prompt is damaged"))?,
        version: row.try_get("version")?,
        updated_at: row.try_get("updated_at")?,
    })
}
