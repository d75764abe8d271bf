//! The chat with an agent.
//!
//! [`AgentChat`] loads the selected conversation, so that the server renders it, and opens it in a `Pane`. A `Session` is the
//! open conversation: it sends, follows streams and keeps the messages, each part of each message in a signal of its own. The
//! path of a delta: bytes → `reader.rs` (decoded, folded) → `session/follow.rs` (once per frame) → `message_state.rs` (the part
//! that changed) → [`crate::markdown`] (the block that changed).

#![expect(unreachable_pub, reason = "the component macro makes what it generates pub")]

mod about;
mod announcer;
mod approval_card;
mod attachment;
mod attachments;
pub(crate) mod browser;
mod card;
mod cited;
mod commands;
mod component;
mod composer;
mod composer_tools;
mod context_meter;
mod days;
mod drafts;
mod drawer;
mod earlier;
mod early;
mod edit_form;
mod embedded;
pub(crate) mod emblem;
mod feedback;
mod log;
mod message;
mod message_actions;
mod message_menu;
mod message_state;
pub(crate) mod notice;
mod outgoing;
mod own_text;
mod pane;
mod part;
mod progress;
mod prompt;
mod question_card;
mod question_field;
mod queue;
mod rare;
mod reader;
mod reasoning;
mod scroll;
mod session;
mod size;
mod sources;
mod speech;
mod standing;
mod standing_button;
mod sub_agent;
mod suggestions;
#[cfg(all(test, feature = "ssr"))]
mod tests;
mod thinking;
mod tool_card;
mod tool_result;
mod undo;
mod unseen;
mod value;
mod versions;
mod welcome;
mod words;

pub use component::AgentChat;
pub(crate) use rare::{EXTRAS, TOOLS};

use crate::chunks::{Chunk, Loading, Missing};
use crate::prelude::*;
use message_state::MessageState;
use session::{Act, Place, Session};
use standing::Standing;
use wasm_split_helpers::wasm_split;
use wire::api::ConversationView;
use wire::page::Page;

/// What a conversation needs once it has a message: the log, sending, following answers.
pub(crate) static CONVERSATION: Chunk<Functions> = Chunk::new("conversation", load);

/// What the chunk can do.
pub(crate) struct Functions {
    log: fn() -> AnyView,
    context_meter: fn(Session) -> AnyView,
    standing_button: fn(Standing) -> AnyView,
    messages: fn(&ConversationView) -> Vec<MessageState>,
    perform: fn(Session, Act),
}

fn load() -> Loading {
    Box::pin(async { CONVERSATION.fill(functions().await?) })
}

#[wasm_split(conversation, fallible)]
fn functions() -> Result<Functions, Missing> {
    Ok(Functions {
        log: || view! { <log::Log /> }.into_any(),
        context_meter: context_meter::context_meter,
        standing_button: standing_button::standing_button,
        messages: |view| view.messages.iter().map(|message| MessageState::of(view, message)).collect(),
        perform: Session::perform,
    })
}

/// What few pages need around a chat.
pub(crate) static FRAMES: Chunk<Frames> = Chunk::new("frames", load_frames);

/// What the chunk can do.
pub(crate) struct Frames {
    drawer: fn(Place) -> AnyView,
    /// A chat of a page alone, for a frame on another site's page.
    pub(crate) embedded: fn(Page, Option<&str>) -> AnyView,
}

fn load_frames() -> Loading {
    Box::pin(async { FRAMES.fill(frames().await?) })
}

#[wasm_split(frames, fallible)]
fn frames() -> Result<Frames, Missing> {
    Ok(Frames { drawer: drawer::drawer, embedded: embedded::embedded })
}
