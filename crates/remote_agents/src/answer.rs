//! Converts the answer to a call into a result for the model.

use crate::client::RemoteReply;
use contract::ToolError;
use http::StatusCode;
use serde_json::{Map, Value, json};
use tools::json_memory::is_too_large;
use tools::text::{one_line, truncate};

/// The maximum size of a result as JSON, in bytes.
pub(crate) const MAX_RESULT: usize = 1 << 20;
/// The maximum size of an error's message, and of its details, in bytes.
const MAX_MESSAGE: usize = 1 << 10;
/// The maximum size of an error's code in bytes.
const MAX_CODE: usize = 64;
/// The maximum number of media in one result.
const MAX_MEDIA: usize = 100;
/// The maximum nesting of lists and objects. Stored results are wrapped further, and no more than
/// 128 levels can be parsed again.
const MAX_DEPTH: usize = 64;
/// The maximum size of a URL in bytes.
const MAX_URL: usize = 2 << 10;
/// The reason if the answer violates the contract.
const UNREADABLE: &str = "its server sent an invalid answer";
/// The types of results.
const KINDS: [&str; 3] = ["text", "html", "media"];
/// The fields of a medium besides its URL.
const MEDIA_KEYS: [&str; 3] = ["type", "mimeType", "description"];

/// Returns the result of a call. `success` decides whether it failed, regardless of the status.
pub(crate) fn result(reply: &RemoteReply) -> Result<Value, ToolError> {
    if is_too_large(&reply.body) {
        return Err(failed("its result has too many values"));
    }
    let answer = serde_json::from_slice(&reply.body).ok();
    if let Some(reason) = failure(reply, answer.as_ref()) {
        return Err(failed(&reason));
    }
    let Some(Value::Object(mut answer)) = answer else { return Err(failed(UNREADABLE)) };
    if answer.get("success") != Some(&Value::Bool(true)) {
        return Err(failed(UNREADABLE));
    }
    let data = answer.remove("data").unwrap_or_default();
    if depth(&data) > MAX_DEPTH {
        return Err(failed("its result is nested too deeply"));
    }
    let declared = answer.get("responseType").and_then(Value::as_str);
    let result = convert(reply.secrets.redact_value(data), declared);
    // Numbers and the replacements of secrets may be longer than the original text.
    if result.to_string().len() > MAX_RESULT { Err(failed("its result is too large")) } else { Ok(result) }
}

/// Returns why the call failed, if it did: by `success: false` or, without `success`, by the
/// status.
pub(crate) fn failure(reply: &RemoteReply, answer: Option<&Value>) -> Option<String> {
    match answer.and_then(|answer| answer.get("success")) {
        Some(Value::Bool(true)) => None,
        Some(Value::Bool(false)) => {
            let reason = answer.and_then(|answer| answer.get("error")).and_then(|error| error_text(error, reply));
            Some(reason.or_else(|| by_status(reply.status)).unwrap_or_else(|| "it gave no reason".to_owned()))
        }
        _ => by_status(reply.status),
    }
}

fn failed(reason: &str) -> ToolError {
    ToolError::new(format!("The tool failed: {reason}."))
}

fn by_status(status: StatusCode) -> Option<String> {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Some(format!("its server refused the credentials (status {})", status.as_u16()))
        }
        StatusCode::NOT_FOUND => Some("its server does not know it (status 404)".to_owned()),
        status if !status.is_success() => Some(format!("its server answered with the status {}", status.as_u16())),
        _ => None,
    }
}

/// Returns the server's message about its error: one line of limited size, without secrets.
fn error_text(error: &Value, reply: &RemoteReply) -> Option<String> {
    let text = |value: &Value, max: usize| {
        // Secrets are removed before the value is written as JSON, which would escape their quotes,
        // and again after the invisible characters, which could hide a secret, are removed.
        let value = reply.secrets.redact_value(value.clone());
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text = truncate(reply.secrets.redact(&one_line(&text)).trim_end_matches('.'), max);
        (!value.is_null() && !text.is_empty()).then_some(text)
    };
    let Value::Object(error) = error else { return text(error, MAX_MESSAGE) };
    let part = |key: &str, max: usize| error.get(key).and_then(|value| text(value, max));
    let (message, code) = (part("message", MAX_MESSAGE), part("code", MAX_CODE));
    let (code, details) = (code.map(|code| format!("code {code}")), part("details", MAX_MESSAGE));
    let parts: Vec<_> = [message, code, details].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Converts data to the form that is documented at `RemoteTool`. A declared type applies if the
/// data has its key.
fn convert(data: Value, declared: Option<&str>) -> Value {
    let mut data = match data {
        Value::Null => return "The tool succeeded without a result.".into(),
        Value::String(text) => return text.into(),
        Value::Object(data) => data,
        data => return json!({ "type": "mixed", "data": data }),
    };
    let has_only = |kind: &str| data.len() == 1 && data.contains_key(kind);
    let kind = match declared {
        Some(kind) if data.contains_key(kind) => KINDS.into_iter().find(|&known| known == kind),
        Some("mixed") => None,
        _ => KINDS.into_iter().find(|kind| has_only(kind)),
    };
    match kind {
        Some("text") => text(data.remove("text")),
        Some(kind) => {
            data.retain(|key, _| key == kind);
            parts(kind, data)
        }
        None => parts("mixed", data),
    }
}

fn parts(kind: &str, mut data: Map<String, Value>) -> Value {
    let mut result = json!({ "type": kind });
    for key in ["text", "html"] {
        if let Some(value) = data.shift_remove(key) {
            result[key] = text(Some(value));
        }
    }
    if let Some(items) = data.shift_remove("media") {
        let (media, omitted) = media(items);
        result["media"] = media.into();
        if omitted > 0 {
            result["omitted"] = omitted.into();
        }
    }
    if !data.is_empty() {
        result["data"] = data.into();
    }
    result
}

/// Returns text as it is, and any other value as JSON.
fn text(value: Option<Value>) -> Value {
    match value {
        Some(Value::String(text)) => text.into(),
        value => value.unwrap_or_default().to_string().into(),
    }
}

/// Returns the media, from one or a list of them, and how many were left out.
fn media(items: Value) -> (Vec<Value>, usize) {
    let items = match items {
        Value::Array(items) => items,
        item => vec![item],
    };
    let count = items.len();
    let kept: Vec<_> = items.into_iter().filter_map(medium).take(MAX_MEDIA).collect();
    let omitted = count - kept.len();
    (kept, omitted)
}

/// Returns the fields of a medium that the contract defines; `None` unless it has an HTTP URL,
/// since another one could be a script.
fn medium(item: Value) -> Option<Value> {
    let Value::Object(mut item) = item else { return None };
    let url = item.get("url")?.as_str()?.parse::<url::Url>().ok()?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    if !is_web || url.as_str().len() > MAX_URL {
        return None;
    }
    let mut kept = Map::new();
    for key in MEDIA_KEYS {
        if let Some(Value::String(text)) = item.shift_remove(key) {
            kept.insert(key.to_owned(), text.into());
        }
    }
    kept.insert("url".to_owned(), url.as_str().into());
    if let Some(Value::Object(metadata)) = item.shift_remove("metadata") {
        kept.insert("metadata".to_owned(), metadata.into());
    }
    Some(kept.into())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(entries) => 1 + entries.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}
