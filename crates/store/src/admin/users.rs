//! The users of this server, as administrators list and change them.

use super::{ADMIN, ListCursor, MAX_LISTED};
use crate::accounts::second_factors;
use crate::accounts::users::{decode, decode_list, encode_list};
use crate::sql::{self, Db, QueryBuilder, Row, Sql};
use crate::{AuditEntry, Store, StoreError, audit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserRow {
    /// The user's id.
    pub id: String,
    /// The name for signing in.
    pub name: String,
    /// The roles that administrators gave the user.
    pub roles: Vec<String>,
    /// The roles that the user's groups at providers give in sessions that begin there.
    pub group_roles: Vec<String>,
    /// The user's groups on this server, whose roles the user has as well.
    pub groups: Vec<UserGroup>,
    /// Whether a directory manages the user.
    pub provisioned: bool,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// When the user was disabled; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_at: Option<i64>,
    /// When the deletion of the user began; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<i64>,
    /// When a session of the user was last used, if there is one; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<i64>,
    /// The number of the user's sessions.
    pub sessions: i64,
    /// The number of the user's conversations.
    pub conversations: i64,
    /// Whether the user has a password on this server.
    pub has_password: bool,
    /// Whether an administrator has set the password, and the user has not replaced it yet.
    pub must_change_password: bool,
    /// Whether the user has set up an authenticator app.
    pub has_second_factor: bool,
    /// The issuers of the company accounts with which the user signs in.
    pub issuers: Vec<String>,
}

/// A group of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserGroup {
    /// Its id.
    pub id: String,
    /// The name.
    pub name: String,
    /// The roles that it gives.
    pub roles: Vec<String>,
}

/// A filter for the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFilter {
    /// A part of the normalized name; empty for all.
    pub text: String,
    /// Only users with this role, whether an administrator or a group gives it, here or at a provider.
    pub role: Option<String>,
    /// Only disabled users, or only enabled ones.
    pub disabled: Option<bool>,
    /// Only the user with this id.
    pub id: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserSort {
    /// By name.
    #[default]
    Name,
    /// Newest first.
    Newest,
}

/// A change of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserChange {
    /// Replaces the roles.
    Roles(Vec<String>),
    /// Disables the user from this time on, or enables them again.
    Disabled(Option<i64>),
    /// Replaces the password by one with this hash, which the user must change before they are signed in, and ends
    /// all sessions.
    Password(String),
    /// Removes the authenticator app and its recovery codes, and ends all sessions.
    ResetSecondFactor,
    /// Ends all sessions.
    EndSessions,
    /// Deletes the user and everything they own: disables them at once; [`Store::delete_user`] deletes the rest.
    Delete,
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeUserOutcome {
    /// The change was made.
    Done,
    /// There is no such user, or they are being deleted.
    Unknown,
    /// Refused, because no administrator would be left.
    LastAdmin,
}

const COLUMNS: &str = "
    SELECT u.id, u.name, u.name_key, u.roles, u.created_at, u.disabled_at, u.deleted_at,
        (SELECT max(seen_at) FROM sessions WHERE user_id = u.id) AS seen_at,
        (SELECT count(*) FROM sessions WHERE user_id = u.id) AS sessions,
        (SELECT count(*) FROM conversations WHERE owner = u.id AND deleted_at IS NULL) AS conversations,
        u.password <> '' AS has_password, u.must_change_password = 1 AS must_change_password,
        EXISTS (SELECT 1 FROM second_factors WHERE user_id = u.id) AS has_second_factor,
        EXISTS (SELECT 1 FROM scim_users WHERE user_id = u.id) AS provisioned";

/// JSON lists: the issuers, the lists of roles, and the groups.
const IDENTITIES: Sql = Sql::pair(
    ", (SELECT json_group_array(issuer) FROM user_identities WHERE user_id = u.id) AS issuers,
       (SELECT json_group_array(roles) FROM user_identities WHERE user_id = u.id) AS identity_roles,
       (SELECT json_group_array(json_object('id', g.id, 'name', g.name, 'roles', json(g.roles)))
        FROM user_group_members m JOIN user_groups g ON g.id = m.group_id WHERE m.user_id = u.id) AS user_groups",
    ", (SELECT coalesce(json_agg(issuer)::text, '[]') FROM user_identities WHERE user_id = u.id) AS issuers,
       (SELECT coalesce(json_agg(roles)::text, '[]') FROM user_identities WHERE user_id = u.id) AS identity_roles,
       (SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name, 'roles', g.roles::json))::text, '[]')
        FROM user_group_members m JOIN user_groups g ON g.id = m.group_id WHERE m.user_id = u.id) AS user_groups",
);

