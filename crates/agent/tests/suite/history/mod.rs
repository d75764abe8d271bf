//! Histories and rules in the AI SDK's format.

use agent::{EmptyMessages, Prune, PruneReasoning, PruneToolCalls, PrunedCalls};
use contract::{AssistantPart, Message, ToolCall, ToolOutput, ToolResult, UserPart};
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads model messages, without approvals.
pub(crate) fn messages(messages: &Value) -> Vec<Arc<Message>> {
    messages.as_array().unwrap().iter().map(|message| Arc::new(read(message))).collect()
}

fn read(message: &Value) -> Message {
    let text = |part: &Value| part["text"].as_str().unwrap().to_owned();
    let parts = match &message["content"] {
        Value::String(said) if said.is_empty() => Vec::new(),
        Value::String(said) => vec![json!({ "type": "text", "text": said })],
        parts => parts.as_array().unwrap().clone(),
    };
    let parts = parts.iter().filter(|part| !part["type"].as_str().unwrap().starts_with("tool-approval"));
    match message["role"].as_str().unwrap() {
        "user" => Message::User(parts.map(|part| UserPart::Text { text: text(part) }).collect()),
        "assistant" => {
            let part = |part: &Value| match part["type"].as_str().unwrap() {
                "text" => AssistantPart::Text { text: text(part), metadata: None },
                "reasoning" => AssistantPart::Reasoning { text: text(part), metadata: None },
                _ => AssistantPart::ToolCall(call(part)),
            };
            Message::Assistant(parts.map(part).collect())
        }
        _ => Message::Tool(parts.map(result).collect()),
    }
}

fn call(part: &Value) -> ToolCall {
    ToolCall {
        id: part["toolCallId"].as_str().unwrap().to_owned(),
        name: part["toolName"].as_str().unwrap().to_owned(),
        input: part["input"].clone(),
        provider_executed: false,
        metadata: None,
    }
}

fn result(part: &Value) -> ToolResult {
    ToolResult {
        call_id: part["toolCallId"].as_str().unwrap().to_owned(),
        name: part["toolName"].as_str().unwrap().to_owned(),
        output: ToolOutput::from_url(part["output"]["value"].clone()),
        metadata: None,
    }
}

/// Reads the options of `pruneMessages`.
pub(crate) fn options(options: &Value) -> Prune {
    let rules = match &options["toolCalls"] {
        Value::Array(rules) => rules.clone(),
        Value::String(none) if none == "none" => Vec::new(),
        Value::String(which) => vec![json!({ "type": which })],
        _ => Vec::new(),
    };
    Prune {
        reasoning: match options["reasoning"].as_str() {
            Some("all") => PruneReasoning::All,
            Some("before-last-message") => PruneReasoning::BeforeLastMessage,
            _ => PruneReasoning::None,
        },
        tool_calls: rules.iter().map(rule).collect(),
        empty_messages: if options["emptyMessages"] == "keep" { EmptyMessages::Keep } else { EmptyMessages::Remove },
    }
}

fn rule(rule: &Value) -> PruneToolCalls {
    let keep_last = match rule["type"].as_str().unwrap() {
        "all" => 0,
        "before-last-message" => 1,
        // In JavaScript the last 0 items of a list are all of it. A config cannot specify 0.
        "before-last-0-messages" => usize::MAX,
        last => last.trim_start_matches("before-last-").trim_end_matches("-messages").parse().unwrap(),
    };
    let tools = rule["tools"].as_array();
    PruneToolCalls {
        which: PrunedCalls::BeforeLast(keep_last),
        tools: tools.map(|tools| tools.iter().map(|tool| tool.as_str().unwrap().to_owned()).collect()),
    }
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
