//! Recordings of replies that were imported from a provider: how they are decoded today, and the
//! turn that an agent makes of them.

use super::compare::{Finding, Kind, finding};
use super::terminal::{printable, wrap};
use crate::format::{Entry, Message, RawReply, Recording};
use contract::{AssistantPart, ToolResult, UserPart};
use serde_json::Value;

/// Returns the reply as the provider sent it, if the recording was imported.
fn raw_reply(recording: &Recording) -> Option<&RawReply> {
    recording.entries.iter().find_map(|entry| match entry {
        Entry::Reply { raw, .. } => raw.as_ref(),
        _ => None,
    })
}

/// Compares everything that was decoded from a provider's reply, also data that the steps do not
/// show, such as reasoning and the provider's own items.
pub(super) fn decoding_finding(recorded: &Recording, replayed: &Recording) -> Option<Finding> {
    raw_reply(recorded)?;
    let (before, after) = (messages(recorded), messages(replayed));
    let at = (0..before.len().max(after.len())).find(|at| before.get(*at) != after.get(*at))?;
    let text = |messages: &[String]| messages.get(at).cloned().unwrap_or_default();
    Some(finding(Kind::Messages, &format!("message {} as it is decoded", at + 1), text(&before), text(&after)))
}

/// Returns the messages at the end of the run as JSON.
fn messages(recording: &Recording) -> Vec<String> {
    let ids = recording.end().map(|end| end.messages.as_slice()).unwrap_or_default();
    ids.iter().map(|id| recording.blob(id).to_string()).collect()
}

/// Returns the turn that an agent made of an imported reply, for a terminal; `None` for other
/// recordings.
pub fn imported_turn(recording: &Recording) -> Option<String> {
    let raw = raw_reply(recording)?;
    let events = recording.blob(&raw.events).as_array().map_or(0, Vec::len);
    let mut out = format!("a reply of {} with {events} events\n", raw.api.name());
    let end = recording.end()?;
    for id in &end.messages {
        match serde_json::from_value(recording.blob(id).clone()) {
            // No tool has run.
            Ok(Message::Tool(_)) => {}
            Ok(message) => message_lines(&message).iter().for_each(|line| wrap(&mut out, &printable(line), "  ")),
            Err(error) => wrap(&mut out, &format!("a message that cannot be read: {error}"), "  "),
        }
    }
    let reason = serde_json::to_value(end.finish_reason).unwrap_or_default();
    let (reason, usage) = (reason.as_str().unwrap_or_default(), end.usage);
    let line = format!("end: {reason}, {} tokens in, {} tokens out", usage.input_tokens, usage.output_tokens);
    wrap(&mut out, &line, "  ");
    Some(out)
}

fn message_lines(message: &Message) -> Vec<String> {
    match message {
        Message::System(text) => vec![format!("system: {text}")],
        Message::User(parts) => parts.iter().map(user_line).collect(),
        Message::Assistant(parts) => parts.iter().map(assistant_line).collect(),
        Message::Tool(results) => results.iter().map(result_line).collect(),
    }
}

fn user_line(part: &UserPart) -> String {
    match part {
        UserPart::Text { text } => format!("user: {text}"),
        UserPart::File { media_type, .. } => format!("user: a file, {media_type}"),
    }
}

fn assistant_line(part: &AssistantPart) -> String {
    match part {
        AssistantPart::Text { text, .. } => format!("text: {text}"),
        AssistantPart::Reasoning { text, .. } if text.is_empty() => "reasoning: (not readable)".to_owned(),
        AssistantPart::Reasoning { text, .. } => format!("reasoning: {text}"),
        AssistantPart::File { media_type, .. } => format!("file: {media_type}"),
        AssistantPart::ToolCall(call) => {
            let who = if call.provider_executed { "call by the provider" } else { "call" };
            format!("{who}: {} {}", call.name, call.input)
        }
        AssistantPart::ToolResult(result) => result_line(result),
        AssistantPart::ProviderItem { provider, item } => {
            let kind = item.get("type").and_then(Value::as_str).unwrap_or("of a kind without a name");
            format!("item of {provider}: {kind}")
        }
    }
}

fn result_line(result: &ToolResult) -> String {
    format!("result of {}: {}", result.name, result.output.to_text())
}
