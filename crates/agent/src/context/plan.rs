//! Decides what to clear and where to cut, without I/O.

use crate::context::large_result::shortened;
use crate::context::projection::{Projection, TurnBoundary, cleared, is_clearable};
use crate::context::settings::{ContextBudget, ContextSettings};
use crate::context::size::{message_tokens, result_tokens};
use contract::{Message, ToolResult};
use std::sync::Arc;

/// The sizes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestSize {
    pub(crate) tokens: u64,
    pub(crate) messages: usize,
}

/// A history with what is known about its size.
pub(crate) struct HistoryView<'a> {
    pub(crate) messages: &'a [Arc<Message>],
    pub(crate) boundaries: &'a [TurnBoundary],
    /// The tokens of the instructions and tools.
    pub(crate) fixed: u64,
    /// By how much the estimates are too low.
    pub(crate) factor: f64,
    /// The longest result that is sent whole, in bytes.
    pub(crate) result_limit: usize,
}

impl ContextBudget {
    /// Returns whether a request reaches one of the limits.
    pub(crate) fn is_reached(&self, size: RequestSize) -> bool {
        self.tokens.is_some_and(|most| size.tokens >= most) || self.messages.is_some_and(|most| size.messages >= most)
    }

    /// Returns whether a request is so small that it may stay as it is for a while.
    fn is_comfortable(&self, size: RequestSize) -> bool {
        self.tokens.is_none_or(|most| size.tokens <= most / 2)
            && self.messages.is_none_or(|most| size.messages <= most.div_ceil(2))
    }
}

impl HistoryView<'_> {
    fn scaled(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.factor) as u64
    }

    /// Returns the size of the request with this projection.
    pub(crate) fn size(&self, projection: &Projection) -> RequestSize {
        let projected = projection.apply(self.messages, self.result_limit);
        let tokens = projected.iter().map(|message| message_tokens(message)).fold(self.fixed, u64::saturating_add);
        RequestSize { tokens: self.scaled(tokens), messages: projected.len() }
    }

    /// Returns the id of the call through which results should be cleared, if that saves at least a
    /// tenth of the budget: each change of the projection costs the provider's cache. `keep` is how many
    /// of the newest results stay. Results that the model has not read yet stay in any case.
    pub(crate) fn clear_through(&self, projection: &Projection, budget: ContextBudget, keep: usize) -> Option<String> {
        let projected = projection.apply(self.messages, self.result_limit);
        let results: Vec<_> = projected
            .iter()
            .enumerate()
            .filter_map(|(at, message)| match &**message {
                Message::Tool(results) => Some((at, results)),
                _ => None,
            })
            .collect();
        // The model has read what is before its newest reply.
        let read = projected.iter().rposition(|message| matches!(**message, Message::Assistant(_))).unwrap_or(0);
        // A message is cleared as a whole, since its results belong to one reply.
        let mut kept = 0;
        let clears = results.into_iter().rev().skip_while(|(at, results)| {
            kept += results.len();
            *at > read || kept <= keep
        });
        let clears = clears.map(|(_, results)| results);
        let clears: Vec<_> = clears.collect();
        let saved = |result: &ToolResult| result_tokens(result).saturating_sub(result_tokens(&cleared(result)));
        let clearable = clears.iter().copied().flatten().filter(|result| is_clearable(result));
        let saves: u64 = clearable.map(saved).sum();
        let is_worth_it = saves > 0 && budget.tokens.is_some_and(|most| self.scaled(saves) >= most / 10);
        is_worth_it.then(|| clears.first()?.last().map(|result| result.call_id.clone()))?
    }

    /// Returns the boundary up to which turns should be summarised. As many of the newest messages stay
    /// as the settings say. If the request would be too large then, fewer stay, but at least the newest
    /// turn.
    pub(crate) fn cut(
        &self,
        projection: &Projection,
        budget: ContextBudget,
        settings: &ContextSettings,
    ) -> Option<&TurnBoundary> {
        let kept = |boundary: &TurnBoundary| self.messages.len().saturating_sub(boundary.at);
        let open = self.open_boundaries(projection);
        // The tokens from each message to the end.
        let mut from: Vec<_> =
            self.messages.iter().map(|message| message_tokens(&shortened(message, self.result_limit))).collect();
        for at in (1..from.len()).rev() {
            from[at - 1] = from[at - 1].saturating_add(from[at]);
        }
        let is_enough = |boundary: &TurnBoundary| {
            let tokens = from.get(boundary.at).map_or(self.fixed, |tokens| tokens.saturating_add(self.fixed));
            budget.is_comfortable(RequestSize { tokens: self.scaled(tokens), messages: kept(boundary) })
        };
        let preferred = open.iter().rposition(|boundary| kept(boundary) >= settings.keep_messages).unwrap_or(0);
        open[preferred.min(open.len())..].iter().copied().find(|boundary| is_enough(boundary)).or(open.last().copied())
    }

    /// Returns the boundaries after what is summarised already, at which a turn begins.
    pub(crate) fn open_boundaries(&self, projection: &Projection) -> Vec<&TurnBoundary> {
        let start = projection.start(self.messages);
        let begins = |at: usize| matches!(self.messages.get(at).map(|message| &**message), Some(Message::User(_)));
        self.boundaries.iter().filter(|boundary| boundary.at > start && begins(boundary.at)).collect()
    }
}
