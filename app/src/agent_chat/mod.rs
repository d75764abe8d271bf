//! The chat.

use leptos::prelude::*;
use wire::page::{AgentChatProperties, SharedField};

/// The chat with an agent.
#[component]
pub fn AgentChat(
    /// The page on which it stands.
    page_id: String,
    /// Its properties, from the config.
    properties: AgentChatProperties,
    /// The keys of the shared state.
    fields: Vec<SharedField>,
) -> impl IntoView {
    let _ = (page_id, properties, fields);
}
