//! The form above the composer with which a command starts a workflow.

use super::api::startable_workflow;
use super::start::{StartForm, StartRun};
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::KeyboardEvent;
use leptos::task::spawn_local;
use wire::workflow::WorkflowItem;

/// A command that was chosen.
#[derive(Clone)]
pub(crate) struct ChatStart {
    /// The workflow.
    pub(crate) workflow_id: String,
    /// The id of the chat's block.
    pub(crate) block_id: String,
    /// Starts the run.
    pub(crate) send: StartRun,
    /// Removes the form.
    pub(crate) close: Callback<()>,
}

/// Renders the form once the workflow is loaded.
pub(super) fn start_in_chat(start: ChatStart) -> AnyView {
    let (loaded, problem) = (RwSignal::new(None::<WorkflowItem>), RwSignal::new(None::<String>));
    let id = start.workflow_id.clone();
    spawn_local(async move {
        match startable_workflow(id).await {
            Ok(workflow) => drop(loaded.try_set(Some(workflow))),
            Err(error) => drop(problem.try_set(Some(error_text(&error.0)))),
        }
    });
    let close = start.close;
    let form = move || loaded.get().map(|workflow| panel(&start, workflow));
    let refused = move || {
        let text = problem.get()?;
        Some(
            view! {
                <section class="cw-run-card cw-command-form">
                    <p class="cw-problem" role="alert" dir="auto">{text}</p>
                    <button type="button" class="cw-button" on:click=move |_| close.run(())>{t(Text::Dismiss)}</button>
                </section>
            }
            .into_any(),
        )
    };
    view! {
        <div class="cw-above">
            {form}
            {refused}
        </div>
    }
    .into_any()
}

fn panel(start: &ChatStart, workflow: WorkflowItem) -> AnyView {
    let (title, label, close) = (workflow.title.clone(), workflow.title.clone(), start.close);
    let form = StartForm::new(&start.block_id, workflow, start.send.clone());
    let name = fill(Text::CloseNamed, &[&title]);
    let close_by_key = move |event: KeyboardEvent| {
        // Otherwise Escape could also close a surrounding element, such as a drawer.
        if event.key() == "Escape" {
            event.prevent_default();
            event.stop_propagation();
            close.run(());
        }
    };
    let first = form.clone();
    request_animation_frame(move || first.focus());
    view! {
        <section class="cw-run-card cw-command-form" aria-label=label on:keydown=close_by_key>
            <div class="cw-run-card-head">
                <Icon of=Shape::FORM />
                <strong dir="auto">{title}</strong>
                <button
                    type="button"
                    class="cw-icon-button"
                    aria-label=name
                    title=t(Text::Close)
                    on:click=move |_| close.run(())
                >
                    <Icon of=Shape::CLOSE />
                </button>
            </div>
            {form.view()}
        </section>
    }
    .into_any()
}
