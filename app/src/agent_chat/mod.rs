//! The chat with an agent.
//!
//! [`AgentChat`] loads the selected conversation, so that the server renders it, and opens it in a `Pane`. A `Session` is the
//! open conversation: it sends, follows streams and keeps the messages, each part of each message in a signal of its own. The
//! path of a delta: bytes → `reader.rs` (decoded, folded) → `session/follow.rs` (once per frame) → `message_state.rs` (the part
//! that changed) → [`crate::markdown`] (the block that changed).

#![expect(unreachable_pub, reason = "the component macro makes what it generates pub")]

mod announcer;
mod approval_card;
mod attachment;
pub(crate) mod browser;
mod card;
mod component;
mod composer;
mod log;
mod message;
mod message_state;
mod notice;
mod pane;
mod part;
mod progress;
mod question_card;
mod question_field;
mod reader;
mod reasoning;
mod scroll;
mod session;
mod standing;
mod sub_agent;
#[cfg(all(test, feature = "ssr"))]
mod tests;
mod tool_card;
mod tool_result;
mod value;
mod welcome;
mod words;

pub use component::AgentChat;
pub(crate) use session::tell_tabs;
