//! The frame of an input: its label, what is wrong with its value, and what an agent changed.

use super::control::focus;
use super::input::InputHandle;
use crate::page_state::{PageState, words};
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use wire::page::BlockType;

/// An input with its label. When an agent writes the value, the field lights up for a moment and offers to undo it, in a line
/// that is always there, so that nothing moves.
pub(super) fn field(input: &InputHandle, control: AnyView) -> AnyView {
    let (id, state, label) = (input.id.clone(), input.state, input.label());
    let write = {
        let key = id.clone();
        Memo::new(move |_| state.agent_write(&key).map(|write| write.number))
    };
    // Two classes with the same animation under two names: swapping them starts it anew for the next write.
    let odd = move || write.get().is_some_and(|number| number % 2 == 1);
    let even = move || write.get().is_some_and(|number| number % 2 == 0);
    let (beside, before, group) = match input.kind() {
        BlockType::Switch => (true, false, false),
        BlockType::Checkbox => (true, true, false),
        BlockType::MultiSelect => (false, false, true),
        _ => (false, false, false),
    };
    let name = view! {
        {label}
        {required_mark(input)}
    }
    .into_any();
    let name = match group {
        // The controls have labels of their own.
        true => view! { <span class="cw-label" id=label_id(&id)>{name}</span> }.into_any(),
        false => view! { <label class="cw-label" for=control_id(&id)>{name}</label> }.into_any(),
    };
    let problem = {
        let key = id.clone();
        // Not drawn anew with each key: a screen reader would read it again.
        let problem = Memo::new(move |_| state.problem(&key));
        (move || {
            let problem = problem.get()?;
            Some(view! { <span class="cw-problem" dir="auto">{problem}</span> }.into_any())
        })
        .into_any()
    };
    let change = {
        let (key, label) = (id.clone(), input.label());
        (move || write.get().map(|_| change_line(state, key.clone(), &untrack(&label)))).into_any()
    };
    view! {
        <div class="cw-field" class:cw-beside=beside class:cw-before=before class:cw-written-odd=odd class:cw-written-even=even>
            {name}
            {control}
            <p class="cw-note" id=note_id(&id)>
                {problem}
                {change}
            </p>
        </div>
    }
    .into_any()
}

/// A star behind the label; for screen readers the control itself says that it is needed.
fn required_mark(input: &InputHandle) -> AnyView {
    let properties = input.properties;
    (move || {
        properties
            .flag("required")
            .then(|| view! { <span class="cw-required" aria-hidden="true">"*"</span> }.into_any())
    })
    .into_any()
}

fn change_line(state: PageState, key: String, label: &str) -> AnyView {
    let label = fill(Text::UndoChangeOf, &[label]);
    let undo = move |_| {
        state.undo(&key);
        // The button is about to vanish: the focus goes to what it changed.
        focus(&control_id(&key));
    };
    view! {
        <span>{t(Text::ChangedByAgent)}</span>
        <span aria-hidden="true">"·"</span>
        <button type="button" class="cw-link" aria-label=label on:click=undo>
            {t(Text::Undo)}
        </button>
    }
    .into_any()
}

/// The id of a field's control, unique on the page as block ids are.
pub(crate) fn control_id(id: &str) -> String {
    format!("field-{id}")
}

/// The id of the line that describes a field's control.
pub(crate) fn note_id(id: &str) -> String {
    format!("field-{id}-note")
}

/// The id of the name of a field with several controls.
pub(crate) fn label_id(id: &str) -> String {
    format!("field-{id}-label")
}

/// A heading for a key that has none.
pub(super) fn heading(key: &str) -> String {
    words(key)
}
