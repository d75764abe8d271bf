//! Table `api_keys`: the API keys of users.

use crate::accounts::users::{User, decode_list, encode_list, granted_roles, user};
use crate::sql::{self, Row};
use crate::{AuditEntry, Store, StoreError};

/// The maximum number of API keys of one user.
pub const MAX_API_KEYS: u32 = 50;
/// The resolution of `used_at`, in milliseconds, so that not every request writes it.
pub(crate) const USED_EVERY: i64 = 60_000;

/// A new API key.
#[derive(Clone, Debug)]
pub struct NewApiKey {
    /// A new, unique id.
    pub id: String,
    /// The user to whom the key belongs.
    pub user_id: String,
    /// The name that the user gave the key.
    pub name: String,
    /// SHA-256 of the key.
    pub key_hash: [u8; 32],
    /// The scopes of the key.
    pub scopes: Vec<String>,
    /// Unix time, milliseconds.
    pub now: i64,
    /// Unix time, milliseconds.
    pub expires_at: i64,
}

/// A row of a user's list of API keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRow {
    /// The key's id.
    pub id: String,
    /// The name that the user gave the key.
    pub name: String,
    /// The scopes of the key.
    pub scopes: Vec<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub expires_at: i64,
    /// When the key was last used, Unix time in milliseconds, to the minute.
    pub used_at: Option<i64>,
}

/// Inserts nothing if the user has the maximum number of keys.
const INSERT: &str = "
    INSERT INTO api_keys (id, user_id, name, key_hash, scopes, created_at, expires_at)
    SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM api_keys WHERE user_id = $2) < $8";

const BY_KEY: &str = concat!(
    "SELECT u.id, u.name, u.roles, u.disabled_at, k.id AS key_id, k.scopes, k.used_at, ",
    granted_roles!(),
    " FROM api_keys k JOIN users u ON u.id = k.user_id
    WHERE k.key_hash = $1 AND k.expires_at > $2 AND u.disabled_at IS NULL"
);

const USED: &str = "UPDATE api_keys SET used_at = $2 WHERE id = $1";

const LIST: &str = "
    SELECT id, name, scopes, created_at, expires_at, used_at FROM api_keys
    WHERE user_id = $1 ORDER BY created_at DESC, id DESC";

const DELETE: &str = "DELETE FROM api_keys WHERE user_id = $1 AND id = $2";

impl Store {
    /// Creates an API key, and writes `entry` to the audit log in the same transaction. Returns
    /// false if the user already has [`MAX_API_KEYS`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_api_key(&self, key: NewApiKey, entry: Option<AuditEntry>) -> Result<bool, StoreError> {
        let insert = sql::query(INSERT)
            .bind(key.id)
            .bind(key.user_id)
            .bind(key.name)
            .bind(key.key_hash.to_vec())
            .bind(encode_list(&key.scopes))
            .bind(key.now)
            .bind(key.expires_at)
            .bind(MAX_API_KEYS);
        self.execute_audited(insert, entry).await
    }

    /// Returns the user of a valid key and the key's scopes. A key is invalid if it is unknown or
    /// expired, or its user is disabled.
    ///
    /// # Errors
    /// The database failed.
    pub async fn api_key(&self, key_hash: [u8; 32], now: i64) -> Result<Option<(User, Vec<String>)>, StoreError> {
        let found = self.read(move |db| {
            Box::pin(async move {
                let row = sql::query(BY_KEY).bind(key_hash.to_vec()).bind(now).fetch_optional(db).await?;
                let Some(row) = row else { return Ok(None) };
                let (id, used_at): (String, Option<i64>) = (row.try_get("key_id")?, row.try_get("used_at")?);
                Ok(Some((user(&row)?, decode_list(row.try_get("scopes")?)?, id, used_at)))
            })
        });
        let Some((user, scopes, id, used_at)) = found.await? else { return Ok(None) };
        if used_at.is_none_or(|used_at| now - used_at >= USED_EVERY) {
            let used = sql::query(USED).bind(id).bind(now);
            self.execute(used).await?;
        }
        Ok(Some((user, scopes)))
    }

    /// Returns a user's API keys, newest first, including expired ones.
    ///
    /// # Errors
    /// The database failed.
    pub async fn api_keys(&self, user_id: &str) -> Result<Vec<ApiKeyRow>, StoreError> {
        self.rows(sql::query(LIST).bind(user_id), api_key).await
    }

    /// Revokes a user's API key, and writes `entry` to the audit log in the same transaction.
    /// Returns false if the key is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_api_key(&self, user_id: &str, id: &str, entry: Option<AuditEntry>) -> Result<bool, StoreError> {
        let delete = sql::query(DELETE).bind(user_id.to_owned()).bind(id.to_owned());
        self.execute_audited(delete, entry).await
    }
}

pub(crate) fn api_key(row: &Row) -> Result<ApiKeyRow, StoreError> {
    Ok(ApiKeyRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        scopes: decode_list(row.try_get("scopes")?)?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        used_at: row.try_get("used_at")?,
    })
}
