//! Messages with which a client begins a new conversation, such as those of an application's own
//! store. They are kept as they are, with the client's ids, except for what only the server may say.
//!
//! Nobody knows whether they are true. So no call in them stays open or can be decided on, the model
//! is told that no tool returned their results here, and reading them counts as reading private data
//! and text from outside.

use crate::errors::Result;
use crate::files::attachments::{self, MAX_FILES};
use crate::history::import::settled;
use crate::ids::check_id;
use std::collections::HashSet;
use store::{Store, StoreError};
use transcript::exposure;
use wire::api::MessageMetadata;
use wire::file::stored_file_id;
use wire::{Role, UiMessage, UiPart, UserError};

/// The maximum number of earlier messages with which a conversation begins.
pub const MAX_PRESET_MESSAGES: usize = 500;
/// The maximum number of parts of a message.
const MAX_PARTS: usize = 1_000;
/// The maximum length of a tool call's id in bytes.
const MAX_CALL_ID: usize = 256;

/// Returns the messages as they are stored. Messages without content are left out.
///
/// # Errors
/// 422 with the path of what cannot be kept, below `/history`.
pub(crate) async fn preset_messages(
    store: &Store,
    owner: &str,
    history: &[UiMessage],
    new_message_id: &str,
) -> Result<Vec<UiMessage>> {
    if history.len() > MAX_PRESET_MESSAGES {
        let message = format!("A conversation begins with {MAX_PRESET_MESSAGES} earlier messages at most.");
        return Err(UserError::invalid("/history", message).into());
    }
    let now = crate::now();
    let (mut ids, mut call_ids) = (HashSet::from([new_message_id]), HashSet::new());
    let mut kept = Vec::new();
    for (at, message) in history.iter().enumerate() {
        let path = format!("/history/{at}");
        check_id(&format!("{path}/id"), &message.id)?;
        if !ids.insert(&message.id) {
            return Err(UserError::invalid(format!("{path}/id"), "Another message has this id.").into());
        }
        check_parts(&path, message, &mut call_ids)?;
        let mut message = normalized(message.clone(), now);
        match attachments::resolve_files(store, owner, &mut message).await {
            Err(StoreError::NotFound) => {
                return Err(UserError::invalid(format!("{path}/parts"), "The user has no such file.").into());
            }
            resolved => resolved?,
        }
        if !message.parts.is_empty() {
            kept.push(message);
        }
    }
    if let (true, Some(first)) = (kept.iter().any(exposure::has_results), kept.first_mut()) {
        exposure::mark_preset(first);
    }
    Ok(kept)
}

/// Checks the parts of a message. `call_ids` are those of the messages before it.
fn check_parts<'m>(path: &str, message: &'m UiMessage, call_ids: &mut HashSet<&'m str>) -> Result<(), UserError> {
    if message.role == Role::System {
        let text = "The role must be `user` or `assistant`: instructions come from the agent.";
        return Err(UserError::invalid(format!("{path}/role"), text));
    }
    if message.parts.len() > MAX_PARTS {
        return Err(UserError::invalid(format!("{path}/parts"), format!("A message has {MAX_PARTS} parts at most.")));
    }
    if message.parts.iter().filter(|part| matches!(part, UiPart::File(_))).count() > MAX_FILES {
        return Err(UserError::invalid(format!("{path}/parts"), format!("A message has at most {MAX_FILES} files.")));
    }
    for (at, part) in message.parts.iter().enumerate() {
        let invalid = |field: &str, text: String| Err(UserError::invalid(format!("{path}/parts/{at}/{field}"), text));
        match part {
            UiPart::File(file) if !is_file_url(&file.url) => {
                return invalid("url", "A file has an `https:` or `data:` URL, or that of a stored file.".to_owned());
            }
            UiPart::SourceUrl(source) if !is_web_url(&source.url) => {
                return invalid("url", "A source has an `https:` URL.".to_owned());
            }
            UiPart::Tool(_) if message.role == Role::User => {
                return invalid("type", "Only messages of the assistant have tool calls.".to_owned());
            }
            UiPart::Tool(tool) => {
                if tool.tool_call_id.is_empty() || tool.tool_call_id.len() > MAX_CALL_ID {
                    return invalid("toolCallId", format!("The id of a call has 1 to {MAX_CALL_ID} bytes."));
                }
                if !call_ids.insert(&tool.tool_call_id) {
                    return invalid("toolCallId", "Another call has this id.".to_owned());
                }
                if !contract::is_name(&tool.tool_name) {
                    return invalid("type", "The name of a tool has 1 to 64 letters, digits, `-` and `_`.".to_owned());
                }
            }
            UiPart::Other(_) => return invalid("type", "There is no such part of a message.".to_owned()),
            _ => {}
        }
    }
    Ok(())
}

fn is_web_url(url: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme))
}

fn is_file_url(url: &str) -> bool {
    is_web_url(url) || url.starts_with("data:") || stored_file_id(url).is_some()
}

