//! A part of a message.

use super::attachment::fixed_part;
use super::message_state::{PartKind, PartState};
use super::reasoning::Reasoning;
use super::tool_card::ToolCard;
use crate::erase::{Erase, Erased};
use crate::markdown::DocumentView;
use leptos::prelude::*;
use wire::Role;

/// The part's view. What the user wrote is shown as it was typed, what the agent wrote is Markdown.
pub(super) fn part_view(part: PartState, role: Role) -> Erased {
    match part.kind {
        PartKind::Text(document) if role == Role::User => {
            view! { <p class="cw-plain" dir="auto">{document.text()}</p> }.erase()
        }
        PartKind::Text(document) => view! { <DocumentView document /> }.erase(),
        PartKind::Reasoning { document, open } => view! { <Reasoning document open /> }.erase(),
        PartKind::Tool(tool) => view! { <ToolCard tool /> }.erase(),
        PartKind::Fixed(part) => (move || part.with(fixed_part)).erase(),
    }
}
