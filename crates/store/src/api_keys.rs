//! Table `api_keys`: what users' programs are known by.

use crate::sql::{self, Row};
use crate::users::{User, list, texts, user};
use crate::{AuditEntry, Store, StoreError, audit};

/// Keys of one user at once.
pub const MAX_API_KEYS: u32 = 50;
/// How exact `used_at` is, in milliseconds: it is not written at each request.
pub(crate) const USED_EVERY: i64 = 60_000;

/// A key that is made.
#[derive(Clone, Debug)]
pub struct NewApiKey {
    /// Its id; nobody had it before.
    pub id: String,
    /// Whose it is.
    pub user_id: String,
    /// What its user calls it.
    pub name: String,
    /// SHA-256 of the key.
    pub key_hash: [u8; 32],
    /// What it is for.
    pub scopes: Vec<String>,
    /// Unix time, milliseconds.
    pub now: i64,
    /// Unix time, milliseconds.
    pub expires_at: i64,
}

/// A line of a user's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// Its id.
    pub id: String,
    /// What its user calls it.
    pub name: String,
    /// What it is for.
    pub scopes: Vec<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub expires_at: i64,
    /// When it was used last, to the minute.
    pub used_at: Option<i64>,
}

/// As long as there are not too many.
const INSERT: &str = "
    INSERT INTO api_keys (id, user_id, name, key_hash, scopes, created_at, expires_at)
    SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM api_keys WHERE user_id = $2) < $8";

const BY_KEY: &str = "
    SELECT u.id, u.name, u.roles, u.disabled_at, k.id AS key_id, k.scopes, k.used_at
    FROM api_keys k JOIN users u ON u.id = k.user_id
    WHERE k.key_hash = $1 AND k.expires_at > $2 AND u.disabled_at IS NULL";

const USED: &str = "UPDATE api_keys SET used_at = $2 WHERE id = $1";

const LIST: &str = "
    SELECT id, name, scopes, created_at, expires_at, used_at FROM api_keys
    WHERE user_id = $1 ORDER BY created_at DESC, id DESC";

const DELETE: &str = "DELETE FROM api_keys WHERE user_id = $1 AND id = $2";

impl Store {
    /// Makes a key, and enters it in the audit log if `entry` says how. False when its user has [`MAX_API_KEYS`] already.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_api_key(&self, key: NewApiKey, entry: Option<AuditEntry>) -> Result<bool, StoreError> {
        let insert = sql::query(INSERT)
            .bind(key.id)
            .bind(key.user_id)
            .bind(key.name)
            .bind(key.key_hash.to_vec())
            .bind(list(&key.scopes))
            .bind(key.now)
            .bind(key.expires_at)
            .bind(MAX_API_KEYS);
        self.write(move |db| Box::pin(audit::execute(db, insert, entry))).await
    }

    /// The user of a key that counts, and what it is for; none otherwise.
    ///
    /// # Errors
    /// The database failed.
    pub async fn api_key(&self, key_hash: [u8; 32], now: i64) -> Result<Option<(User, Vec<String>)>, StoreError> {
        let found = self.read(move |db| {
            Box::pin(async move {
                let row = sql::query(BY_KEY).bind(key_hash.to_vec()).bind(now).fetch_optional(db).await?;
                let Some(row) = row else { return Ok(None) };
                let (id, used_at): (String, Option<i64>) = (row.try_get("key_id")?, row.try_get("used_at")?);
                Ok(Some((user(&row)?, texts(row.try_get("scopes")?)?, id, used_at)))
            })
        });
        let Some((user, scopes, id, used_at)) = found.await? else { return Ok(None) };
        if used_at.is_none_or(|used_at| now - used_at >= USED_EVERY) {
            let used = sql::query(USED).bind(id).bind(now);
            self.write(move |db| Box::pin(async move { Ok(used.execute(db).await?.rows_affected()) })).await?;
        }
        Ok(Some((user, scopes)))
    }

    /// A user's keys, the newest first; those that have expired, too.
    ///
    /// # Errors
    /// The database failed.
    pub async fn api_keys(&self, user_id: &str) -> Result<Vec<ApiKeyRow>, StoreError> {
        let user_id = user_id.to_owned();
        self.read(move |db| {
            Box::pin(async move { sql::query(LIST).bind(user_id).fetch_all(db).await?.iter().map(api_key).collect() })
        })
        .await
    }

    /// Deletes a key of a user, and enters it in the audit log if `entry` says how. False when it is unknown or someone else's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_api_key(&self, user_id: &str, id: &str, entry: Option<AuditEntry>) -> Result<bool, StoreError> {
        let delete = sql::query(DELETE).bind(user_id.to_owned()).bind(id.to_owned());
        self.write(move |db| Box::pin(audit::execute(db, delete, entry))).await
    }
}

pub(crate) fn api_key(row: &Row) -> Result<ApiKeyRow, StoreError> {
    Ok(ApiKeyRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        scopes: texts(row.try_get("scopes")?)?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        used_at: row.try_get("used_at")?,
    })
}