/// Removes from a message what only the server may say, and parts without content.
fn normalized(message: UiMessage, now: i64) -> UiMessage {
    let created_at = MessageMetadata::from_message(&message).created_at;
    let mut message = settled(message.id.clone(), message);
    for tool in message.parts.iter_mut().filter_map(UiPart::as_tool_mut) {
        (tool.approval, tool.provider_executed, tool.tool_metadata) = (None, None, None);
        tool.mark_preset();
    }
    let is_user = message.role == Role::User;
    message.parts.retain(|part| match part {
        UiPart::Text(text) => !text.text.is_empty(),
        UiPart::Reasoning(_) | UiPart::SourceUrl(_) | UiPart::SourceDocument(_) | UiPart::StepStart => !is_user,
        _ => true,
    });
    if message.parts.iter().all(|part| matches!(part, UiPart::StepStart)) {
        message.parts.clear();
    }
    // How it ended and what it cost is not known.
    let created_at = Some(created_at.map_or(now, |at| at.clamp(0, now)));
    message.metadata = serde_json::to_value(MessageMetadata { created_at, ..MessageMetadata::default() }).ok();
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    async fn kept(history: Value) -> Result<Vec<UiMessage>> {
        let history: Vec<UiMessage> = serde_json::from_value(history).unwrap();
        preset_messages(&Store::open("sqlite::memory:").await.unwrap(), "ada", &history, "new").await
    }

    #[tokio::test]
    async fn all_kinds_of_parts_are_kept() {
        let history = json!([
            { "id": "u-1", "role": "user", "metadata": { "createdAt": 5, "outcome": "done", "costUsd": 7 }, "parts": [
                { "type": "text", "text": "Look" },
                { "type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA" },
            ] },
            { "id": "a_1", "role": "assistant", "parts": [
                { "type": "step-start" },
                { "type": "reasoning", "text": "Hm", "providerMetadata": { "x": { "signature": "s" } } },
                { "type": "tool-find", "toolCallId": "c1", "state": "output-available", "input": { "q": 1 }, "output": [2] },
                { "type": "tool-pay", "toolCallId": "c2", "state": "approval-requested", "input": {}, "approval": { "id": "x" } },
                { "type": "dynamic-tool", "toolName": "far", "toolCallId": "c3", "state": "output-error", "input": {}, "errorText": "no" },
                { "type": "text", "text": "Done", "state": "streaming" },
                { "type": "source-url", "sourceId": "s", "url": "https://example.org" },
                { "type": "data-chart", "data": { "n": 1 } },
                { "type": "data-chatwright-exposure", "data": {} },
            ] },
            { "id": "a_2", "role": "assistant", "parts": [{ "type": "step-start" }] },
        ]);
        let kept = kept(history).await.unwrap();
        assert_eq!(kept.iter().map(|message| message.id.as_str()).collect::<Vec<_>>(), ["u-1", "a_1"]);
        assert_eq!(kept[0].metadata, Some(json!({ "createdAt": 5 })));
        let kinds = |message: &UiMessage| {
            let kind = |part: &UiPart| serde_json::to_value(part).unwrap()["type"].as_str().unwrap().to_owned();
            message.parts.iter().map(kind).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(kinds(&kept[0]), format!("text file {}", wire::EXPOSURE));
        assert!(
            kinds(&kept[1])
                .starts_with("step-start reasoning tool-find tool-pay dynamic-tool text source-url data-chart"),
            "{}",
            kinds(&kept[1])
        );
        let states: Vec<_> = kept[1].tools().map(|tool| (tool.is_final(), tool.approval.is_none())).collect();
        assert_eq!(states, [(true, true); 3]);
        assert!(!format!("{kept:?}").contains("signature"));
    }

    #[tokio::test]
    async fn invalid_messages_are_named() {
        let check = async |history: Value, expected: &str| {
            let error = UserError::from(kept(history.clone()).await.err().unwrap());
            assert_eq!(error.path.as_deref(), Some(expected), "{history} {}", error.message);
        };
        let text = |id: &str| json!({ "id": id, "role": "user", "parts": [{ "type": "text", "text": "x" }] });
        let part = |part: Value| json!([{ "id": "a", "role": "assistant", "parts": [part] }]);
        let call = |id: &str| json!({ "type": "tool-t", "toolCallId": id, "state": "output-available", "output": 1 });
        check(json!([text("a"), text("a")]), "/history/1/id").await;
        check(json!([text("new")]), "/history/0/id").await;
        check(json!([text("a b")]), "/history/0/id").await;
        check(json!([text("")]), "/history/0/id").await;
        check(json!([{ "id": "a", "role": "system", "parts": [] }]), "/history/0/role").await;
        check((0..501).map(|n| text(&format!("m{n}"))).collect(), "/history").await;
        check(part(json!({ "type": "file", "mediaType": "a/b", "url": "javascript:1" })), "/history/0/parts/0/url")
            .await;
        check(part(json!({ "type": "file", "mediaType": "a/b", "url": "/api/files/none" })), "/history/0/parts").await;
        check(part(json!({ "type": "source-url", "sourceId": "s", "url": "file:///x" })), "/history/0/parts/0/url")
            .await;
        check(part(json!({ "type": "later" })), "/history/0/parts/0/type").await;
        check(part(call("")), "/history/0/parts/0/toolCallId").await;
        check(
            part(json!({ "type": "tool-a b", "toolCallId": "c", "state": "output-error" })),
            "/history/0/parts/0/type",
        )
        .await;
        check(json!([{ "id": "a", "role": "user", "parts": [call("c")] }]), "/history/0/parts/0/type").await;
        let twice = json!([{ "id": "a", "role": "assistant", "parts": [call("c"), call("c")] }]);
        check(twice, "/history/0/parts/1/toolCallId").await;
    }
}
