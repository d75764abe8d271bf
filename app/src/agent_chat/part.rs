//! A part of a message.

use super::attachment::fixed_part;
use super::message_state::{PartKind, PartState};
use super::reasoning::Reasoning;
use super::tool_card::ToolCard;
use crate::markdown::DocumentView;
use leptos::prelude::*;
use wire::Role;

/// The part's view. What the user wrote is shown as it was typed, what the agent wrote is Markdown.
pub(super) fn part_view(part: PartState, role: Role) -> AnyView {
    match part.kind {
        PartKind::Text(document) if role == Role::User => {
            view! { <p class="cw-plain" dir="auto">{document.text()}</p> }.into_any()
        }
        PartKind::Text(document) => view! { <DocumentView document /> }.into_any(),
        PartKind::Reasoning { document, open } => view! { <Reasoning document open /> }.into_any(),
        PartKind::Tool(tool) => view! { <ToolCard tool /> }.into_any(),
        PartKind::Fixed(part) => (move || part.with(fixed_part)).into_any(),
    }
}
