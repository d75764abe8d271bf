//! Table `runs`: leases, the end of runs, and runs that a dead process left open. `begin_run` opens them.

use crate::history::body;
use crate::history::messages::set_body;
use crate::run::{run_events, steps};
use crate::sql::{self, Db, Row, Sql};
use crate::{AuditEntry, JournalBatch, StepRecord, Store, StoreError, audit};
use std::sync::Arc;
use wire::api::{Outcome, TokenUsage};
use wire::{EndReason, UiMessage};

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishRun {
    /// The run's id.
    pub run_id: String,
    /// The run's epoch, as returned in [`Begun::Started`](crate::BeginRunOutcome::Started).
    pub epoch: u64,
    /// How it ended.
    pub status: Outcome,
    /// Why it ended, in more detail.
    pub reason: EndReason,
    /// The complete assistant message.
    pub message: UiMessage,
    /// The token usage, if known.
    pub usage: Option<TokenUsage>,
    /// Additional information for the operator: the cause of a failure, or the limit that was reached.
    pub error: Option<String>,
    /// Unix time, milliseconds.
    pub now: i64,
    /// A better title for the conversation, unless the user has named it.
    pub title: Option<String>,
    /// Audit entries of calls that end with the run.
    pub audit: Vec<AuditEntry>,
    /// The requests to models that are not recorded yet.
    pub steps: Vec<StepRecord>,
}

impl FinishRun {
    /// Copies everything except the message's content, which may be long and is encoded already.
    fn without_content(&self) -> Self {
        Self {
            run_id: self.run_id.clone(),
            epoch: self.epoch,
            status: self.status,
            reason: self.reason,
            message: UiMessage::new(self.message.id.clone(), self.message.role),
            usage: self.usage,
            error: self.error.clone(),
            now: self.now,
            title: self.title.clone(),
            audit: self.audit.clone(),
            steps: self.steps.clone(),
        }
    }
}

/// An active run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRun {
    /// The owner of the conversation.
    pub owner: String,
    /// The conversation.
    pub conversation_id: String,
    /// The agent of the conversation.
    pub agent_id: String,
    /// The run.
    pub run_id: String,
    /// The run's epoch, which fences its writes.
    pub epoch: u64,
    /// The assistant message that it writes.
    pub message_id: String,
    /// When the run counts as abandoned; Unix time, milliseconds.
    pub lease_until: i64,
}

/// Only the server that drives the run ends it.
const FIND: &str = "
    SELECT conversation_id, message_id, status FROM runs
    WHERE id = $1 AND epoch = $2 AND replica IS NOT DISTINCT FROM $3";

const CLOSE: &str = "
    UPDATE runs
    SET status = $2, ended_at = $3, usage = $4, error = $5, events_until = $6, last_seq = $7, reason = $8
    WHERE id = $1";

const END_WAITING: &str = "
    UPDATE runs SET status = $3, reason = $4 WHERE conversation_id = $1 AND message_id = $2 AND status = 'waiting'";

const TOUCH: &str = "
    UPDATE conversations
    SET title = CASE WHEN named_by_user = 1 THEN title ELSE coalesce($2, title) END,
        updated_at = CASE WHEN updated_at > $3 THEN updated_at ELSE $3 END
    WHERE id = $1";

const RENEW: Sql = Sql::pair(
    "UPDATE runs SET lease_until = $2 WHERE status = 'running' AND id IN (SELECT value FROM json_each($1))",
    "UPDATE runs SET lease_until = $2 WHERE status = 'running' AND id = ANY($1)",
);

const LAST: &str = "
    SELECT r.id FROM runs r JOIN conversations c ON c.id = r.conversation_id AND c.epoch = r.epoch
    WHERE c.owner = $1 AND c.id = $2";

const OF_MESSAGE: &str = "
    SELECT r.id FROM runs r JOIN conversations c ON c.id = r.conversation_id
    WHERE c.owner = $1 AND c.id = $2 AND r.message_id = $3 ORDER BY r.epoch DESC LIMIT 1";

/// The columns of an [`OpenRun`].
macro_rules! open_columns {
    () => {
        "c.owner, c.agent_id, r.conversation_id, r.id, r.epoch, r.message_id, r.lease_until
         FROM runs r JOIN conversations c ON c.id = r.conversation_id"
    };
}
pub(crate) use open_columns;

const OPEN: &str = concat!("SELECT ", open_columns!(), " WHERE r.status = 'running'");

impl Store {
    /// Ends a run and stores its message. Idempotent: reporting the same end again, after a lost reply, succeeds.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] when the run ended otherwise, was taken over or was deleted; nothing is stored then.
    pub async fn finish_run(&self, finish: FinishRun) -> Result<(), StoreError> {
        self.finish_run_with(&finish, None).await
    }

    /// Does the same, and appends the run's last events, so that the journal is complete and other
    /// servers can stream them.
    ///
    /// # Errors
    /// As [`Store::finish_run`].
    pub async fn finish_run_with(&self, finish: &FinishRun, last: Option<JournalBatch>) -> Result<(), StoreError> {
        let body = body::encode(&finish.message)?;
        let end = EncodedEnd { finish: finish.without_content(), body, last, own: self.replica_id() };
        let (end, shared) = (Arc::new(end), self.database.replica.clone());
        self.write_repeatable(move |db| {
            let (end, shared) = (end.clone(), shared.clone());
            Box::pin(async move {
                close(db, &end).await?;
                match shared {
                    Some(shared) => shared.notify_runs(db, &[end.finish.run_id.as_str()]).await,
                    None => Ok(()),
                }
            })
        })
        .await
    }

