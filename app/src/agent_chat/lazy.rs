//! The chunks for features that not every conversation uses; their code is loaded with the first
//! use.

use super::cards::{standing_approvals, tool_card};
use super::composer::{attachments, context_meter, edit_form, queue, undo};
use super::message::state::MessageState;
use super::message::{feedback, menu, sources, versions};
use super::session::Session;
use crate::chunks::{Chunk, ChunkError, ChunkFuture};
use crate::pages::agent_changes;
use crate::prelude::*;
use leptos::html;
use leptos::web_sys::File;
use wasm_split_helpers::wasm_split;
use wire::ToolPart;

/// The chunk for tool calls: cards, questions to the user, and calls that the page executes.
pub(crate) static TOOLS: Chunk<ToolFunctions> = Chunk::new("tools", load_tools);

/// The functions of the chunk.
pub(crate) struct ToolFunctions {
    pub(super) card: fn(ArcRwSignal<ToolPart>) -> AnyView,
    pub(super) run_calls: fn(Session),
    pub(super) run_calls_later: fn(Session),
    /// The dialog that lists standing approvals.
    pub(super) standing_dialog: fn() -> AnyView,
    /// The bar about the changes that an agent made to the form.
    pub(crate) changes: fn() -> AnyView,
    /// The bar about the user's entries that are left in the form when the conversation changes.
    pub(crate) left_over: fn() -> AnyView,
}

fn load_tools() -> ChunkFuture {
    Box::pin(async { TOOLS.set_functions(tools().await?) })
}

#[wasm_split(tools, fallible)]
fn tools() -> Result<ToolFunctions, ChunkError> {
    Ok(ToolFunctions {
        card: |tool| view! { <tool_card::ToolCard tool /> }.into_any(),
        run_calls: Session::run_calls,
        run_calls_later: Session::run_calls_later,
        standing_dialog: || view! { <standing_approvals::StandingDialog /> }.into_any(),
        changes: agent_changes::changes_bar,
        left_over: agent_changes::leftover_bar,
    })
}

/// The chunk for less common actions: files, versions, message menus, feedback, the queue,
/// dictation.
pub(crate) static EXTRAS: Chunk<ExtraFunctions> = Chunk::new("extras", load_extras);

/// The functions of the chunk.
pub(crate) struct ExtraFunctions {
    pub(super) attach: fn(Session, Vec<File>, bool),
    pub(super) attachments: fn() -> AnyView,
    pub(super) context_meter: fn(context_meter::ContextUsage) -> AnyView,
    pub(super) dictate: fn(Session),
    pub(super) edit: fn() -> AnyView,
    pub(super) feedback: fn(MessageState, RwSignal<bool>) -> AnyView,
    /// The items of a message's menu, given the popover that contains them.
    pub(super) menu: fn(Session, NodeRef<html::Div>) -> AnyView,
    pub(super) queue: fn() -> AnyView,
    pub(super) sources: fn(MessageState) -> AnyView,
    pub(super) undo: fn() -> AnyView,
    pub(super) versions: fn(MessageState) -> AnyView,
}

fn load_extras() -> ChunkFuture {
    Box::pin(async { EXTRAS.set_functions(extras().await?) })
}

#[wasm_split(extras, fallible)]
fn extras() -> Result<ExtraFunctions, ChunkError> {
    Ok(ExtraFunctions {
        attach: Session::attach,
        attachments: || view! { <attachments::Attachments /> }.into_any(),
        context_meter: context_meter::meter,
        dictate: Session::dictate,
        edit: || view! { <edit_form::EditForm /> }.into_any(),
        feedback: |message, asks_why| view! { <feedback::FeedbackForm message asks_why /> }.into_any(),
        menu: menu::items,
        queue: || view! { <queue::Queue /> }.into_any(),
        sources: sources::sources_view,
        undo: || view! { <undo::Undo /> }.into_any(),
        versions: versions::version_buttons,
    })
}
