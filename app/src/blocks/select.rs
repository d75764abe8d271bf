//! The block `Select`.

use super::control::{bind_text, parse_text, text};
use super::field::{Field, control_id, note_id};
use crate::erase::Erase;
use crate::page_state::{label, use_page_state};
use leptos::prelude::*;
use wire::page::{Choice, Input};

/// A choice of one.
#[component]
pub fn Select(
    /// The block's id and the key of its value.
    id: String,
    /// Its properties.
    input: Input,
) -> impl IntoView {
    let state = use_page_state();
    bind_text(control_id(&id), id.clone(), parse_text);
    let key = id.clone();
    let chosen = text(&state.get_untracked(&id));
    let label = label(&id, &input);
    let option = move |Choice { value, label }: Choice| {
        let selected = value == chosen;
        view! { <option value=value selected=selected>{label}</option> }
    };
    let control = view! {
        <div class="cw-select">
            <select
                class="cw-control"
                id=control_id(&id)
                name=id.clone()
                aria-describedby=note_id(&id)
                on:change=move |event| state.set(&key, parse_text(&event_target_value(&event)))
            >
                <option value="">{input.placeholder.unwrap_or_else(|| "Choose…".to_owned())}</option>
                {input.options.into_iter().map(option).collect_view()}
            </select>
        </div>
    };
    view! { <Field id=id.clone() label control=control.erase() /> }
}
