//! What goes by itself: conversations that nobody has touched for long, those that are temporary, questions of programs. The audit log and
//! what was used are kept apart, and stay.

use crate::change::deleted;
use crate::conversations::delete_in;
use crate::sql::{self, Builder, Row};
use crate::{AuditEntry, Deleted, Store, StoreError};
use serde::Serialize;

/// Conversations of a preview at once.
pub const MAX_DUE: u32 = 50;

/// Which conversations are to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// Those that were changed last by `before`.
    Untouched {
        /// With this agent; without it with any.
        agent_id: Option<String>,
        /// But not with these.
        except: Vec<String>,
        /// Unix time, milliseconds.
        before: i64,
        /// Those that their owners have pinned stay.
        keeps_pinned: bool,
    },
    /// Temporary ones whose time is over by then; Unix time, milliseconds.
    Temporary(i64),
}

/// A conversation that will go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DueConversation {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Whose it is.
    pub owner: String,
    /// What he is called, if he signs in here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_name: Option<String>,
    /// Its agent.
    pub agent_id: String,
    /// Unix time, milliseconds.
    pub updated_at: i64,
    /// When it is temporary: when it goes; Unix time, milliseconds.
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
    /// Conversations of all owners that are to go, the oldest first, at most `limit`: for whoever takes them away by [`Store::delete`],
    /// never for a request. One that is being answered stays.
    ///
    /// # Errors
    /// The database failed.
    pub async fn due(&self, due: &Due, limit: u32) -> Result<Vec<Deleted>, StoreError> {
        let mut query = Builder::new("SELECT c.owner, c.id, c.agent_id, c.head FROM conversations c WHERE ");
        add(&mut query, due);
        query.push(order(due)).push_bind(limit);
        self.read(move |db| Box::pin(async move { query.build().fetch_all(db).await?.iter().map(deleted).collect() }))
            .await
    }

    /// Deletes one of them as [`Store::delete`] does, if it is still to go: its user may have gone on with it, pinned or kept it since it
    /// was listed. Whether it was.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_due(&self, due: &Due, of: &Deleted, entries: Vec<AuditEntry>) -> Result<bool, StoreError> {
        let (owner, id) = (of.owner.clone(), of.id.clone());
        let mut still = Builder::new("SELECT c.id FROM conversations c WHERE c.owner = ");
        still.push_bind(owner.clone()).push(" AND c.id = ").push_bind(id.clone()).push(" AND ");
        add(&mut still, due);
        self.write(move |db| {
            Box::pin(async move {
                // Before anything is deleted, since what this answers is committed either way.
                match still.build().fetch_optional(db).await? {
                    Some(_) => delete_in(db, owner, id, entries).await,
                    None => Ok(false),
                }
            })
        })
        .await
    }

    /// The same for an administrator to look at, at most [`MAX_DUE`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn show_due(&self, due: &Due) -> Result<Vec<DueConversation>, StoreError> {
        let mut query = Builder::new(
            "SELECT c.id, c.title, c.owner, c.agent_id, c.updated_at, c.expires_at,
                (SELECT name FROM users WHERE id = c.owner) AS owner_name
            FROM conversations c WHERE ",
        );
        add(&mut query, due);
        query.push(order(due)).push_bind(MAX_DUE);
        self.read(move |db| Box::pin(async move { query.build().fetch_all(db).await?.iter().map(shown).collect() }))
            .await
    }

    /// How many.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_due(&self, due: &Due) -> Result<i64, StoreError> {
        let mut query = Builder::new("SELECT count(*) FROM conversations c WHERE ");
        add(&mut query, due);
        self.read(move |db| {
            Box::pin(async move { query.build().fetch_one(db).await?.try_get(0_usize).map_err(StoreError::from) })
        })
        .await
    }

    /// Deletes questions of programs that ended before then (Unix time, milliseconds), at most `limit`; answers how many.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_questions(&self, before: i64, limit: u32) -> Result<u64, StoreError> {
        let delete = sql::query(OLD_QUESTIONS).bind(before).bind(limit);
        self.write(move |db| Box::pin(async move { Ok(delete.execute(db).await?.rows_affected()) })).await
    }

    /// How many questions of programs ended before then; Unix time, milliseconds.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_questions(&self, before: i64) -> Result<i64, StoreError> {
        let count = sql::query_scalar(COUNT_QUESTIONS).bind(before);
        self.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await
    }

    /// Has a conversation go at that time (Unix time, milliseconds), or by the rules again. False when it is unknown, deleted or
    /// someone else's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn set_expiry(&self, owner: &str, id: &str, at: Option<i64>) -> Result<bool, StoreError> {
        let set = sql::query(SET_EXPIRY).bind(owner.to_owned()).bind(id.to_owned()).bind(at);
        self.write(move |db| Box::pin(async move { Ok(set.execute(db).await?.rows_affected() > 0) })).await
    }

    /// When a temporary conversation goes; Unix time, milliseconds. None of one that is not, and of someone else's.
    ///
    /// # Errors
    /// The database failed.
    pub async fn expiry(&self, owner: &str, id: &str) -> Result<Option<i64>, StoreError> {
        let find = sql::query_scalar::<Option<i64>>(EXPIRY).bind(owner.to_owned()).bind(id.to_owned());
        self.read(move |db| Box::pin(async move { Ok(find.fetch_optional(db).await?.flatten()) })).await
    }
}

/// The condition.
fn add(query: &mut Builder, due: &Due) {
    query.push(
        "c.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running')",
    );
    match due {
        Due::Temporary(by) => {
            query.push(" AND c.expires_at IS NOT NULL AND c.expires_at <= ").push_bind(*by);
        }
        Due::Untouched { agent_id, except, before, keeps_pinned } => {
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

fn order(due: &Due) -> &'static str {
    match due {
        Due::Temporary(_) => " ORDER BY c.expires_at, c.id LIMIT ",
        Due::Untouched { .. } => " ORDER BY c.updated_at, c.id LIMIT ",
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
