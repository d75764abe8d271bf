//! Table `conversations`: the list, a single conversation, deletion for good. `change` changes fields.

use crate::history::body;
use crate::run::run_events;
use crate::sql::{self, Db, Row};
use crate::{AuditEntry, Store, StoreError, audit};
use std::time::{SystemTime, UNIX_EPOCH};
use wire::api::ConversationSummary;
use wire::organize::ListFilter;

/// The maximum number of rows of the list: a page of 100, and one more that tells whether there is a next page.
pub const MAX_CONVERSATIONS: u32 = 101;

/// A row of the conversation list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRow {
    /// The fields of the list.
    pub summary: ConversationSummary,
}

/// A cursor in the list: the row after which the next page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationCursor {
    /// Whether that row is pinned; pinned conversations come first.
    pub pinned: bool,
    /// Unix time, milliseconds.
    pub updated_at: i64,
    /// The tie-breaker for equal times.
    pub id: String,
}

/// A conversation without its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The fields of the list.
    pub summary: ConversationSummary,
    /// The newest message of the active branch.
    pub head: Option<String>,
    /// The active run, if any.
    pub active_run: Option<RunRow>,
    /// The model that answers first, if the conversation began with one.
    pub model_id: Option<String>,
}

/// An active run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: String,
    /// The run's epoch, which fences its writes.
    pub epoch: u64,
    /// The assistant message that it writes.
    pub message_id: String,
}

/// The columns of a [`ConversationSummary`], for a conversation `c` whose active run is `r`.
macro_rules! summary_columns {
    () => {
        "c.id, c.title, c.page_id, c.agent_id, c.created_at, c.updated_at, c.pinned, c.archived, c.folder_id, c.read_at,
         c.expires_at IS NOT NULL AS temporary, r.id AS run_id,
         EXISTS (SELECT 1 FROM runs w WHERE w.conversation_id = c.id AND w.epoch = c.epoch AND w.message_id = c.head
             AND w.status = 'waiting') AS waiting"
    };
}
pub(crate) use summary_columns;

const LIST: &str = concat!(
    "SELECT ",
    summary_columns!(),
    " FROM conversations c LEFT JOIN runs r ON r.conversation_id = c.id AND r.status = 'running'
    WHERE c.owner = $1 AND c.archived = $2 AND c.deleted_at IS NULL AND (c.pinned, c.updated_at, c.id) < ($3, $4, $5)
    ORDER BY c.pinned DESC, c.updated_at DESC, c.id DESC LIMIT $6"
);

const LIST_OF_FOLDER: &str = concat!(
    "SELECT ",
    summary_columns!(),
    " FROM conversations c LEFT JOIN runs r ON r.conversation_id = c.id AND r.status = 'running'
    WHERE c.owner = $1 AND c.archived = $2 AND c.deleted_at IS NULL AND (c.pinned, c.updated_at, c.id) < ($3, $4, $5)
        AND c.folder_id = $7
    ORDER BY c.pinned DESC, c.updated_at DESC, c.id DESC LIMIT $6"
);

const ONE: &str = concat!(
    "SELECT ",
    summary_columns!(),
    ", c.head, c.model_id, r.epoch, r.message_id
    FROM conversations c LEFT JOIN runs r ON r.conversation_id = c.id AND r.status = 'running'
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL"
);

/// The newest message of the active branch.
const HEAD: &str = "
    SELECT m.id, m.role, m.body FROM conversations c JOIN messages m ON m.conversation_id = c.id AND m.id = c.head
    WHERE c.id = $1";

/// Messages, runs and ledger rows are deleted with it (ON DELETE CASCADE).
const DELETE: &str = "DELETE FROM conversations WHERE owner = $1 AND id = $2";

impl Store {
    /// Returns the owner's conversations, pinned ones first, otherwise newest first, at most
    /// `limit` (and [`MAX_CONVERSATIONS`]) after `before`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn conversations(
        &self,
        owner: &str,
        filter: ListFilter,
        limit: u32,
        before: Option<ConversationCursor>,
    ) -> Result<Vec<ConversationRow>, StoreError> {
        let (owner, limit) = (owner.to_owned(), limit.min(MAX_CONVERSATIONS));
        self.read(move |db| Box::pin(list(db, owner, filter, limit, before))).await
    }

    /// Returns a conversation; `None` when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn conversation(&self, owner: &str, id: &str) -> Result<Option<Conversation>, StoreError> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        self.read(move |db| Box::pin(one(db, owner, id))).await
    }

    /// Deletes a conversation for good, with everything that belongs to it except audit rows;
    /// `entries` are calls that end with it. A run that is still writing is fenced. Returns false
    /// when the conversation is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_conversation(
        &self,
        owner: &str,
        id: &str,
        entries: Vec<AuditEntry>,
    ) -> Result<bool, StoreError> {
        let (owner, id) = (owner.to_owned(), id.to_owned());
        self.write(move |db| Box::pin(delete_in_transaction(db, owner, id, entries))).await
    }
}

