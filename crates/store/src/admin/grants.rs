//! The standing approvals of all users.

use super::{ListCursor, MAX_LISTED};
use crate::sql::{self, QueryBuilder, Row};
use crate::{AuditEntry, Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// A standing approval, and its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminGrant {
    /// Unique.
    pub id: String,
    /// The user who granted it.
    pub owner: String,
    /// The user's name, if they have an account here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// The agent that calls.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// The only conversation in which it holds; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The title of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// A filter for the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantFilter {
    /// Only those of this user.
    pub owner: Option<String>,
    /// Only those for this agent.
    pub agent_id: Option<String>,
    /// Only those for this tool.
    pub tool: Option<String>,
    /// Only the one with this id.
    pub id: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrantSort {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
    /// By the tool's name.
    Tool,
}

const COLUMNS: &str = "
    SELECT g.id, g.owner, g.agent_id, g.tool, g.conversation_id, g.created_at, c.title,
        (SELECT name FROM users WHERE id = g.owner) AS owner_name
    FROM grants g LEFT JOIN conversations c ON c.id = g.conversation_id WHERE true";

impl Store {
    /// Returns standing approvals, at most `limit` (and [`MAX_LISTED`]) after `after`, each with its cursor.
    ///
    /// # Errors
    /// The database failed, or the cursor is not one of this list.
    pub async fn all_grants(
        &self,
        filter: GrantFilter,
        sort: GrantSort,
        limit: u32,
        after: Option<ListCursor>,
    ) -> Result<Vec<(AdminGrant, ListCursor)>, StoreError> {
        let mut query = QueryBuilder::new(COLUMNS);
        let columns = [
            (" AND g.owner = ", filter.owner),
            (" AND g.agent_id = ", filter.agent_id),
            (" AND g.tool = ", filter.tool),
            (" AND g.id = ", filter.id),
        ];
        for (sql, value) in columns {
            if let Some(value) = value {
                query.push(sql).push_bind(value);
            }
        }
        if let Some(place) = after {
            match sort {
                GrantSort::Newest => query.push(" AND (g.created_at, g.id) < (").push_bind(place.number::<i64>()?),
                GrantSort::Oldest => query.push(" AND (g.created_at, g.id) > (").push_bind(place.number::<i64>()?),
                GrantSort::Tool => query.push(" AND (g.tool, g.id) > (").push_bind(place.key),
            };
            query.push(", ").push_bind(place.id).push(")");
        }
        query.push(match sort {
            GrantSort::Newest => " ORDER BY g.created_at DESC, g.id DESC LIMIT ",
            GrantSort::Oldest => " ORDER BY g.created_at, g.id LIMIT ",
            GrantSort::Tool => " ORDER BY g.tool, g.id LIMIT ",
        });
        query.push_bind(limit.min(MAX_LISTED));
        self.rows(query.build(), move |found| row(found, sort)).await
    }

    /// Revokes a standing approval of any user and writes `entry` to the audit log, both or
    /// neither. Returns false if it is unknown.
    ///
    /// # Errors
    /// The database failed.
    pub async fn revoke_any_grant(&self, id: &str, entry: AuditEntry) -> Result<bool, StoreError> {
        self.execute_audited(sql::query("DELETE FROM grants WHERE id = $1").bind(id), Some(entry)).await
    }
}

fn row(row: &Row, sort: GrantSort) -> Result<(AdminGrant, ListCursor), StoreError> {
    let grant = AdminGrant {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        owner_name: row.try_get("owner_name")?,
        agent_id: row.try_get("agent_id")?,
        tool: row.try_get("tool")?,
        conversation_id: row.try_get("conversation_id")?,
        title: row.try_get("title")?,
        created_at: row.try_get("created_at")?,
    };
    let key = if sort == GrantSort::Tool { grant.tool.clone() } else { grant.created_at.to_string() };
    let place = ListCursor { key, id: grant.id.clone() };
    Ok((grant, place))
}
