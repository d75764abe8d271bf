//! A step in the list.

use super::edit::PlanEdit;
use super::state::PlanState;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent, MouseEvent};
use leptos::html;
use leptos::web_sys::HtmlTextAreaElement;
use wasm_bindgen::JsCast;
use wire::plan::{MAX_STEP, TodoStatus};

/// The step with this text: a check box, the text, and buttons to move and remove it. `leave` moves the
/// focus when the step is removed.
pub(super) fn step_view(state: PlanState, content: String, leave: impl Fn() + Copy + Send + Sync + 'static) -> AnyView {
    let of = content.clone();
    let place = Memo::new(move |_| {
        state.plan.with(|plan| {
            let todos = plan.as_ref().map(|plan| plan.todos.as_slice()).unwrap_or_default();
            let at = todos.iter().position(|todo| todo.content == of)?;
            Some((at, todos.len(), todos[at].status))
        })
    });
    let status = move || place.get().map(|(_, _, status)| status);
    let is_done = move || status() == Some(TodoStatus::Completed);
    let label = move || Some(fill(Text::PlanStep, &[&place.get().map_or(0, |(at, ..)| at + 1).to_string()]));
    let (checked, removed) = (content.clone(), content.clone());
    let check = move |event: Event| state.edit(PlanEdit::Check(checked.clone(), event_target_checked(&event)));
    let remove = move |_: MouseEvent| {
        state.edit(PlanEdit::Remove(removed.clone()));
        leave();
    };
    view! {
        <li class="cw-plan-step" aria-current=move || (status() == Some(TodoStatus::InProgress)).then_some("step")>
            <input
                type="checkbox"
                aria-label=fill(Text::PlanCompleted, &[&content])
                prop:checked=is_done
                on:change=check
            />
            {text_field(state, &content, label)}
            {move_button(state, &content, -1, move || place.get().is_none_or(|(at, ..)| at == 0))}
            {move_button(state, &content, 1, move || place.get().is_none_or(|(at, count, _)| at + 1 >= count))}
            <button
                type="button"
                class="cw-icon-button"
                aria-label=fill(Text::RemoveNamed, &[&content])
                title=t(Text::Remove)
                on:click=remove
            >
                <Icon of=Shape::CLOSE />
            </button>
        </li>
    }
    .into_any()
}

/// The text, which is changed when the user leaves the field or presses Enter. Escape brings it back. A long text
/// is shown in several lines, and is still a single line.
fn text_field(state: PlanState, content: &str, label: impl Fn() -> Option<String> + Send + Sync + 'static) -> AnyView {
    let (known, back, value) = (content.to_owned(), content.to_owned(), content.to_owned());
    let rename = move |event: Event| {
        // Pasted text may have line breaks.
        let text = event_target_value(&event).replace('\n', " ");
        let is_empty = text.trim().is_empty();
        state.edit(PlanEdit::Rename(known.clone(), text));
        if is_empty || state.problem.with_untracked(Option::is_some) {
            set_value(&event, &known);
        }
    };
    let keys = move |event: KeyboardEvent| match event.key().as_str() {
        "Escape" if event_target_value(&event) != back => {
            event.stop_propagation();
            set_value(&event, &back);
        }
        "Enter" if !event.is_composing() => {
            event.prevent_default();
            if let Some(field) = field_of(&event) {
                // The browser reports the change when the field loses the focus. This cannot fail while the field
                // is in the document.
                let _ = field.blur();
            }
        }
        _ => {}
    };
    view! {
        <textarea
            rows="1"
            dir="auto"
            maxlength=MAX_STEP.to_string()
            aria-label=label
            enterkeyhint="done"
            prop:value=value
            on:change=rename
            on:keydown=keys
        ></textarea>
    }
    .into_any()
}

fn field_of(event: &Event) -> Option<HtmlTextAreaElement> {
    event.target()?.dyn_into().ok()
}

fn set_value(event: &Event, value: &str) {
    if let Some(field) = field_of(event) {
        field.set_value(value);
    }
}

/// A button that moves the step. It keeps the focus, so that a step can be moved several times.
fn move_button(
    state: PlanState,
    content: &str,
    by: isize,
    is_last: impl Fn() -> bool + Copy + Send + Sync + 'static,
) -> AnyView {
    let (text, class) = match by {
        -1 => (Text::PlanMoveUp, "cw-icon-button cw-plan-up"),
        _ => (Text::PlanMoveDown, "cw-icon-button cw-plan-down"),
    };
    let button = NodeRef::<html::Button>::new();
    let moved = content.to_owned();
    let click = move |_: MouseEvent| {
        if untrack(is_last) {
            return;
        }
        state.edit(PlanEdit::Move(moved.clone(), by));
        request_animation_frame(move || {
            if let Some(button) = button.get_untracked() {
                // The button is in the document, so it can be focused.
                let _ = button.focus();
            }
        });
    };
    view! {
        <button
            node_ref=button
            type="button"
            class=class
            aria-label=fill(text, &[content])
            aria-disabled=move || is_last().then_some("true")
            on:click=click
        >
            <Icon of=Shape::CHEVRON />
        </button>
    }
    .into_any()
}
