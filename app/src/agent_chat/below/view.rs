//! The row below the newest answer. Its height is the same with and without something in it, so nothing
//! jumps when something comes.

use super::memory::MemoryState;
use super::offered;
use super::suggestions::SuggestionState;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use serde::Deserialize;

/// One of the things that stand there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// `suggestions` or `memory`.
    kind: String,
    /// Whether suggestions come after each answer, and not only on demand.
    #[serde(default)]
    always: bool,
    /// How long a conversation rests until what it says is remembered, in seconds.
    #[serde(default)]
    rest_seconds: u64,
    /// The page with everything that is remembered.
    #[serde(default)]
    page: String,
}

/// The suggestions of the config or the answer, and the row, with the panel that it may open.
pub(in crate::agent_chat) fn below(session: Session) -> AnyView {
    let items = session.sender(|sender| sender.below_answer.clone()).unwrap_or_default();
    let items: Vec<Item> = serde_json::from_value(items).unwrap_or_default();
    let named = |kind: &str| items.iter().find(|item| item.kind == kind);
    let suggestions = named("suggestions").map(|item| SuggestionState::new(session, item.always).view());
    let memory = named("memory").map(|item| MemoryState::new(session, item.rest_seconds, item.page.clone()));
    let panel = memory.map(MemoryState::panel);
    let memory = memory.map(MemoryState::button);
    let row = (!items.is_empty()).then(|| {
        view! {
            <div class="cw-below">
                {memory}
                {suggestions}
            </div>
        }
    });
    view! {
        {offered::suggestions(session)}
        {row}
        {panel}
    }
    .into_any()
}
