//! The block `Tabs`.

use super::control::focus;
use crate::actions::BlockEvents;
use crate::page_state::use_page_state;
use crate::prelude::*;
use leptos::ev::KeyboardEvent;
use serde_json::json;
use wire::page::{Block, TabsProperties};

/// One of several panels.
pub struct Tab {
    /// What stands on the tab.
    pub title: String,
    /// The ids of the inputs in it: when one has to be corrected, the tab comes to the front.
    pub inputs: Vec<String>,
    /// What stands in the panel.
    pub content: AnyView,
}

/// Shows one of its panels at a time. All are there, so that inputs in hidden ones keep their values and are checked.
#[component]
pub fn Tabs(
    /// The block's id.
    #[prop(into)]
    id: String,
    /// The panels.
    tabs: Vec<Tab>,
    /// `onChange`: another tab was chosen.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let selected = RwSignal::new(0_u32);
    let count = tabs.len() as u32;
    let (mut heads, mut panels, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
    for (index, tab) in (0..).zip(tabs) {
        inputs.push(tab.inputs);
        heads.push(head(Place { id: id.clone(), index, count }, tab.title, selected, events.clone()));
        panels.push(panel(&id, index, selected, tab.content));
    }
    show_what_is_wanted(inputs, selected);
    view! {
        <div class="cw-tabs">
            <div class="cw-tab-list" role="tablist">
                {heads.collect_view()}
            </div>
            {panels.collect_view()}
        </div>
    }
    .into_any()
}

/// The panels of a block of the config.
pub(super) fn tabs_of(properties: TabsProperties, blocks: Vec<Block>) -> Vec<Tab> {
    let mut titles = properties.titles.into_iter();
    let tab = |own: Block| Tab {
        title: titles.next().unwrap_or_default(),
        inputs: inputs_of(&own),
        content: super::block(own),
    };
    blocks.into_iter().map(tab).collect()
}

fn inputs_of(block: &Block) -> Vec<String> {
    let own = block.kind.field_type(&block.properties).map(|_| block.id.clone());
    own.into_iter().chain(block.blocks.iter().flat_map(inputs_of)).collect()
}

/// Where a tab stands among the others.
struct Place {
    id: String,
    index: u32,
    count: u32,
}

fn head(place: Place, title: String, selected: RwSignal<u32>, events: BlockEvents) -> AnyView {
    let Place { id, index, count } = place;
    let (head_id, panel_id) = (head_id(&id, index), panel_id(&id, index));
    let is_selected = move || selected.get() == index;
    let name = title.clone();
    let changed = events.clone();
    let click = move |_| {
        if selected.get_untracked() != index {
            selected.set(index);
            changed.emit("onChange", json!({ "index": index, "title": name }));
        }
    };
    // The arrows go from tab to tab; Tab leaves the row for the panel.
    let keydown = move |event: KeyboardEvent| {
        let to = match event.key().as_str() {
            "ArrowRight" | "ArrowDown" => (index + 1) % count,
            "ArrowLeft" | "ArrowUp" => (index + count - 1) % count,
            "Home" => 0,
            "End" => count - 1,
            _ => return,
        };
        event.prevent_default();
        selected.set(to);
        focus(&self::head_id(&id, to));
        events.emit("onChange", json!({ "index": to }));
    };
    view! {
        <button
            type="button"
            class="cw-tab"
            role="tab"
            id=head_id
            aria-controls=panel_id
            aria-selected=move || Some(is_selected().to_string())
            tabindex=move || Some(if is_selected() { "0" } else { "-1" }.to_owned())
            on:click=click
            on:keydown=keydown
        >
            {title}
        </button>
    }
    .into_any()
}

fn panel(id: &str, index: u32, selected: RwSignal<u32>, content: AnyView) -> AnyView {
    view! {
        <div
            class="cw-tab-panel"
            role="tabpanel"
            id=panel_id(id, index)
            aria-labelledby=head_id(id, index)
            hidden=move || selected.get() != index
        >
            {content}
        </div>
    }
    .into_any()
}

fn show_what_is_wanted(inputs: Vec<Vec<String>>, selected: RwSignal<u32>) {
    let state = use_page_state();
    Effect::new(move |_| {
        let Some(wanted) = state.wanted() else { return };
        let tab = (0..).zip(&inputs).find(|(_, inputs)| inputs.contains(&wanted));
        if let Some((index, _)) = tab {
            selected.set(index);
        }
    });
}

fn head_id(id: &str, index: u32) -> String {
    format!("tab-{id}-{index}")
}

fn panel_id(id: &str, index: u32) -> String {
    format!("panel-{id}-{index}")
}