    /// Extends the leases of active runs to `until` (Unix time, milliseconds).
    ///
    /// # Errors
    /// The database failed.
    pub async fn renew_leases(&self, run_ids: Vec<String>, until: i64) -> Result<(), StoreError> {
        self.write(move |db| {
            Box::pin(async move {
                sql::query(RENEW).bind(run_ids).bind(until).execute(db).await?;
                Ok(())
            })
        })
        .await
    }

    /// Returns the newest run of a conversation; `None` when the conversation is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn last_run(&self, owner: &str, conversation_id: &str) -> Result<Option<String>, StoreError> {
        let (owner, conversation_id) = (owner.to_owned(), conversation_id.to_owned());
        self.read(move |db| {
            Box::pin(
                async move { Ok(sql::query_scalar(LAST).bind(owner).bind(conversation_id).fetch_optional(db).await?) },
            )
        })
        .await
    }

    /// Returns the newest run that wrote a message; `None` when there is none or it belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn run_of_message(
        &self,
        owner: &str,
        conversation_id: &str,
        message_id: &str,
    ) -> Result<Option<String>, StoreError> {
        let ids = [owner.to_owned(), conversation_id.to_owned(), message_id.to_owned()];
        self.read(move |db| {
            Box::pin(async move {
                let query = ids.into_iter().fold(sql::query_scalar(OF_MESSAGE), |query, id| query.bind(id));
                Ok(query.fetch_optional(db).await?)
            })
        })
        .await
    }

    /// Returns all active runs of all owners, in no particular order. For recovery only, never for a request.
    ///
    /// # Errors
    /// The database failed.
    pub async fn open_runs(&self) -> Result<Vec<OpenRun>, StoreError> {
        self.read(|db| {
            Box::pin(async move {
                let rows = sql::query(OPEN).fetch_all(db).await?;
                rows.iter().map(open_run).collect()
            })
        })
        .await
    }
}

/// The end of a run with its encoded message, so that the writer spends no time on JSON.
struct EncodedEnd {
    /// Without the content of the message.
    finish: FinishRun,
    body: String,
    /// The last events of the run.
    last: Option<JournalBatch>,
    /// The id of the server that drives the run.
    own: Option<String>,
}

async fn close(db: &mut Db, end: &EncodedEnd) -> Result<(), StoreError> {
    let EncodedEnd { finish, body, last, own } = end;
    let find = sql::query(FIND).bind(&finish.run_id).bind(finish.epoch.cast_signed()).bind(own);
    let row = find.fetch_optional(&mut *db).await?.ok_or(StoreError::Fenced)?;
    match row.try_get::<&str>("status")? {
        "running" => {}
        status if status == finish.status.name() => return Ok(()),
        _ => return Err(StoreError::Fenced),
    }
    let (conversation_id, message_id): (String, String) = (row.try_get("conversation_id")?, row.try_get("message_id")?);
    if message_id != finish.message.id {
        return Err(StoreError::Invalid("the message is not the one that the run writes"));
    }
    let last_seq = last.as_ref().map(|last| last.last_seq.cast_signed());
    if let Some(last) = last {
        run_events::append(db, std::slice::from_ref(last), own).await?;
    }
    let events_until: i64 = sql::query_scalar(run_events::LAST_NO).fetch_one(&mut *db).await?;
    sql::query(CLOSE)
        .bind(&finish.run_id)
        .bind(finish.status.name())
        .bind(finish.now)
        .bind(finish.usage.and_then(|usage| serde_json::to_string(&usage).ok()))
        .bind(&finish.error)
        .bind(events_until)
        .bind(last_seq)
        .bind(finish.reason.name())
        .execute(&mut *db)
        .await?;
    set_body(db, &conversation_id, &message_id, body.clone()).await?;
    sql::query(TOUCH).bind(conversation_id).bind(&finish.title).bind(finish.now).execute(&mut *db).await?;
    audit::append_audit(db, finish.audit.clone()).await?;
    steps::append_steps(db, finish.steps.clone()).await
}

/// Ends the run that waits for the user in this message, because nobody will answer it any more.
pub(crate) async fn end_waiting(
    db: &mut Db,
    conversation_id: &str,
    message_id: &str,
    reason: EndReason,
) -> Result<(), StoreError> {
    let end = sql::query(END_WAITING).bind(conversation_id).bind(message_id);
    end.bind(reason.outcome().name()).bind(reason.name()).execute(db).await?;
    Ok(())
}

pub(crate) fn open_run(row: &Row) -> Result<OpenRun, StoreError> {
    Ok(OpenRun {
        owner: row.try_get("owner")?,
        conversation_id: row.try_get("conversation_id")?,
        agent_id: row.try_get("agent_id")?,
        run_id: row.try_get("id")?,
        epoch: row.try_get::<i64>("epoch")?.cast_unsigned(),
        message_id: row.try_get("message_id")?,
        lease_until: row.try_get("lease_until")?,
    })
}
