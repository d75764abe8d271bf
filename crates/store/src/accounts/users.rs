//! Table `users`: users who sign in on this server.

use crate::sql::{self, Db, Row, Sql};
use crate::{AuditEntry, Store, StoreError, audit};
use serde::de::DeserializeOwned;

/// The column `granted_roles` of the user `u`: the lists of roles of the user's groups, as a JSON list.
macro_rules! granted_roles {
    () => {
        "(SELECT '[' || coalesce(string_agg(granting.roles, ','), '') || ']' FROM user_group_members membership
          JOIN user_groups granting ON granting.id = membership.group_id WHERE membership.user_id = u.id) AS granted_roles"
    };
}
pub(crate) use granted_roles;

/// A user, without the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's id, which is the owner of their data.
    pub id: String,
    /// The name for signing in, as the user wrote it.
    pub name: String,
    /// The user's roles, as named in the config: those that administrators gave the user, then those of the user's
    /// groups.
    pub roles: Vec<String>,
    /// When the user was disabled; Unix time, milliseconds.
    pub disabled_at: Option<i64>,
}

/// The password of a user, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPassword {
    /// The hash; empty for a user without a password.
    pub hash: String,
    /// Whether an administrator has set it. The user must replace it before they are signed in.
    pub must_change: bool,
}

/// A new user.
#[derive(Clone)]
pub struct NewUser {
    /// A new, unique id.
    pub id: String,
    /// The name for signing in.
    pub name: String,
    /// The name in normalized form, for comparisons.
    pub name_key: String,
    /// The password hash; empty for a user without a password.
    pub password: String,
    /// Whether the user must replace the password before they are signed in.
    pub must_change_password: bool,
    /// The user's roles.
    pub roles: Vec<String>,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// The outcome of adding a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddUserOutcome {
    /// The user was added.
    Done,
    /// Another user has this name.
    NameTaken,
    /// The user was to be the first one, but there are users already.
    NotTheFirst,
    /// Another user has the identity at the provider.
    IdentityTaken,
    /// The invitation was accepted before or revoked, or has expired, or its creator is no longer an administrator.
    NotInvited,
}

const INSERT: &str = "
    INSERT INTO users (id, name, name_key, password, roles, created_at, password_changed_at, must_change_password)
    VALUES ($1, $2, $3, $4, $5, $6, $6, $7) ON CONFLICT (name_key) DO NOTHING";

const ANY: &str = "SELECT EXISTS (SELECT 1 FROM users)";

const BY_NAME: &str = concat!(
    "SELECT u.id, u.name, u.roles, u.disabled_at, u.password, u.must_change_password = 1 AS must_change_password, ",
    granted_roles!(),
    " FROM users u WHERE u.name_key = $1"
);

pub(crate) const BY_ID: &str = concat!(
    "SELECT u.id, u.name, u.roles, u.disabled_at, u.password, u.must_change_password = 1 AS must_change_password, ",
    granted_roles!(),
    " FROM users u WHERE u.id = $1"
);

/// Normalized names after a name, in order: all names, or those with non-ASCII characters.
const NAMES: Sql = Sql::pair(
    "SELECT name_key FROM users WHERE name_key > $1 AND ($2 = 1 OR length(CAST(name_key AS BLOB)) > length(name_key))
     ORDER BY name_key LIMIT $3",
    "SELECT name_key FROM users WHERE name_key > $1 AND ($2 = 1 OR octet_length(name_key) > char_length(name_key))
     ORDER BY name_key LIMIT $3",
);

/// Only if the hash is still the one that was checked: of two concurrent changes one takes effect.
const SET_PASSWORD: &str = "
    UPDATE users SET password = $3, password_changed_at = $4, must_change_password = 0
    WHERE id = $1 AND password = $2 AND disabled_at IS NULL
    AND ($5 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE user_id = $1 AND id = $5))";

/// Whether the hash is still the one that was checked, and not that of a password which the user must replace.
const HAS_PASSWORD: &str = "
    SELECT EXISTS (SELECT 1 FROM users
                   WHERE id = $1 AND password = $2 AND must_change_password = 0 AND disabled_at IS NULL)";

const SET_DISABLED: &str = "UPDATE users SET disabled_at = $2 WHERE id = $1";

