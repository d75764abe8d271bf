//! The single-line inputs.

use super::control::{bind_text, display_text, parse_text};
use super::field::field;
use super::input::InputHandle;
use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use leptos::ev::Event;
use serde_json::Value;
use wire::page::BlockType;
use wire::page::parse_number;

/// A single-line text input.
#[component]
pub fn TextInput(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// The block's properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the user finished a change.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let input = InputHandle::new(BlockType::TextInput, id, properties, events);
    line_input(input, LineInputSpec { input_type: "text", input_mode: None, step: None, parse: parse_text })
}

/// A number input.
#[component]
pub fn NumberInput(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// The block's properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the user finished a change.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let input = InputHandle::new(BlockType::NumberInput, id, properties, events);
    line_input(
        input,
        LineInputSpec { input_type: "number", input_mode: Some("decimal"), step: Some("any"), parse: parse_number },
    )
}

/// A date input; its value is `YYYY-MM-DD`.
#[component]
pub fn DatePicker(
    /// The block's id and the key of its value.
    #[prop(into)]
    id: String,
    /// The block's properties.
    #[prop(into)]
    properties: Properties,
    /// `onChange`: the user finished a change.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let input = InputHandle::new(BlockType::DatePicker, id, properties, events);
    line_input(input, LineInputSpec { input_type: "date", input_mode: None, step: None, parse: parse_text })
}

/// The differences between the single-line inputs.
struct LineInputSpec {
    /// The `type` attribute.
    input_type: &'static str,
    /// The `inputmode` attribute, which selects the keyboard of a phone.
    input_mode: Option<&'static str>,
    /// The `step` attribute.
    step: Option<&'static str>,
    /// Converts the control's text into the value.
    parse: fn(&str) -> Value,
}

/// Renders a labelled `<input>`.
fn line_input(input: InputHandle, kind: LineInputSpec) -> AnyView {
    let parse = kind.parse;
    bind_text(&input, parse);
    let (written, done) = (input.clone(), input.clone());
    let write = move |event: Event| written.write(parse(&event_target_value(&event)));
    let commit = move |_: Event| done.commit();
    let control = view! {
        <input
            {..input.attributes()}
            class="cw-control"
            type=kind.input_type
            dir=(kind.input_type == "text").then(|| input.direction())
            value=display_text(&input.value_untracked())
            inputmode=kind.input_mode
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
