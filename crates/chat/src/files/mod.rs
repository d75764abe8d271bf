//! Files that users attach to messages: stored when they arrive, resolved when a message is sent, and
//! passed to the model.

pub(crate) mod attachments;
mod content;
pub(crate) mod sniff;
pub(crate) mod uploads;
