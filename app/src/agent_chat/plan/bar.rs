//! The bar above the composer, and the list that it opens.

use super::edit::PlanEdit;
use super::state::{PlanState, progress};
use super::step::step_view;
use crate::agent_chat::session::Session;
use crate::blocks::control::focus;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{KeyboardEvent, SubmitEvent};
use leptos::html;
use wire::plan::MAX_STEP;

/// The bar, once the agent has written a plan.
pub(in crate::agent_chat) fn bar(session: Session, list_id: String) -> AnyView {
    let state = PlanState::new(session);
    let is_open = RwSignal::new(false);
    let exists = Memo::new(move |_| state.plan.with(Option::is_some));
    (move || exists.get().then(|| section(state, is_open, list_id.clone()))).into_any()
}

fn section(state: PlanState, is_open: RwSignal<bool>, list_id: String) -> AnyView {
    let shown = Memo::new(move |_| state.plan.with(|plan| plan.as_ref().map(progress).unwrap_or_default()));
    let head_id = format!("{list_id}-head");
    let (head, named) = (head_id.clone(), list_id.clone());
    let close = move |event: KeyboardEvent| {
        if event.key() == "Escape" && is_open.get_untracked() {
            event.stop_propagation();
            is_open.set(false);
            focus(&head);
        }
    };
    let list = move || is_open.get().then(|| list_view(state, list_id.clone()));
    view! {
        <div class="cw-above">
            <section class="cw-plan" aria-label=t(Text::Plan) on:keydown=close>
                <button
                    type="button"
                    id=head_id
                    class="cw-plan-head"
                    aria-expanded=move || Some(is_open.get().to_string())
                    aria-controls=named
                    on:click=move |_| is_open.update(|open| *open = !*open)
                >
                    <Icon of=Shape::CHEVRON />
                    <span class="cw-plan-count">{move || shown.with(|shown| shown.0.clone())}</span>
                    <span class="cw-plan-current" dir="auto">{move || shown.with(|shown| shown.1.clone())}</span>
                </button>
                {list}
            </section>
        </div>
    }
    .into_any()
}

fn list_view(state: PlanState, list_id: String) -> AnyView {
    // A step keeps its row when it moves or its state changes.
    let steps = move || {
        let contents = |plan: &wire::plan::Plan| plan.todos.iter().map(|todo| todo.content.clone()).collect();
        state.plan.with(|plan| plan.as_ref().map(contents).unwrap_or_else(Vec::<String>::new))
    };
    let field = NodeRef::<html::Input>::new();
    let focus_field = move || {
        if let Some(field) = field.get_untracked() {
            // The field is in the document, so it can be focused.
            let _ = field.focus();
        }
    };
    let add = move |event: SubmitEvent| {
        event.prevent_default();
        let Some(field) = field.get_untracked() else { return };
        let text = field.value().trim().to_owned();
        if !text.is_empty() {
            state.edit(PlanEdit::Add(text));
            if state.problem.with_untracked(Option::is_none) {
                field.set_value("");
            }
        }
    };
    let problem =
        move || state.problem.get().map(|problem| view! { <p class="cw-plan-problem" role="alert">{problem}</p> });
    view! {
        <div id=list_id class="cw-plan-body">
            <ol>
                <For each=steps key=Clone::clone children=move |content| step_view(state, content, focus_field) />
            </ol>
            {problem}
            <form class="cw-plan-new" on:submit=add>
                <input
                    node_ref=field
                    type="text"
                    dir="auto"
                    maxlength=MAX_STEP.to_string()
                    aria-label=t(Text::PlanNewStep)
                    placeholder=t(Text::PlanNewStep)
                />
                <button type="submit" class="cw-icon-button" aria-label=t(Text::PlanAdd) title=t(Text::PlanAdd)>
                    <Icon of=Shape::PLUS />
                </button>
            </form>
        </div>
    }
    .into_any()
}
