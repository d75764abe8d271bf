//! The table `project_blocks`, and the project of a run.

use super::DAMAGED;
use ::store::sql::{self, Db, Row};
use ::store::{AuditEntry, Store, StoreError, append_audit};

/// The project of a conversation, as its runs read it. Folders may be in folders of projects: the instructions are those of
/// the nearest project that has some, and so are the libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunProject {
    pub(crate) id: String,
    /// The agent of the conversation.
    pub(crate) agent_id: String,
    pub(crate) name: String,
    pub(crate) instructions: String,
    pub(crate) libraries: Vec<String>,
    /// Whether the owner of the conversation has changed the instructions last.
    pub(crate) is_own_text: bool,
    /// Whether others may change the instructions.
    pub(crate) has_other_writers: bool,
}

/// The instructions that a conversation had when it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// The text; empty if there were none.
    pub(crate) content: String,
    /// Whether others than the owner of the conversation may have written it.
    pub(crate) is_foreign: bool,
}

/// The projects around a conversation, the nearest first. Folders have three levels.
const FIND_BY_CONVERSATION: &str = "
    SELECT p.id, c.agent_id, p.name, p.instructions, p.libraries, p.written_by,
        EXISTS (SELECT 1 FROM project_members u WHERE u.project_id = p.id AND u.user_id <> $1 AND u.role <> 'viewer')
            AS others
    FROM conversations c
    JOIN folders f ON f.id = c.folder_id AND f.owner = c.owner
    LEFT JOIN folders g ON g.id = f.parent_id AND g.owner = c.owner
    LEFT JOIN folders h ON h.id = g.parent_id AND h.owner = c.owner
    JOIN project_members m ON m.user_id = c.owner AND m.folder_id IN (f.id, g.id, h.id)
    JOIN projects p ON p.id = m.project_id
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
    ORDER BY CASE m.folder_id WHEN f.id THEN 0 WHEN g.id THEN 1 ELSE 2 END";

const FIND: &str = "SELECT content, is_foreign FROM project_blocks WHERE conversation_id = $1 AND owner = $2";

const INSERT: &str = "
    INSERT INTO project_blocks (conversation_id, owner, project_id, content, is_foreign, created_at)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (conversation_id) DO NOTHING";

const DELETE: &str = "DELETE FROM project_blocks WHERE project_id = $1 AND owner = $2";

/// Returns what is in effect of the projects around a user's conversation.
///
/// # Errors
/// As [`projects_around`].
pub(crate) async fn project_of_conversation(
    store: &Store,
    owner: &str,
    conversation_id: &str,
) -> Result<Option<RunProject>, StoreError> {
    projects_around(store, owner, conversation_id).await.map(in_effect)
}

/// Returns the projects around a user's conversation, the nearest first.
///
/// # Errors
/// The database failed, or a row is damaged.
pub(crate) async fn projects_around(
    store: &Store,
    owner: &str,
    conversation_id: &str,
) -> Result<Vec<RunProject>, StoreError> {
    let owner = owner.to_owned();
    let find = sql::query(FIND_BY_CONVERSATION).bind(&owner).bind(conversation_id);
    store.rows(find, move |row| read(row, &owner)).await
}

/// Returns what of the projects around a conversation, the nearest first, is in effect.
pub(crate) fn in_effect(around: Vec<RunProject>) -> Option<RunProject> {
    let libraries = around.iter().map(|project| &project.libraries).find(|libraries| !libraries.is_empty());
    let libraries = libraries.cloned().unwrap_or_default();
    let at = around.iter().position(|project| !project.instructions.is_empty()).unwrap_or_default();
    let project = around.into_iter().nth(at)?;
    Some(RunProject { libraries, ..project })
}

fn read(row: &Row, owner: &str) -> Result<RunProject, StoreError> {
    let (libraries, written_by): (String, String) = (row.try_get("libraries")?, row.try_get("written_by")?);
    Ok(RunProject {
        id: row.try_get("id")?,
        agent_id: row.try_get("agent_id")?,
        name: row.try_get("name")?,
        instructions: row.try_get("instructions")?,
        libraries: serde_json::from_str(&libraries).map_err(|_| DAMAGED)?,
        is_own_text: written_by == owner,
        has_other_writers: row.try_get("others")?,
    })
}

/// Returns the instructions that a conversation of a user had when it began; `None` if nothing is
/// stored.
///
/// # Errors
/// The database failed.
pub(crate) async fn block(store: &Store, owner: &str, conversation_id: &str) -> Result<Option<Block>, StoreError> {
    let find = sql::query(FIND).bind(conversation_id).bind(owner);
    let block = |row: &Row| Ok(Block { content: row.try_get("content")?, is_foreign: row.try_get("is_foreign")? });
    store.optional_row(find, block).await
}

/// Stores the instructions of a conversation that begins, with its row in the audit log.
///
/// # Errors
/// The database failed.
pub(crate) async fn insert_block(
    store: &Store,
    (owner, conversation_id, project_id): (&str, &str, &str),
    block: Block,
    now: i64,
    audit: AuditEntry,
) -> Result<(), StoreError> {
    let insert = sql::query(INSERT).bind(conversation_id).bind(owner).bind(project_id).bind(block.content);
    let insert = insert.bind(block.is_foreign).bind(now);
    let write = store.write(move |db| {
        Box::pin(async move {
            match insert.execute(&mut *db).await?.rows_affected() {
                0 => Ok(()),
                _ => append_audit(db, vec![audit]).await,
            }
        })
    });
    write.await
}

/// Deletes the instructions of a project that conversations of a user had.
pub(super) async fn delete(db: &mut Db, project_id: &str, owner: &str) -> Result<(), StoreError> {
    sql::query(DELETE).bind(project_id).bind(owner).execute(db).await?;
    Ok(())
}
