//! The table `memory_blocks`: the facts that agents got when conversations began.

use super::{damaged, with_deleted};
use ::store::sql::{self, Db, Sql};
use ::store::{AuditEntry, StoreError, append_audit};

/// The facts that an agent gets in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The text; empty if there are no facts.
    pub(crate) content: String,
    /// The messages that its facts come from, as `CONVERSATION/MESSAGE`.
    pub(crate) sources: Vec<String>,
}

const ONE: &str =
    "SELECT content, sources FROM memory_blocks WHERE conversation_id = $1 AND agent_id = $2 AND owner = $3";

const INSERT: &str = "
    INSERT INTO memory_blocks (conversation_id, agent_id, owner, content, sources, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (conversation_id, agent_id)
        DO UPDATE SET content = excluded.content, sources = excluded.sources, created_at = excluded.created_at
        WHERE memory_blocks.owner = excluded.owner";

const PRESENT: Sql = Sql::pair(
    with_deleted!(
        "SELECT value FROM json_each($2)",
        "SELECT count(*) FROM messages m
         JOIN conversations c ON c.id = m.conversation_id AND c.owner = $1 AND c.deleted_at IS NULL
         WHERE m.conversation_id IN (SELECT value FROM json_each($2))
            AND m.conversation_id || '/' || m.id IN (SELECT value FROM json_each($3))
            AND NOT EXISTS (SELECT 1 FROM deleted d WHERE d.conversation_id = m.conversation_id AND d.id = m.id)"
    ),
    with_deleted!(
        "SELECT unnest($2)",
        "SELECT count(*) FROM messages m
         JOIN conversations c ON c.id = m.conversation_id AND c.owner = $1 AND c.deleted_at IS NULL
         WHERE m.conversation_id = ANY($2) AND m.conversation_id || '/' || m.id = ANY($3)
            AND NOT EXISTS (SELECT 1 FROM deleted d WHERE d.conversation_id = m.conversation_id AND d.id = m.id)"
    ),
);

/// Returns the facts that an agent got in a conversation of a user.
pub(crate) async fn block(
    db: &mut Db,
    owner: &str,
    conversation_id: &str,
    agent_id: &str,
) -> Result<Option<Block>, StoreError> {
    let find = sql::query(ONE).bind(conversation_id).bind(agent_id).bind(owner);
    let Some(row) = find.fetch_optional(db).await? else { return Ok(None) };
    let sources = serde_json::from_str(row.try_get("sources")?).map_err(|_| damaged())?;
    Ok(Some(Block { content: row.try_get("content")?, sources }))
}

/// Stores the facts that an agent gets from now on, with a row in the audit log.
pub(crate) async fn insert_block(
    db: &mut Db,
    owner: &str,
    conversation_id: &str,
    agent_id: &str,
    block: &Block,
    audit: AuditEntry,
    now: i64,
) -> Result<(), StoreError> {
    let sources = serde_json::to_string(&block.sources).map_err(|_| damaged())?;
    let insert = sql::query(INSERT).bind(conversation_id).bind(agent_id).bind(owner).bind(&block.content);
    insert.bind(sources).bind(now).execute(&mut *db).await?;
    append_audit(db, vec![audit]).await
}

/// Returns how many of these messages, as `CONVERSATION/MESSAGE`, the user has not deleted.
pub(crate) async fn present_sources(db: &mut Db, owner: &str, sources: &[String]) -> Result<usize, StoreError> {
    let conversations: Vec<String> =
        sources.iter().filter_map(|source| Some(source.split_once('/')?.0.to_owned())).collect();
    let count = sql::query_scalar::<i64>(PRESENT).bind(owner).bind(conversations).bind(sources.to_vec());
    Ok(usize::try_from(count.fetch_one(db).await?).unwrap_or_default())
}
