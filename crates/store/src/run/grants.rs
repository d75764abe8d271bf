//! Table `grants`: users' standing approvals of tools. A standing approval for one conversation is deleted with it.

use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};

/// The maximum number of standing approvals of one user. Beyond it the oldest are deleted, and their tools ask again.
pub const MAX_GRANTS: u32 = 200;

/// A standing approval to grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGrant {
    /// Unique.
    pub id: String,
    /// The agent that calls.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// The tool's fingerprint when it was granted.
    pub fingerprint: String,
    /// The only conversation in which it holds; `None` for all.
    pub conversation_id: Option<String>,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// A standing approval as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    /// Unique.
    pub id: String,
    /// The agent that calls.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// The id and title of the only conversation in which it holds; `None` for all.
    pub conversation: Option<(String, String)>,
    /// Unix time, milliseconds.
    pub created_at: i64,
}

/// Only for a conversation of its owner. Replaces an earlier one, because the tool may have changed since.
const INSERT: &str = "
    INSERT INTO grants (id, owner, agent_id, tool, fingerprint, conversation_id, created_at)
    SELECT $1, $2, $3, $4, $5, $6, $7
    WHERE $6 IS NULL OR EXISTS (SELECT 1 FROM conversations WHERE id = $6 AND owner = $2)
    ON CONFLICT (owner, agent_id, tool, coalesce(conversation_id, '')) DO UPDATE SET
        id = excluded.id, fingerprint = excluded.fingerprint, created_at = excluded.created_at";

const TRIM: &str = "
    DELETE FROM grants WHERE owner = $1 AND id NOT IN
        (SELECT id FROM grants WHERE owner = $1 ORDER BY created_at DESC, id DESC LIMIT $2)";

/// The one for the conversation first: it is more specific.
const FIND: &str = "
    SELECT g.id, g.agent_id, g.tool, g.conversation_id, g.created_at, c.title
    FROM grants g LEFT JOIN conversations c ON c.id = g.conversation_id
    WHERE g.owner = $1 AND g.agent_id = $2 AND g.tool = $3 AND g.fingerprint = $4
        AND (g.conversation_id IS NULL OR g.conversation_id = $5)
    ORDER BY g.conversation_id IS NULL LIMIT 1";

const LIST: &str = "
    SELECT g.id, g.agent_id, g.tool, g.conversation_id, g.created_at, c.title
    FROM grants g LEFT JOIN conversations c ON c.id = g.conversation_id
    WHERE g.owner = $1 ORDER BY g.created_at DESC, g.id DESC LIMIT $2";

const REVOKE: &str = "DELETE FROM grants WHERE owner = $1 AND id = $2";

impl Store {
    /// Returns the standing approval that covers a call: of this owner, for this tool of this agent
    /// with its current fingerprint, valid in this conversation.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find_grant(
        &self,
        owner: &str,
        agent_id: &str,
        tool: &str,
        fingerprint: &str,
        conversation_id: &str,
    ) -> Result<Option<GrantRow>, StoreError> {
        let find = sql::query(FIND).bind(owner).bind(agent_id).bind(tool).bind(fingerprint).bind(conversation_id);
        self.optional_row(find, grant).await
    }

    /// Returns the owner's standing approvals, newest first; at most [`MAX_GRANTS`].
    ///
    /// # Errors
    /// The database failed.
    pub async fn grants(&self, owner: &str) -> Result<Vec<GrantRow>, StoreError> {
        self.rows(sql::query(LIST).bind(owner).bind(MAX_GRANTS), grant).await
    }

    /// Revokes a standing approval. Returns false when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn revoke_grant(&self, owner: &str, id: &str) -> Result<bool, StoreError> {
        let revoke = sql::query(REVOKE).bind(owner.to_owned()).bind(id.to_owned());
        Ok(self.execute(revoke).await? > 0)
    }
}

/// Inserts them within the writer's transaction, together with the decision that granted them.
pub(crate) async fn insert(db: &mut Db, owner: &str, grants: Vec<NewGrant>) -> Result<(), StoreError> {
    if grants.is_empty() {
        return Ok(());
    }
    for new in grants {
        let insert = sql::query(INSERT).bind(new.id).bind(owner).bind(new.agent_id).bind(new.tool);
        insert.bind(new.fingerprint).bind(new.conversation_id).bind(new.now).execute(&mut *db).await?;
    }
    sql::query(TRIM).bind(owner).bind(MAX_GRANTS).execute(db).await?;
    Ok(())
}

fn grant(row: &Row) -> Result<GrantRow, StoreError> {
    let conversation: Option<String> = row.try_get("conversation_id")?;
    let title: Option<String> = row.try_get("title")?;
    Ok(GrantRow {
        id: row.try_get("id")?,
        agent_id: row.try_get("agent_id")?,
        tool: row.try_get("tool")?,
        conversation: conversation.map(|id| (id, title.unwrap_or_default())),
        created_at: row.try_get("created_at")?,
    })
}