const ONE: &str = "SELECT roles, disabled_at FROM users WHERE id = $1 AND deleted_at IS NULL";

const OTHER_ADMINS: Sql = Sql::pair(
    "SELECT EXISTS (SELECT 1 FROM users, json_each(users.roles) role
                    WHERE role.value = $2 AND users.id <> $1 AND users.disabled_at IS NULL)",
    "SELECT EXISTS (SELECT 1 FROM users, json_array_elements_text(users.roles::json) role
                    WHERE role = $2 AND users.id <> $1 AND users.disabled_at IS NULL)",
);

const HAS_ROLE: Sql = Sql::pair(
    " AND EXISTS (SELECT 1 FROM (SELECT u.roles UNION ALL SELECT roles FROM user_identities WHERE user_id = u.id
          UNION ALL SELECT g.roles FROM user_group_members m JOIN user_groups g ON g.id = m.group_id WHERE m.user_id = u.id) given,
          json_each(given.roles) WHERE value = ",
    " AND EXISTS (SELECT 1 FROM (SELECT u.roles UNION ALL SELECT roles FROM user_identities WHERE user_id = u.id
          UNION ALL SELECT g.roles FROM user_group_members m JOIN user_groups g ON g.id = m.group_id WHERE m.user_id = u.id) given,
          json_array_elements_text(given.roles::json) role WHERE role = ",
);

const NAME_HAS: Sql = Sql::pair(" AND instr(u.name_key, ", " AND strpos(u.name_key, ");

impl Store {
    /// Returns users, at most `limit` (and [`MAX_LISTED`]) after `after`, each with its cursor.
    ///
    /// # Errors
    /// The database failed, or the cursor is not one of this list.
    pub async fn users(
        &self,
        filter: UserFilter,
        sort: UserSort,
        limit: u32,
        after: Option<ListCursor>,
    ) -> Result<Vec<(UserRow, ListCursor)>, StoreError> {
        let query = listed(filter, sort, limit.min(MAX_LISTED), after)?;
        self.rows(query.build(), move |found| row(found, sort)).await
    }

    /// Changes a user and writes `entry` to the audit log, both or neither. The last administrator
    /// cannot be removed, even by concurrent changes.
    ///
    /// # Errors
    /// The database failed.
    pub async fn change_user(
        &self,
        id: &str,
        change: UserChange,
        now: i64,
        entry: AuditEntry,
    ) -> Result<ChangeUserOutcome, StoreError> {
        let id = id.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                let done = apply_user_change(db, &id, change, now).await?;
                if done == ChangeUserOutcome::Done {
                    audit::append_audit(db, vec![entry]).await?;
                }
                Ok(done)
            })
        })
        .await
    }
}

fn listed(
    filter: UserFilter,
    sort: UserSort,
    limit: u32,
    after: Option<ListCursor>,
) -> Result<QueryBuilder, StoreError> {
    let mut query = QueryBuilder::new(COLUMNS);
    query.push(IDENTITIES).push(" FROM users u WHERE true");
    if !filter.text.is_empty() {
        query.push(NAME_HAS).push_bind(filter.text).push(") > 0");
    }
    if let Some(role) = filter.role {
        query.push(HAS_ROLE).push_bind(role).push(")");
    }
    if let Some(id) = filter.id {
        query.push(" AND u.id = ").push_bind(id);
    }
    match filter.disabled {
        Some(true) => query.push(" AND u.disabled_at IS NOT NULL"),
        Some(false) => query.push(" AND u.disabled_at IS NULL"),
        None => &mut query,
    };
    match (sort, after) {
        (UserSort::Name, Some(place)) => query.push(" AND u.name_key > ").push_bind(place.key),
        (UserSort::Newest, Some(place)) => {
            query.push(" AND (u.created_at, u.id) < (").push_bind(place.number::<i64>()?);
            query.push(", ").push_bind(place.id).push(")")
        }
        (_, None) => &mut query,
    };
    query.push(match sort {
        UserSort::Name => " ORDER BY u.name_key LIMIT ",
        UserSort::Newest => " ORDER BY u.created_at DESC, u.id DESC LIMIT ",
    });
    query.push_bind(limit);
    Ok(query)
}

