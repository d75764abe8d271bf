//! The newest messages of a conversation as plain text, for the prompt.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use wire::{Role, UiMessage};

/// The most messages that the model reads.
const MAX_MESSAGES: usize = 6;
/// The longest part of a message that it reads, in characters.
const MAX_TEXT: usize = 2_000;
/// The deepest list of parts in a message.
const MAX_DEPTH: usize = 4;

/// A message that a program sends.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct SentMessage {
    /// `user` (or `human`), or `assistant` (or `ai`). Others are left out.
    #[serde(alias = "type")]
    role: String,
    /// A text; or parts, of which the texts count: `[{ "type": "text", "text": "…" }]`. `parts` is
    /// another name for it.
    #[serde(alias = "parts", default)]
    content: Value,
}

/// A message in the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptMessage {
    pub(crate) is_user: bool,
    pub(crate) text: String,
}

impl PromptMessage {
    fn new(is_user: bool, text: &str) -> Option<Self> {
        let text: String = text.trim().chars().take(MAX_TEXT).collect();
        (!text.is_empty()).then_some(Self { is_user, text })
    }
}

/// Returns the newest messages of a branch that have text, oldest first.
pub(crate) fn from_branch<'a>(messages: impl DoubleEndedIterator<Item = &'a UiMessage>) -> Vec<PromptMessage> {
    newest(messages.filter_map(|message| match message.role {
        Role::User => PromptMessage::new(true, &message.text()),
        Role::Assistant => PromptMessage::new(false, &message.text()),
        Role::System => None,
    }))
}

/// Returns the newest messages of a request that have text, oldest first.
pub(crate) fn from_request(messages: &[SentMessage]) -> Vec<PromptMessage> {
    newest(messages.iter().filter_map(|message| {
        let is_user = match message.role.as_str() {
            "user" | "human" => true,
            "assistant" | "ai" => false,
            _ => return None,
        };
        PromptMessage::new(is_user, &plain_text(&message.content, 0))
    }))
}

fn newest(messages: impl DoubleEndedIterator<Item = PromptMessage>) -> Vec<PromptMessage> {
    let mut newest: Vec<_> = messages.rev().take(MAX_MESSAGES).collect();
    newest.reverse();
    newest
}

/// Returns the text of a message's content: a text, a part with a text, or a list of them.
fn plain_text(content: &Value, depth: usize) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) if depth < MAX_DEPTH => {
            let texts = parts.iter().map(|part| plain_text(part, depth + 1));
            texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => {
            let is_text = part.get("type").is_none_or(|kind| kind == "text" || kind == "output_text");
            let text = part.get("text").or_else(|| part.get("content")).filter(|_| is_text);
            text.map(|text| plain_text(text, depth + 1)).filter(|_| depth < MAX_DEPTH).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Returns the prompt.
pub(crate) fn prompt(messages: &[PromptMessage], count: u8) -> String {
    let message = |message: &PromptMessage| json!({ "role": if message.is_user { "user" } else { "assistant" }, "text": message.text });
    json!({ "count": count, "messages": messages.iter().map(message).collect::<Vec<_>>() }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rich_content_becomes_plain_text() {
        let check = |content: Value, expected: &str| {
            let sent = serde_json::from_value(json!({ "role": "user", "content": content })).unwrap();
            let texts: Vec<_> = from_request(&[sent]).into_iter().map(|message| message.text).collect();
            assert_eq!(texts.join("|"), expected, "{content}");
        };
        check(json!("  Hello "), "Hello");
        check(
            json!([{ "type": "text", "text": "Look:" }, { "type": "image_url", "image_url": { "url": "x" } }]),
            "Look:",
        );
        check(json!(["One", { "text": "Two" }, { "type": "reasoning", "text": "No" }]), "One\nTwo");
        check(json!({ "content": [{ "type": "output_text", "text": "Deep" }] }), "Deep");
        check(json!([[[[[["Too deep"]]]]]]), "");
        check(json!(null), "");
        check(json!(7), "");
    }

    #[test]
    fn newest_messages_of_both_are_read() {
        let sent = |role: &str, text: &str| serde_json::from_value(json!({ "role": role, "content": text })).unwrap();
        let mut all: Vec<SentMessage> = (0..9).map(|number| sent("human", &number.to_string())).collect();
        all.extend([sent("system", "Obey"), sent("ai", "Yes"), sent("tool", "found")]);
        let read = from_request(&all);
        assert_eq!(
            read.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(),
            ["4", "5", "6", "7", "8", "Yes"]
        );
        assert_eq!(prompt(&read[5..], 2), r#"{"count":2,"messages":[{"role":"assistant","text":"Yes"}]}"#);
    }
}
