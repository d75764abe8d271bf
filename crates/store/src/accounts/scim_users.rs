//! Table `scim_users`: users whom a directory manages over SCIM, as it describes them. Their accounts are in `users`.

use crate::accounts::users::{self, User, decode, insert_user, user};
use crate::admin::{ChangeUserOutcome, UserChange, apply_user_change};
use crate::sql::{self, Db, QueryBuilder, Row};
use crate::{AddUserOutcome, AuditEntry, NewUser, Store, StoreError, audit};
use serde_json::{Map, Value};

/// The most users of a page of the list.
pub const MAX_SCIM_USERS_LISTED: u32 = 200;

/// The profile of a user in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScimProfile {
    /// The unique name in the directory.
    pub user_name: String,
    /// That name in normalized form.
    pub user_name_key: String,
    /// The id in the directory, which is unique as well.
    pub external_id: Option<String>,
    /// The name for display in normalized form, to be found by it.
    pub display_name: Option<String>,
    /// All other attributes.
    pub attributes: Map<String, Value>,
}

/// A user whom a directory manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScimUser {
    /// The id of the account.
    pub id: String,
    /// The name of the account, for signing in.
    pub name: String,
    /// The profile in the directory.
    pub profile: ScimProfile,
    /// Whether the user may sign in.
    pub active: bool,
    /// When the directory began to manage the user; Unix time, milliseconds.
    pub created_at: i64,
    /// Unix time, milliseconds.
    pub updated_at: i64,
}

/// A change of a user by the directory.
#[derive(Clone, Debug)]
pub struct ScimUserChange {
    /// The newest profile in the directory.
    pub profile: ScimProfile,
    /// A new name of the account, and its normalized form.
    pub name: Option<(String, String)>,
    /// Disables the user, or enables them again.
    pub active: Option<bool>,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// The outcome of adding or changing a user for a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScimUserOutcome {
    /// The user was added or changed.
    Done,
    /// There is no such user.
    Unknown,
    /// Another user has this name in the directory.
    UserNameTaken,
    /// Another user has this id in the directory.
    ExternalIdTaken,
    /// Another account has the name, or the account is managed already.
    NameTaken,
    /// Refused, because no administrator would be left.
    LastAdmin,
}

const SELECT: &str = "
    SELECT s.user_id, u.name, u.disabled_at, s.user_name, s.user_name_key, s.external_id, s.display_name, s.attributes,
        s.created_at, s.updated_at
    FROM scim_users s JOIN users u ON u.id = s.user_id WHERE u.deleted_at IS NULL AND ";

const COUNT: &str =
    "SELECT count(*) FROM scim_users s JOIN users u ON u.id = s.user_id WHERE u.deleted_at IS NULL AND ";

const INSERT: &str = "
    INSERT INTO scim_users (user_id, user_name, user_name_key, external_id, display_name, attributes, created_at, updated_at)
    SELECT $1, $2, $3, $4, $5, $6, $7, $7 WHERE EXISTS (SELECT 1 FROM users WHERE id = $1 AND deleted_at IS NULL)
    ON CONFLICT (user_id) DO NOTHING";

const UPDATE: &str = "
    UPDATE scim_users SET user_name = $2, user_name_key = $3, external_id = $4, display_name = $5, attributes = $6,
        updated_at = $7
    WHERE user_id = $1";

const NAME_TAKEN: &str = "SELECT EXISTS (SELECT 1 FROM scim_users WHERE user_name_key = $1 AND user_id <> $2)";
const ID_TAKEN: &str = "SELECT EXISTS (SELECT 1 FROM scim_users WHERE external_id = $1 AND user_id <> $2)";
const ACCOUNT_NAME_TAKEN: &str = "SELECT EXISTS (SELECT 1 FROM users WHERE name_key = $1 AND id <> $2)";
const OF_EXTERNAL_ID: &str = "SELECT user_id FROM scim_users WHERE external_id = $1";

