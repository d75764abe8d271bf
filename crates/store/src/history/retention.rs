//! Retention: deletes conversations that were inactive for long, temporary conversations, and
//! invocations. The audit log and the usage statistics are not affected.

use crate::history::change::conversation_to_delete;
use crate::history::conversations::delete_in_transaction;
use crate::sql::{self, QueryBuilder, Row};
use crate::{AuditEntry, ConversationToDelete, Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;

/// The maximum number of conversations in a preview.
pub const MAX_DUE: u32 = 50;

/// Selects conversations to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DueFilter {
    /// Those that were last changed before `before`.
    Inactive {
        /// Only those with this agent; `None` for all agents.
        agent_id: Option<String>,
        /// Except those with these agents.
        except: Vec<String>,
        /// Unix time, milliseconds.
        before: i64,
        /// Whether pinned conversations are kept.
        keeps_pinned: bool,
    },
    /// Temporary conversations that expire by this time; Unix time, milliseconds.
    Temporary(i64),
}

/// A conversation that will be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DueConversation {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The user who owns it.
    pub owner: String,
    /// The owner's name, if they have an account here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// Its agent.
    pub agent_id: String,
    /// Unix time, milliseconds.
    pub updated_at: i64,
    /// When it expires, if it is temporary; Unix time, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
}

const OLD_QUESTIONS: &str = "
    DELETE FROM invocations WHERE id IN
        (SELECT id FROM invocations WHERE ended_at IS NOT NULL AND ended_at < $1 ORDER BY ended_at LIMIT $2)";

const COUNT_QUESTIONS: &str = "SELECT count(*) FROM invocations WHERE ended_at IS NOT NULL AND ended_at < $1";

const SET_EXPIRY: &str = "
    UPDATE conversations SET expires_at = $3 WHERE owner = $1 AND id = $2 AND deleted_at IS NULL";

const EXPIRY: &str = "SELECT expires_at FROM conversations WHERE owner = $1 AND id = $2 AND deleted_at IS NULL";

impl Store {
    /// Returns conversations of all owners that are due for deletion, oldest first, at most
    /// `limit`; those with an active run are left out. For the clean-up job, which calls
    /// [`Store::delete_due`], never for a request.
    ///
    /// # Errors
    /// The database failed.
    pub async fn due_conversations(
        &self,
        due: &DueFilter,
        limit: u32,
    ) -> Result<Vec<ConversationToDelete>, StoreError> {
        let mut query = QueryBuilder::new("SELECT c.owner, c.id, c.agent_id, c.head FROM conversations c WHERE ");
        push_condition(&mut query, due);
        query.push(order(due)).push_bind(limit);
        self.rows(query.build(), conversation_to_delete).await
    }

