//! Closes cards whose calls no longer wait for the user: the user has decided on the website or in another chat, has written a new message
//! instead, or the request has expired. As after a press, they show what was decided, without buttons.

use super::decision::{outcome, waits_for};
use super::{Turn, Turns};
use crate::messenger::{Bot, ChatPlace, Pace, SendError};
use crate::person::Person;
use crate::section::find;
use crate::store::{self, Card};
use ::jobs::{Due, Handler, JobContext, JobError, Jobs, Kind, Outcome};
use ::store::StoreError;
use chat::Caller;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use web::times::now_millis;
use wire::ErrorCode;
use wire::api::ConversationView;

/// The job that closes the cards of a conversation.
const CLOSE: Kind<CloseCards> = Kind::new("channels.close_cards");

/// The pause before the next attempt, if a message from a messenger is being handled in the conversation.
const BUSY_PAUSE: Duration = Duration::from_secs(5);

/// The conversation whose cards a job closes. Its owner is that of the job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CloseCards {
    conversation_id: String,
}

/// Enqueues a job that closes the cards of a conversation in which a run has ended, if it has open ones.
///
/// # Errors
/// The database failed.
pub(crate) async fn enqueue_closing(jobs: &Jobs, owner: &str, conversation_id: &str) -> Result<(), StoreError> {
    if store::open_cards(jobs.store(), owner, conversation_id).await?.is_empty() {
        return Ok(());
    }
    let job = CLOSE.job(&CloseCards { conversation_id: conversation_id.to_owned() });
    jobs.enqueue(job.owner(owner).key(conversation_id)).await.map(drop)
}

impl Turns {
    /// Returns the handler of the jobs that close cards.
    pub(crate) fn closing_handler(self: &Arc<Self>) -> Handler {
        let turns = self.clone();
        Handler::new(CLOSE, move |job, work: CloseCards| {
            let turns = turns.clone();
            async move { turns.close_cards(&job, &work.conversation_id).await }
        })
    }

    async fn close_cards(&self, job: &JobContext, conversation_id: &str) -> Result<Outcome, JobError> {
        let (store, owner) = (&self.context.store, job.owner().unwrap_or_default());
        // The turn of that message shows on its card what was decided, with the words of the answer.
        if store::is_being_handled(store, owner, conversation_id).await? {
            return Ok(Outcome::again(Due::After(BUSY_PAUSE)));
        }
        let cards = store::open_cards(store, owner, conversation_id).await?;
        let view = match self.context.chat.conversation(&Caller::signed_in(owner), conversation_id).await {
            Ok(view) => view,
            Err(error) if error.code == ErrorCode::NotFound => return Ok(Outcome::DONE),
            Err(error) => return Err(JobError::retry(error.message)),
        };
        let config = self.context.current.config();
        for card in cards {
            let Some((_, settings)) = find(&config, &card.channel_id) else { continue };
            let pace = Pace::new(self.pacer.clone(), &card.channel_id, job.stop().clone());
            let bot = Bot::new(settings, pace).map_err(JobError::retry)?;
            close(job, &bot, &view, card).await?;
        }
        Ok(Outcome::DONE)
    }
}

impl Turn<'_> {
    /// Closes the cards of this chat after a message was submitted, which passes over open calls. Those of other chats are
    /// closed when the run ends.
    pub(super) async fn close_passed_over(&self, person: &Person, conversation_id: &str) -> Result<(), JobError> {
        let mut cards = store::open_cards(&self.context.store, &person.caller.user_id, conversation_id).await?;
        cards.retain(|card| card.channel_id == self.channel.id.0 && card.chat_id == self.chat_id);
        if cards.is_empty() {
            return Ok(());
        }
        let view = self.context.chat.conversation(&person.caller, conversation_id).await;
        let view = view.map_err(|error| JobError::retry(error.message))?;
        for card in cards {
            close(self.job, &self.delivery.bot, &view, card).await?;
        }
        Ok(())
    }
}

/// Closes a card, unless its call still waits. One that the messenger refuses to change stays as it is.
async fn close(job: &JobContext, bot: &Bot, view: &ConversationView, card: Card) -> Result<(), JobError> {
    let Some(message_id) = card.message_id.as_deref().filter(|_| !waits_for(view, &card)) else { return Ok(()) };
    let (place, message) = (ChatPlace::parse(&card.chat_id), outcome(view, &card, bot.messenger()));
    match bot.edit(&place, message_id, &message, &[]).await {
        Err(error) if error.is_temporary() => return Err(SendError::Api(error).into()),
        Err(error) => tracing::debug!(%error, "a card was not changed"),
        Ok(()) => {}
    }
    Ok(job.write(move |db| Box::pin(store::set_card_closed(db, card.id, now_millis()))).await?)
}
