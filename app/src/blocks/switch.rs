//! The block `Switch`.

use super::control::bind_checked;
use super::field::{Field, control_id, note_id};
use crate::erase::Erase;
use crate::page_state::{label, use_page_state};
use leptos::prelude::*;
use serde_json::Value;
use wire::page::Input;

/// Yes or no.
#[component]
pub fn Switch(
    /// The block's id and the key of its value.
    id: String,
    /// Its properties.
    input: Input,
) -> impl IntoView {
    let state = use_page_state();
    bind_checked(control_id(&id), id.clone());
    let key = id.clone();
    let control = view! {
        <input
            class="cw-switch"
            type="checkbox"
            role="switch"
            id=control_id(&id)
            name=id.clone()
            aria-describedby=note_id(&id)
            checked=state.get_untracked(&id) == Value::Bool(true)
            on:change=move |event| state.set(&key, Value::Bool(event_target_checked(&event)))
        />
    };
    view! { <Field id=id.clone() label=label(&id, &input) beside=true control=control.erase() /> }
}
