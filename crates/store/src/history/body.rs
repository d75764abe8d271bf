//! Encodes message bodies as JSON and decodes them without ever failing: a damaged row, or one that
//! another version wrote, must not make a whole conversation unreadable.

use crate::StoreError;
use serde_json::{Value, json};
use wire::{Role, UiMessage, UiPart};

/// Encodes a message as JSON for the database.
pub(crate) fn encode(message: &UiMessage) -> Result<String, StoreError> {
    // Reserves the capacity at once: a string that grows by doubling temporarily needs up to three times its size.
    let texts = message.parts.iter().map(|part| match part {
        UiPart::Text(text) | UiPart::Reasoning(text) => text.text.len(),
        _ => 0,
    });
    let mut body = Vec::with_capacity(texts.map(|length| length + length / 16 + 128).sum());
    let failed = |error: &dyn std::fmt::Display| StoreError::Failed(format!("a message cannot be encoded: {error}"));
    serde_json::to_writer(&mut body, message).map_err(|error| failed(&error))?;
    String::from_utf8(body).map_err(|error| failed(&error))
}

/// Returns a role's name in the database.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Returns the role with a name of the database.
pub(crate) fn role_of(name: &str) -> Role {
    match name {
        "system" => Role::System,
        "user" => Role::User,
        _ => Role::Assistant,
    }
}

/// Decodes a message from its row. The row's id and role override the body's; a part that cannot be
/// read becomes an `unreadable` one.
pub(crate) fn decode(conversation_id: &str, id: &str, role: &str, body: &[u8]) -> UiMessage {
    if let Ok(message) = serde_json::from_slice::<UiMessage>(body)
        && message.id == id
    {
        return message;
    }
    tracing::warn!(
        conversation = conversation_id,
        message = id,
        "a stored message is damaged; showing what can be read"
    );
    salvage(id, role_of(role), body)
}

fn salvage(id: &str, role: Role, body: &[u8]) -> UiMessage {
    let mut message = UiMessage::new(id, role);
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else {
        message.parts.push(unreadable());
        return message;
    };
    message.metadata = fields.remove("metadata").filter(|metadata| !metadata.is_null());
    message.parts = match fields.remove("parts") {
        Some(Value::Array(parts)) => {
            parts.into_iter().map(|part| serde_json::from_value(part).unwrap_or_else(|_| unreadable())).collect()
        }
        _ => vec![unreadable()],
    };
    message
}

/// Returns the replacement for a part that cannot be read. It does not contain the damaged data,
/// because browsers must be able to read it; the data stays in the row.
fn unreadable() -> UiPart {
    UiPart::Other(json!({ "type": "unreadable" }))
}

#[cfg(test)]
mod tests;
