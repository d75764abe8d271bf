//! A message for the agent.

use super::answer::Answering;
use super::{Turn, TurnEnd};
use crate::messenger::{IncomingFile, Messenger, OpenedMail};
use crate::person::Person;
use crate::store::{self, ChatRow};
use ::jobs::JobError;
use chat::TextOrigin;
use serde_json::{Map, json};
use std::time::Duration;
use wire::api::{RunOptions, SendRequest, Submission};
use wire::{ErrorCode, UserError};

pub(super) const TOO_MANY_CHATS: &str = "You use me in too many chats already. Write to me in one of those.";

impl Turn<'_> {
    /// Sends a message to the agent, and shows its answer. One that replies to a question of the agent answers it.
    pub(super) async fn message(
        &mut self,
        person: &Person,
        (text, origin): (String, TextOrigin),
        replies_to: Option<String>,
        files: Vec<IncomingFile>,
    ) -> Result<TurnEnd, JobError> {
        if self.messenger() == Messenger::Email
            && let Some(end) = self.answer_by_number(person, replies_to.as_deref(), &text).await?
        {
            return Ok(end);
        }
        // An answer to a question has no files. The reply to such a message says that the conversation waits for the
        // answer.
        if files.is_empty()
            && let Some(end) = self.answer_question(person, replies_to.as_deref(), &text).await?
        {
            return Ok(end);
        }
        if let (true, Some(id)) = (self.update.is_submitted, self.update.answer_id.clone()) {
            return self.answer(person, Answering::resumed(id)).await;
        }
        let Some(conversation_id) = self.conversation(person).await? else {
            return self.send_text(TOO_MANY_CHATS).await;
        };
        self.delivery.begin().await?;
        let text_part = (!text.is_empty() || files.is_empty()).then(|| json!({ "type": "text", "text": text }));
        let mut parts: Vec<_> = text_part.into_iter().collect();
        let mut opened = OpenedMail::default();
        for file in files {
            match self.attach(person, file, &mut opened).await? {
                Ok(part) => parts.push(part),
                Err(refusal) => return self.send_text(&super::commands::plain(&refusal)).await,
            }
        }
        drop(opened);
        // The same for each attempt, so that a repeated message joins its run.
        let id = format!("{}-{}-{}", self.channel.id.0, self.delivery.bot_id(), self.update.update_id);
        let message = json!({ "id": message_id(&id), "role": "user", "parts": parts });
        let Ok(message) = serde_json::from_value(message) else {
            return self.send_text("This message cannot be read.").await;
        };
        let submission = Submission::Message { message, replaces: None, history: Vec::new() };
        let submission = origin.mark_submission(submission);
        let mut request = self.request(person, conversation_id.clone(), submission);
        let chosen = self.chat(person).await?.and_then(|chat| chat.model);
        request.options.model = chosen.filter(|model| self.model_ids().contains(model));
        let answering = match self.submit(person, request).await? {
            Ok(answering) => answering,
            Err(error) => return self.send_text(&super::commands::plain(&error.message)).await,
        };
        if let Err(error) = self.close_passed_over(person, &conversation_id).await {
            tracing::debug!(?error, "the cards are closed when the run ends");
        }
        self.answer(person, answering).await
    }

    /// Returns the conversation of the message, and stores it with the chat; `None` if the user has too many chats.
    async fn conversation(&mut self, person: &Person) -> Result<Option<String>, JobError> {
        if let Some(id) = &self.update.conversation_id {
            return Ok(Some(id.clone()));
        }
        let chat = self.chat(person).await?;
        if chat.is_none() && !self.make_room(person).await? {
            return Ok(None);
        }
        let chat = chat.unwrap_or_default();
        let known = match &chat.conversation_id {
            // A conversation that the user has deleted, or that is with another agent, is not continued.
            Some(id) => self.context.store.conversation(&person.caller.user_id, id).await?,
            None => None,
        };
        let known = known.filter(|conversation| conversation.summary.agent_id == self.channel.agent_id.0);
        let id = known.map_or_else(crate::ids::new_id, |conversation| conversation.summary.id);
        self.set_chat(person, ChatRow { conversation_id: Some(id.clone()), ..chat }).await?;
        self.remember(&id, None, 0).await?;
        Ok(Some(id))
    }

    /// Makes room for another chat. Returns false if the user has too many.
    pub(super) async fn make_room(&self, person: &Person) -> Result<bool, JobError> {
        let (channel_id, owner) = (self.channel.id.0.clone(), person.caller.user_id.clone());
        let count = store::count_chats(&self.context.store, &channel_id, &owner).await?;
        if count < i64::from(self.channel.max_chats) {
            return Ok(true);
        }
        if self.messenger().forgets_chats() {
            self.job.write(move |db| Box::pin(store::forget_oldest_chat(db, channel_id, owner))).await?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Stores the conversation that the turn will continue, before it begins.
    pub(super) async fn remember(
        &mut self,
        conversation_id: &str,
        answer_id: Option<String>,
        parts_before: i64,
    ) -> Result<(), JobError> {
        let (key, id, answer) = (self.key(), conversation_id.to_owned(), answer_id.clone());
        self.job.write(move |db| Box::pin(store::begin(db, key, id, answer, parts_before))).await?;
        self.update.conversation_id = Some(conversation_id.to_owned());
        self.update.answer_id = answer_id;
        self.update.parts_before = parts_before;
        Ok(())
    }

    pub(super) fn request(&self, person: &Person, conversation_id: String, submission: Submission) -> SendRequest {
        SendRequest {
            page_id: person.page_id.clone(),
            block_id: None,
            agent_id: self.channel.agent_id.0.clone(),
            conversation_id,
            submission,
            shared_state: Map::new(),
            url_query: Map::new(),
            switches: Map::new(),
            options: RunOptions::default(),
        }
    }

    /// Begins the run, and stores that. The error is for the user.
    pub(super) async fn submit(
        &mut self,
        person: &Person,
        request: SendRequest,
    ) -> Result<Result<Answering, UserError>, JobError> {
        let conversation_id = request.conversation_id.clone();
        let sent = match self.context.chat.send(&person.caller, request).await {
            Ok(sent) => sent,
            Err(error) if is_temporary(&error) => {
                if error.code == ErrorCode::Busy && self.waits_for_user(person, &conversation_id).await {
                    return Ok(Err(error));
                }
                return Err(match error.retry_after {
                    Some(seconds) => JobError::retry_after(Duration::from_secs(seconds.into()), error.message),
                    None => JobError::retry(error.message),
                });
            }
            Err(error) => return Ok(Err(error)),
        };
        let ((channel_id, update_id), answer_id) = (self.key(), sent.message_id.clone());
        self.job.write(move |db| Box::pin(store::submitted(db, channel_id, update_id, answer_id))).await?;
        self.update.is_submitted = true;
        self.update.answer_id = Some(sent.message_id.clone());
        Ok(Ok(Answering::from_response(sent)))
    }

    /// Returns whether a conversation waits for a decision of the user. A message does not wait for that: the press that
    /// decides would come after it.
    async fn waits_for_user(&self, person: &Person, conversation_id: &str) -> bool {
        let view = self.context.chat.conversation(&person.caller, conversation_id).await;
        view.is_ok_and(|view| view.active.is_none() && view.summary.waiting)
    }
}

/// Returns whether the same submission may be accepted in a moment. A quota, which has a reason, takes longer.
fn is_temporary(error: &UserError) -> bool {
    match error.code {
        ErrorCode::Busy | ErrorCode::Unavailable => true,
        ErrorCode::RateLimited => error.reason.is_none(),
        _ => false,
    }
}

/// Returns an id of a message: letters, digits and hyphens.
fn message_id(text: &str) -> String {
    format!("ch-{}", &crate::ids::hash_code(text)[..32])
}
