//! Messages → what Gemini calls contents.

use super::PROVIDER;
use crate::file;
use contract::{
    AssistantPart, FileData, Message, OutputPart, ProviderMetadata, ToolCall, ToolOutput, ToolResult, UserPart,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Google's word for a call that another model made, which no signature of Gemini's can go with.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// Neighbours of one role become one content, and the user begins.
pub(crate) fn contents(messages: &[Arc<Message>], needs_signatures: bool) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = match &**message {
            Message::System(_) => continue,
            Message::User(parts) => ("user", parts.iter().map(user_part).collect::<Vec<_>>()),
            Message::Tool(results) => ("user", results.iter().flat_map(result_parts).collect()),
            Message::Assistant(parts) => ("model", model_parts(parts, needs_signatures)),
        };
        if parts.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some((last, known)) if *last == role => known.extend(parts),
            _ => turns.push((role, parts)),
        }
    }
    if turns.first().is_none_or(|(role, _)| *role == "model") {
        turns.insert(0, ("user", vec![json!({ "text": "(no text)" })]));
    }
    turns.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn user_part(part: &UserPart) -> Value {
    match part {
        UserPart::Text { text } => json!({ "text": text }),
        UserPart::File { media_type, data, filename } => {
            let kind = file::kind(media_type);
            let is_read = ["image/", "audio/", "video/", "text/"].iter().any(|family| kind.starts_with(family))
                || matches!(kind, "application/pdf" | "application/json");
            match data {
                _ if !is_read => json!({ "text": file::unreadable(kind, filename.as_deref()) }),
                FileData::Base64(data) => json!({ "inlineData": { "mimeType": kind, "data": data } }),
                FileData::Url(url) => json!({ "fileData": { "mimeType": kind, "fileUri": url } }),
            }
        }
    }
}

/// A result. Its files stand behind it, since a function's response is data.
fn result_parts(result: &ToolResult) -> Vec<Value> {
    let key = if result.output.is_error() { "error" } else { "content" };
    let (value, files) = match &result.output {
        ToolOutput::Json(value) => (value.clone(), Vec::new()),
        ToolOutput::Content(parts) => of_content(parts),
        other => (Value::from(other.to_text()), Vec::new()),
    };
    let mut response = json!({ "name": result.name });
    response[key] = value;
    let response = json!({ "functionResponse": { "id": result.call_id, "name": result.name, "response": response } });
    std::iter::once(response).chain(files).collect()
}

fn of_content(parts: &[OutputPart]) -> (Value, Vec<Value>) {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            OutputPart::Text { text } => texts.push(text.as_str()),
            OutputPart::File { .. } => files.push(user_part(&part.clone().into())),
        }
    }
    if texts.is_empty() {
        texts.push("The result follows.");
    }
    (texts.join("\n").into(), files)
}

/// Of the calls of one reply only the first is signed.
fn model_parts(parts: &[AssistantPart], needs_signatures: bool) -> Vec<Value> {
    let mut is_first = true;
    let mut written = Vec::new();
    for part in parts {
        if let AssistantPart::ToolCall(call) = part
            && !call.provider_executed
        {
            let unsigned = (is_first && needs_signatures).then_some(UNSIGNED);
            written.push(call_part(call, unsigned));
            is_first = false;
        } else {
            written.extend(model_part(part));
        }
    }
    written
}

fn call_part(call: &ToolCall, unsigned: Option<&str>) -> Value {
    let arguments = if call.input.is_object() { call.input.clone() } else { json!({}) };
    let mut part = json!({ "functionCall": { "id": call.id, "name": call.name, "args": arguments } });
    if let Some(signature) = signature(call.metadata.as_ref()).or(unsigned) {
        part["thoughtSignature"] = signature.into();
    }
    part
}

fn model_part(part: &AssistantPart) -> Option<Value> {
    let (text, metadata, is_thought) = match part {
        AssistantPart::Text { text, metadata } => (text, metadata, false),
        // Thoughts of another model are not this one's.
        AssistantPart::Reasoning { text, metadata } if signature(metadata.as_ref()).is_some() => (text, metadata, true),
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER => return Some(item.clone()),
        AssistantPart::File { media_type, data, metadata, .. } => {
            return Some(file_part(media_type, data, metadata.as_ref()));
        }
        AssistantPart::Reasoning { .. }
        | AssistantPart::ToolCall(_)
        | AssistantPart::ToolResult(_)
        | AssistantPart::ProviderItem { .. } => return None,
    };
    let signature = signature(metadata.as_ref());
    if text.is_empty() && signature.is_none() {
        return None;
    }
    let mut part = json!({ "text": text });
    if is_thought {
        part["thought"] = true.into();
    }
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    Some(part)
}

/// An image of its own, so that the next turn can be about it.
fn file_part(media_type: &str, data: &FileData, metadata: Option<&ProviderMetadata>) -> Value {
    let mut part = match data {
        FileData::Base64(data) => json!({ "inlineData": { "mimeType": media_type, "data": data } }),
        FileData::Url(url) => json!({ "fileData": { "mimeType": media_type, "fileUri": url } }),
    };
    if let Some(signature) = signature(metadata) {
        part["thoughtSignature"] = signature.into();
    }
    part
}

fn signature(metadata: Option<&ProviderMetadata>) -> Option<&str> {
    metadata?.get(PROVIDER)?.get("thoughtSignature")?.as_str()
}
