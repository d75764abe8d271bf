//! The form that starts a run.

use super::form::SchemaForm;
use crate::api::ApiError;
use crate::prelude::*;
use crate::texts::{Text, error_text, t};
use leptos::ev::SubmitEvent;
use serde_json::{Map, Value};
use std::sync::Arc;
use wire::workflow::WorkflowItem;

/// Called with the outcome of a start.
pub(crate) type Started = Arc<dyn Fn(Result<(), ApiError>) + Send + Sync>;

/// Starts a run with an input. It is not a [`Callback`], because the view may be gone when the server answers.
pub(crate) type StartRun = Arc<dyn Fn(Map<String, Value>, Started) + Send + Sync>;

/// The form of a workflow.
#[derive(Clone)]
pub(super) struct StartForm {
    form: SchemaForm,
    description: Option<String>,
    send: StartRun,
}

impl StartForm {
    /// Creates the form. `block` makes its ids unique on the page.
    pub(super) fn new(block: &str, workflow: WorkflowItem, send: StartRun) -> Self {
        let schema = workflow.input.unwrap_or(Value::Null);
        let form = SchemaForm::new(&schema, format!("cw-start-{block}-{}", workflow.id));
        Self { form, description: workflow.description, send }
    }

    /// Creates the form with which a run is started again that had this input.
    pub(super) fn holding(block: &str, workflow: WorkflowItem, input: &Value, send: StartRun) -> Self {
        let schema = workflow.input.unwrap_or(Value::Null);
        let form = SchemaForm::holding(&schema, input, format!("cw-again-{block}"));
        Self { form, description: workflow.description, send }
    }

    /// Moves the focus to its first control.
    pub(super) fn focus(&self) {
        self.form.focus();
    }

    /// Renders it.
    pub(super) fn view(self) -> AnyView {
        let Self { form, description, send } = self;
        let (problem, is_sending) = (RwSignal::new(None::<String>), RwSignal::new(false));
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
            let started = move |outcome: Result<(), ApiError>| {
                // The page may be gone.
                if is_sending.try_set(false).is_some() {
                    return;
                }
                match outcome {
                    Ok(()) => {}
                    Err(error) if form.show_error(&error.0, "/input") => {
                        problem.set(Some(t(Text::EntriesToCheck).to_owned()));
                    }
                    Err(error) => problem.set(Some(error_text(&error.0))),
                }
            };
            send(input, Arc::new(started));
        };
        let description = description.map(|about| view! { <p class="cw-question-context" dir="auto">{about}</p> });
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
}