impl Store {
    /// Returns users of the directory, the longest-managed first: at most `limit` (and [`MAX_SCIM_USERS_LISTED`])
    /// after the first `offset`, and the number of all that match. `condition` appends an expression with the columns
    /// of `scim_users` as `s` and of `users` as `u`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn scim_users(
        &self,
        condition: impl Fn(&mut QueryBuilder),
        offset: u32,
        limit: u32,
    ) -> Result<(Vec<ScimUser>, i64), StoreError> {
        let (mut list, mut count) = (QueryBuilder::new(SELECT), QueryBuilder::new(COUNT));
        condition(&mut list);
        condition(&mut count);
        list.push(" ORDER BY s.created_at, s.user_id LIMIT ").push_bind(limit.min(MAX_SCIM_USERS_LISTED));
        list.push(" OFFSET ").push_bind(offset);
        self.read(move |db| {
            Box::pin(async move {
                let count: i64 = count.build().fetch_optional(&mut *db).await?.map_or(Ok(0), |row| row.try_get(0))?;
                let rows = list.build().fetch_all(db).await?;
                Ok((rows.iter().map(scim_user).collect::<Result<_, _>>()?, count))
            })
        })
        .await
    }

    /// Returns a user of the directory.
    ///
    /// # Errors
    /// The database failed.
    pub async fn scim_user(&self, id: &str) -> Result<Option<ScimUser>, StoreError> {
        let has_id = |query: &mut QueryBuilder| {
            query.push("s.user_id = ").push_bind(id);
        };
        Ok(self.scim_users(has_id, 0, 1).await?.0.pop())
    }

    /// Returns the user with an id in the directory.
    ///
    /// # Errors
    /// The database failed.
    pub async fn user_by_external_id(&self, external_id: &str) -> Result<Option<User>, StoreError> {
        let find = sql::query_scalar(OF_EXTERNAL_ID).bind(external_id.to_owned());
        self.read(move |db| {
            Box::pin(async move {
                let Some::<String>(id) = find.fetch_optional(&mut *db).await? else { return Ok(None) };
                let row = sql::query(users::BY_ID).bind(id).fetch_optional(db).await?;
                row.as_ref().map(user).transpose()
            })
        })
        .await
    }

    /// Adds a user for the directory, who is disabled at once unless `active`, and writes `entry` to the audit log in
    /// the same transaction.
    ///
    /// # Errors
    /// The database failed.
    pub async fn add_scim_user(
        &self,
        new: NewUser,
        profile: ScimProfile,
        active: bool,
        entry: AuditEntry,
    ) -> Result<ScimUserOutcome, StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                let (id, now) = (new.id.clone(), new.now);
                if let Some(taken) = taken(db, &profile, &id).await? {
                    return Ok(taken);
                }
                if insert_user(db, new, false).await? != AddUserOutcome::Done {
                    return Ok(ScimUserOutcome::NameTaken);
                }
                insert(db, &id, profile, now).await?;
                if !active {
                    apply_user_change(db, &id, UserChange::Disabled(Some(now)), now).await?;
                }
                audit::append_audit(db, vec![entry]).await?;
                Ok(ScimUserOutcome::Done)
            })
        })
        .await
    }

    /// Lets the directory manage a user who exists, and writes `entry` to the audit log in the same transaction.
    ///
    /// # Errors
    /// The database failed.
    pub async fn provision_user(
        &self,
        id: &str,
        profile: ScimProfile,
        now: i64,
        entry: AuditEntry,
    ) -> Result<ScimUserOutcome, StoreError> {
        let id = id.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                if let Some(taken) = taken(db, &profile, &id).await? {
                    return Ok(taken);
                }
                if !insert(db, &id, profile, now).await? {
                    return Ok(ScimUserOutcome::NameTaken);
                }
                audit::append_audit(db, vec![entry]).await?;
                Ok(ScimUserOutcome::Done)
            })
        })
        .await
    }

    /// Ends that the directory manages a user, who keeps the account, and writes `entry` to the audit log in the same
    /// transaction. Returns false if it does not manage them.
    ///
    /// # Errors
    /// The database failed.
    pub async fn release_user(&self, id: &str, entry: AuditEntry) -> Result<bool, StoreError> {
        let delete = sql::query("DELETE FROM scim_users WHERE user_id = $1").bind(id.to_owned());
        self.execute_audited(delete, Some(entry)).await
    }

    /// Changes a user for the directory, and writes `entries` to the audit log, all or nothing.
    ///
    /// # Errors
    /// The database failed.
    pub async fn change_scim_user(
        &self,
        id: &str,
        change: ScimUserChange,
        entries: Vec<AuditEntry>,
    ) -> Result<ScimUserOutcome, StoreError> {
        let id = id.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                if let Some(taken) = taken(db, &change.profile, &id).await? {
                    return Ok(taken);
                }
                if let Some((_, key)) = &change.name
                    && sql::query_scalar::<bool>(ACCOUNT_NAME_TAKEN).bind(key).bind(&id).fetch_one(&mut *db).await?
                {
                    return Ok(ScimUserOutcome::NameTaken);
                }
                if let Some(active) = change.active {
                    let disabled = UserChange::Disabled((!active).then_some(change.now));
                    match apply_user_change(db, &id, disabled, change.now).await? {
                        ChangeUserOutcome::Done => {}
                        ChangeUserOutcome::Unknown => return Ok(ScimUserOutcome::Unknown),
                        ChangeUserOutcome::LastAdmin => return Ok(ScimUserOutcome::LastAdmin),
                    }
                }
                if update(&id, change.profile, change.now).execute(&mut *db).await?.rows_affected() == 0 {
                    return Ok(ScimUserOutcome::Unknown);
                }
                if let Some((name, key)) = change.name {
                    let rename = sql::query("UPDATE users SET name = $2, name_key = $3 WHERE id = $1");
                    rename.bind(&id).bind(name).bind(key).execute(&mut *db).await?;
                }
                audit::append_audit(db, entries).await?;
                Ok(ScimUserOutcome::Done)
            })
        })
        .await
    }
}

