//! The frame of an input: its label, and what an agent changed.

use super::control::focus;
use crate::erase::{Erase, Erased, flag, optional};
use crate::page_state::{PageState, use_page_state};
use leptos::prelude::*;

/// An input with its label. When an agent writes the value, the field lights up for a moment and offers to undo it, in a line
/// that is always there, so that nothing moves.
#[component]
pub fn Field(
    /// The block's id, which is also the key of its value.
    id: String,
    /// What the input is called.
    label: String,
    /// Beside the control instead of above it.
    #[prop(optional)]
    beside: bool,
    /// The control; it has the id [`control_id`] and is described by [`note_id`].
    control: Erased,
) -> impl IntoView {
    let state = use_page_state();
    let write = {
        let key = id.clone();
        Memo::new(move |_| state.agent_write(&key).map(|write| write.number))
    };
    // Two classes with the same animation under two names: swapping them starts it anew for the next write.
    let odd = flag(move || write.get().is_some_and(|number| number % 2 == 1));
    let even = flag(move || write.get().is_some_and(|number| number % 2 == 0));
    let control_id = control_id(&id);
    let change = {
        let (key, label) = (id.clone(), label.clone());
        optional(move || write.get().map(|_| change_line(state, key.clone(), &label)))
    };
    view! {
        <div class="cw-field" class:cw-beside=beside class:cw-written-odd=odd class:cw-written-even=even>
            <label class="cw-label" for=control_id>
                {label}
            </label>
            {control}
            <p class="cw-note" id=note_id(&id)>
                {change}
            </p>
        </div>
    }
    .erase()
}

fn change_line(state: PageState, key: String, label: &str) -> Erased {
    let label = format!("Undo the agent's change of {label}");
    let undo = move |_| {
        state.undo(&key);
        // The button is about to vanish: the focus goes to what it changed.
        focus(&control_id(&key));
    };
    view! {
        <span>"Changed by the agent"</span>
        <span aria-hidden="true">"·"</span>
        <button type="button" class="cw-link" aria-label=label on:click=undo>
            "Undo"
        </button>
    }
    .erase()
}

/// The id of a field's control, unique on the page as block ids are.
pub(crate) fn control_id(id: &str) -> String {
    format!("field-{id}")
}

/// The id of the line that describes a field's control.
pub(crate) fn note_id(id: &str) -> String {
    format!("field-{id}-note")
}
