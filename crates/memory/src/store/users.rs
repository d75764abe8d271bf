//! The tables `memory_users` and `memory_switch`: the switches of users and of administrators.

use ::store::sql::{self, Db};
use ::store::{AuditEntry, Store, StoreError, append_audit};

/// The memory settings of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserState {
    pub(crate) is_enabled: bool,
    /// Grows when the user changes or deletes something.
    pub(crate) generation: i64,
}

/// The figures for administrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) users: i64,
    pub(crate) facts: i64,
    /// The users who have switched memory off.
    pub(crate) switched_off: i64,
}

const USER: &str = "SELECT enabled, generation FROM memory_users WHERE owner = $1";

const SET: &str = "
    INSERT INTO memory_users (owner, enabled, generation) VALUES ($1, $2, 1)
    ON CONFLICT (owner) DO UPDATE SET enabled = excluded.enabled, generation = memory_users.generation + 1";

const CHANGED: &str = "
    INSERT INTO memory_users (owner, enabled, generation) VALUES ($1, 1, 1)
    ON CONFLICT (owner) DO UPDATE SET generation = memory_users.generation + 1";

/// Changes nothing, but makes other transactions wait that change the memory of the user.
const LOCK: &str = "
    INSERT INTO memory_users (owner, enabled, generation) VALUES ($1, 1, 0)
    ON CONFLICT (owner) DO UPDATE SET enabled = memory_users.enabled";

const DROP_BLOCKS: &str = "DELETE FROM memory_blocks WHERE owner = $1";

const DROP_PENDING: &str = "
    DELETE FROM memory_reads WHERE read_at IS NULL AND conversation_id IN (SELECT id FROM conversations WHERE owner = $1)";

const IS_ON: &str = "SELECT enabled FROM memory_switch WHERE id = 1";

const SWITCH: &str = "
    INSERT INTO memory_switch (id, enabled) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled";

const TOTALS: &str = "
    SELECT count(DISTINCT owner) AS users, count(*) AS facts,
        (SELECT count(*) FROM memory_users WHERE enabled = 0) AS switched_off
    FROM memory_facts WHERE retired_by IS NULL";

/// Returns the memory settings of a user.
pub(crate) async fn user(db: &mut Db, owner: &str) -> Result<UserState, StoreError> {
    let row = sql::query(USER).bind(owner).fetch_optional(db).await?;
    match row {
        Some(row) => Ok(UserState { is_enabled: row.try_get("enabled")?, generation: row.try_get("generation")? }),
        None => Ok(UserState { is_enabled: true, generation: 0 }),
    }
}

/// Makes other transactions that change the memory of the user wait until this one ends.
pub(crate) async fn lock(db: &mut Db, owner: &str) -> Result<(), StoreError> {
    sql::query(LOCK).bind(owner).execute(db).await?;
    Ok(())
}

/// Records that the user has changed their memory: running extractions store nothing, and each
/// conversation gets the current facts with its next message.
pub(super) async fn changed(db: &mut Db, owner: &str) -> Result<(), StoreError> {
    sql::query(CHANGED).bind(owner).execute(&mut *db).await?;
    sql::query(DROP_BLOCKS).bind(owner).execute(db).await?;
    Ok(())
}

/// Gives each conversation of a user the current facts with its next message.
pub(crate) async fn forget_blocks(store: &Store, owner: &str) -> Result<(), StoreError> {
    let forget = sql::query(DROP_BLOCKS).bind(owner);
    store.write(move |db| Box::pin(async move { Ok(forget.execute(db).await.map(drop)?) })).await
}

/// Switches memory on or off for a user. Messages that are unread at that time are not read later.
pub(crate) async fn set_enabled(
    store: &Store,
    owner: &str,
    is_enabled: bool,
    audit: AuditEntry,
) -> Result<(), StoreError> {
    let owner = owner.to_owned();
    let write = store.write(move |db| {
        Box::pin(async move {
            sql::query(SET).bind(&owner).bind(is_enabled).execute(&mut *db).await?;
            sql::query(DROP_BLOCKS).bind(&owner).execute(&mut *db).await?;
            if !is_enabled {
                sql::query(DROP_PENDING).bind(&owner).execute(&mut *db).await?;
            }
            append_audit(db, vec![audit]).await
        })
    });
    write.await
}

/// Returns whether administrators have left memory on.
pub(crate) async fn is_on_for_all(db: &mut Db) -> Result<bool, StoreError> {
    Ok(sql::query_scalar::<bool>(IS_ON).fetch_optional(db).await?.unwrap_or(true))
}

/// Switches memory on or off for all users.
pub(crate) async fn set_on_for_all(store: &Store, is_on: bool, audit: AuditEntry) -> Result<(), StoreError> {
    let write = store.write(move |db| {
        Box::pin(async move {
            sql::query(SWITCH).bind(is_on).execute(&mut *db).await?;
            if !is_on {
                sql::query("DELETE FROM memory_reads WHERE read_at IS NULL").execute(&mut *db).await?;
                sql::query("DELETE FROM memory_blocks").execute(&mut *db).await?;
            }
            append_audit(db, vec![audit]).await
        })
    });
    write.await
}

/// Returns the figures.
pub(crate) async fn totals(store: &Store) -> Result<Totals, StoreError> {
    let find = sql::query(TOTALS);
    let row = store.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?) })).await?;
    Ok(Totals {
        users: row.try_get("users")?,
        facts: row.try_get("facts")?,
        switched_off: row.try_get("switched_off")?,
    })
}
