//! The metadata that a client gives a user's message.

use super::content::created_now;
use serde_json::{Map, Value};
use wire::{UiMessage, UserError};

/// The maximum size of the metadata in bytes of JSON.
const MAX_BYTES: usize = 4 * 1024;
/// The keys that the server sets: those of [`wire::api::MessageMetadata`].
const RESERVED: [&str; 15] = [
    "createdAt",
    "outcome",
    "error",
    "reason",
    "limit",
    "finishReason",
    "usage",
    "costUsd",
    "model",
    "modelId",
    "thinking",
    "delegate",
    "contextUsed",
    "contextSize",
    "contextParts",
];

/// Checks the metadata of a submitted message.
///
/// # Errors
/// 422 if it is no object or too large.
pub(crate) fn check(message: &UiMessage) -> Result<(), UserError> {
    let given = own_fields(message);
    let size: usize = given.map(|(key, value)| key.len() + value.to_string().len()).sum();
    if size > MAX_BYTES {
        let message = format!("The metadata of a message may have at most {MAX_BYTES} bytes.");
        return Err(UserError::invalid("/submission/message/metadata", message));
    }
    Ok(())
}

/// Returns the metadata with which a user's message is stored: the client's fields, and the time.
pub(crate) fn stored(message: &UiMessage) -> Option<Value> {
    let mut stored = match created_now() {
        Some(Value::Object(created)) => created,
        _ => Map::new(),
    };
    stored.extend(own_fields(message).map(|(key, value)| (key.clone(), value.clone())));
    Some(Value::Object(stored))
}

fn own_fields(message: &UiMessage) -> impl Iterator<Item = (&String, &Value)> {
    let fields = message.metadata.as_ref().and_then(Value::as_object).into_iter().flatten();
    fields.filter(|(key, _)| !RESERVED.contains(&key.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::api::MessageMetadata;

    #[test]
    fn metadata_of_the_client_is_kept_and_that_of_the_server_is_not_overwritten() {
        let given = json!({ "topic": "refund", "createdAt": 1, "outcome": "failed", "costUsd": 7 });
        let message = UiMessage { metadata: Some(given), ..UiMessage::user("m", "Hi") };
        check(&message).unwrap();
        let stored = stored(&message).unwrap();
        assert_eq!(
            (&stored["topic"], &stored["outcome"], &stored["costUsd"]),
            (&json!("refund"), &Value::Null, &Value::Null)
        );
        assert!(stored["createdAt"].as_i64().unwrap() > 1);
        let large = UiMessage { metadata: Some(json!({ "a": "x".repeat(MAX_BYTES) })), ..message };
        assert!(check(&large).is_err());
    }

    #[test]
    fn every_key_of_the_server_is_reserved() {
        let wire = include_str!("../../../wire/src/api/metadata.rs");
        let names = wire.split("read_struct!(MessageMetadata {").nth(1).unwrap().split("});").next().unwrap();
        let names: Vec<_> = names.split('"').skip(1).step_by(2).collect();
        assert_eq!(names, RESERVED);
        assert!(serde_json::to_value(MessageMetadata::default()).unwrap().as_object().unwrap().is_empty());
    }
}
