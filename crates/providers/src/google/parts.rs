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

/// Neighbours of one role become one content, and the user begins. `is_third`: for a model of Gemini 3, which wants its calls signed.
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
            let kind = file::kind(media_type, data);
            let name = filename.as_deref();
            file_as_part(kind, data).unwrap_or_else(|| json!({ "text": file::unreadable(kind, name) }))
        }
    }
}

/// A file that someone else than the model made; none of a kind that Gemini cannot read. It knows only some kinds of text, and
/// reads any of them as plain text.
fn file_as_part(kind: &str, data: &FileData) -> Option<Value> {
    const TEXTS: [&str; 7] = ["plain", "html", "css", "csv", "markdown", "xml", "rtf"];
    let is_known = kind.strip_prefix("text/").is_some_and(|text| TEXTS.contains(&text));
    let kind = if file::is_text(kind) && !is_known { "text/plain" } else { kind };
    let is_read = ["image/", "audio/", "video/", "text/"].iter().any(|family| kind.starts_with(family));
    (is_read || kind == "application/pdf").then(|| match data {
        FileData::Base64(data) => json!({ "inlineData": { "mimeType": kind, "data": data } }),
        FileData::Url(url) => json!({ "fileData": { "mimeType": kind, "fileUri": url } }),
    })
}

/// A result. Gemini 3 takes its files within it; before, they stand behind it, since a function's response was data alone.
fn result_parts(result: &ToolResult, is_third: bool) -> Vec<Value> {
    let key = if result.output.is_error() { "error" } else { "content" };
    let (value, files) = match &result.output {
        ToolOutput::Json(value) => (value.clone(), Vec::new()),
        ToolOutput::Content(parts) => of_content(parts),
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

fn of_content(parts: &[OutputPart]) -> (Value, Vec<Value>) {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        let file = match part {
            OutputPart::Text { .. } => None,
            OutputPart::File { media_type, data } => {
                let data = FileData::Base64(data.clone());
                file_as_part(file::kind(media_type, &data), &data)
            }
        };
        match file {
            Some(file) => files.push(file),
            None => texts.push(part.to_text()),
        }
    }
    if texts.is_empty() {
        texts.push("The result follows.".to_owned());
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
