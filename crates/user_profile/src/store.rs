//! The tables. Every function takes the user, and returns and changes only their row.

use ::store::sql::{self, Db};
use ::store::{AuditEntry, CapabilityTables, Migration, Store, StoreError, Table, append_audit};

/// The tables.
pub(crate) const TABLES: CapabilityTables = CapabilityTables {
    capability: "user_profile",
    migrations: &[Migration {
        name: "profiles of users",
        sqlite: include_str!("../migrations/sqlite/0001_user_profiles.sql"),
        postgres: include_str!("../migrations/postgres/0001_user_profiles.sql"),
    }],
    tables: &[
        Table { name: "user_profiles", key: "owner", owner: Some("owner") },
        Table { name: "user_profile_blocks", key: "conversation_id", owner: Some("owner") },
    ],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The text of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) content: String,
    /// Unix time in milliseconds.
    pub(crate) updated_at: i64,
}

const FIND: &str = "SELECT content, updated_at FROM user_profiles WHERE owner = $1";

const SAVE: &str = "
    INSERT INTO user_profiles (owner, content, updated_at) VALUES ($1, $2, $3)
    ON CONFLICT (owner) DO UPDATE SET content = excluded.content, updated_at = excluded.updated_at";

const DELETE: &str = "DELETE FROM user_profiles WHERE owner = $1";

/// The rows stay: a conversation that has got a text does not get the next one.
const EMPTY_BLOCKS: &str = "UPDATE user_profile_blocks SET content = '' WHERE owner = $1 AND content <> ''";

const BLOCK: &str = "SELECT content FROM user_profile_blocks WHERE conversation_id = $1 AND owner = $2";

const INSERT_BLOCK: &str = "
    INSERT INTO user_profile_blocks (conversation_id, owner, content, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (conversation_id) DO NOTHING";

async fn find(db: &mut Db, owner: &str) -> Result<Option<Profile>, StoreError> {
    let Some(row) = sql::query(FIND).bind(owner).fetch_optional(db).await? else { return Ok(None) };
    Ok(Some(Profile { content: row.try_get("content")?, updated_at: row.try_get("updated_at")? }))
}

async fn read_block(db: &mut Db, owner: &str, conversation_id: &str) -> Result<Option<String>, StoreError> {
    let find = sql::query_scalar::<String>(BLOCK).bind(conversation_id).bind(owner);
    Ok(find.fetch_optional(db).await?)
}

/// Returns the text of a user, if they have written one.
///
/// # Errors
/// The database failed.
pub(crate) async fn profile(store: &Store, owner: &str) -> Result<Option<Profile>, StoreError> {
    let owner = owner.to_owned();
    store.read(move |db| Box::pin(async move { find(db, &owner).await })).await
}

/// Stores the text of a user, with its row in the audit log.
///
/// # Errors
/// The database failed.
pub(crate) async fn save(store: &Store, owner: &str, profile: Profile, audit: AuditEntry) -> Result<(), StoreError> {
    let save = sql::query(SAVE).bind(owner).bind(profile.content).bind(profile.updated_at);
    let write = store.write(move |db| {
        Box::pin(async move {
            save.execute(&mut *db).await?;
            append_audit(db, vec![audit]).await
        })
    });
    write.await
}

/// Deletes the text of a user, also from conversations that have got it.
///
/// # Errors
/// The database failed.
pub(crate) async fn delete(store: &Store, owner: &str, audit: AuditEntry) -> Result<(), StoreError> {
    let owner = owner.to_owned();
    let write = store.write(move |db| {
        Box::pin(async move {
            let known = sql::query(DELETE).bind(&owner).execute(&mut *db).await?.rows_affected();
            let emptied = sql::query(EMPTY_BLOCKS).bind(&owner).execute(&mut *db).await?.rows_affected();
            match known + emptied {
                0 => Ok(()),
                _ => append_audit(db, vec![audit]).await,
            }
        })
    });
    write.await
}

/// Returns the text that a conversation of a user got when it began; `None` if it begins now.
///
/// # Errors
/// The database failed.
pub(crate) async fn find_block(
    store: &Store,
    owner: &str,
    conversation_id: &str,
) -> Result<Option<String>, StoreError> {
    let (owner, conversation_id) = (owner.to_owned(), conversation_id.to_owned());
    store.read(move |db| Box::pin(async move { read_block(db, &owner, &conversation_id).await })).await
}

/// Stores the profile text that the conversation's prompts contain from now on: the current text of
/// its user. Returns the stored text, which another run may have stored just before. `audit` makes
/// the row about a text.
///
/// # Errors
/// The database failed.
pub(crate) async fn insert_block(
    store: &Store,
    owner: &str,
    conversation_id: &str,
    now: i64,
    audit: impl Fn(&str) -> AuditEntry + Send + Sync + 'static,
) -> Result<String, StoreError> {
    let (owner, conversation_id) = (owner.to_owned(), conversation_id.to_owned());
    let write = store.write(move |db| {
        Box::pin(async move {
            let content = find(&mut *db, &owner).await?.map(|profile| profile.content).unwrap_or_default();
            let insert = sql::query(INSERT_BLOCK).bind(&conversation_id).bind(&owner).bind(&content).bind(now);
            if insert.execute(&mut *db).await?.rows_affected() == 0 {
                return Ok(read_block(db, &owner, &conversation_id).await?.unwrap_or_default());
            }
            if !content.is_empty() {
                append_audit(db, vec![audit(&content)]).await?;
            }
            Ok(content)
        })
    });
    write.await
}
