//! Converts messages to Gemini's contents.

use super::PROVIDER;
use crate::file;
use contract::{
    AssistantPart, FileData, Message, OutputPart, ProviderMetadata, ToolCall, ToolOutput, ToolResult, UserPart,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Google's placeholder for the signature of a call that another model made.
const SKIP_SIGNATURE: &str = "skip_thought_signature_validator";

/// Converts the messages to contents. Adjacent messages of a role are merged, and the user begins.
/// `is_third` means a Gemini 3 model, which requires signed calls.
pub(crate) fn contents(messages: &[Arc<Message>], is_third: bool) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = match &**message {
            Message::System(_) => continue,
            Message::User(parts) => ("user", parts.iter().map(user_part).collect::<Vec<_>>()),
            Message::Tool(results) => {
                ("user", results.iter().flat_map(|result| result_parts(result, is_third)).collect())
            }
            Message::Assistant(parts) => ("model", model_parts(parts, is_third)),
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
            let kind = file::detect_media_type(media_type, data);
            let name = filename.as_deref();
            input_file_part(kind, data).unwrap_or_else(|| json!({ "text": file::unreadable_note(kind, name) }))
        }
    }
}

/// Converts a file of a user or tool; `None` if Gemini does not accept it. Gemini knows only some
/// text types; others are sent as plain text.
fn input_file_part(kind: &str, data: &FileData) -> Option<Value> {
    const TEXT_SUBTYPES: [&str; 7] = ["plain", "html", "css", "csv", "markdown", "xml", "rtf"];
    let is_known = kind.strip_prefix("text/").is_some_and(|text| TEXT_SUBTYPES.contains(&text));
    let kind = if file::is_text(kind) && !is_known { "text/plain" } else { kind };
    let is_read = ["image/", "audio/", "video/", "text/"].iter().any(|family| kind.starts_with(family));
    (is_read || kind == "application/pdf").then(|| match data {
        FileData::Base64(data) => json!({ "inlineData": { "mimeType": kind, "data": data } }),
        FileData::Url(url) => json!({ "fileData": { "mimeType": kind, "fileUri": url } }),
    })
}

/// Converts a result. Gemini 3 accepts files within it; for earlier models they follow it, because
/// their function responses contain only data.
fn result_parts(result: &ToolResult, is_third: bool) -> Vec<Value> {
    let key = if result.output.is_error() { "error" } else { "content" };
    let (value, files) = match &result.output {
        ToolOutput::Json(value) => (value.clone(), Vec::new()),
        ToolOutput::Content(parts) => split_content(parts),
        other => (Value::from(other.to_text()), Vec::new()),
    };
    let mut response = json!({ "name": result.name });
    response[key] = value;
    let mut response = json!({ "id": result.call_id, "name": result.name, "response": response });
    if !is_third {
        return std::iter::once(json!({ "functionResponse": response })).chain(files).collect();
    }
    if !files.is_empty() {
        response["parts"] = files.into();
    }
    vec![json!({ "functionResponse": response })]
}

fn split_content(parts: &[OutputPart]) -> (Value, Vec<Value>) {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        let file = match part {
            OutputPart::Text { .. } => None,
            OutputPart::File { media_type, data } => {
                let data = FileData::Base64(data.clone());
                input_file_part(file::detect_media_type(media_type, &data), &data)
            }
        };
        match file {
            Some(file) => files.push(file),
            None => texts.push(part.to_text()),
        }
    }
    if texts.is_empty() && !files.is_empty() {
        texts.push("The result follows.".to_owned());
    }
    (texts.join("\n").into(), files)
}

/// Converts a reply. Only the first call of a reply is signed.
fn model_parts(parts: &[AssistantPart], needs_signatures: bool) -> Vec<Value> {
    let mut is_first = true;
    let mut written = Vec::new();
    for part in parts {
        if let AssistantPart::ToolCall(call) = part
            && !call.provider_executed
        {
            let unsigned = (is_first && needs_signatures).then_some(SKIP_SIGNATURE);
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
        // Reasoning of another model has no signature and is omitted.
        AssistantPart::Reasoning { text, metadata } if signature(metadata.as_ref()).is_some() => (text, metadata, true),
        AssistantPart::ProviderItem { provider, item } if provider == PROVIDER => return Some(item.clone()),
        AssistantPart::File { media_type, data, metadata, .. } => {
            return Some(output_file_part(media_type, data, metadata.as_ref()));
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

/// Converts an image that the model generated, so that the next turn can refer to it.
fn output_file_part(media_type: &str, data: &FileData, metadata: Option<&ProviderMetadata>) -> Value {
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
