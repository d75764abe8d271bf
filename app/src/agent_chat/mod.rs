//! The chat with an agent.
//!
//! [`AgentChat`] loads the selected conversation, so that the server renders it, and opens it in a
//! `Pane`. A `Session` is the open conversation: it sends messages, follows streams and keeps the
//! messages, with a signal for each part of a message. A delta passes from the bytes of the stream
//! through the reader (decoded and applied to the message), `session/follow.rs` (once per frame)
//! and `message/state.rs` (the parts that changed) to [`crate::markdown`] (the blocks that
//! changed).

#![expect(unreachable_pub, reason = "the component macro makes what it generates pub")]

mod cards;
mod component;
mod composer;
mod drawer;
mod embedded;
mod lazy;
mod log;
pub(crate) mod message;
mod pane;
mod session;
mod size;

pub use component::AgentChat;
pub(crate) use lazy::{EXTRAS, TOOLS};

use crate::chunks::{Chunk, ChunkError, ChunkFuture};
use crate::prelude::*;
use cards::standing_approvals::StandingApprovalState;
use message::state::MessageState;
use session::{ChatBlock, Session, SessionAction};
use wasm_split_helpers::wasm_split;
use wire::api::ConversationView;
use wire::page::Page;

/// The chunk for conversations with messages: the log, sending, following answers.
pub(crate) static CONVERSATION: Chunk<ConversationFunctions> = Chunk::new("conversation", load);

/// The functions of the chunk.
pub(crate) struct ConversationFunctions {
    log: fn() -> AnyView,
    context_meter: fn(Session) -> AnyView,
    standing_button: fn(StandingApprovalState) -> AnyView,
    messages: fn(&ConversationView) -> Vec<MessageState>,
    perform: fn(Session, SessionAction),
}

fn load() -> ChunkFuture {
    Box::pin(async { CONVERSATION.set_functions(functions().await?) })
}

#[wasm_split(conversation, fallible)]
fn functions() -> Result<ConversationFunctions, ChunkError> {
    Ok(ConversationFunctions {
        log: || view! { <log::view::Log /> }.into_any(),
        context_meter: composer::context_meter::context_meter,
        standing_button: cards::standing_button::standing_button,
        messages: |view| view.messages.iter().map(|message| MessageState::from_view(view, message)).collect(),
        perform: Session::perform,
    })
}

/// The chunk for chats in a drawer or in a frame, which few pages need.
pub(crate) static FRAMES: Chunk<FrameFunctions> = Chunk::new("frames", load_frames);

/// The functions of the chunk.
pub(crate) struct FrameFunctions {
    drawer: fn(ChatBlock) -> AnyView,
    /// The chat of a page without its other blocks, for a frame on another site.
    pub(crate) embedded: fn(Page, Option<&str>) -> AnyView,
}

fn load_frames() -> ChunkFuture {
    Box::pin(async { FRAMES.set_functions(frames().await?) })
}

#[wasm_split(frames, fallible)]
fn frames() -> Result<FrameFunctions, ChunkError> {
    Ok(FrameFunctions { drawer: drawer::drawer, embedded: embedded::embedded })
}
