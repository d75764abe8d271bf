//! The sessions and API keys of all users, including external users.

use super::{ListCursor, MAX_LISTED};
use crate::accounts::users::decode_list;
use crate::sql::{self, QueryBuilder, Row};
use crate::{AuditEntry, Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// A session of a signed-in user.
    Session,
    /// An API key of a user of this server.
    Key,
    /// An API key of an external user.
    Outside,
}

impl AccessKind {
    /// Returns the name that lists show. It is not stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Key => "key",
            Self::Outside => "outside",
        }
    }

    fn from_name(name: &str) -> Result<Self, StoreError> {
        let all = [Self::Session, Self::Key, Self::Outside];
        let found = all.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| StoreError::Failed(format!("unknown kind of access `{name}`")))
    }

    fn delete(self) -> &'static str {
        match self {
            Self::Session => "DELETE FROM sessions WHERE id = $1",
            Self::Key => "DELETE FROM api_keys WHERE id = $1",
            Self::Outside => "DELETE FROM outside_keys WHERE id = $1",
        }
    }
}

/// A session or an API key, and its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminAccess {
    /// Unique within its kind.
    pub id: String,
    /// Session or API key.
    pub kind: AccessKind,
    /// The user's id.
    pub user_id: String,
    /// The user's name, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_name: Option<String>,
    /// For an external user: the authentication mode in which the key was created. In another mode it is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The name of the key, or the `User-Agent` of the session's browser.
    pub name: String,
    /// The scopes of a key; empty for a session, which is not restricted.
    pub scopes: Vec<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
    /// When a key expires; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// When it was last used, Unix time in milliseconds, to the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<i64>,
}

/// A filter for the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessFilter {
    /// Only those of this user.
    pub user_id: Option<String>,
    /// Only those of this kind.
    pub kind: Option<AccessKind>,
    /// Only the one with this id.
    pub id: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessSort {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
    /// Most recently used first, never used ones last.
    Used,
}

const COLUMNS: &str = "
    SELECT a.* FROM (
        SELECT 'session' AS kind, s.id, s.user_id, u.name AS user_name, CAST(NULL AS TEXT) AS mode, s.agent AS name, '[]' AS scopes,
            s.created_at, CAST(NULL AS BIGINT) AS expires_at, s.seen_at AS used_at, s.seen_at AS used
        FROM sessions s JOIN users u ON u.id = s.user_id
        UNION ALL
        SELECT 'key', k.id, k.user_id, u.name, CAST(NULL AS TEXT), k.name, k.scopes, k.created_at, k.expires_at, k.used_at,
            coalesce(k.used_at, 0)
        FROM api_keys k JOIN users u ON u.id = k.user_id
        UNION ALL
        SELECT 'outside', o.id, o.user_id, o.user_name, o.mode, o.name, o.scopes, o.created_at, o.expires_at, o.used_at,
            coalesce(o.used_at, 0)
        FROM outside_keys o
    ) a WHERE true";

impl Store {
    /// Returns sessions and API keys, at most `limit` (and [`MAX_LISTED`]) after `after`, each with
    /// its cursor. Expired ones are included until they are deleted.
    ///
    /// # Errors
    /// The database failed, or the cursor is not one of this list.
    pub async fn all_access(
        &self,
        filter: AccessFilter,
        sort: AccessSort,
        limit: u32,
        after: Option<ListCursor>,
    ) -> Result<Vec<(AdminAccess, ListCursor)>, StoreError> {
        let mut query = QueryBuilder::new(COLUMNS);
        let kind = filter.kind.map(|kind| kind.name().to_owned());
        for (sql, value) in
            [(" AND a.user_id = ", filter.user_id), (" AND a.kind = ", kind), (" AND a.id = ", filter.id)]
        {
            if let Some(value) = value {
                query.push(sql).push_bind(value);
            }
        }
        if let Some(place) = after {
            query.push(match sort {
                AccessSort::Newest => " AND (a.created_at, a.id) < (",
                AccessSort::Oldest => " AND (a.created_at, a.id) > (",
                AccessSort::Used => " AND (a.used, a.id) < (",
            });
            query.push_bind(place.number::<i64>()?).push(", ").push_bind(place.id).push(")");
        }
        query.push(match sort {
            AccessSort::Newest => " ORDER BY a.created_at DESC, a.id DESC LIMIT ",
            AccessSort::Oldest => " ORDER BY a.created_at, a.id LIMIT ",
            AccessSort::Used => " ORDER BY a.used DESC, a.id DESC LIMIT ",
        });
        query.push_bind(limit.min(MAX_LISTED));
        self.rows(query.build(), move |found| row(found, sort)).await
    }

    /// Revokes a session or an API key of any user and writes `entry` to the audit log, both or
    /// neither. Returns false if it is unknown.
    ///
    /// # Errors
    /// The database failed.
    pub async fn revoke_access(&self, kind: AccessKind, id: &str, entry: AuditEntry) -> Result<bool, StoreError> {
        self.execute_audited(sql::query(kind.delete()).bind(id), Some(entry)).await
    }
}

fn row(row: &Row, sort: AccessSort) -> Result<(AdminAccess, ListCursor), StoreError> {
    let access = AdminAccess {
        id: row.try_get("id")?,
        kind: AccessKind::from_name(row.try_get("kind")?)?,
        user_id: row.try_get("user_id")?,
        user_name: row.try_get("user_name")?,
        mode: row.try_get("mode")?,
        name: row.try_get("name")?,
        scopes: decode_list(row.try_get("scopes")?)?,
        created_at: row.try_get("created_at")?,
        expires_at: row.try_get("expires_at")?,
        used_at: row.try_get("used_at")?,
    };
    let key = if sort == AccessSort::Used { access.used_at.unwrap_or_default() } else { access.created_at };
    let place = ListCursor { key: key.to_string(), id: access.id.clone() };
    Ok((access, place))
}
