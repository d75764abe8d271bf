//! Accepts a submission: stores its messages and opens the run that answers it, in one transaction.

use crate::history::body;
use crate::history::messages::{self, set_body};
use crate::run::{grants, run_events, runs};
use crate::sql::{self, Db};
use crate::{AuditEntry, NewGrant, Store, StoreError, audit};
use std::sync::Arc;
use wire::{EndReason, UiMessage};

/// A submission to store.
#[derive(Clone, Debug, PartialEq)]
pub struct BeginRun {
    /// The conversation; created if it does not exist.
    pub conversation_id: String,
    /// The page of a new conversation.
    pub page_id: String,
    /// The agent of a new conversation.
    pub agent_id: String,
    /// The title of a new conversation.
    pub title: String,
    /// Idempotency key, unique within the conversation: sending the same submission again returns the same run.
    pub submission_key: String,
    /// New messages, parents first: the user's message, imported history, the empty assistant message.
    pub insert: Vec<NewMessage>,
    /// Messages whose bodies are replaced, for example with approval decisions. A run that waits in
    /// one of them ends, unless it is the message that the new run writes.
    pub update: Vec<UiMessage>,
    /// The assistant message that the run writes; it becomes the head of the active branch.
    pub message_id: String,
    /// The run's id; unique over all conversations.
    pub run_id: String,
    /// Unix time, milliseconds.
    pub now: i64,
    /// When the run counts as abandoned unless its lease is renewed; Unix time, milliseconds.
    pub lease_until: i64,
    /// Audit entries of calls that end with this submission.
    pub audit: Vec<AuditEntry>,
    /// Standing approvals that are granted with the submission.
    pub grants: Vec<NewGrant>,
}

/// A message to insert.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMessage {
    /// The message that it follows, in the same conversation.
    pub parent_id: Option<String>,
    /// The message.
    pub message: UiMessage,
}

/// The outcome of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginRunOutcome {
    /// The submission was stored; the caller must drive the run.
    Started {
        /// The run's epoch: it fences the run's writes and is part of its event ids.
        epoch: u64,
    },
    /// The submission was stored before.
    Duplicate {
        /// The run that it started.
        run_id: String,
        /// The assistant message of that run.
        message_id: String,
        /// Whether that run is still active.
        active: bool,
    },
    /// Nothing was stored, because another run is active.
    Busy {
        /// The active run.
        run_id: String,
    },
}

const FIND_CONVERSATION: &str = "SELECT owner, epoch, deleted_at FROM conversations WHERE id = $1";

const FIND_SUBMISSION: &str = "
    SELECT id, message_id, status FROM runs WHERE conversation_id = $1 AND submission_key = $2";

const FIND_ACTIVE: &str = "SELECT id FROM runs WHERE conversation_id = $1 AND status = 'running'";

const INSERT_CONVERSATION: &str = "
    INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at, read_at)
    VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $7, $7)";

/// A user who sends a message has read the conversation. The first message of a prepared conversation gives it its
/// title.
const ADVANCE_CONVERSATION: &str = "
    UPDATE conversations
    SET head = $2, epoch = $3,
        title = CASE WHEN epoch = 0 AND head = '' AND named_by_user = 0 AND $5 <> '' THEN $5 ELSE title END,
        updated_at = CASE WHEN updated_at > $4 THEN updated_at ELSE $4 END,
        read_at = CASE WHEN updated_at > $4 THEN updated_at ELSE $4 END
    WHERE id = $1";

const INSERT_RUN: &str = "
    INSERT INTO runs
        (id, conversation_id, submission_key, message_id, epoch, status, started_at, lease_until, events_after, replica)
    VALUES ($1, $2, $3, $4, $5, 'running', $6, $7, $8, $9)";

impl Store {
    /// Stores a submission and opens its run, unless it is a duplicate or another run is active.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a conversation of another owner, a deleted one, or an update of an unknown message,
    /// [`StoreError::Invalid`] when an id is in use or a parent is not in the conversation.
    pub async fn begin_run(&self, owner: &str, begin: BeginRun) -> Result<BeginRunOutcome, StoreError> {
        let prepared = Arc::new(PreparedSubmission::new(owner, begin, self.replica_id())?);
        self.write_repeatable(move |db| {
            let prepared = prepared.clone();
            Box::pin(async move { prepared.store(db).await })
        })
        .await
    }
}

/// A submission with encoded bodies, so that the writer spends no time on JSON.
struct PreparedSubmission {
    owner: String,
    begin: BeginRun,
    inserted: Vec<String>,
    updated: Vec<String>,
    /// The id of the server that drives the run.
    replica: Option<String>,
}

