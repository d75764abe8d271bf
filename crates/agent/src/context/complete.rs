//! Makes a history whole that begins after other messages, and prunes it.

use crate::context::projection::ContextInput;
use crate::limits::loop_detection::EarlierSteps;
use crate::model::prune::{self, EmptyMessages, Prune};
use crate::run::Run;
use contract::{Message, ToolCall};
use std::sync::Arc;

impl ContextInput {
    /// Puts the messages before the history into it. Returns their number.
    pub(crate) async fn complete(&mut self, history: &mut Vec<Arc<Message>>) -> usize {
        let Some(earlier) = self.earlier.take() else { return 0 };
        let earlier = earlier.load().await;
        *history = earlier.iter().cloned().chain(std::mem::take(history)).collect();
        self.boundaries.iter_mut().for_each(|boundary| boundary.at += earlier.len());
        if let Some(summary) = &mut self.projection.summary {
            summary.covers += earlier.len();
        }
        self.projection.covers_earlier = false;
        earlier.len()
    }
}

impl Run<'_> {
    /// Returns whether the fate of calls may depend on messages before the history: on steps that are repeated, or on
    /// what policies know.
    pub(crate) fn judges_by_history(&self, calls: &[ToolCall]) -> bool {
        !calls.is_empty() && (!self.caller.policies.is_empty() || self.loops.has(calls))
    }

    /// Makes the history whole, if messages are missing before it.
    pub(crate) async fn complete_history(&mut self) {
        let added = self.context.complete(&mut self.messages).await;
        if added == 0 {
            return;
        }
        self.turn_start += added;
        // Before the first search, the added messages are searched with the others.
        if self.searched_messages > 0 {
            self.searched_messages += added;
        }
        self.earlier_steps = EarlierSteps::from_history(self.messages.get(..self.turn_start).unwrap_or(&self.messages));
    }

    /// Prunes the messages from before the turn. The messages of the turn stay, since the model
    /// needs the results of its calls.
    pub(crate) async fn prune_history(&mut self) {
        // Empty messages are left out below.
        let rules = &Prune { empty_messages: EmptyMessages::Keep, ..self.agent.settings.prune.clone() };
        if *rules != Prune::default() {
            self.complete_history().await;
            let pruned = prune::prune_before(&self.messages, self.turn_start, rules);
            // No provider accepts an empty message.
            let kept: Vec<_> = pruned.iter().map(|message| !prune::is_empty(message)).collect();
            self.context.remove_messages(&kept);
            self.messages = pruned.into_iter().filter(|message| !prune::is_empty(message)).collect();
        }
    }
}
