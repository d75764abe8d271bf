//! A run with its picture, its timeline and its steps.

use super::api::{change_workflow_run, rerun_workflow, workflow_run};
use super::picture::picture_view;
use super::start::{StartForm, Started};
use super::state_names::{run_state_view, step_state_view};
use super::timeline::timeline_view;
use crate::api::ApiError;
use crate::approval::value_view;
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, fill_count, t};
use crate::ui::browser::{is_visible, unix_time_ms};
use crate::ui::dates::local_time;
use crate::ui::icons::{Icon, Shape};
use crate::ui::numbers::duration;
use leptos::task::spawn_local;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use wire::workflow::{RunAction, RunChange, RunItem, RunView, StepState, StepView, WorkflowItem};

/// How often a run that has not ended is loaded again while the page is visible.
const RELOAD_INTERVAL: Duration = Duration::from_secs(3);

/// Callbacks of the list of runs, for runs that the shown one starts or links to.
#[derive(Clone)]
pub(super) struct OtherRuns {
    /// Shows a run that was started now.
    pub(super) started: Arc<dyn Fn(RunItem) + Send + Sync>,
    /// Shows the run with this id.
    pub(super) show: Arc<dyn Fn(String) + Send + Sync>,
}

/// The run that is shown; a cheap handle.
#[derive(Clone, Copy)]
struct ShownRun {
    id: StoredValue<String>,
    view: RwSignal<Option<RunView>>,
    error: RwSignal<Option<ApiError>>,
    is_changing: RwSignal<bool>,
    /// The path of the step whose details are shown.
    selected: RwSignal<Option<String>>,
}

