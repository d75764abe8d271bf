//! The chat with an agent.
//!
//! [`AgentChat`] loads the selected conversation, so that the server renders it, and opens it in a
//! `Pane`. A `Session` is the open conversation: it sends messages, follows streams and keeps the
//! messages, with a signal for each part of a message. A delta passes from the bytes of the stream
//! through the reader (decoded and applied to the message), `session/stream/follow.rs` (once per frame)
//! and `message/state.rs` (the parts that changed) to [`crate::markdown`] (the blocks that
//! changed).

#![expect(unreachable_pub, reason = "the component macro makes what it generates pub")]

pub(crate) mod artifacts;
mod below;
mod cards;
mod choices;
pub(crate) mod chunk_tables;
mod component;
mod composer;
mod drawer;
mod embedded;
mod lazy;
mod log;
pub(crate) mod message;
mod models;
mod pane;
mod plan;
mod session;
mod size;

pub use component::AgentChat;
