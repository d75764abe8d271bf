//! The block `TextArea`.

use super::control::{bind_text, display_text, parse_text};
use super::field::field;
use super::input::InputHandle;
use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use leptos::ev::Event;
use wire::page::BlockType;

/// A multi-line text input that grows with its content.
#[component]
pub fn TextArea(
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
    let input = InputHandle::new(BlockType::TextArea, id, properties, events);
    bind_text(&input, parse_text);
    let (written, done) = (input.clone(), input.clone());
    let write = move |event: Event| written.write(parse_text(&event_target_value(&event)));
    let commit = move |_: Event| done.commit();
    // The text is set as inner HTML: a text area has no value attribute, and Leptos separates child
    // text nodes by comments, which a text area would show.
    let value = escape(&display_text(&input.value_untracked()));
    let control = view! {
        <textarea
            {..input.attributes()}
            class="cw-control"
            rows="3"
            dir=input.direction()
            maxlength=input.property("maxLength")
            placeholder=input.property("placeholder")
            inner_html=value
            on:input=write
            on:change=commit
        ></textarea>
    };
    field(&input, control.into_any())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_is_escaped() {
        assert_eq!(super::escape("a </textarea><b> &lt;"), "a &lt;/textarea>&lt;b> &amp;lt;");
    }
}
