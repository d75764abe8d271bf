//! Prunes the history, as the AI SDK's `pruneMessages` does.

use contract::{AssistantPart, Message};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;

/// Which parts of the history the model does not get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(transform = settings::allow_operators)]
pub struct Prune {
    /// The reasoning to leave out.
    pub reasoning: PruneReasoning,
    /// The tool calls to leave out, with their results.
    #[serde(deserialize_with = "settings::from_form::<ToolCallsForm, _, _>")]
    #[schemars(with = "Option<ToolCallsForm>")]
    pub tool_calls: Vec<PruneToolCalls>,
    /// Whether messages that become empty are left out as well.
    pub empty_messages: EmptyMessages,
}

/// The reasoning to leave out of the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PruneReasoning {
    /// No reasoning.
    #[default]
    None,
    /// The reasoning of all messages but the last.
    BeforeLastMessage,
    /// All reasoning.
    All,
}

/// The treatment of messages that become empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyMessages {
    /// They still count as messages, but are not sent.
    #[default]
    Keep,
    /// They are left out.
    Remove,
}

/// A rule for the tool calls to leave out of the history, with their results. The rules are applied
/// in order.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PruneToolCalls {
    /// The calls to leave out: `none`, `all`, `before-last-message`, or `before-last-N-messages`.
    #[serde(rename = "type")]
    pub which: PrunedCalls,
    /// The names of the tools that the rule applies to. Default: all.
    #[schemars(inner(regex(pattern = settings::pattern::TOOL_NAME)))]
    pub tools: Option<Vec<String>>,
}

/// The calls to leave out: `none`, `all`, `before-last-message`, or `before-last-N-messages`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "String")]
#[schemars(extend("pattern" = settings::pattern::PRUNED_CALLS))]
pub enum PrunedCalls {
    /// None.
    None,
    /// All before this number of messages at the end of the history; with 0, all.
    BeforeLast(usize),
}

impl From<String> for PrunedCalls {
    fn from(text: String) -> Self {
        let number = |text: &str| text.strip_prefix("before-last-")?.strip_suffix("-messages")?.parse().ok();
        match text.as_str() {
            "all" => Self::BeforeLast(0),
            "before-last-message" => Self::BeforeLast(1),
            other => number(other).map_or(Self::None, Self::BeforeLast),
        }
    }
}

/// How the tool calls to leave out are written.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum ToolCallsForm {
    /// The same for all tools.
    Which(PrunedCalls),
    /// Rules for single tools.
    Rules(Vec<PruneToolCalls>),
}

impl From<ToolCallsForm> for Vec<PruneToolCalls> {
    fn from(form: ToolCallsForm) -> Self {
        match form {
            ToolCallsForm::Which(which) => vec![PruneToolCalls { which, tools: None }],
            ToolCallsForm::Rules(rules) => rules,
        }
    }
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
    if prune.empty_messages == EmptyMessages::Remove {
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
    let PrunedCalls::BeforeLast(kept) = rule.which else { return messages.to_vec() };
    let kept_from = messages.len().saturating_sub(kept).min(own_from);
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