/// Returns what another user of the directory has already.
async fn taken(db: &mut Db, profile: &ScimProfile, id: &str) -> Result<Option<ScimUserOutcome>, StoreError> {
    if sql::query_scalar::<bool>(NAME_TAKEN).bind(&profile.user_name_key).bind(id).fetch_one(&mut *db).await? {
        return Ok(Some(ScimUserOutcome::UserNameTaken));
    }
    let Some(external_id) = &profile.external_id else { return Ok(None) };
    let is_taken: bool = sql::query_scalar(ID_TAKEN).bind(external_id).bind(id).fetch_one(db).await?;
    Ok(is_taken.then_some(ScimUserOutcome::ExternalIdTaken))
}

/// Returns false if the user is unknown, or managed already.
async fn insert(db: &mut Db, id: &str, profile: ScimProfile, now: i64) -> Result<bool, StoreError> {
    Ok(with_profile(sql::query(INSERT).bind(id), profile).bind(now).execute(db).await?.rows_affected() > 0)
}

fn update(id: &str, profile: ScimProfile, now: i64) -> sql::Query {
    with_profile(sql::query(UPDATE).bind(id), profile).bind(now)
}

fn with_profile(query: sql::Query, profile: ScimProfile) -> sql::Query {
    let attributes = Value::Object(profile.attributes).to_string();
    let query = query.bind(profile.user_name).bind(profile.user_name_key).bind(profile.external_id);
    query.bind(profile.display_name).bind(attributes)
}

fn scim_user(row: &Row) -> Result<ScimUser, StoreError> {
    Ok(ScimUser {
        id: row.try_get("user_id")?,
        name: row.try_get("name")?,
        profile: ScimProfile {
            user_name: row.try_get("user_name")?,
            user_name_key: row.try_get("user_name_key")?,
            external_id: row.try_get("external_id")?,
            display_name: row.try_get("display_name")?,
            attributes: decode(row.try_get("attributes")?)?,
        },
        active: row.try_get::<Option<i64>>("disabled_at")?.is_none(),
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
    })
}
