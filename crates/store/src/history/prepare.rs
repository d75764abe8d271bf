//! Conversations that begin without a message: in a folder, with the model that answers first.

use crate::sql::{self, Db};
use crate::{Store, StoreError};

/// A conversation without messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrepareConversation {
    /// The id that it gets.
    pub id: String,
    /// The page on which it is shown.
    pub page_id: String,
    /// The agent that answers.
    pub agent_id: String,
    /// The title until the first message.
    pub title: String,
    /// The folder that contains it.
    pub folder_id: String,
    /// The model that answers until the user chooses another one; that of the agent if absent.
    pub model_id: Option<String>,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// A conversation of the folder and the agent that has no message yet. `|| ''` keeps SQLite, which has no statistics, from
/// looking through all conversations with the agent instead of those in the folder.
const FIND: &str = "
    SELECT id FROM conversations
    WHERE owner || '' = $1 AND folder_id = $2 AND agent_id || '' = $3 AND epoch = 0 AND head = '' AND deleted_at IS NULL
    ORDER BY id LIMIT 1";

const REUSE: &str = "
    UPDATE conversations SET page_id = $2, model_id = $3, archived = 0,
        updated_at = CASE WHEN updated_at > $4 THEN updated_at ELSE $4 END,
        read_at = CASE WHEN updated_at > $4 THEN updated_at ELSE $4 END
    WHERE id = $1";

const INSERT: &str = "
    INSERT INTO conversations
        (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at, read_at, folder_id, model_id)
    SELECT $1, $2, $3, $4, $5, '', 0, $6, $6, $6, $7, $8
    WHERE EXISTS (SELECT 1 FROM folders WHERE id = $7 AND owner = $2)";

impl Store {
    /// Creates a conversation without messages, and returns its id. If the folder has one with the agent already,
    /// that one is used, so that there is at most one of them. The first message gives it its title.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for an unknown folder or one of another user.
    pub async fn prepare_conversation(&self, owner: &str, prepare: PrepareConversation) -> Result<String, StoreError> {
        let owner = owner.to_owned();
        self.write(move |db| Box::pin(async move { store(db, &owner, prepare).await })).await
    }
}

async fn store(db: &mut Db, owner: &str, prepare: PrepareConversation) -> Result<String, StoreError> {
    let PrepareConversation { id, page_id, agent_id, title, folder_id, model_id, now } = prepare;
    let find = sql::query_scalar::<String>(FIND).bind(owner).bind(&folder_id).bind(&agent_id);
    if let Some(known) = find.fetch_optional(&mut *db).await? {
        sql::query(REUSE).bind(&known).bind(page_id).bind(model_id).bind(now).execute(db).await?;
        return Ok(known);
    }
    let insert = sql::query(INSERT).bind(&id).bind(owner).bind(page_id).bind(agent_id).bind(title).bind(now);
    match insert.bind(folder_id).bind(model_id).execute(db).await?.rows_affected() {
        0 => Err(StoreError::NotFound),
        _ => Ok(id),
    }
}