    /// Deletes a conversation as [`Store::delete_conversation`] does, if it is still due: its user may have
    /// continued, pinned or kept it since it was listed. Returns whether it was deleted.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_due(
        &self,
        due: &DueFilter,
        of: &ConversationToDelete,
        entries: Vec<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let (owner, id) = (of.owner.clone(), of.id.clone());
        let mut still = QueryBuilder::new("SELECT c.id FROM conversations c WHERE c.owner = ");
        still.push_bind(owner.clone()).push(" AND c.id = ").push_bind(id.clone()).push(" AND ");
        push_condition(&mut still, due);
        self.write(move |db| {
            Box::pin(async move {
                // Checked before the deletion, because an `Ok` result is committed whatever its value.
                match still.build().fetch_optional(db).await? {
                    Some(_) => delete_in_transaction(db, owner, id, entries).await,
                    None => Ok(false),
                }
            })
        })
        .await
    }

    /// Returns a preview of the conversations that are due, for an administrator, at most [`MAX_DUE`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn preview_due(&self, due: &DueFilter) -> Result<Vec<DueConversation>, StoreError> {
        let mut query = QueryBuilder::new(
            "SELECT c.id, c.title, c.owner, c.agent_id, c.updated_at, c.expires_at,
                (SELECT name FROM users WHERE id = c.owner) AS owner_name
            FROM conversations c WHERE ",
        );
        push_condition(&mut query, due);
        query.push(order(due)).push_bind(MAX_DUE);
        self.rows(query.build(), shown).await
    }

    /// Returns the number of conversations that are due.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_due(&self, due: &DueFilter) -> Result<i64, StoreError> {
        let mut query = QueryBuilder::new("SELECT count(*) FROM conversations c WHERE ");
        push_condition(&mut query, due);
        self.read(move |db| {
            Box::pin(async move { query.build().fetch_one(db).await?.try_get(0_usize).map_err(StoreError::from) })
        })
        .await
    }

    /// Deletes invocations that ended before `before` (Unix time, milliseconds), at most `limit`. Returns how many.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_ended_invocations(&self, before: i64, limit: u32) -> Result<u64, StoreError> {
        let delete = sql::query(OLD_QUESTIONS).bind(before).bind(limit);
        self.execute(delete).await
    }

    /// Returns the number of invocations that ended before `before`; Unix time, milliseconds.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_ended_invocations(&self, before: i64) -> Result<i64, StoreError> {
        let count = sql::query_scalar(COUNT_QUESTIONS).bind(before);
        self.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
    }

    /// Sets when a conversation expires (Unix time, milliseconds); `None` makes the retention rules
    /// apply again. Returns false when it is unknown, deleted or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_expiry(&self, owner: &str, id: &str, at: Option<i64>) -> Result<bool, StoreError> {
        let set = sql::query(SET_EXPIRY).bind(owner.to_owned()).bind(id.to_owned()).bind(at);
        Ok(self.execute(set).await? > 0)
    }

    /// Returns when a temporary conversation expires; Unix time, milliseconds. `None` when it is
    /// not temporary or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn expiry(&self, owner: &str, id: &str) -> Result<Option<i64>, StoreError> {
        let find = sql::query_scalar::<Option<i64>>(EXPIRY).bind(owner.to_owned()).bind(id.to_owned());
        self.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?.flatten()) })).await
    }
}

/// Appends the condition for conversations that are due.
fn push_condition(query: &mut QueryBuilder, due: &DueFilter) {
    query.push(
        "c.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running')",
    );
    match due {
        DueFilter::Temporary(by) => {
            query.push(" AND c.expires_at IS NOT NULL AND c.expires_at <= ").push_bind(*by);
        }
        DueFilter::Inactive { agent_id, except, before, keeps_pinned } => {
            query.push(" AND c.expires_at IS NULL AND c.updated_at < ").push_bind(*before);
            if let Some(agent_id) = agent_id {
                query.push(" AND c.agent_id = ").push_bind(agent_id.clone());
            }
            if !except.is_empty() {
                query.push(" AND c.agent_id NOT IN (");
                for (at, id) in except.iter().enumerate() {
                    query.push(if at == 0 { "" } else { ", " }).push_bind(id.clone());
                }
                query.push(")");
            }
            if *keeps_pinned {
                query.push(" AND c.pinned = ").push_bind(false);
            }
        }
    }
}

fn order(due: &DueFilter) -> &'static str {
    match due {
        DueFilter::Temporary(_) => " ORDER BY c.expires_at, c.id LIMIT ",
        DueFilter::Inactive { .. } => " ORDER BY c.updated_at, c.id LIMIT ",
    }
}

fn shown(row: &Row) -> Result<DueConversation, StoreError> {
    Ok(DueConversation {
        id: row.try_get("id")?,
        title: row.try_get("title")?,
        owner: row.try_get("owner")?,
        owner_name: row.try_get("owner_name")?,
        agent_id: row.try_get("agent_id")?,
        updated_at: row.try_get("updated_at")?,
        expires_at: row.try_get("expires_at")?,
    })
}