fn row(row: &Row, sort: UserSort) -> Result<(UserRow, ListCursor), StoreError> {
    let mut group_roles = Vec::new();
    for roles in decode_list(row.try_get("identity_roles")?)? {
        group_roles.extend(decode_list(&roles)?);
    }
    group_roles.sort_unstable();
    group_roles.dedup();
    let mut groups: Vec<UserGroup> = decode(row.try_get("user_groups")?)?;
    groups.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let user = UserRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        roles: decode_list(row.try_get("roles")?)?,
        group_roles,
        groups,
        provisioned: row.try_get("provisioned")?,
        created_at: row.try_get("created_at")?,
        disabled_at: row.try_get("disabled_at")?,
        deleted_at: row.try_get("deleted_at")?,
        seen_at: row.try_get("seen_at")?,
        sessions: row.try_get("sessions")?,
        conversations: row.try_get("conversations")?,
        has_password: row.try_get("has_password")?,
        must_change_password: row.try_get("must_change_password")?,
        has_second_factor: row.try_get("has_second_factor")?,
        issuers: decode_list(row.try_get("issuers")?)?,
    };
    let key = match sort {
        UserSort::Name => row.try_get("name_key")?,
        UserSort::Newest => user.created_at.to_string(),
    };
    let place = ListCursor { key, id: user.id.clone() };
    Ok((user, place))
}

/// Changes a user within a transaction.
pub(crate) async fn apply_user_change(
    db: &mut Db,
    id: &str,
    change: UserChange,
    now: i64,
) -> Result<ChangeUserOutcome, StoreError> {
    let Some(user) = sql::query(ONE).bind(id).fetch_optional(&mut *db).await? else {
        return Ok(ChangeUserOutcome::Unknown);
    };
    let is_admin = decode_list(user.try_get("roles")?)?.iter().any(|role| role == ADMIN)
        && user.try_get::<Option<i64>>("disabled_at")?.is_none();
    let stays_admin = match &change {
        UserChange::Roles(roles) => roles.iter().any(|role| role == ADMIN),
        UserChange::Disabled(Some(_)) | UserChange::Delete => false,
        UserChange::Disabled(None)
        | UserChange::Password(_)
        | UserChange::ResetSecondFactor
        | UserChange::EndSessions => true,
    };
    // Without a race: the writer's transaction is the only one that writes. If two administrators
    // demote each other, the second change is refused.
    if is_admin && !stays_admin {
        let others: bool = sql::query_scalar(OTHER_ADMINS).bind(id).bind(ADMIN).fetch_one(&mut *db).await?;
        if !others {
            return Ok(ChangeUserOutcome::LastAdmin);
        }
    }
    let ends_sessions = !matches!(change, UserChange::Roles(_) | UserChange::Disabled(None));
    let update = match change {
        UserChange::Roles(roles) => {
            Some(sql::query("UPDATE users SET roles = $2 WHERE id = $1").bind(id.to_owned()).bind(encode_list(&roles)))
        }
        UserChange::Disabled(since) => {
            Some(sql::query("UPDATE users SET disabled_at = $2 WHERE id = $1").bind(id.to_owned()).bind(since))
        }
        UserChange::Password(hash) => {
            let set =
                "UPDATE users SET password = $2, password_changed_at = $3, must_change_password = 1 WHERE id = $1";
            Some(sql::query(set).bind(id.to_owned()).bind(hash).bind(now))
        }
        UserChange::Delete => {
            // The names and ids in the directory are free again.
            sql::query("DELETE FROM scim_users WHERE user_id = $1").bind(id).execute(&mut *db).await?;
            let set = "UPDATE users SET disabled_at = coalesce(disabled_at, $2), deleted_at = $2 WHERE id = $1";
            Some(sql::query(set).bind(id.to_owned()).bind(now))
        }
        UserChange::ResetSecondFactor => {
            second_factors::remove(db, id).await?;
            None
        }
        UserChange::EndSessions => None,
    };
    if let Some(update) = update {
        update.execute(&mut *db).await?;
    }
    if ends_sessions {
        sql::query("DELETE FROM sessions WHERE user_id = $1").bind(id).execute(db).await?;
    }
    Ok(ChangeUserOutcome::Done)
}
