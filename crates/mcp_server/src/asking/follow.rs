//! Follows an answer to its end, and asks the user for the decisions that it waits for on the way.

use super::form::{self, Form, OpenCall};
use super::{Asking, question, rounds};
use crate::answer::{AnswerReader, ConversationLink, Ended};
use crate::call::{Call, Client};
use capability::Context;
use chat::Frames;
use futures::StreamExt;
use rmcp::model::CallToolResponse;
use std::time::Duration;
use tokio::time::Instant;
use web::times::now_millis;
use wire::{ToolPart, UiMessage, UserError};

/// How long a call waits for answers of the user. After that they answer in the conversation.
const MAX_WAIT: Duration = Duration::from_secs(60 * 60);

/// The most questions in one call.
const MAX_QUESTIONS: usize = 100;

/// How often the stream of an active run is looked for, which may not be there yet when the run begins, and the time in
/// between.
const LOOKS: usize = 50;
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// An answer that a call follows.
pub(crate) struct Followed<'c> {
    pub(crate) context: &'c Context,
    pub(crate) client: &'c Client,
    pub(crate) link: &'c ConversationLink,
    /// The answer.
    pub(crate) message_id: &'c str,
}

/// A call that waits for the user, and how it is shown.
pub(super) struct OpenForm {
    pub(super) call: OpenCall,
    pub(super) form: Form,
    /// When the request expires; Unix time in milliseconds.
    pub(super) expires_at: Option<i64>,
}

/// The state of the newest answer of a conversation.
enum AnswerState {
    /// A run writes it, with this stream.
    Running(Frames),
    /// It waits for the user, or has ended.
    Paused(UiMessage),
}

impl Followed<'_> {
    /// Follows a run to its end. A call that is cancelled stops the run.
    pub(crate) async fn follow(&self, mut frames: Frames, call: &mut Call) -> Ended {
        let mut answer = AnswerReader::new(self.message_id);
        let mut is_stopped = false;
        loop {
            let frame = tokio::select! {
                frame = frames.next() => frame,
                () = call.cancel.cancelled(), if !is_stopped => {
                    is_stopped = true;
                    // The stream ends together with the run. The text so far is kept in the conversation.
                    if let Err(error) = self.context.chat.stop(&self.client.caller, &self.link.conversation_id).await {
                        tracing::warn!(%error, "a cancelled run could not be stopped");
                    }
                    continue;
                }
            };
            let Some(frame) = frame else { break };
            answer.push(&frame, &mut call.progress).await;
        }
        answer.finish()
    }

    /// Returns the answer after its run, if there is one. `None` if it can no longer be followed.
    pub(super) async fn catch_up(&self, call: &mut Call) -> Option<Ended> {
        Some(match self.state().await? {
            AnswerState::Running(frames) => self.follow(frames, call).await,
            AnswerState::Paused(message) => Ended::of(message),
        })
    }

    /// Asks the user for the decisions that the answer waits for, and follows it to its end. `passed` has the keys of calls that
    /// are not asked about.
    pub(crate) async fn to_end(&self, mut ended: Ended, call: &mut Call, mut passed: Vec<String>) -> CallToolResponse {
        let deadline = Instant::now() + MAX_WAIT;
        while ended.is_waiting() && !matches!(call.asking, Asking::No) && !call.cancel.is_cancelled() {
            // Read before the state, so that a run that begins between the two counts as a later one.
            let last_run = question::last_run(self).await;
            match self.state().await {
                Some(AnswerState::Running(frames)) => {
                    ended = self.follow(frames, call).await;
                    continue;
                }
                Some(AnswerState::Paused(message)) => ended = Ended::of(message),
                None => break,
            }
            let mut open = self.open_forms(&ended.message, &passed);
            match &call.asking {
                Asking::No => break,
                Asking::Rounds => match rounds::input_required(&open, &self.link.conversation_id, self.message_id) {
                    Some(required) => return required.into(),
                    None => break,
                },
                Asking::Stream(asker) => {
                    let is_late = Instant::now() >= deadline || self.context.chat.is_draining();
                    if open.is_empty() || is_late || passed.len() >= MAX_QUESTIONS {
                        break;
                    }
                    let next = open.swap_remove(0);
                    passed.push(next.call.key());
                    question::ask(self, asker, next, last_run.as_deref(), deadline, &call.cancel).await;
                }
            }
        }
        ended.result(self.link).into()
    }

    /// Returns forms for the calls that wait for the user, without those whose keys are in `passed`.
    fn open_forms(&self, message: &UiMessage, passed: &[String]) -> Vec<OpenForm> {
        let waiting = message.tools().filter(|tool| tool.waits_for_user(now_millis()));
        let open = waiting.filter_map(|tool| self.open_form(tool));
        open.filter(|open| !passed.contains(&open.call.key())).collect()
    }

    fn open_form(&self, tool: &ToolPart) -> Option<OpenForm> {
        let form = form::form(tool, &self.link.url)?;
        let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_ref());
        Some(OpenForm { call: OpenCall::of(tool), form, expires_at: terms.and_then(|terms| terms.expires_at) })
    }

    /// Returns the state of the answer. `None` if it can no longer be followed.
    async fn state(&self) -> Option<AnswerState> {
        let state = self.find_state().await;
        state.inspect_err(|error| tracing::warn!(%error, "an answer could not be followed")).ok().flatten()
    }

    /// See [`Self::state`]. `None` if the conversation has gone on without the answer, or its run has no stream.
    async fn find_state(&self) -> Result<Option<AnswerState>, UserError> {
        let (chat, caller, id) = (&self.context.chat, &self.client.caller, &self.link.conversation_id);
        for _ in 0..LOOKS {
            let view = chat.conversation(caller, id).await?;
            let Some(active) = view.active else {
                let last = view.messages.into_iter().next_back().filter(|last| last.id == self.message_id);
                return Ok(last.map(AnswerState::Paused));
            };
            if active.message_id != self.message_id {
                break;
            }
            if let Some(frames) = chat.watch_message(caller, id, self.message_id).await? {
                return Ok(Some(AnswerState::Running(frames)));
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        Ok(None)
    }
}