impl Store {
    /// Adds a user, and writes `entry` to the audit log in the same transaction; with `first`, only
    /// if there are no users yet, even when several are added concurrently.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_user(
        &self,
        user: NewUser,
        first: bool,
        entry: Option<AuditEntry>,
    ) -> Result<AddUserOutcome, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                let added = insert_user(db, user, first).await?;
                if added == AddUserOutcome::Done {
                    audit::append_audit(db, entry.into_iter().collect()).await?;
                }
                Ok(added)
            })
        })
        .await
    }

    /// Returns whether there are any users.
    ///
    /// # Errors
    /// The database failed.
    pub async fn has_users(&self) -> Result<bool, StoreError> {
        self.read(|db| Box::pin(async move { Ok(sql::query_scalar(ANY).fetch_one(db).await?) })).await
    }

    /// Returns the user with this normalized name, and the password.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_by_name(&self, name_key: &str) -> Result<Option<(User, StoredPassword)>, StoreError> {
        self.user(BY_NAME, name_key).await
    }

    /// Returns normalized names after `after`, in order: all of them, or those with non-ASCII characters.
    ///
    /// # Errors
    /// The database failed.
    pub async fn name_keys(&self, all: bool, after: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        let names = sql::query(NAMES).bind(after.to_owned()).bind(all).bind(limit);
        self.rows(names, |row| Ok(row.try_get("name_key")?)).await
    }

    /// Returns the user with this id, and the password.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_by_id(&self, id: &str) -> Result<Option<(User, StoredPassword)>, StoreError> {
        self.user(BY_ID, id).await
    }

    /// Replaces the password of a user whose current hash is `old`, ends all their sessions, and writes `entry` to the
    /// audit log, in one transaction. Returns false when the hash has changed, the user is disabled or unknown, or the
    /// session with the id `session`, in which they change it, has ended.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_password(
        &self,
        id: &str,
        session: Option<&str>,
        (old, new): (&str, &str),
        now: i64,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let (id, old, new) = (id.to_owned(), old.to_owned(), new.to_owned());
        let set = sql::query(SET_PASSWORD).bind(&id).bind(old).bind(new).bind(now).bind(session.map(str::to_owned));
        self.write(move |db| {
            Box::pin(async move {
                if set.execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(false);
                }
                sql::query("DELETE FROM sessions WHERE user_id = $1").bind(id).execute(&mut *db).await?;
                audit::append_audit(db, entry.into_iter().collect()).await?;
                Ok(true)
            })
        })
        .await
    }

    /// Disables a user from `since` on, Unix time in milliseconds, or enables them again. Returns
    /// false when the user is unknown.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_disabled(&self, id: &str, since: Option<i64>) -> Result<bool, StoreError> {
        Ok(self.execute(sql::query(SET_DISABLED).bind(id).bind(since)).await? > 0)
    }

    async fn user(&self, query: &'static str, key: &str) -> Result<Option<(User, StoredPassword)>, StoreError> {
        self.optional_row(sql::query(query).bind(key), |row| Ok((user(row)?, password(row)?))).await
    }
}

/// Returns whether a user has the password with this hash, and may sign in with it.
pub(crate) async fn has_password(db: &mut Db, id: &str, hash: String) -> Result<bool, StoreError> {
    Ok(sql::query_scalar(HAS_PASSWORD).bind(id.to_owned()).bind(hash).fetch_one(db).await?)
}

/// Inserts a user; with `first`, only if there are no users yet.
pub(crate) async fn insert_user(db: &mut Db, user: NewUser, first: bool) -> Result<AddUserOutcome, StoreError> {
    // Without a race: the writer's transaction is the only one that writes.
    if first && sql::query_scalar::<bool>(ANY).fetch_one(&mut *db).await? {
        return Ok(AddUserOutcome::NotTheFirst);
    }
    let insert = sql::query(INSERT).bind(user.id).bind(user.name).bind(user.name_key).bind(user.password);
    let insert = insert.bind(encode_list(&user.roles)).bind(user.now).bind(user.must_change_password);
    let done = insert.execute(db).await?;
    Ok(if done.rows_affected() > 0 { AddUserOutcome::Done } else { AddUserOutcome::NameTaken })
}

/// Reads a user from a row with the columns of a user.
pub(crate) fn user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        roles: all_roles(row.try_get("roles")?, row)?,
        disabled_at: row.try_get("disabled_at")?,
    })
}

/// Returns the roles that an administrator gave the user of a row, and those of the user's groups in the row.
pub(crate) fn all_roles(own: &str, row: &Row) -> Result<Vec<String>, StoreError> {
    let mut roles = decode_list(own)?;
    let granted: Vec<Vec<String>> = decode(row.try_get("granted_roles")?)?;
    for role in granted.into_iter().flatten() {
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    Ok(roles)
}

/// Reads the password from a row with the columns of a user.
fn password(row: &Row) -> Result<StoredPassword, StoreError> {
    Ok(StoredPassword { hash: row.try_get("password")?, must_change: row.try_get("must_change_password")? })
}

/// Encodes strings as a JSON list.
pub(crate) fn encode_list(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

/// Decodes a JSON list of strings.
pub(crate) fn decode_list(list: &str) -> Result<Vec<String>, StoreError> {
    decode(list)
}

/// Decodes a JSON value of a column.
pub(crate) fn decode<T: DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Failed(error.to_string()))
}