impl PreparedSubmission {
    fn new(owner: &str, begin: BeginRun, replica: Option<String>) -> Result<Self, StoreError> {
        let inserted = begin.insert.iter().map(|new| body::encode(&new.message)).collect::<Result<_, _>>()?;
        let updated = begin.update.iter().map(body::encode).collect::<Result<_, _>>()?;
        Ok(Self { owner: owner.to_owned(), begin, inserted, updated, replica })
    }

    async fn store(&self, db: &mut Db) -> Result<BeginRunOutcome, StoreError> {
        let last_epoch = self.last_epoch(db).await?;
        if last_epoch.is_some()
            && let Some(begun) = self.existing_run(db).await?
        {
            return Ok(begun);
        }
        let epoch = last_epoch.unwrap_or(0) + 1;
        match last_epoch {
            None => self.insert_conversation(db).await?,
            Some(_) => self.advance_conversation(db, epoch).await?,
        }
        self.store_messages(db).await?;
        self.insert_run(db, epoch).await?;
        grants::insert(db, &self.owner, self.begin.grants.clone()).await?;
        audit::append_audit(db, self.begin.audit.clone()).await?;
        Ok(BeginRunOutcome::Started { epoch: epoch.cast_unsigned() })
    }

    /// Returns the epoch of the conversation's newest run; `None` for a new conversation.
    async fn last_epoch(&self, db: &mut Db) -> Result<Option<i64>, StoreError> {
        let row = sql::query(FIND_CONVERSATION).bind(&self.begin.conversation_id).fetch_optional(db).await?;
        let Some(row) = row else { return Ok(None) };
        if row.try_get::<&str>("owner")? != self.owner || row.try_get::<Option<i64>>("deleted_at")?.is_some() {
            return Err(StoreError::NotFound);
        }
        Ok(Some(row.try_get("epoch")?))
    }

    /// Returns the run that this submission started before, or the active run that blocks it.
    async fn existing_run(&self, db: &mut Db) -> Result<Option<BeginRunOutcome>, StoreError> {
        let find = sql::query(FIND_SUBMISSION).bind(&self.begin.conversation_id).bind(&self.begin.submission_key);
        if let Some(row) = find.fetch_optional(&mut *db).await? {
            let active = row.try_get::<&str>("status")? == "running";
            return Ok(Some(BeginRunOutcome::Duplicate {
                run_id: row.try_get("id")?,
                message_id: row.try_get("message_id")?,
                active,
            }));
        }
        let active = sql::query_scalar(FIND_ACTIVE).bind(&self.begin.conversation_id).fetch_optional(db).await?;
        Ok(active.map(|run_id| BeginRunOutcome::Busy { run_id }))
    }

    async fn insert_conversation(&self, db: &mut Db) -> Result<(), StoreError> {
        let begin = &self.begin;
        sql::query(INSERT_CONVERSATION)
            .bind(&begin.conversation_id)
            .bind(&self.owner)
            .bind(&begin.page_id)
            .bind(&begin.agent_id)
            .bind(&begin.title)
            .bind(&begin.message_id)
            .bind(begin.now)
            .execute(db)
            .await?;
        Ok(())
    }

    async fn advance_conversation(&self, db: &mut Db, epoch: i64) -> Result<(), StoreError> {
        let begin = &self.begin;
        let advance = sql::query(ADVANCE_CONVERSATION).bind(&begin.conversation_id).bind(&begin.message_id);
        advance.bind(epoch).bind(begin.now).bind(&begin.title).execute(db).await?;
        Ok(())
    }

    async fn store_messages(&self, db: &mut Db) -> Result<(), StoreError> {
        let begin = &self.begin;
        for (new, body) in begin.insert.iter().zip(&self.inserted) {
            sql::query(messages::INSERT)
                .bind(&begin.conversation_id)
                .bind(&new.message.id)
                .bind(&new.parent_id)
                .bind(body::role_name(new.message.role))
                .bind(begin.now)
                .bind(body)
                .execute(&mut *db)
                .await?;
        }
        for (message, body) in begin.update.iter().zip(&self.updated) {
            set_body(db, &begin.conversation_id, &message.id, body.clone()).await?;
            if message.id != begin.message_id {
                // The new submission replaces the question for which the run waits.
                runs::end_waiting(db, &begin.conversation_id, &message.id, EndReason::Replaced).await?;
            }
        }
        Ok(())
    }

    async fn insert_run(&self, db: &mut Db, epoch: i64) -> Result<(), StoreError> {
        let begin = &self.begin;
        let events_after: i64 = sql::query_scalar(run_events::LAST_NO).fetch_one(&mut *db).await?;
        sql::query(INSERT_RUN)
            .bind(&begin.run_id)
            .bind(&begin.conversation_id)
            .bind(&begin.submission_key)
            .bind(&begin.message_id)
            .bind(epoch)
            .bind(begin.now)
            .bind(begin.lease_until)
            .bind(events_after)
            .bind(&self.replica)
            .execute(db)
            .await?;
        Ok(())
    }
}