impl ShownRun {
    fn reload(self) {
        let id = self.id.get_value();
        spawn_local(async move {
            let loaded = workflow_run(id).await;
            // The user may have left the run.
            let Some(known) = self.view.try_get_untracked() else { return };
            match loaded {
                // An unchanged run is not drawn again: the focus would be lost.
                Ok(view) if known.as_ref() == Some(&view) => self.error.set(None),
                Ok(view) => {
                    self.error.set(None);
                    self.view.set(Some(view));
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn change(self, action: RunAction, path: Option<String>) {
        if self.is_changing.get_untracked() {
            return;
        }
        self.is_changing.set(true);
        let id = self.id.get_value();
        spawn_local(async move {
            let changed = change_workflow_run(id, RunChange { action, path }).await;
            if self.is_changing.try_set(false).is_some() {
                return;
            }
            match changed {
                Ok(_) => self.reload(),
                Err(error) => self.error.set(Some(error)),
            }
        });
    }
}

/// A run, which is loaded again until it has ended. It is shown in the browser only.
#[component]
pub(super) fn RunDetails(
    /// The run.
    id: String,
    /// Shows the runs that this one leads to.
    others: OtherRuns,
) -> AnyView {
    let run = ShownRun {
        id: StoredValue::new(id),
        view: RwSignal::new(None),
        error: RwSignal::new(None),
        is_changing: RwSignal::new(false),
        selected: RwSignal::new(None),
    };
    run.reload();
    let is_open = Memo::new(move |_| run.view.with(|view| view.as_ref().is_none_or(|view| !view.run.state.is_end())));
    Effect::new(move |_| {
        let look = move || {
            if is_visible() {
                run.reload();
            }
        };
        if is_open.get()
            && let Ok(timer) = set_interval_with_handle(look, RELOAD_INTERVAL)
        {
            on_cleanup(move || timer.clear());
        }
    });
    let error = move || {
        let error = run.error.get()?;
        Some(view! { <p class="cw-list-error" role="alert">{error_text(&error.0)}</p> }.into_any())
    };
    let content = move || match run.view.get() {
        Some(view) => run_view(run, view, &others),
        None => view! { <p class="cw-tasks-none">{t(Text::Loading)}</p> }.into_any(),
    };
    view! {
        <div class="cw-run">
            {error}
            {content}
        </div>
    }
    .into_any()
}

fn run_view(shown: ShownRun, view: RunView, others: &OtherRuns) -> AnyView {
    let RunView { run, input, output, steps, picture, may_retry, again, rerun_of } = view;
    let again = again.map(|workflow| again_view(&run.id, workflow, &input, others.clone()));
    let earlier = rerun_of.map(|id| {
        let show = others.show.clone();
        view! {
            <button type="button" class="cw-link" on:click=move |_| show(id.clone())>{t(Text::RunEarlier)}</button>
        }
        .into_any()
    });
    let cause = run.cause.clone().map(|cause| view! { <p class="cw-problem" dir="auto">{cause}</p> });
    let stop = (!run.state.is_end()).then(|| action_button(shown, Text::RunStop, RunAction::Stop, None));
    let retry = may_retry.then(|| action_button(shown, Text::RunRetry, RunAction::Retry, None));
    let unknown: Vec<_> = steps
        .iter()
        .filter(|step| step.state == StepState::Unknown)
        .map(|step| decision(shown, step.path.clone()))
        .collect();
    let timeline = timeline_view(&steps, run.created_at, unix_time_ms());
    let is_end = run.state.is_end();
    let picture = picture.map(|picture| picture_view(picture, shown.selected));
    let chosen = move || {
        let path = shown.selected.get()?;
        let step = steps.iter().find(|step| step.path == path)?;
        Some(step_details(shown, step, is_end))
    };
    view! {
        <div class="cw-run-head">
            <h3 dir="auto">{run.workflow}</h3>
            {run_state_view(run.state)}
            <span>{local_time(run.created_at)}</span>
            <span>{run.cost}</span>
            {stop}
            {earlier}
            {retry}
        </div>
        {cause}
        {again}
        {unknown}
        {picture}
        <div role="region" aria-live="polite" aria-label=t(Text::RunSteps)>{chosen}</div>
        <h4>{t(Text::RunTimeline)}</h4>
        {timeline}
        {values(Text::Input, &input)}
        {values(Text::RunOutput, &output)}
    }
    .into_any()
}

/// Renders the form that starts a new run with the input of this one.
fn again_view(run: &str, workflow: WorkflowItem, input: &Value, others: OtherRuns) -> AnyView {
    let id = run.to_owned();
    let send = move |input: Map<String, Value>, started: Started| {
        let (id, others) = (id.clone(), others.clone());
        spawn_local(async move {
            match rerun_workflow(id, input).await {
                Ok(run) => (others.started)(run),
                Err(error) => started(Err(error)),
            }
        });
    };
    view! {
        <details class="cw-run-offer">
            <summary><Icon of=Shape::CHEVRON /><span>{t(Text::RunAgain)}</span></summary>
            <p class="cw-question-context">{t(Text::RunAgainNote)}</p>
            {StartForm::holding(run, workflow, input, Arc::new(send)).view()}
        </details>
    }
    .into_any()
}

fn values(title: Text, value: &Value) -> Option<AnyView> {
    (!value.is_null()).then(|| {
        view! {
            <section class="cw-run-values">
                <h4>{t(title)}</h4>
                {value_view(value)}
            </section>
        }
        .into_any()
    })
}

fn action_button(shown: ShownRun, text: Text, action: RunAction, path: Option<String>) -> AnyView {
    let is_changing = shown.is_changing;
    view! {
        <button
            type="button"
            class="cw-button"
            disabled=move || is_changing.get()
            on:click=move |_| shown.change(action, path.clone())
        >
            {t(text)}
        </button>
    }
    .into_any()
}

/// Renders the choices for a step whose outcome is unknown: fail, skip, run again.
fn decision(shown: ShownRun, path: String) -> AnyView {
    let button = |text: Text, action: RunAction| action_button(shown, text, action, Some(path.clone()));
    view! {
        <section class="cw-approval" aria-label=path.clone()>
            <h4 dir="auto">{path.clone()}</h4>
            <p>{t(Text::RunUnknownNote)}</p>
            <div class="cw-approval-actions">
                {button(Text::RunFailStep, RunAction::Fail)}
                {button(Text::RunSkipStep, RunAction::Skip)}
                {button(Text::RunAgain, RunAction::RunAgain)}
            </div>
        </section>
    }
    .into_any()
}

fn step_details(shown: ShownRun, step: &StepView, is_end: bool) -> AnyView {
    let lasted = step.ended_at.map(|ended| duration((ended - step.started_at).max(0) as u64));
    let attempts = (step.attempts > 1).then(|| fill(Text::RunAttempts, &[&step.attempts.to_string()]));
    let tokens = (step.tokens > 0).then(|| fill_count(Text::Tokens, step.tokens as usize));
    let facts = [lasted, attempts, tokens, Some(step.cost.clone())].into_iter().flatten();
    let facts: Vec<_> = facts.map(|fact| view! { <span>{fact}</span> }.into_any()).collect();
    let error = step.error.clone().map(|error| view! { <p class="cw-problem" dir="auto">{error}</p> });
    let retry = is_end.then(|| action_button(shown, Text::RunRetryFrom, RunAction::Retry, Some(step.path.clone())));
    view! {
        <section class="cw-run-step">
            <div class="cw-run-head">
                <h4 dir="auto">{step.path.clone()}</h4>
                {step_state_view(step.state)}
                {facts}
                {retry}
            </div>
            {error}
            {values(Text::Input, &step.input)}
            {values(Text::RunOutput, &step.output)}
        </section>
    }
    .into_any()
}
