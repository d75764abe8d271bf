//! Messages with which the user starts something in a conversation that the agent does not do, such as a
//! workflow by a command of the composer. The agent reads them in its next turn.

use crate::errors::{self, Result};
use crate::submit::branch::Branch;
use crate::submit::check::check;
use crate::submit::{plan, preset};
use crate::{AgentRequest, Caller, Chat, Inner};
use store::{AddMessages, AlsoWrite};
use transcript::chunks;
use wire::api::{SendRequest, Submission};
use wire::chunk::DataChunk;
use wire::message::{DataPart, TextPart};
use wire::{UiPart, UserError};

/// The data that is stored with a message of the user, and below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Posting {
    /// The title of a new conversation.
    pub title: String,
    /// The text of the user's message.
    pub text: String,
    /// The parts that the message below it shows.
    pub parts: Vec<DataPart>,
    /// The parts of the message below it that the model reads.
    pub note: String,
}

impl Chat {
    /// Adds a message of the user at the end of a conversation, which is created if it does not exist, with
    /// another one below it. The agent is not asked. `request` is what would be sent to the agent, with a
    /// new message, whose id tells repetitions apart; its text is replaced. `also` is written in the same
    /// transaction. Returns false if the message was added before; then nothing is written.
    ///
    /// # Errors
    /// As [`Chat::send`]; the conversation is busy while an answer is being written or waits for the user.
    pub async fn post(
        &self,
        caller: &Caller,
        request: SendRequest,
        posting: Posting,
        also: AlsoWrite,
    ) -> Result<bool, UserError> {
        Ok(self.inner.post(caller, request, posting, also).await?)
    }
}

impl Inner {
    /// See [`Chat::post`].
    async fn post(&self, caller: &Caller, request: SendRequest, posting: Posting, also: AlsoWrite) -> Result<bool> {
        let request = with_text(request, posting.text)?;
        check(&request, &self.agents.submission_limits(caller))?;
        self.agents.agent(&AgentRequest::new(caller, &request)).await?;
        let Submission::Message { message, history, .. } = &request.submission else {
            return Err(no_message().into());
        };
        let _turn = self.conversation_locks.lock(&self.store, &request.conversation_id).await?;
        let known = self.current_branch(caller, &request, true).await?;
        let is_new = known.is_none();
        let branch = known.map(Branch::into_whole).unwrap_or_default();
        if branch.iter().any(|stored| stored.id == message.id) {
            return Ok(false);
        }
        let waits = branch.last().is_some_and(|last| plan::left_behind(last).is_some());
        let preset = if is_new {
            preset::preset_messages(&self.store, &caller.user_id, history, &message.id).await?
        } else {
            Vec::new()
        };
        let mut plan = plan::plan_message(branch, message, preset);
        // A new last message would take the open question away from the user.
        if waits || !plan.update.is_empty() {
            return Err(errors::waits_for_user().into());
        }
        if let Some(answer) = plan.insert.last_mut() {
            answer.message.parts = parts(posting.parts, &posting.note);
        }
        let add = AddMessages {
            conversation_id: request.conversation_id.clone(),
            page_id: request.page_id.clone(),
            agent_id: request.agent_id.clone(),
            title: posting.title,
            insert: plan.insert,
            now: self.clock.now(),
        };
        self.store.add_messages(&caller.user_id, add, also).await?;
        Ok(true)
    }
}

/// Returns the parts of the message below that of the user.
fn parts(shown: Vec<DataPart>, note: &str) -> Vec<UiPart> {
    let DataChunk { kind, id, data, .. } = chunks::prompt_note(note);
    std::iter::once(DataPart { kind, id, data }).chain(shown).map(UiPart::Data).collect()
}

/// Returns the request with another text, and nothing beside it.
fn with_text(mut request: SendRequest, text: String) -> Result<SendRequest, UserError> {
    match &mut request.submission {
        Submission::Message { message, replaces: None, .. } => {
            message.parts = vec![UiPart::Text(TextPart { text, ..TextPart::default() })];
            Ok(request)
        }
        _ => Err(no_message()),
    }
}

fn no_message() -> UserError {
    UserError::invalid("/submission", "Only a new message can start something.")
}
