//! The block `Select`.

use super::control::{bind_text, display_text, parse_text};
use super::field::field;
use super::input::InputHandle;
use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, t};
use leptos::ev::Event;
use wire::page::{BlockType, SelectOption};

/// A drop-down list.
#[component]
pub fn Select(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// The block's properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the user chose an option.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let input = InputHandle::new(BlockType::Select, id, properties, events);
    bind_text(&input, parse_text);
    let now = input.clone();
    let options = move || {
        let chosen = display_text(&now.value_untracked());
        let option = |SelectOption { value, label }: SelectOption| {
            let selected = value == chosen;
            view! { <option value=value selected=selected dir="auto">{label}</option> }.into_any()
        };
        properties.options().into_iter().map(option).collect_view().into_any()
    };
    let placeholder = move || properties.text("placeholder").unwrap_or_else(|| t(Text::ChooseOption).to_owned());
    let done = input.clone();
    let choose = move |event: Event| {
        done.write(parse_text(&event_target_value(&event)));
        done.commit();
    };
    let control = view! {
        <div class="cw-select">
            <select
                {..input.attributes()}
                class="cw-control"
                on:change=choose
            >
                <option value="">{placeholder}</option>
                {options}
            </select>
        </div>
    };
    field(&input, control.into_any())
}
