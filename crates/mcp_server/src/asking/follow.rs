//! Follows an answer to its end, over what it asks the user.

use super::form::{self, Form, OpenCall};
use super::{Asking, question, rounds};
use crate::answer::{AnswerReader, ConversationLink, Ended};
use crate::call::{Call, Client};
use capability::Context;
use chat::Frames;
use futures::StreamExt;
use rmcp::model::{CallToolResponse, CallToolResult};
use std::time::Duration;
use tokio::time::Instant;
use web::times::now_millis;
use wire::{ToolPart, UiMessage, UserError};

/// How long a call waits for answers of the user. After that they answer in the conversation.
const MAX_WAIT: Duration = Duration::from_secs(60 * 60);

/// The most questions in one call.
const MAX_QUESTIONS: usize = 100;

/// How often a run is looked for that is active and has no stream yet, and the time in between.
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

/// The state of an answer.
enum Look {
    /// It is being written.
    Written(Frames),
    /// It waits, or has ended.
    Paused(UiMessage),
    /// The conversation has gone on without it.
    Left,
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
                    // What was written stays. The stream ends when the run has.
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

    /// Returns how far the answer is, after its run if there is one. `None` if it can no longer be followed.
    pub(super) async fn catch_up(&self, call: &mut Call) -> Option<Ended> {
        match self.look().await {
            Ok(Look::Written(frames)) => Some(self.follow(frames, call).await),
            Ok(Look::Paused(message)) => Some(Ended::of(message)),
            Ok(Look::Left) => None,
            Err(error) => {
                tracing::warn!(%error, "an answer could not be followed");
                None
            }
        }
    }

    /// Asks the user what the answer waits for, and follows it to its end. What is in `passed` is not asked.
    pub(crate) async fn to_end(&self, mut ended: Ended, call: &mut Call, mut passed: Vec<String>) -> CallToolResponse {
        let deadline = Instant::now() + MAX_WAIT;
        while ended.is_waiting() && !matches!(call.asking, Asking::No) && !call.cancel.is_cancelled() {
            // Known before the look, so that a run that begins after it is noticed.
            let last_run = question::last_run(self).await;
            let asking = match self.look().await {
                Ok(Look::Written(frames)) => {
                    ended = self.follow(frames, call).await;
                    None
                }
                Ok(Look::Paused(message)) => {
                    ended = Ended::of(message);
                    Some(call.asking.clone())
                }
                Ok(Look::Left) | Err(_) => Some(Asking::No),
            };
            let Some(asking) = asking else { continue };
            let mut open = self.open(&ended.message, &passed);
            let is_late = Instant::now() >= deadline || self.context.chat.is_draining();
            match asking {
                Asking::No => break,
                Asking::Rounds => {
                    let required = rounds::input_required(&open, &self.link.conversation_id, self.message_id);
                    return required.map_or_else(|| self.result(&ended).into(), CallToolResponse::from);
                }
                Asking::Stream(_) if open.is_empty() || is_late || passed.len() >= MAX_QUESTIONS => break,
                Asking::Stream(asker) => {
                    let next = open.swap_remove(0);
                    passed.push(next.call.key());
                    question::ask(self, &asker, next, last_run.as_deref(), deadline, &call.cancel).await;
                }
            }
        }
        self.result(&ended).into()
    }

    fn result(&self, ended: &Ended) -> CallToolResult {
        ended.result(self.link)
    }

    /// Returns what the user can answer in a form.
    fn open(&self, message: &UiMessage, passed: &[String]) -> Vec<OpenForm> {
        let waiting = message.tools().filter(|tool| tool.waits_for_user(now_millis()));
        let open = waiting.filter_map(|tool| self.open_form(tool));
        open.filter(|open| !passed.contains(&open.call.key())).collect()
    }

    fn open_form(&self, tool: &ToolPart) -> Option<OpenForm> {
        let form = form::form(tool, &self.link.url)?;
        let terms = tool.approval.as_ref().and_then(|approval| approval.terms.as_ref());
        Some(OpenForm { call: OpenCall::of(tool), form, expires_at: terms.and_then(|terms| terms.expires_at) })
    }

    async fn look(&self) -> Result<Look, UserError> {
        let (chat, caller, id) = (&self.context.chat, &self.client.caller, &self.link.conversation_id);
        for _ in 0..LOOKS {
            let view = chat.conversation(caller, id).await?;
            let Some(active) = view.active else {
                let last = view.messages.into_iter().next_back().filter(|last| last.id == self.message_id);
                return Ok(last.map_or(Look::Left, Look::Paused));
            };
            if active.message_id != self.message_id {
                break;
            }
            if let Some(frames) = chat.watch_message(caller, id, self.message_id).await? {
                return Ok(Look::Written(frames));
            }
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        Ok(Look::Left)
    }
}
