//! The log of a conversation, and what stands in it besides messages.

pub(super) mod announcer;
mod citations;
pub(super) mod days;
pub(super) mod prompt;
pub(super) mod scroll;
pub(super) mod thinking;
pub(super) mod view;
pub(super) mod welcome;
pub(super) mod window;
