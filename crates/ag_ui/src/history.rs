//! The earlier messages with which a frontend begins a thread that this server does not have yet.

use crate::files::ContentReader;
use crate::input::{Message, ToolCall};
use crate::request;
use serde_json::{Value, json};
use wire::message::TextPart;
use wire::{Role, ToolPart, ToolState, UiMessage, UiPart, UserError};

/// Returns the messages. Calls without a result are closed when they are stored.
///
/// # Errors
/// 422 with the place of what cannot be used.
pub(crate) async fn read(contents: &mut ContentReader<'_>, messages: &[Message]) -> Result<Vec<UiMessage>, UserError> {
    let mut read: Vec<UiMessage> = Vec::new();
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
                let parts = text.chain(tool_calls.iter().map(call)).collect();
                read.push(UiMessage { parts, ..UiMessage::new(id, Role::Assistant) });
            }
            Message::Tool { tool_call_id, content, error, .. } => {
                let found = read.iter_mut().rev().find_map(|message| message.tool_mut(tool_call_id));
                let Some(tool) = found else {
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

fn call(call: &ToolCall) -> UiPart {
    // A model may have written arguments that are not JSON.
    let input: Value = serde_json::from_str(&call.function.arguments).unwrap_or_else(|_| json!({}));
    let tool = ToolPart::new(&call.id, &call.function.name);
    UiPart::Tool(Box::new(ToolPart { state: ToolState::InputAvailable, input: Some(input), ..tool }))
}
