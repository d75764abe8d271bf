//! Converts the answer to `POST /resource` into a line of context.

use crate::client::RemoteReply;
use serde_json::Value;
use tools::context::escaped_json;
use tools::text::visible;

/// The maximum size of the context in bytes.
const MAX_CONTEXT: usize = 16 << 10;

/// Returns the context, if the answer has one.
pub(crate) fn read(reply: &RemoteReply) -> Option<String> {
    // An answer that is not JSON is usually a default page, not context.
    let content = match serde_json::from_slice::<Value>(&reply.body) {
        Ok(Value::Object(mut answer)) if answer.contains_key("success") => match answer.get("success") {
            Some(Value::Bool(true)) => only_text(answer.remove("data")?),
            _ => return None,
        },
        _ if !reply.status.is_success() => return None,
        Ok(content) => content,
        Err(_) => return None,
    };
    // Invisible characters are removed first, since they could hide a secret.
    let content = reply.secrets.redact_value(all_visible(content));
    let is_empty = match &content {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    };
    (!is_empty).then(|| bounded(&content))
}

/// Returns the text of `{text: …}`, and other data as it is.
fn only_text(data: Value) -> Value {
    match data {
        Value::Object(mut data) if data.len() == 1 && data.get("text").is_some_and(Value::is_string) => {
            data.remove("text").unwrap_or_default()
        }
        data => data,
    }
}

fn all_visible(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(&text)),
        Value::Array(items) => items.into_iter().map(all_visible).collect(),
        Value::Object(entries) => entries.into_iter().map(|(key, value)| (visible(&key), all_visible(value))).collect(),
        plain => plain,
    }
}

/// Returns the escaped content; if it is too long, as truncated text that ends with `…`.
fn bounded(content: &Value) -> String {
    let whole = escaped_json(content);
    if whole.len() <= MAX_CONTEXT {
        return whole;
    }
    let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
    let mut left = MAX_CONTEXT - escaped_json(&"…".into()).len();
    let fits = |&character: &char| {
        // The size without the quotes.
        let size = escaped_json(&character.to_string().into()).len() - 2;
        left.checked_sub(size).inspect(|&rest| left = rest).is_some()
    };
    let kept: String = text.chars().take_while(fits).collect();
    escaped_json(&format!("{kept}…").into())
}
