//! What the inputs of one line have in common.

use super::control::{bind_text, text};
use super::field::{Field, control_id, note_id};
use crate::erase::{Erase, Erased};
use crate::page_state::{label, use_page_state};
use leptos::prelude::*;
use serde_json::Value;
use wire::page::Input;

/// How an input of one line differs from the others.
pub(super) struct Kind {
    /// The native type.
    pub(super) native: &'static str,
    /// What the keyboard of a phone should offer.
    pub(super) keyboard: Option<&'static str>,
    /// Which numbers are valid.
    pub(super) step: Option<&'static str>,
    /// What its text means.
    pub(super) parse: fn(&str) -> Value,
}

/// A labelled native input.
pub(super) fn line_input(id: String, input: Input, kind: Kind) -> Erased {
    let state = use_page_state();
    let parse = kind.parse;
    bind_text(control_id(&id), id.clone(), parse);
    let label = label(&id, &input);
    let key = id.clone();
    let control = view! {
        <input
            class="cw-control"
            type=kind.native
            inputmode=kind.keyboard
            step=kind.step
            id=control_id(&id)
            name=id.clone()
            aria-describedby=note_id(&id)
            placeholder=input.placeholder
            value=text(&state.get_untracked(&id))
            on:input=move |event| state.set(&key, parse(&event_target_value(&event)))
        />
    };
    view! { <Field id label control=control.erase() /> }.erase()
}
