//! Parts of a conversation that not every one has: their code comes with the first of them.

use super::message_state::MessageState;
use super::session::Session;
use super::{
    attachments, context_meter, edit_form, feedback, message_menu, queue, sources, standing, tool_card, undo, versions,
};
use crate::chunks::{Chunk, Loading, Missing};
use crate::pages::agent_changes;
use crate::prelude::*;
use leptos::html;
use leptos::web_sys::File;
use wasm_split_helpers::wasm_split;
use wire::ToolPart;

/// What comes with the first call of a tool: its card, the questions to the user, the calls that the page itself executes.
pub(crate) static TOOLS: Chunk<Tools> = Chunk::new("tools", load_tools);

/// What the chunk can do.
pub(crate) struct Tools {
    pub(super) card: fn(ArcRwSignal<ToolPart>) -> AnyView,
    pub(super) run_calls: fn(Session),
    pub(super) run_calls_later: fn(Session),
    /// The dialog about standing approvals.
    pub(super) standing: fn() -> AnyView,
    /// The bar about what an agent has changed in the form.
    pub(crate) changes: fn() -> AnyView,
    /// The bar about what the person entered before another conversation.
    pub(crate) left_over: fn() -> AnyView,
}

fn load_tools() -> Loading {
    Box::pin(async { TOOLS.fill(tools().await?) })
}

#[wasm_split(tools, fallible)]
fn tools() -> Result<Tools, Missing> {
    Ok(Tools {
        card: |tool| view! { <tool_card::ToolCard tool /> }.into_any(),
        run_calls: Session::run_calls,
        run_calls_later: Session::run_calls_later,
        standing: || view! { <standing::StandingDialog /> }.into_any(),
        changes: agent_changes::bar,
        left_over: agent_changes::left_over,
    })
}

/// What comes when somebody does more than write and read: files, other versions, what is done with a message.
pub(crate) static EXTRAS: Chunk<Extras> = Chunk::new("extras", load_extras);

/// What the chunk can do.
pub(crate) struct Extras {
    pub(super) attach: fn(Session, Vec<File>, bool),
    pub(super) attachments: fn() -> AnyView,
    pub(super) context_meter: fn(context_meter::Taken) -> AnyView,
    pub(super) dictate: fn(Session),
    pub(super) edit: fn() -> AnyView,
    pub(super) feedback: fn(MessageState, RwSignal<bool>) -> AnyView,
    /// The lines of a message's menu, given the popover around them.
    pub(super) menu: fn(Session, NodeRef<html::Div>) -> AnyView,
    pub(super) queue: fn() -> AnyView,
    pub(super) sources: fn(MessageState) -> AnyView,
    pub(super) undo: fn() -> AnyView,
    pub(super) versions: fn(MessageState) -> AnyView,
}

fn load_extras() -> Loading {
    Box::pin(async { EXTRAS.fill(extras().await?) })
}

#[wasm_split(extras, fallible)]
fn extras() -> Result<Extras, Missing> {
    Ok(Extras {
        attach: Session::attach,
        attachments: || view! { <attachments::Attachments /> }.into_any(),
        context_meter: context_meter::meter,
        dictate: Session::dictate,
        edit: || view! { <edit_form::EditForm /> }.into_any(),
        feedback: |message, asks_why| view! { <feedback::FeedbackForm message asks_why /> }.into_any(),
        menu: message_menu::items,
        queue: || view! { <queue::Queue /> }.into_any(),
        sources: sources::shown,
        undo: || view! { <undo::Undo /> }.into_any(),
        versions: versions::steps,
    })
}
