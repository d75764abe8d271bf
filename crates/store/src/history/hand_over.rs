//! Handing a conversation over to another agent.

use crate::history::append::{self, AppendMessage};
use crate::history::{body, messages};
use crate::run::runs;
use crate::sql::{self, Db};
use crate::{AuditEntry, Store, StoreError, audit};
use wire::{EndReason, UiMessage};

/// A conversation to hand over from one agent to another.
#[derive(Clone, Debug, PartialEq)]
pub struct HandOver {
    /// The conversation.
    pub conversation_id: String,
    /// The agent that it is with.
    pub from: String,
    /// The agent that answers from now on.
    pub to: String,
    /// The page on which the user goes on.
    pub page_id: String,
    /// The message that shows it, added at the end of the active branch. Its id is new.
    pub message: UiMessage,
    /// Messages of any branch in which nothing waits for the user any more. Their runs end.
    pub update: Vec<UiMessage>,
    /// The audit entries of the act, and of calls that end with it.
    pub audit: Vec<AuditEntry>,
    /// Unix time, milliseconds.
    pub now: i64,
}

/// The user has read their own act.
const HAND_OVER: &str = "
    UPDATE conversations SET agent_id = $4, page_id = $5, read_at = updated_at
    WHERE owner = $1 AND id = $2 AND agent_id = $3";

impl Store {
    /// Hands a conversation over while no run is active.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a run is active, [`StoreError::NotFound`] for an unknown or deleted
    /// conversation, one of another user, or one that is with another agent than `from`.
    pub async fn hand_over(&self, owner: &str, change: HandOver) -> Result<(), StoreError> {
        let (owner, shown) = (owner.to_owned(), body::encode(&change.message)?);
        let bodies = change.update.iter().map(body::encode).collect::<Result<Vec<_>, _>>()?;
        self.write(move |db| Box::pin(apply(db, owner, change, shown, bodies))).await
    }
}

async fn apply(
    db: &mut Db,
    owner: String,
    change: HandOver,
    shown: String,
    bodies: Vec<String>,
) -> Result<(), StoreError> {
    let HandOver { conversation_id: id, from, to, page_id, message, update, audit: entries, now } = change;
    let append = AppendMessage { conversation_id: id.clone(), message, now };
    append::insert(db, &owner, append, shown).await?;
    let hand_over = sql::query(HAND_OVER).bind(owner).bind(&id).bind(from).bind(to).bind(page_id);
    if hand_over.execute(&mut *db).await?.rows_affected() == 0 {
        // The error also rolls back the message.
        return Err(StoreError::NotFound);
    }
    for (message, body) in update.iter().zip(bodies) {
        messages::set_body(db, &id, &message.id, body).await?;
        runs::end_waiting(db, &id, &message.id, EndReason::Replaced).await?;
    }
    audit::append_audit(db, entries).await
}
