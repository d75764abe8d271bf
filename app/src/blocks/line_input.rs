//! The inputs of one line.

use super::control::{bind_text, parse_text, text};
use super::field::field;
use super::input::InputHandle;
use crate::actions::BlockEvents;
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
) -> AnyView {
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
) -> AnyView {
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
) -> AnyView {
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
fn line_input(input: InputHandle, kind: Kind) -> AnyView {
    let parse = kind.parse;
    bind_text(&input, parse);
    let (written, done) = (input.clone(), input.clone());
    let write = move |event: Event| written.write(parse(&event_target_value(&event)));
    let commit = move |_: Event| done.commit();
    let control = view! {
        <input
            {..input.attributes()}
            class="cw-control"
            type=kind.native
            value=text(&input.now())
            inputmode=kind.keyboard
            step=kind.step
            min=input.property("min")
            max=input.property("max")
            maxlength=input.property("maxLength")
            placeholder=input.property("placeholder")
            on:input=write
            on:change=commit
        />
    };
    field(&input, control.into_any())
}
