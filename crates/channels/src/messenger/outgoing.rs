//! Buttons and files of messages that a bot sends.

use super::ChatPlace;

/// A button below a message. The data has at most 64 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Button {
    pub(crate) label: String,
    pub(crate) data: String,
}

/// A pressed button that is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Press<'p> {
    pub(crate) place: &'p ChatPlace,
    pub(crate) id: &'p str,
    /// Whether the message with the button says the same.
    pub(crate) is_shown: bool,
}

/// A file that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutgoingFile {
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) content: Vec<u8>,
}
