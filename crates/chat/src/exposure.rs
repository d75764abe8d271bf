//! What an agent has read that makes sending dangerous stands in the messages in which it read it. So a later turn knows of it, on any
//! server, and another branch does not.

use agent::Seen;
use contract::Exposure;
use serde_json::{Value, json};
use wire::{Chunk, DataChunk, EXPOSURE, UiMessage, UiPart};

/// For the message.
pub(crate) fn part(exposure: &Exposure) -> Chunk {
    let data = json!({ "private": exposure.private, "untrusted": exposure.untrusted });
    Chunk::Data(DataChunk { kind: EXPOSURE.to_owned(), id: Some("exposure".to_owned()), data, transient: None })
}

/// What a branch holds.
pub(crate) fn of<'a>(messages: impl IntoIterator<Item = &'a UiMessage>) -> Seen {
    let mut seen = Exposure::default();
    for part in messages.into_iter().flat_map(|message| &message.parts) {
        let UiPart::Data(data) = part else { continue };
        if data.kind == EXPOSURE {
            let named = |key: &str| data.data.get(key).and_then(Value::as_str).map(str::to_owned);
            seen.private = seen.private.or_else(|| named("private"));
            seen.untrusted = seen.untrusted.or_else(|| named("untrusted"));
        }
    }
    seen.into()
}

/// Why the user is asked, for the audit log.
pub(crate) fn reason(private: &str, untrusted: &str) -> String {
    format!("it can send away private data (read by {private}) after text from outside (read by {untrusted})")
}
