//! The standing approvals of all users.

use super::{MAX_LISTED, Place};
use crate::sql::{self, Builder, Row};
use crate::{AuditEntry, Store, StoreError, audit};
use serde::Serialize;

/// A standing approval, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AdminGrant {
    /// Unique.
    pub id: String,
    /// Who gave it.
    pub owner: String,
    /// What he is called, if he signs in here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// The agent that calls.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// Where it holds; without it everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The title of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// Which standing approvals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantFilter {
    /// Of this user.
    pub owner: Option<String>,
    /// For this agent.
    pub agent_id: Option<String>,
    /// For this tool.
    pub tool: Option<String>,
    /// This one.
    pub id: Option<String>,
}

/// The order of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrantSort {
    /// Given last, first.
    #[default]
    Newest,
    /// Given first, first.
    Oldest,
    /// By the name of the tool.
    Tool,
}

const COLUMNS: &str = "
    SELECT g.id, g.owner, g.agent_id, g.tool, g.conversation_id, g.created_at, c.title,
        (SELECT name FROM users WHERE id = g.owner) AS owner_name
    FROM grants g LEFT JOIN conversations c ON c.id = g.conversation_id WHERE true";

impl Store {
    /// Standing approvals, at most `limit` (and [`MAX_LISTED`]) of them after `after`, each with the place after it.
    ///
    /// # Errors
    /// The database failed, or the place is not one of this list.
    pub async fn all_grants(
        &self,
        filter: GrantFilter,
        sort: GrantSort,
        limit: u32,
        after: Option<Place>,
    ) -> Result<Vec<(AdminGrant, Place)>, StoreError> {
        let mut query = Builder::new(COLUMNS);
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
        self.read(move |db| {
            Box::pin(async move { query.build().fetch_all(db).await?.iter().map(|found| row(found, sort)).collect() })
        })
        .await
    }

    /// Takes anybody's back and enters who did so, both or neither; whether it was there.
    ///
    /// # Errors
    /// The database failed.
    pub async fn revoke_any_grant(&self, id: &str, entry: AuditEntry) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |db| {
            Box::pin(async move {
                let done = sql::query("DELETE FROM grants WHERE id = $1").bind(id).execute(db).await?;
                let was_there = done.rows_affected() > 0;
                if was_there {
                    audit::append(db, vec![entry]).await?;
                }
                Ok(was_there)
            })
        })
        .await
    }
}

fn row(row: &Row, sort: GrantSort) -> Result<(AdminGrant, Place), StoreError> {
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
    let place = Place { key, id: grant.id.clone() };
    Ok((grant, place))
}
