//! Table `feedback`: the ratings that users give to answers.

use crate::sql::{self, Db, Row};
use crate::{Store, StoreError};
use wire::change::{Feedback, Rating};

const ALL: &str = "
    SELECT f.message_id, f.rating, f.reason
    FROM conversations c JOIN feedback f ON f.conversation_id = c.id AND f.owner = c.owner
    WHERE c.owner = $1 AND c.id = $2";

/// Only assistant messages can be rated.
const SET: &str = "
    INSERT INTO feedback (conversation_id, message_id, owner, rating, reason, updated_at)
    SELECT c.id, m.id, c.owner, $4, $5, $6
    FROM conversations c JOIN messages m ON m.conversation_id = c.id AND m.id = $3 AND m.role = 'assistant'
    WHERE c.owner = $1 AND c.id = $2
    ON CONFLICT (conversation_id, message_id, owner) DO UPDATE SET rating = excluded.rating, reason = excluded.reason, updated_at = excluded.updated_at";

const CLEAR: &str = "
    DELETE FROM feedback WHERE conversation_id = $2 AND message_id = $3 AND owner = $1";

const IS_ANSWER: &str = "
    SELECT 1 FROM conversations c JOIN messages m ON m.conversation_id = c.id AND m.id = $3 AND m.role = 'assistant'
    WHERE c.owner = $1 AND c.id = $2";

impl Store {
    /// Returns the owner's ratings in a conversation, by message; empty when it is unknown or belongs to another user.
    ///
    /// # Errors
    /// The database failed.
    pub async fn feedback(&self, owner: &str, conversation_id: &str) -> Result<Vec<(String, Feedback)>, StoreError> {
        self.rows(sql::query(ALL).bind(owner).bind(conversation_id), feedback).await
    }

    /// Stores or removes the owner's rating of an answer.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for an unknown message, one that is no answer, and one of another user.
    pub async fn set_feedback(
        &self,
        owner: &str,
        conversation_id: &str,
        message_id: &str,
        feedback: Option<Feedback>,
        now: i64,
    ) -> Result<(), StoreError> {
        let ids = [owner.to_owned(), conversation_id.to_owned(), message_id.to_owned()];
        self.write(move |db| Box::pin(set(db, ids, feedback, now))).await
    }
}

async fn set(
    db: &mut Db,
    [owner, conversation_id, message_id]: [String; 3],
    feedback: Option<Feedback>,
    now: i64,
) -> Result<(), StoreError> {
    let of_message =
        |sql: &'static str| sql::query(sql).bind(owner.clone()).bind(conversation_id.clone()).bind(message_id.clone());
    let Some(feedback) = feedback else {
        of_message(IS_ANSWER).fetch_optional(&mut *db).await?.ok_or(StoreError::NotFound)?;
        of_message(CLEAR).execute(&mut *db).await?;
        return Ok(());
    };
    let kept = of_message(SET).bind(name(feedback.rating)).bind(feedback.reason).bind(now).execute(db).await?;
    if kept.rows_affected() == 0 { Err(StoreError::NotFound) } else { Ok(()) }
}

fn feedback(row: &Row) -> Result<(String, Feedback), StoreError> {
    let rating = if row.try_get::<&str>("rating")? == name(Rating::Up) { Rating::Up } else { Rating::Down };
    Ok((row.try_get("message_id")?, Feedback { rating, reason: row.try_get("reason")? }))
}

fn name(rating: Rating) -> &'static str {
    match rating {
        Rating::Up => "up",
        Rating::Down => "down",
    }
}
