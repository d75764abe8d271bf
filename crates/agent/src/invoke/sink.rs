//! Collects the answer and the usage of an invocation's run.

use super::{Checkpoint, InvocationObserver, InvocationReply};
use crate::{Event, EventSink, SinkClosed};
use contract::{ModelUse, Part};
use serde_json::Value;

/// The maximum size of an answer in bytes; a longer one is truncated.
const MAX_ANSWER: usize = 4 << 20;

/// Collects the text of an answer and its usage.
pub(super) struct AnswerSink<'a> {
    /// The text since the last tool call.
    pub(super) text: String,
    /// The result of the last call that may end the turn.
    pub(super) last_result: Option<Value>,
    pub(super) is_too_long: bool,
    /// How often the answer was sent back.
    pub(super) corrections: u32,
    pub(super) replies: &'a mut Vec<InvocationReply>,
    pub(super) models: &'a ModelUse,
    pub(super) observer: Option<&'a dyn InvocationObserver>,
    /// The tools that end the turn.
    pub(super) ends_with: &'a [String],
}

impl EventSink for AnswerSink<'_> {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if let Some(observer) = self.observer {
            observer.observe(&event).await?;
        }
        match event {
            Event::Part(Part::TextDelta { delta, .. }) => self.text.push_str(&delta),
            Event::ToolFinished { name, result, .. } => {
                // Text before a call is not the answer.
                self.text.clear();
                if self.ends_with.contains(&name) {
                    self.last_result = result.ok();
                }
            }
            Event::ToolDenied { .. } => self.text.clear(),
            Event::ReplyComplete(usage) => {
                self.models.record_reply(usage.clone()).await;
                self.replies.push(InvocationReply { below: None, usage });
            }
            Event::Nested { call_id, agent_id, event } => {
                if let Event::ReplyComplete(usage) = *event {
                    self.replies.push(InvocationReply { below: Some((call_id, agent_id)), usage });
                }
            }
            _ => {}
        }
        self.is_too_long = self.text.len() > MAX_ANSWER;
        if self.is_too_long { Err(SinkClosed) } else { Ok(()) }
    }

    fn wants_checkpoints(&self) -> bool {
        self.observer.is_some_and(InvocationObserver::wants_checkpoints)
    }

    async fn checkpoint(&mut self, mut state: Checkpoint) -> Result<(), SinkClosed> {
        state.corrections = self.corrections;
        match self.observer {
            Some(observer) => observer.checkpoint(state).await,
            None => Ok(()),
        }
    }
}
