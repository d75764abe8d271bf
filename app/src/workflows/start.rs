//! The form that starts a run.

use super::api::start_workflow;
use super::form::SchemaForm;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use leptos::ev::SubmitEvent;
use leptos::task::spawn_local;
use serde_json::Value;
use wire::workflow::{RunItem, WorkflowItem};

/// Renders the form. `started` is called with the new run.
pub(super) fn start_form(
    block: &str,
    workflow: WorkflowItem,
    started: impl Fn(RunItem) + Clone + Send + Sync + 'static,
) -> AnyView {
    let schema = workflow.input.unwrap_or(Value::Null);
    let form = SchemaForm::new(&schema, format!("cw-start-{block}-{}", workflow.id));
    let (problem, is_sending) = (RwSignal::new(None::<String>), RwSignal::new(false));
    let id = workflow.id;
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if is_sending.get_untracked() {
            return;
        }
        let Some(input) = form.read() else {
            return problem.set(Some(t(Text::EntriesToCheck).to_owned()));
        };
        problem.set(None);
        is_sending.set(true);
        let (id, started) = (id.clone(), started.clone());
        spawn_local(async move {
            let sent = start_workflow(id, input).await;
            // The page may be gone.
            if is_sending.try_set(false).is_some() {
                return;
            }
            match sent {
                Ok(run) => started(run),
                Err(error) if form.show_error(&error.0, "/input") => {
                    problem.set(Some(t(Text::EntriesToCheck).to_owned()));
                }
                Err(error) => problem.set(Some(error_text(&error.0))),
            }
        });
    };
    let description = workflow.description.map(|about| view! { <p class="cw-question-context" dir="auto">{about}</p> });
    view! {
        <form class="cw-task-form" novalidate on:submit=submit>
            {description}
            {form.view()}
            <div class="cw-approval-actions">
                <button type="submit" class="cw-button cw-primary" disabled=move || is_sending.get()>
                    {t(Text::RunStart)}
                </button>
            </div>
            <div role="alert">
                {move || Some(view! { <p class="cw-problem" dir="auto">{problem.get()?}</p> }.into_any())}
            </div>
        </form>
    }
    .into_any()
}
