//! The block `Tabs`.

use super::control::focus;
use crate::actions::BlockEvents;
use crate::page_state::use_page_state;
use crate::prelude::*;
use leptos::ev::KeyboardEvent;
use serde_json::json;
use wire::page::{Block, TabsProperties};

/// One tab with its panel.
pub struct Tab {
    /// The text of the tab.
    pub title: String,
    /// The ids of the inputs in the panel: the tab is selected when one of them has to be
    /// corrected.
    pub inputs: Vec<String>,
    /// The content of the panel.
    pub content: AnyView,
}

/// Shows one panel at a time. All panels are rendered, so that inputs in hidden ones keep their
/// values and are validated.
#[component]
pub fn Tabs(
    /// The block's id.
    #[prop(into)]
    id: String,
    /// The tabs with their panels.
    tabs: Vec<Tab>,
    /// `onChange`: the user selected another tab.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let selected = RwSignal::new(0_u32);
    let count = tabs.len() as u32;
    let (mut heads, mut panels, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
    for (index, tab) in (0..).zip(tabs) {
        inputs.push(tab.inputs);
        heads.push(tab_button(TabPosition { id: id.clone(), index, count }, tab.title, selected, events.clone()));
        panels.push(panel(&id, index, selected, tab.content));
    }
    select_tab_of_wanted_input(inputs, selected);
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

/// Returns the tabs of a `Tabs` block of the config; `render` renders a child block.
pub(super) fn tabs_from_config(
    properties: TabsProperties,
    blocks: Vec<Block>,
    render: fn(Block) -> AnyView,
) -> Vec<Tab> {
    let mut titles = properties.titles.into_iter();
    let tab =
        |own: Block| Tab { title: titles.next().unwrap_or_default(), inputs: input_ids(&own), content: render(own) };
    blocks.into_iter().map(tab).collect()
}

fn input_ids(block: &Block) -> Vec<String> {
    let own = block.kind.field_type(&block.properties).map(|_| block.id.clone());
    own.into_iter().chain(block.blocks.iter().flat_map(input_ids)).collect()
}

/// The position of a tab in its tab list.
struct TabPosition {
    id: String,
    index: u32,
    count: u32,
}

fn tab_button(place: TabPosition, title: String, selected: RwSignal<u32>, events: BlockEvents) -> AnyView {
    let TabPosition { id, index, count } = place;
    let (head_id, panel_id) = (tab_id(&id, index), panel_id(&id, index));
    let is_selected = move || selected.get() == index;
    let name = title.clone();
    let changed = events.clone();
    let click = move |_| {
        if selected.get_untracked() != index {
            selected.set(index);
            changed.emit("onChange", json!({ "index": index, "title": name }));
        }
    };
    // The arrow keys move between tabs; the Tab key moves to the panel.
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
        focus(&tab_id(&id, to));
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
            aria-labelledby=tab_id(id, index)
            hidden=move || selected.get() != index
        >
            {content}
        </div>
    }
    .into_any()
}

fn select_tab_of_wanted_input(inputs: Vec<Vec<String>>, selected: RwSignal<u32>) {
    let state = use_page_state();
    Effect::new(move |_| {
        let Some(wanted) = state.requested_input() else { return };
        let tab = (0..).zip(&inputs).find(|(_, inputs)| inputs.contains(&wanted));
        if let Some((index, _)) = tab {
            selected.set(index);
        }
    });
}

fn tab_id(id: &str, index: u32) -> String {
    format!("tab-{id}-{index}")
}

fn panel_id(id: &str, index: u32) -> String {
    format!("panel-{id}-{index}")
}
