//! The inputs with a boolean value.

use super::control::bind_checked;
use super::field::field;
use super::input::InputHandle;
use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use leptos::ev::Event;
use serde_json::Value;
use wire::page::BlockType;

/// A switch, whose value takes effect at once.
#[component]
pub fn Switch(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// The block's properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the user toggled it.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    check_input(InputHandle::new(BlockType::Switch, id, properties, events), "cw-switch", Some("switch"))
}

/// A checkbox.
#[component]
pub fn Checkbox(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// The block's properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the user ticked or unticked it.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    check_input(InputHandle::new(BlockType::Checkbox, id, properties, events), "cw-check", None)
}

fn check_input(input: InputHandle, class: &'static str, role: Option<&'static str>) -> AnyView {
    bind_checked(&input);
    let done = input.clone();
    let tick = move |event: Event| {
        done.write(Value::Bool(event_target_checked(&event)));
        done.commit();
    };
    let control = view! {
        <input
            {..input.attributes()}
            class=class
            type="checkbox"
            role=role
            checked=input.value_untracked() == Value::Bool(true)
            on:change=tick
        />
    };
    field(&input, control.into_any())
}
