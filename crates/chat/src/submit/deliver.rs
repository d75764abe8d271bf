//! Messages that the server adds to a conversation by itself: what came of something that was started
//! there and went on in the background. The agent may go on from such a message.

use crate::errors::{Error, Result};
use crate::ids;
use crate::submit::begin::AcceptedSubmission;
use crate::submit::{content, model_choice, plan};
use crate::{AgentRequest, Caller, Chat, Inner};
use contract::Exposure;
use std::sync::Arc;
use store::{AlsoWrite, AppendMessage, Conversation, StoreError, StoredMessage};
use transcript::exposure;
use wire::api::{RunOptions, SendRequest, Submission};
use wire::message::DataPart;
use wire::{Role, UiMessage, UiPart, UserError, WORKFLOW_RESULT};

/// From how many results in a row the agent goes on before the user writes again. An agent that starts
/// something each time it goes on would never come to an end.
const MAX_IN_A_ROW: usize = 5;

/// A message to add to a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The conversation.
    pub conversation_id: String,
    /// The id of the message, by which a repeated delivery is recognized.
    pub message_id: String,
    /// The parts that the message shows, and those that the model reads.
    pub parts: Vec<DataPart>,
    /// The exposure of the agent by the message, which makes sending data dangerous.
    pub exposure: Exposure,
    /// Whether the agent goes on from the message at once.
    pub goes_on: bool,
}

/// The outcome of a [`Delivery`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// The conversation has the message.
    Delivered,
    /// An answer is being written, or waits for the user. Try again later.
    Busy,
    /// The user has no such conversation, or has deleted it.
    Gone,
}

impl Chat {
    /// Adds a message at the end of a conversation of the caller, once, whatever the number of calls with
    /// its id. `also` is written in the same transaction; where the agent goes on, it is written after that
    /// has begun. If the agent cannot go on, because of a quota or its access rules or because it went on from
    /// five results already since the user wrote, the message is added without it.
    ///
    /// # Errors
    /// The server is full or draining, or the database failed.
    pub async fn deliver(
        &self,
        caller: &Caller,
        delivery: Delivery,
        also: AlsoWrite,
    ) -> Result<DeliveryOutcome, UserError> {
        // In a task of its own, so that a job that is dropped leaves no half-started run.
        let (inner, caller) = (self.inner.clone(), caller.clone());
        let task = self.inner.tasks.spawn(async move { inner.deliver(&caller, delivery, also).await });
        Ok(task.await.map_err(|_| crate::errors::internal())??)
    }
}

impl Inner {
    /// See [`Chat::deliver`].
    async fn deliver(
        self: &Arc<Self>,
        caller: &Caller,
        delivery: Delivery,
        also: AlsoWrite,
    ) -> Result<DeliveryOutcome> {
        let id = &delivery.conversation_id;
        ids::check_id("/conversationId", id)?;
        let _turn = self.conversation_locks.lock(&self.store, id).await?;
        let Some(conversation) = self.store.conversation(&caller.user_id, id).await? else {
            return Ok(DeliveryOutcome::Gone);
        };
        let mut branch = self.store.branch(&caller.user_id, id).await?;
        if let Some(last) = branch.last_mut() {
            self.expire(caller, &conversation.summary.agent_id, id, last).await?;
        }
        let is_known = branch.iter().any(|stored| stored.id == delivery.message_id);
        // A new last message would take the open question away from the user.
        let waits = branch.last().is_some_and(|last| plan::left_behind(last).is_some());
        if !is_known && (conversation.active_run.is_some() || waits) {
            return Ok(DeliveryOutcome::Busy);
        }
        let goes_on = delivery.goes_on && results_in_a_row(&branch) < MAX_IN_A_ROW;
        if is_known || (goes_on && self.go_on(caller, &conversation, branch, &delivery).await?) {
            self.store.write(also).await?;
            return Ok(DeliveryOutcome::Delivered);
        }
        let append = AppendMessage { conversation_id: id.clone(), message: message(&delivery), now: self.clock.now() };
        match self.store.append_message(&caller.user_id, append, also).await {
            Ok(()) => Ok(DeliveryOutcome::Delivered),
            Err(StoreError::Busy) => Ok(DeliveryOutcome::Busy),
            Err(StoreError::NotFound) => Ok(DeliveryOutcome::Gone),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds the message and starts the run in which the agent goes on from it. Returns false if the user's
    /// quotas or the rules of the agent do not allow it.
    async fn go_on(
        self: &Arc<Self>,
        caller: &Caller,
        conversation: &Conversation,
        branch: Vec<StoredMessage>,
        delivery: &Delivery,
    ) -> Result<bool> {
        self.check_capacity()?;
        let mut options = RunOptions::default();
        let models = self.agents.models(&conversation.summary.agent_id);
        model_choice::complete(&mut options, &models, (&branch, None), true);
        if self.agents.offers_delegation(&conversation.summary.agent_id) {
            options.delegate = model_choice::delegates(&branch);
        }
        let request = SendRequest {
            page_id: conversation.summary.page_id.clone(),
            block_id: None,
            agent_id: conversation.summary.agent_id.clone(),
            conversation_id: delivery.conversation_id.clone(),
            submission: Submission::Continue,
            shared_state: Default::default(),
            url_query: Default::default(),
            switches: Default::default(),
            options,
        };
        let agent = match self.agents.agent(&AgentRequest::new(caller, &request)).await {
            Ok(agent) => agent,
            Err(error) => return refused(error, delivery),
        };
        let _pass = match self.check_quotas(caller, true, agent.unpriced_model()).await {
            Ok(pass) => pass,
            Err(Error::Refused(error)) => return refused(error, delivery),
            Err(error) => return Err(error),
        };
        let hooks = self.agents.hooks(&AgentRequest::new(caller, &request));
        let plan = plan::plan_delivered(branch, message(delivery)).with_choice(&request.options);
        let permit = self.acquire_permit(caller, self.agents.submission_limits(caller).runs)?;
        let run_id = ids::new_id();
        let accepted = AcceptedSubmission { request, run_id, agent, hooks, title_agent: None, plan, permit };
        // The stream is dropped: the run belongs to the server, and open pages find it.
        self.begin(caller, accepted).await?;
        Ok(true)
    }
}

/// Returns how many results stand at the end of a branch, after the last message of the user.
fn results_in_a_row(branch: &[StoredMessage]) -> usize {
    let since = branch.iter().rev().take_while(|stored| stored.message.role != Role::User);
    since.filter(|stored| stored.message.parts.iter().any(is_result)).count()
}

fn is_result(part: &UiPart) -> bool {
    matches!(part, UiPart::Data(part) if part.kind == WORKFLOW_RESULT)
}

/// The message is added without the agent.
fn refused(error: UserError, delivery: &Delivery) -> Result<bool> {
    let (conversation, cause) = (&delivery.conversation_id, error.message);
    tracing::info!(conversation, cause, "an agent cannot go on from a result");
    Ok(false)
}

fn message(delivery: &Delivery) -> UiMessage {
    let parts = delivery.parts.iter().cloned().map(UiPart::Data).collect();
    let mut message = UiMessage {
        metadata: content::created_now(),
        parts,
        ..UiMessage::new(delivery.message_id.clone(), Role::Assistant)
    };
    if delivery.exposure != Exposure::default() {
        exposure::mark(&mut message, &delivery.exposure);
    }
    message
}
