//! The block `NumberInput`.

use super::control::{bind_text, parse_number, text};
use super::field::{Field, control_id, note_id};
use crate::page_state::{label, use_page_state};
use leptos::prelude::*;
use wire::page::Input;

/// A number.
#[component]
pub fn NumberInput(
    /// The block's id and the key of its value.
    id: String,
    /// Its properties.
    input: Input,
) -> impl IntoView {
    let state = use_page_state();
    bind_text(control_id(&id), id.clone(), parse_number);
    let key = id.clone();
    view! {
        <Field id=id.clone() label=label(&id, &input)>
            <input
                class="cw-control"
                type="number"
                inputmode="decimal"
                step="any"
                id=control_id(&id)
                name=id.clone()
                aria-describedby=note_id(&id)
                placeholder=input.placeholder
                value=text(&state.get_untracked(&id))
                on:input=move |event| state.set(&key, parse_number(&event_target_value(&event)))
            />
        </Field>
    }
}
