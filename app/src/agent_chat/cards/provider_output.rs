//! The data parts of calls: the card of an item of a provider's reply that no other part shows, and the user interface of a tool.

use super::app_view::app_view;
use super::card::{Card, section};
use super::labels::CallStatus;
use super::tool_name::tool_label;
use crate::agent_chat::session::Session;
use crate::approval::value::json_node;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::Shape;
use crate::ui::node::reactive_nodes;
use serde_json::Value;
use wire::{DataPart, MCP_APP, ProviderOutput};

/// The view of a data part of a call.
pub(in crate::agent_chat) fn call_data(part: &DataPart) -> AnyView {
    if part.kind == MCP_APP { app_view(part) } else { provider_output(&part.data) }
}

/// The card of an item. It is shown where the calls of tools are.
fn provider_output(data: &Value) -> AnyView {
    if !expect_context::<Session>().display(|display| display.show_thought_chain) {
        return ().into_any();
    }
    let data = data.clone();
    let card = reactive_nodes(move || vec![output_card(ProviderOutput::read(&data)).node()]);
    view! { <div class="cw-call">{card}</div> }.into_any()
}

pub(super) fn output_card(output: ProviderOutput<'_>) -> Card {
    let json = serde_json::to_string_pretty(output.content).unwrap_or_default();
    Card {
        status: CallStatus::Done,
        icon: Shape::CHECK,
        name: tool_label(output.name),
        detail: output.provider.to_owned(),
        bar: None,
        state: Vec::new(),
        open: false,
        body: vec![section(t(Text::Result), vec![json_node(&json)])],
    }
}
