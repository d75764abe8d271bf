//! Prunes the history, as the AI SDK's `pruneMessages` does.

use contract::{AssistantPart, Message};
use std::collections::HashSet;
use std::sync::Arc;

/// What to prune. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// Which reasoning to remove.
    pub reasoning: PruneReasoning,
    /// Which tool calls to remove with their results. The rules are applied in order.
    pub tool_calls: Vec<PruneToolCalls>,
    /// Whether to remove messages that are empty afterwards. Requests never contain them.
    pub remove_empty: bool,
}

/// Which reasoning to remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PruneReasoning {
    /// None.
    #[default]
    None,
    /// The reasoning of all messages except the last.
    BeforeLastMessage,
    /// All.
    All,
}

/// Which tool calls to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruneToolCalls {
    /// The number of last messages whose calls and results stay; 0 keeps none.
    pub keep_last: usize,
    /// The names of the tools whose calls are removed; all tools if absent.
    pub tools: Option<Vec<String>>,
}

/// Returns the pruned history. Unchanged messages stay shared.
pub fn prune(messages: &[Arc<Message>], prune: &Prune) -> Vec<Arc<Message>> {
    prune_before(messages, messages.len(), prune)
}

/// Prunes only messages before `own_from`, and keeps the calls that occur from there on.
pub(crate) fn prune_before(messages: &[Arc<Message>], own_from: usize, prune: &Prune) -> Vec<Arc<Message>> {
    let mut messages = without_reasoning(messages, own_from, prune.reasoning);
    for rule in &prune.tool_calls {
        messages = without_calls(&messages, own_from, rule);
    }
    if prune.remove_empty {
        messages.retain(|message| !is_empty(message));
    }
    messages
}

/// Returns whether a message has no content.
pub(crate) fn is_empty(message: &Message) -> bool {
    match message {
        Message::System(text) => text.is_empty(),
        Message::User(parts) => parts.is_empty(),
        Message::Assistant(parts) => parts.is_empty(),
        Message::Tool(results) => results.is_empty(),
    }
}

fn without_reasoning(messages: &[Arc<Message>], own_from: usize, which: PruneReasoning) -> Vec<Arc<Message>> {
    let last = messages.len().saturating_sub(1);
    let stays = |at: usize| match which {
        _ if at >= own_from => true,
        PruneReasoning::None => true,
        PruneReasoning::BeforeLastMessage => at == last,
        PruneReasoning::All => false,
    };
    let messages = messages.iter().enumerate().map(|(at, message)| match &**message {
        Message::Assistant(parts) if !stays(at) => {
            let kept = parts.iter().filter(|part| !matches!(part, AssistantPart::Reasoning { .. }));
            filtered(message, Message::Assistant(kept.cloned().collect()))
        }
        _ => message.clone(),
    });
    messages.collect()
}

fn without_calls(messages: &[Arc<Message>], own_from: usize, rule: &PruneToolCalls) -> Vec<Arc<Message>> {
    let kept_from = messages.len().saturating_sub(rule.keep_last).min(own_from);
    let kept: HashSet<&str> = messages[kept_from..].iter().flat_map(|message| call_ids(message)).collect();
    let stays = |id: &str, name: &str| {
        kept.contains(id) || rule.tools.as_ref().is_some_and(|tools| !tools.iter().any(|tool| tool == name))
    };
    let pruned = messages[..kept_from].iter().map(|message| match &**message {
        Message::Assistant(parts) => {
            let kept = parts.iter().filter(|part| match part {
                AssistantPart::ToolCall(call) => stays(&call.id, &call.name),
                AssistantPart::ToolResult(result) => stays(&result.call_id, &result.name),
                _ => true,
            });
            filtered(message, Message::Assistant(kept.cloned().collect()))
        }
        Message::Tool(results) => {
            let results = results.iter().filter(|result| stays(&result.call_id, &result.name));
            filtered(message, Message::Tool(results.cloned().collect()))
        }
        Message::System(_) | Message::User(_) => message.clone(),
    });
    pruned.chain(messages[kept_from..].iter().cloned()).collect()
}

/// Returns the ids of the calls and results in a message.
fn call_ids(message: &Message) -> Vec<&str> {
    match message {
        Message::Assistant(parts) => parts
            .iter()
            .filter_map(|part| match part {
                AssistantPart::ToolCall(call) => Some(call.id.as_str()),
                AssistantPart::ToolResult(result) => Some(result.call_id.as_str()),
                _ => None,
            })
            .collect(),
        Message::Tool(results) => results.iter().map(|result| result.call_id.as_str()).collect(),
        Message::System(_) | Message::User(_) => Vec::new(),
    }
}

/// Returns the original message if nothing was removed from it, so that it stays shared.
fn filtered(before: &Arc<Message>, after: Message) -> Arc<Message> {
    if **before == after { before.clone() } else { Arc::new(after) }
}
