//! The current turn of a conversation, and the actions that answer it.

use contract::{AssistantPart, Message, ToolResult, ToolSpec, UserPart};
use serde_json::{Value, json};
use std::sync::Arc;

/// The tool that searches documents.
pub(crate) const DOCUMENTS: &str = "document_search";
/// The beginnings of the texts that the server adds to a user's message. They are not part of the
/// user's request.
const NOTES: [&str; 3] = ["[Note: ", "<context>", "<page-state>"];

/// Returns whether the server has added the text.
pub(crate) fn is_note(text: &str) -> bool {
    NOTES.iter().any(|begin| text.starts_with(begin))
}

/// Returns whether a message contains nothing but notes of the server.
fn is_only_notes(message: &Message) -> bool {
    let is_one = |part: &UserPart| matches!(part, UserPart::Text { text } if is_note(text));
    matches!(message, Message::User(parts) if parts.iter().all(is_one))
}

/// Returns the position of the newest message of the user.
pub(crate) fn newest_request(messages: &[Arc<Message>]) -> Option<usize> {
    messages.iter().rposition(|message| matches!(**message, Message::User(_)) && !is_only_notes(message))
}

/// Returns the text of an attached file, with its name before it.
fn file_text(part: &UserPart) -> Option<&str> {
    match part {
        UserPart::Text { text } => Some(text.as_str()).filter(|text| text.starts_with("<file ")),
        UserPart::File { .. } => None,
    }
}

/// Returns the text of the first file that is attached to a message.
fn attached_file(message: &Message) -> Option<&str> {
    match message {
        Message::User(parts) => parts.iter().find_map(file_text),
        _ => None,
    }
}

/// Returns what the user wrote in a message; the text of attached files if that is all.
fn request_text(message: &Message) -> String {
    match message {
        Message::User(parts) => {
            let written = parts.iter().filter(|part| file_text(part).is_none()).cloned().collect();
            let written = message_text(&Message::User(written));
            if written.trim().is_empty() { message_text(message) } else { written }
        }
        _ => message_text(message),
    }
}

/// One action of the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DemoAction {
    Think(String),
    Say(String),
    Call { tool: String, input: Value },
}

/// The current turn.
pub(crate) struct DemoTurn<'a> {
    /// The text of the user's newest message.
    pub(crate) asked: String,
    /// The text of the first file that is attached to that message, with its name before it.
    pub(crate) file: Option<&'a str>,
    pub(crate) tools: &'a [ToolSpec],
    /// The results of the tools since that message, oldest first.
    pub(crate) results: Vec<&'a ToolResult>,
    /// The results in the last message.
    pub(crate) new_results: &'a [ToolResult],
}

impl<'a> DemoTurn<'a> {
    /// Returns the turn that the newest request of the user has begun.
    pub(crate) fn from_messages(messages: &'a [Arc<Message>], tools: &'a [ToolSpec]) -> Self {
        let user = newest_request(messages);
        let asked = user.map(|at| request_text(&messages[at])).unwrap_or_default();
        let file = user.and_then(|at| attached_file(&messages[at]));
        let since = &messages[user.map_or(0, |at| at + 1)..];
        let of_tools = |message: &'a Arc<Message>| match &**message {
            Message::Tool(results) => results.as_slice(),
            _ => &[],
        };
        let results = since.iter().flat_map(of_tools).collect();
        let newest = since.iter().rfind(|message| !is_only_notes(message));
        Self { asked, file, tools, results, new_results: newest.map_or(&[], of_tools) }
    }

    /// Returns whether the request may be one about documents: a question or, if nothing else can be searched,
    /// anything.
    pub(crate) fn may_ask_documents(&self) -> bool {
        let has_documents = self.tool(DOCUMENTS).is_some();
        let has_others = self.tools.iter().any(|tool| tool.name.contains("search") && tool.name != DOCUMENTS);
        has_documents && (!has_others || self.asked.trim_end().ends_with('?'))
    }

    /// Returns the first tool whose name contains this text.
    pub(crate) fn tool(&self, part: &str) -> Option<&'a ToolSpec> {
        self.tools.iter().find(|tool| tool.name.contains(part))
    }
}

/// Thinks and speaks.
pub(crate) fn say(thinks: &str, says: impl Into<String>) -> Vec<DemoAction> {
    vec![DemoAction::Think(thinks.to_owned()), DemoAction::Say(says.into())]
}

/// Thinks, speaks and calls a tool.
pub(crate) fn say_and_call(thinks: &str, says: &str, tool: &ToolSpec, input: Value) -> Vec<DemoAction> {
    let mut actions = say(thinks, says);
    actions.push(DemoAction::Call { tool: tool.name.clone(), input });
    actions
}

/// Returns arguments with this text in the first required string property, or else in the first
/// string property.
pub(crate) fn text_arguments(tool: &ToolSpec, text: &str) -> Value {
    let properties = &tool.input_schema["properties"];
    let takes_text = |key: &&str| properties[*key]["type"].as_str().is_none_or(|kind| kind == "string");
    let required = tool.input_schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let all = properties.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    let key = required.chain(all).find(takes_text).unwrap_or("query");
    json!({ key: text })
}

/// Returns the texts of a message, without notes of the server.
pub(crate) fn message_text(message: &Message) -> String {
    match message {
        Message::System(text) => text.clone(),
        Message::User(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                UserPart::Text { text } if is_note(text) => None,
                UserPart::Text { text } => Some(text.as_str()),
                UserPart::File { .. } => None,
            });
            texts.collect::<Vec<_>>().join(" ")
        }
        Message::Assistant(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                AssistantPart::Text { text, .. } => Some(text.as_str()),
                _ => None,
            });
            texts.collect()
        }
        Message::Tool(_) => String::new(),
    }
}
