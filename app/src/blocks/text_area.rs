//! The block `TextArea`.

use super::control::{bind_text, parse_text, text};
use super::field::{Field, control_id, note_id};
use crate::erase::Erase;
use crate::page_state::{label, use_page_state};
use leptos::prelude::*;
use wire::page::Input;

/// Several lines of text; it grows with them.
#[component]
pub fn TextArea(
    /// The block's id and the key of its value.
    id: String,
    /// Its properties.
    input: Input,
) -> impl IntoView {
    let state = use_page_state();
    bind_text(control_id(&id), id.clone(), parse_text);
    let key = id.clone();
    let label = label(&id, &input);
    let control = view! {
        // Its text as inner HTML: a text area has no value attribute, and Leptos marks child texts with comments, which
        // a text area would show.
        <textarea
            class="cw-control"
            rows="3"
            id=control_id(&id)
            name=id.clone()
            aria-describedby=note_id(&id)
            placeholder=input.placeholder
            inner_html=escape(&text(&state.get_untracked(&id)))
            on:input=move |event| state.set(&key, parse_text(&event_target_value(&event)))
        ></textarea>
    };
    view! { <Field id=id.clone() label control=control.erase() /> }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_cannot_leave_the_text_area() {
        assert_eq!(super::escape("a </textarea><b> &lt;"), "a &lt;/textarea>&lt;b> &amp;lt;");
    }
}
