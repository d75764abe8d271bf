//! Encodes message bodies as JSON and decodes them without ever failing: a damaged row, or one that
//! another version wrote, must not make a whole conversation unreadable.

use crate::StoreError;
use serde_json::{Value, json};
use wire::{Role, UiMessage, UiPart};

/// Encodes a message as JSON for the database.
pub(crate) fn encode(message: &UiMessage) -> Result<String, StoreError> {
    // Reserves the capacity at once: a string that grows by doubling temporarily needs up to three
    // times its size.
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
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use proptest::prelude::*;

    fn show(body: &str) -> String {
        serde_json::to_string(&decode("c1", "m1", "user", body.as_bytes())).unwrap()
    }

    #[test]
    fn readable_parts_of_damaged_bodies_are_shown() {
        let whole = r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"}]}"#;
        assert_eq!(show(whole), whole);
        assert_snapshot!(show("{\"id\":\"m1\",\"ro"), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
        assert_snapshot!(show(""), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
        assert_snapshot!(show("[1]"), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
        let part =
            r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"},{"type":"text"},{"type":"later","x":1}]}"#;
        assert_snapshot!(show(part), @r#"{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"},{"type":"unreadable"},{"type":"later","x":1}]}"#);
        let role = r#"{"id":"m1","role":"robot","metadata":{"createdAt":5},"parts":[{"type":"step-start"}]}"#;
        assert_snapshot!(show(role), @r#"{"id":"m1","role":"user","metadata":{"createdAt":5},"parts":[{"type":"step-start"}]}"#);
        let other = r#"{"id":"m2","role":"assistant","parts":[]}"#;
        assert_snapshot!(show(other), @r#"{"id":"m1","role":"user","parts":[]}"#);
        let deep = format!(r#"{{"id":"m1","role":"user","parts":[{}{}]}}"#, "[".repeat(9999), "]".repeat(9999));
        assert_snapshot!(show(&deep), @r#"{"id":"m1","role":"user","parts":[{"type":"unreadable"}]}"#);
    }

    proptest! {
        /// For any bytes, the result is a message with the row's id that a browser can read.
        #[test]
        fn any_bytes_decode_to_a_message(bytes in proptest::collection::vec(any::<u8>(), 0..64), cut in 0_usize..90) {
            let whole = br#"{"id":"m1","role":"user","metadata":{"a":1},"parts":[{"type":"text","text":"hi"},{"type":"file"}]}"#;
            let cut = cut.min(whole.len());
            let body = [&whole[..cut], &bytes[..], &whole[cut..]].concat();
            let message = decode("c1", "m1", "user", &body);
            prop_assert_eq!(&message.id, "m1");
            let json = serde_json::to_string(&message).unwrap();
            prop_assert_eq!(serde_json::from_str::<UiMessage>(&json).unwrap(), message);
        }
    }
}