/// Does the same within the writer's transaction.
pub(crate) async fn delete_in_transaction(
    db: &mut Db,
    owner: String,
    id: String,
    entries: Vec<AuditEntry>,
) -> Result<bool, StoreError> {
    run_events::delete_conversation_events(db, &owner, &id).await?;
    let done = sql::query(DELETE).bind(owner).bind(id).execute(db).await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    audit::append_audit(db, entries).await?;
    Ok(true)
}

async fn list(
    db: &mut Db,
    owner: String,
    filter: ListFilter,
    limit: u32,
    before: Option<ConversationCursor>,
) -> Result<Vec<ConversationRow>, StoreError> {
    let sql = if filter.folder_id.is_some() { LIST_OF_FOLDER } else { LIST };
    // Sorts before the first row, because `pinned` is at most 1.
    let (pinned, updated_at, id) = match before {
        Some(ConversationCursor { pinned, updated_at, id }) => (i64::from(pinned), updated_at, id),
        None => (2, 0, String::new()),
    };
    let query = sql::query(sql).bind(owner).bind(filter.archived).bind(pinned).bind(updated_at).bind(id).bind(limit);
    let query = match filter.folder_id {
        Some(folder) => query.bind(folder),
        None => query,
    };
    let mut rows = Vec::new();
    for row in query.fetch_all(db).await? {
        let mut summary = summary(&row)?;
        refine_waiting(db, &mut summary).await?;
        rows.push(ConversationRow { summary });
    }
    Ok(rows)
}

async fn one(db: &mut Db, owner: String, id: String) -> Result<Option<Conversation>, StoreError> {
    let Some(row) = sql::query(ONE).bind(owner).bind(id).fetch_optional(db).await? else { return Ok(None) };
    let active_run = match row.try_get::<Option<String>>("run_id")? {
        Some(id) => {
            let epoch = row.try_get::<i64>("epoch")?.cast_unsigned();
            Some(RunRow { id, epoch, message_id: row.try_get("message_id")? })
        }
        None => None,
    };
    let mut summary = summary(&row)?;
    refine_waiting(db, &mut summary).await?;
    let (head, model_id) = (row.try_get("head")?, row.try_get("model_id")?);
    Ok(Some(Conversation { summary, head, active_run, model_id }))
}

/// Sets whether a waiting run waits for its user or for a page that executes a call, which needs no user. The message
/// of the run says which. Few conversations wait, so their messages are read one by one.
pub(crate) async fn refine_waiting(db: &mut Db, summary: &mut ConversationSummary) -> Result<(), StoreError> {
    if !summary.waiting {
        return Ok(());
    }
    let row = sql::query(HEAD).bind(&summary.id).fetch_optional(db).await?;
    let Some(row) = row else { return Ok(()) };
    let id: String = row.try_get("id")?;
    let message = body::decode(&summary.id, &id, row.try_get("role")?, row.bytes("body")?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
    summary.waiting = message.tools().any(|tool| tool.waits_for_user(now));
    Ok(())
}

/// Reads a summary from a row of [`summary_columns`].
pub(crate) fn summary(row: &Row) -> Result<ConversationSummary, sql::Error> {
    let running = row.try_get::<Option<&str>>("run_id")?.is_some();
    let updated_at: i64 = row.try_get("updated_at")?;
    Ok(ConversationSummary {
        id: row.try_get("id")?,
        title: row.try_get("title")?,
        page_id: row.try_get("page_id")?,
        agent_id: row.try_get("agent_id")?,
        created_at: row.try_get("created_at")?,
        updated_at,
        running,
        // Not final: `check_waiting` reads the run's message.
        waiting: row.try_get("waiting")?,
        pinned: row.try_get("pinned")?,
        archived: row.try_get("archived")?,
        // While a run is active its answer is not complete.
        unread: !running && row.try_get::<i64>("read_at")? < updated_at,
        temporary: row.try_get("temporary")?,
        folder_id: row.try_get("folder_id")?,
    })
}
