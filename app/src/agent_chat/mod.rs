//! The chat with an agent.
//!
//! [`AgentChat`] loads the selected conversation, so that the server renders it, and opens it in a
//! `Pane`. A `Session` is the open conversation: it sends messages, follows streams and keeps the
//! messages, with a signal for each part of a message. A delta passes from the bytes of the stream
//! through the reader (decoded and applied to the message), `session/follow.rs` (once per frame)
//! and `message_state.rs` (the parts that changed) to [`crate::markdown`] (the blocks that
//! changed).

#![expect(unreachable_pub, reason = "the component macro makes what it generates pub")]

mod announcer;
mod approval_card;
mod attachment;
mod attachments;
pub(crate) mod browser;
mod card;
mod citations;
mod commands;
mod component;
mod composer;
mod composer_tools;
mod context_meter;
mod days;
mod drafts;
mod drawer;
mod early_input;
mod edit_form;
mod embedded;
pub(crate) mod emblem;
mod feedback;
mod labels;
mod lazy;
mod log;
mod message;
mod message_actions;
mod message_info;
mod message_menu;
mod message_reader;
mod message_state;
mod message_window;
pub(crate) mod notice;
mod outgoing;
mod pane;
mod part;
mod progress;
mod prompt;
mod question_card;
mod question_field;
mod queue;
mod reasoning;
mod scroll;
mod session;
mod size;
mod sources;
mod speech;
mod standing_approvals;
mod standing_button;
mod sub_agent;
mod suggestions;
#[cfg(all(test, feature = "ssr"))]
mod tests;
mod thinking;
mod tool_card;
mod tool_result;
mod undo;
mod unseen_arguments;
mod user_text;
mod value;
mod versions;
mod welcome;

pub use component::AgentChat;
pub(crate) use lazy::{EXTRAS, TOOLS};

use crate::chunks::{Chunk, ChunkError, ChunkFuture};
use crate::prelude::*;
use message_state::MessageState;
use session::{ChatBlock, Session, SessionAction};
use standing_approvals::StandingApprovalState;
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
        log: || view! { <log::Log /> }.into_any(),
        context_meter: context_meter::context_meter,
        standing_button: standing_button::standing_button,
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
