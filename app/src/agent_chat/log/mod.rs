//! The log of a conversation: its messages, and the other elements between them.

pub(super) mod announcer;
mod citations;
pub(super) mod days;
pub(super) mod prompt;
pub(super) mod scroll;
pub(super) mod thinking;
pub(super) mod view;
pub(super) mod welcome;
pub(super) mod window;
