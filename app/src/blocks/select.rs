//! The block `Select`.

use super::control::{bind_text, parse_text, text};
use super::field::field;
use super::input::InputHandle;
use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use crate::texts::{Text, t};
use leptos::ev::Event;
use wire::page::{BlockType, Choice};

/// A choice of one.
#[component]
pub fn Select(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// Its properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: something was chosen.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let input = InputHandle::new(BlockType::Select, id, properties, events);
    bind_text(&input, parse_text);
    let now = input.clone();
    let options = move || {
        let chosen = text(&now.now());
        let option = |Choice { value, label }: Choice| {
            let selected = value == chosen;
            view! { <option value=value selected=selected>{label}</option> }.into_any()
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
