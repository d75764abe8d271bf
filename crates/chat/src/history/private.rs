//! The parts of messages that must stay on the server.

use wire::{UiMessage, UiPart};

/// Removes the parts that must stay on the server.
pub(crate) fn strip_private(message: &mut UiMessage) {
    message.parts.retain(|part| !matches!(part, UiPart::Data(data) if wire::is_private(&data.kind)));
}
