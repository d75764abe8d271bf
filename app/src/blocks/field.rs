//! The frame of an input: its label, its validation error, and the notice of a change by the agent.

use super::control::focus;
use super::input::InputHandle;
use crate::page_state::{PageState, label_from_id};
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use wire::page::BlockType;

/// Renders an input with its label. When the agent writes the value, the field is highlighted for a
/// moment and offers to undo the change. The line for it is always reserved, so that the layout
/// does not shift.
pub(super) fn field(input: &InputHandle, control: AnyView) -> AnyView {
    let (id, state, label) = (input.id.clone(), input.state, input.label());
    let write = {
        let key = id.clone();
        Memo::new(move |_| state.agent_write(&key).map(|write| write.count))
    };
    // Two classes with the same animation under two names: switching between them restarts it for
    // the next write.
    let odd = move || write.get().is_some_and(|number| number % 2 == 1);
    let even = move || write.get().is_some_and(|number| number % 2 == 0);
    let (beside, before, group) = match input.kind() {
        BlockType::Switch => (true, false, false),
        BlockType::Checkbox => (true, true, false),
        BlockType::MultiSelect => (false, false, true),
        _ => (false, false, false),
    };
    let name = view! {
        <bdi>{label}</bdi>
        {required_mark(input)}
    }
    .into_any();
    let name = if group {
        // A `span`, because each of the controls has its own label.
        view! { <span class="cw-label" id=label_id(&id)>{name}</span> }.into_any()
    } else {
        view! { <label class="cw-label" for=control_id(&id)>{name}</label> }.into_any()
    };
    let problem = {
        let key = id.clone();
        // A memo, so that it is not rendered again at every keystroke: a screen reader would read
        // it again.
        let problem = Memo::new(move |_| state.validation_error(&key));
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

/// Renders an asterisk after the label of a required input; screen readers get the control's
/// `required` attribute instead.
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
        // The button is about to disappear, so the focus moves to the field.
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

/// Returns the id of a field's control. It is unique on the page, because block ids are.
pub(crate) fn control_id(id: &str) -> String {
    format!("field-{id}")
}

/// Returns the id of the line that describes a field's control.
pub(crate) fn note_id(id: &str) -> String {
    format!("field-{id}-note")
}

/// Returns the id of the label of a field with several controls.
pub(crate) fn label_id(id: &str) -> String {
    format!("field-{id}-label")
}

/// Returns the heading of a column without a title, made from its key.
pub(super) fn default_heading(key: &str) -> String {
    label_from_id(key)
}
