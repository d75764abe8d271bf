//! Table `users`: who signs in with a password.

use crate::sql::{self, Db, Row, Sql};
use crate::{AuditEntry, Store, StoreError, audit};

/// A user, without his password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// His id, the owner of what is his.
    pub id: String,
    /// The name that he signs in with, as he wrote it.
    pub name: String,
    /// What he is, in the config's words.
    pub roles: Vec<String>,
    /// Since when he may not sign in; Unix time, milliseconds.
    pub disabled_at: Option<i64>,
}

/// A user who is new.
#[derive(Clone)]
pub struct NewUser {
    /// His id; nobody had it before.
    pub id: String,
    /// The name that he signs in with.
    pub name: String,
    /// The same in the form in which names are compared.
    pub name_key: String,
    /// The hash of his password.
    pub password: String,
    /// What he is.
    pub roles: Vec<String>,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// What came of a new user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// He is there.
    Done,
    /// Somebody has this name.
    NameTaken,
    /// He was to be the first, and is not.
    NotTheFirst,
}

const INSERT: &str = "
    INSERT INTO users (id, name, name_key, password, roles, created_at, password_changed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (name_key) DO NOTHING";

const ANY: &str = "SELECT EXISTS (SELECT 1 FROM users)";

const BY_NAME: &str = "SELECT id, name, roles, disabled_at, password FROM users WHERE name_key = $1";

const BY_ID: &str = "SELECT id, name, roles, disabled_at, password FROM users WHERE id = $1";

/// Names after one, in order: all, or those with other characters than those of ASCII.
const NAMES: Sql = Sql::pair(
    "SELECT name_key FROM users WHERE name_key > $1 AND ($2 = 1 OR length(CAST(name_key AS BLOB)) > length(name_key))
     ORDER BY name_key LIMIT $3",
    "SELECT name_key FROM users WHERE name_key > $1 AND ($2 = 1 OR octet_length(name_key) > char_length(name_key))
     ORDER BY name_key LIMIT $3",
);

/// Only from the password that was looked at: of two changes at once, one counts.
const SET_PASSWORD: &str = "
    UPDATE users SET password = $3, password_changed_at = $4 WHERE id = $1 AND password = $2 AND disabled_at IS NULL";

const SET_DISABLED: &str = "UPDATE users SET disabled_at = $2 WHERE id = $1";

impl Store {
    /// Adds a user, and enters it in the audit log if `entry` says how; with `first`, only if there is none yet, however many try
    /// at once.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_user(&self, user: NewUser, first: bool, entry: Option<AuditEntry>) -> Result<Added, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                let added = add(db, user, first).await?;
                if added == Added::Done {
                    audit::append(db, entry.into_iter().collect()).await?;
                }
                Ok(added)
            })
        })
        .await
    }

    /// Whether there is any user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn has_users(&self) -> Result<bool, StoreError> {
        self.read(|db| Box::pin(async move { Ok(sql::query_scalar(ANY).fetch_one(db).await?) })).await
    }

    /// The user with this name, in the form in which names are compared, and the hash of his password.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_by_name(&self, name_key: &str) -> Result<Option<(User, String)>, StoreError> {
        self.user(BY_NAME, name_key).await
    }

    /// Names after `after` in the form in which names are compared, in order: all of them, or those with other characters than those
    /// of ASCII.
    ///
    /// # Errors
    /// The database failed.
    pub async fn name_keys(&self, all: bool, after: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        let names = sql::query(NAMES).bind(after.to_owned()).bind(all).bind(limit);
        self.read(move |db| {
            Box::pin(async move { names.fetch_all(db).await?.iter().map(|row| Ok(row.try_get("name_key")?)).collect() })
        })
        .await
    }

    /// The user with this id, and the hash of his password.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_by_id(&self, id: &str) -> Result<Option<(User, String)>, StoreError> {
        self.user(BY_ID, id).await
    }

    /// Replaces the password of a user whose hash is `old`, ends all their sessions, and enters it in the audit log if `entry` says
    /// how. False when it is not their password any more, or they are disabled or unknown.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_password(
        &self,
        id: &str,
        old: &str,
        new: &str,
        now: i64,
        entry: Option<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let (id, old, new) = (id.to_owned(), old.to_owned(), new.to_owned());
        self.write(move |db| {
            Box::pin(async move {
                let done = sql::query(SET_PASSWORD).bind(&id).bind(old).bind(new).bind(now).execute(&mut *db).await?;
                if done.rows_affected() == 0 {
                    return Ok(false);
                }
                sql::query("DELETE FROM sessions WHERE user_id = $1").bind(id).execute(&mut *db).await?;
                audit::append(db, entry.into_iter().collect()).await?;
                Ok(true)
            })
        })
        .await
    }

    /// Takes a user's rights away from `since` on, Unix time in milliseconds, or gives them back. False when he is unknown.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_disabled(&self, id: &str, since: Option<i64>) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |db| {
            Box::pin(
                async move { Ok(sql::query(SET_DISABLED).bind(id).bind(since).execute(db).await?.rows_affected() > 0) },
            )
        })
        .await
    }

    async fn user(&self, query: &'static str, key: &str) -> Result<Option<(User, String)>, StoreError> {
        let key = key.to_owned();
        self.read(move |db| {
            Box::pin(async move {
                let row = sql::query(query).bind(key).fetch_optional(db).await?;
                row.map(|row| Ok((user(&row)?, row.try_get("password")?))).transpose()
            })
        })
        .await
    }
}

async fn add(db: &mut Db, user: NewUser, first: bool) -> Result<Added, StoreError> {
    // The writer's transaction is the only one that writes, so nobody comes between.
    if first && sql::query_scalar::<bool>(ANY).fetch_one(&mut *db).await? {
        return Ok(Added::NotTheFirst);
    }
    let insert = sql::query(INSERT).bind(user.id).bind(user.name).bind(user.name_key).bind(user.password);
    let done = insert.bind(list(&user.roles)).bind(user.now).execute(db).await?;
    Ok(if done.rows_affected() > 0 { Added::Done } else { Added::NameTaken })
}

/// A user out of a row with his columns.
pub(crate) fn user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        roles: texts(row.try_get("roles")?)?,
        disabled_at: row.try_get("disabled_at")?,
    })
}

/// Texts as a JSON list.
pub(crate) fn list(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

/// A JSON list of texts.
pub(crate) fn texts(list: &str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(list).map_err(|error| StoreError::Failed(error.to_string()))
}
