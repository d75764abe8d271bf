//! The inputs of one line.

use super::control::{bind_text, parse_text, text};
use super::field::field;
use super::input::InputHandle;
use crate::actions::BlockEvents;
use crate::erase::{Erase, Erased, handler};
use crate::prelude::*;
use crate::properties::Properties;
use leptos::ev::Event;
use serde_json::Value;
use wire::page::BlockType;
use wire::page::parse_number;

/// One line of text.
#[component]
pub fn TextInput(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// Its properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the person is done with a change.
    #[prop(optional)]
    events: BlockEvents,
) -> Erased {
    let input = InputHandle::new(BlockType::TextInput, id, properties, events);
    line_input(input, Kind { native: "text", keyboard: None, step: None, parse: parse_text })
}

/// A number.
#[component]
pub fn NumberInput(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// Its properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the person is done with a change.
    #[prop(optional)]
    events: BlockEvents,
) -> Erased {
    let input = InputHandle::new(BlockType::NumberInput, id, properties, events);
    line_input(input, Kind { native: "number", keyboard: Some("decimal"), step: Some("any"), parse: parse_number })
}

/// A day, `YYYY-MM-DD`.
#[component]
pub fn DatePicker(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// Its properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the person is done with a change.
    #[prop(optional)]
    events: BlockEvents,
) -> Erased {
    let input = InputHandle::new(BlockType::DatePicker, id, properties, events);
    line_input(input, Kind { native: "date", keyboard: None, step: None, parse: parse_text })
}

/// How an input of one line differs from the others.
struct Kind {
    /// The native type.
    native: &'static str,
    /// What the keyboard of a phone should offer.
    keyboard: Option<&'static str>,
    /// Which numbers are valid.
    step: Option<&'static str>,
    /// What its text means.
    parse: fn(&str) -> Value,
}

/// A labelled native input.
fn line_input(input: InputHandle, kind: Kind) -> Erased {
    let parse = kind.parse;
    bind_text(&input, parse);
    let (written, done) = (input.clone(), input.clone());
    let optional = |value: Option<&'static str>| move || value.map(str::to_owned);
    let attributes = input
        .attributes("cw-control")
        .fixed("type", kind.native)
        .fixed("value", text(&input.now()))
        .dynamic("inputmode", optional(kind.keyboard))
        .dynamic("step", optional(kind.step))
        .dynamic("min", input.property("min"))
        .dynamic("max", input.property("max"))
        .dynamic("maxlength", input.property("maxLength"))
        .dynamic("placeholder", input.property("placeholder"));
    let write = handler(move |event: Event| written.write(parse(&event_target_value(&event))));
    let commit = handler(move |_: Event| done.commit());
    let control = view! { <input {..attributes} on:input=write on:change=commit /> };
    field(&input, control.erase())
}
