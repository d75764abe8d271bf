//! The checks of a message that is added to a queue.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wire::api::RunOptions;
use wire::{ErrorCode, Role, UiMessage, UiPart, UserError};

/// The longest id of a message, in bytes.
const MAX_ID: usize = 128;
/// The largest message, and the largest state of a composer, in bytes of JSON.
const MAX_BYTES: usize = 512 * 1024;

/// The state of the composer with which a message is sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Choices {
    /// The page of the chat.
    pub(crate) page_id: String,
    /// The block of the chat, if the page names it.
    pub(crate) block_id: Option<String>,
    pub(crate) url_query: Map<String, Value>,
    pub(crate) switches: Map<String, Value>,
    pub(crate) options: RunOptions,
}

/// Returns a message that may wait under this id.
///
/// # Errors
/// 422 if it is not a message of a user with a text or a file, or has another id.
pub(crate) fn checked(sent: Value, message_id: &str) -> Result<UiMessage, UserError> {
    let is_known = |sign: u8| sign.is_ascii_alphanumeric() || sign == b'-' || sign == b'_';
    if message_id.is_empty() || message_id.len() > MAX_ID || !message_id.bytes().all(is_known) {
        let problem = format!("An id has 1 to {MAX_ID} letters, digits, `-` or `_`.");
        return Err(UserError::invalid("/message/id", problem));
    }
    let message: UiMessage =
        serde_json::from_value(sent).map_err(|_| UserError::invalid("/message", "This is not a message."))?;
    if message.id != message_id {
        return Err(UserError::invalid("/message/id", "The id is not the one of the address."));
    }
    if message.role != Role::User {
        return Err(UserError::invalid("/message/role", "Only the user's own messages can be sent."));
    }
    let has_file = message.parts.iter().any(|part| matches!(part, UiPart::File(_)));
    if message.text().trim().is_empty() && !has_file {
        return Err(UserError::invalid("/message/parts", "The message is empty."));
    }
    Ok(message)
}

/// Returns a value as JSON.
///
/// # Errors
/// 413 if it is too large.
pub(crate) fn bounded_json(value: &impl Serialize) -> Result<String, UserError> {
    let json = serde_json::to_string(value).map_err(|_| UserError::invalid("/", "This cannot be stored."))?;
    if json.len() > MAX_BYTES {
        let problem = format!("The message is too long: {} KB at most.", MAX_BYTES / 1024);
        return Err(UserError::new(ErrorCode::TooLarge, problem));
    }
    Ok(json)
}
