//! The earlier messages with which a frontend begins a thread that this server does not have yet.

use crate::files::ContentReader;
use crate::input::{Message, ToolCall};
use crate::request;
use chat::MAX_PRESET_MESSAGES;
use serde_json::{Value, json};
use std::collections::HashMap;
use wire::message::TextPart;
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart, UserError};

/// Returns the messages. Calls without a result are closed when they are stored.
///
/// # Errors
/// 422 with the place of what cannot be used.
pub(crate) async fn read(contents: &mut ContentReader<'_>, messages: &[Message]) -> Result<Vec<UiMessage>, UserError> {
    // Before files are stored.
    if messages.iter().filter(|message| is_kept(message)).count() > MAX_PRESET_MESSAGES {
        let message = format!("A thread begins with {MAX_PRESET_MESSAGES} earlier messages at most.");
        return Err(UserError::invalid("/messages", message));
    }
    let mut read: Vec<UiMessage> = Vec::new();
    // The message and the part of each call, by its id.
    let mut calls: HashMap<&str, (usize, usize)> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        let path = format!("/messages/{at}");
        match message {
            Message::User { id, content } => {
                let parts = contents.parts(content, &format!("{path}/content")).await?;
                read.push(UiMessage { parts, ..UiMessage::new(id, Role::User) });
            }
            Message::Assistant { id, content, tool_calls } => {
                let text = content.iter().filter(|text| !text.is_empty());
                let text = text.map(|text| UiPart::Text(TextPart { text: text.clone(), ..TextPart::default() }));
                let mut parts: Vec<_> = text.collect();
                for tool_call in tool_calls {
                    calls.insert(tool_call.id.as_str(), (read.len(), parts.len()));
                    parts.push(call(tool_call));
                }
                read.push(UiMessage { parts, ..UiMessage::new(id, Role::Assistant) });
            }
            Message::Tool { tool_call_id, content, error, .. } => {
                let found = calls.get(tool_call_id.as_str()).copied();
                let Some(tool) = found.and_then(|(at, part)| read[at].parts[part].as_tool_mut()) else {
                    let message = "No message before it has this call.";
                    return Err(UserError::invalid(format!("{path}/toolCallId"), message));
                };
                match error {
                    Some(error) => (tool.state, tool.error_text) = (ToolState::OutputError, Some(error.clone())),
                    None => {
                        let output = request::output(content, &format!("{path}/content"))?;
                        (tool.state, tool.output) = (ToolState::OutputAvailable, Some(output));
                    }
                }
            }
            Message::System { .. } | Message::Reasoning {} | Message::Activity {} => {}
        }
    }
    Ok(read)
}

/// Returns whether a message of the request is one of the history. Results are in the messages of their calls.
fn is_kept(message: &Message) -> bool {
    matches!(message, Message::User { .. } | Message::Assistant { .. })
}

/// Returns the place in the request of a place in the history that was made of it, such as `/history/0/parts/1`.
pub(crate) fn place(path: &str, messages: &[Message]) -> Option<String> {
    let mut steps = path.strip_prefix("/history")?.split('/').skip(1);
    let Some(at) = steps.next() else { return Some("/messages".to_owned()) };
    let mut kept = messages.iter().enumerate().filter(|(_, message)| is_kept(message));
    let (at, message) = kept.nth(at.parse().ok()?)?;
    let field = match (steps.next(), message) {
        (Some("id"), _) => "id".to_owned(),
        (_, Message::Assistant { content, .. }) => {
            // The calls come after the text.
            let texts = usize::from(content.as_ref().is_some_and(|text| !text.is_empty()));
            let part = steps.next().and_then(|part| part.parse::<usize>().ok());
            match part.and_then(|part| part.checked_sub(texts)) {
                Some(call) => format!("toolCalls/{call}"),
                None => "toolCalls".to_owned(),
            }
        }
        _ => "content".to_owned(),
    };
    Some(format!("/messages/{at}/{field}"))
}

fn call(call: &ToolCall) -> UiPart {
    // A model may have written arguments that are not JSON.
    let input: Value = serde_json::from_str(&call.function.arguments).unwrap_or_else(|_| json!({}));
    let tool = ToolPart::new(&call.id, &call.function.name);
    UiPart::Tool(Box::new(ToolPart { state: ToolState::InputAvailable, input: Some(input), ..tool }))
}
