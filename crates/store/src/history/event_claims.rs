//! Table `event_claims`: which page handles which event of an answer.

use crate::sql::{self, Db};
use crate::{Store, StoreError};

/// How long claims are kept, in milliseconds: longer than any page still asks for the events of an answer.
const KEPT: i64 = 24 * 60 * 60 * 1_000;

/// The newest run that wrote the message, if any; `ended_at` is NULL while it is active.
const NEWEST_RUN: &str = "
    SELECT r.id, r.ended_at
    FROM conversations c LEFT JOIN runs r ON r.conversation_id = c.id AND r.message_id = $3
    WHERE c.owner = $1 AND c.id = $2 AND c.deleted_at IS NULL
    ORDER BY r.epoch DESC LIMIT 1";

const CLAIM: &str = "
    INSERT INTO event_claims (conversation_id, message_id, key, claimed_by, claimed_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (conversation_id, message_id, key) DO NOTHING";

const GRANTED: &str = "
    SELECT key FROM event_claims WHERE conversation_id = $1 AND message_id = $2 AND claimed_by = $3";

const FORGET: &str = "DELETE FROM event_claims WHERE claimed_at < $1";

/// Events of an answer that a page wants to handle.
#[derive(Clone, Debug)]
pub struct ClaimEvents {
    /// The conversation.
    pub conversation_id: String,
    /// The assistant message.
    pub message_id: String,
    /// The keys of the events.
    pub keys: Vec<String>,
    /// The id of this claim: a repeated claim with the same id gets the same events.
    pub by: String,
    /// The answer must be in progress, or must have ended after this; Unix time, milliseconds.
    pub ended_after: i64,
    /// Unix time, milliseconds.
    pub now: i64,
}

impl Store {
    /// Claims events of an answer, and returns the keys that this claim holds: each event is granted to one claim.
    /// Nothing is granted for an answer that ended too long ago, or that no run has written.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a conversation that is unknown or belongs to another user.
    pub async fn claim_events(&self, owner: &str, claim: ClaimEvents) -> Result<Vec<String>, StoreError> {
        let owner = owner.to_owned();
        self.write(move |db| Box::pin(claim_in(db, owner, claim))).await
    }
}

async fn claim_in(db: &mut Db, owner: String, claim: ClaimEvents) -> Result<Vec<String>, StoreError> {
    let ClaimEvents { conversation_id, message_id, keys, by, ended_after, now } = claim;
    let run = sql::query(NEWEST_RUN).bind(owner).bind(&conversation_id).bind(&message_id);
    let run = run.fetch_optional(&mut *db).await?.ok_or(StoreError::NotFound)?;
    let is_written = run.try_get::<Option<&str>>("id")?.is_some();
    if !is_written || run.try_get::<Option<i64>>("ended_at")?.is_some_and(|ended| ended < ended_after) {
        return Ok(Vec::new());
    }
    sql::query(FORGET).bind(now - KEPT).execute(&mut *db).await?;
    for key in &keys {
        let claim = sql::query(CLAIM).bind(&conversation_id).bind(&message_id).bind(key).bind(&by).bind(now);
        claim.execute(&mut *db).await?;
    }
    let rows = sql::query(GRANTED).bind(conversation_id).bind(message_id).bind(by).fetch_all(db).await?;
    let granted = rows.iter().map(|row| row.try_get("key")).collect::<Result<Vec<String>, _>>()?;
    Ok(granted.into_iter().filter(|key| keys.contains(key)).collect())
}
