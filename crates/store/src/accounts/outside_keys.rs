//! Table `outside_keys`: the API keys of external users, who sign in elsewhere (in the modes `jwt`,
//! `proxy` and `local`). The server has no row for such a user, so each key has a copy of the
//! user's name and roles as of their last request.

use crate::accounts::api_keys::{MAX_API_KEYS, USED_EVERY, api_key};
use crate::accounts::users::{decode_list, encode_list};
use crate::sql;
use crate::{ApiKeyRow, AuditEntry, NewApiKey, Store, StoreError, audit};

/// An external user, as described by their last request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalUser {
    /// The authentication mode; in another mode the same id may be another user.
    pub mode: &'static str,
    /// The user's id.
    pub id: String,
    /// The user's display name.
    pub name: Option<String>,
    /// The user's roles.
    pub roles: Vec<String>,
}

/// Inserts nothing if the user has the maximum number of keys.
const INSERT: &str = "
    INSERT INTO outside_keys (id, mode, user_id, user_name, roles, name, key_hash, scopes, created_at, expires_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
    WHERE (SELECT count(*) FROM outside_keys WHERE user_id = $3 AND mode = $2) < $11";

const DELETE_OLD: &str = "DELETE FROM outside_keys WHERE expires_at <= $1";

const BY_KEY: &str = "
    SELECT id, user_id, user_name, roles, scopes, used_at FROM outside_keys
    WHERE key_hash = $1 AND mode = $2 AND expires_at > $3";

const USED: &str = "UPDATE outside_keys SET used_at = $2 WHERE id = $1";

const LIST: &str = "
    SELECT id, name, scopes, created_at, expires_at, used_at FROM outside_keys
    WHERE user_id = $1 AND mode = $2 ORDER BY created_at DESC, id DESC";

const DELETE: &str = "DELETE FROM outside_keys WHERE user_id = $1 AND mode = $2 AND id = $3";

const IS_OLD: &str = "
    SELECT EXISTS (SELECT 1 FROM outside_keys WHERE user_id = $1 AND mode = $2
        AND (roles <> $3 OR user_name IS DISTINCT FROM $4)) AS is_old";

const FOLLOW: &str = "UPDATE outside_keys SET roles = $3, user_name = $4 WHERE user_id = $1 AND mode = $2";

impl Store {
    /// Creates an API key, deletes expired ones of all users, and writes `entry` to the audit log,
    /// in one transaction. Returns false if the user already has [`MAX_API_KEYS`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_external_key(
        &self,
        user: ExternalUser,
        key: NewApiKey,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let delete = sql::query(DELETE_OLD).bind(key.now);
        let insert = sql::query(INSERT).bind(key.id).bind(user.mode).bind(user.id).bind(user.name);
        let insert = insert
            .bind(encode_list(&user.roles))
            .bind(key.name)
            .bind(key.key_hash.to_vec())
            .bind(encode_list(&key.scopes));
        let insert = insert.bind(key.now).bind(key.expires_at).bind(MAX_API_KEYS);
        self.write(move |db| {
            Box::pin(async move {
                delete.execute(&mut *db).await?;
                audit::execute(db, insert, entry).await
            })
        })
        .await
    }

    /// Returns the user of a key that is valid in this mode and the key's scopes. A key is invalid
    /// if it is unknown or expired.
    ///
    /// # Errors
    /// The database failed.
    pub async fn external_key(
        &self,
        key_hash: [u8; 32],
        mode: &'static str,
        now: i64,
    ) -> Result<Option<(ExternalUser, Vec<String>)>, StoreError> {
        let found = self.read(move |db| {
            Box::pin(async move {
                let find = sql::query(BY_KEY).bind(key_hash.to_vec()).bind(mode).bind(now);
                let Some(row) = find.fetch_optional(db).await? else { return Ok(None) };
                let (id, name) = (row.try_get("user_id")?, row.try_get("user_name")?);
                let user = ExternalUser { mode, id, name, roles: decode_list(row.try_get("roles")?)? };
                let (key, used_at): (String, Option<i64>) = (row.try_get("id")?, row.try_get("used_at")?);
                Ok(Some((user, decode_list(row.try_get("scopes")?)?, key, used_at)))
            })
        });
        let Some((user, scopes, key, used_at)) = found.await? else { return Ok(None) };
        if used_at.is_none_or(|used_at| now - used_at >= USED_EVERY) {
            let used = sql::query(USED).bind(key).bind(now);
            self.execute(used).await?;
        }
        Ok(Some((user, scopes)))
    }

    /// Returns a user's API keys, newest first, including those that expired recently.
    ///
    /// # Errors
    /// The database failed.
    pub async fn external_keys(&self, user_id: &str, mode: &'static str) -> Result<Vec<ApiKeyRow>, StoreError> {
        let find = sql::query(LIST).bind(user_id.to_owned()).bind(mode);
        self.rows(find, api_key).await
    }

    /// Revokes a user's API key, and writes `entry` to the audit log in the same transaction.
    /// Returns false if the key is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_external_key(
        &self,
        user_id: &str,
        mode: &'static str,
        id: &str,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let delete = sql::query(DELETE).bind(user_id.to_owned()).bind(mode).bind(id.to_owned());
        self.execute_audited(delete, entry).await
    }

    /// Updates the name and roles in a user's keys. Writes nothing if they are up to date.
    ///
    /// # Errors
    /// The database failed.
    pub async fn update_external_user(&self, user: ExternalUser) -> Result<(), StoreError> {
        let roles = encode_list(&user.roles);
        let bound = move |query: &'static str| {
            let query = sql::query(query).bind(user.id.clone()).bind(user.mode).bind(roles.clone());
            query.bind(user.name.clone())
        };
        let find = bound(IS_OLD);
        let is_old =
            self.read(move |db| Box::pin(async move { Ok(find.fetch_one(db).await?.try_get::<bool>("is_old")?) }));
        if is_old.await? {
            let follow = bound(FOLLOW);
            self.execute(follow).await?;
        }
        Ok(())
    }
}
