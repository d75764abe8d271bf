//! The page of a run.

use super::list::{RunList, cause};
use super::picture_view::{picture_view, state_view, step_anchor, timeline_view};
use super::task_form::{Entered, task_card};
use super::task_page::may_answer;
use crate::pages;
use crate::plan::StepState;
use crate::service::{self, RunDetail, Viewer};
use crate::store::{RunState, StepRow, TaskState};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use serde_json::Value;
use web::HttpError;
use web::admin::filters::options_field;
use web::admin::list::List;
use web::admin::{Admin, PageError, live_page};
use web::html::{facts, link, number, short_id, text};
use web::times::{minute, now_millis};
use wire::hidden_characters::{TextKind, escaped_json, text_with_code_points};
use wire::workflow::{self, RunView};

pub(super) const PATH: &str = RunList::PATH;

/// `GET /admin/workflows/{id}`
pub(super) async fn show(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let detail = service::detail(&(&context).into(), Viewer::Admin, &id).await?;
    let view = pages::view(&context, &admin.caller, &detail).await?;
    let mut cards = Vec::new();
    for task in detail.tasks.iter().filter(|task| task.state == TaskState::Open) {
        cards.push(task_card(task, &Entered::default(), may_answer(&context, &admin, task).await?));
    }
    let title = format!("Run {} of {}", short_id(&id), detail.run.workflow_id);
    let is_open = detail.run.ended_at.is_none();
    Ok(live_page(&admin, PATH, StatusCode::OK, &title, is_open, run_view(detail, &view, cards)))
}

/// `GET /api/admin/workflows/{id}`
pub(super) async fn detail(
    _: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Json<RunDetail>, HttpError> {
    Ok(Json(service::detail(&(&context).into(), Viewer::Admin, &id).await?))
}

fn run_view(RunDetail { run, steps, .. }: RunDetail, view: &RunView, cards: Vec<AnyView>) -> AnyView {
    let (id, is_open) = (run.id.clone(), run.ended_at.is_none());
    let is_child = run.parent_id.is_some();
    let parent = run.parent_id.as_ref().map_or_else(|| text(""), |id| link(format!("{PATH}/{id}"), short_id(id)));
    let earlier = run.rerun_of.as_ref().map_or_else(|| text(""), |id| link(format!("{PATH}/{id}"), short_id(id)));
    let about = facts([
        ("State", run_state(run.state)),
        ("Cause", text(text_with_code_points(&cause(&run), TextKind::Value))),
        ("Version", text(run.version.clone())),
        ("Step of run", parent),
        ("Repeats run", earlier),
        ("Started (UTC)", text(minute(run.created_at))),
        ("Ended (UTC)", text(run.ended_at.map(minute).unwrap_or_default())),
        ("Goes on (UTC)", text(run.wakes_at.map(minute).unwrap_or_default())),
        ("Model requests", text(number(run.used.requests as f64))),
        ("Tokens", text(number(run.used.total_tokens as f64))),
        ("Cost", text(run.used.cost())),
    ]);
    let unknown = steps.iter().filter(|step| step.state == StepState::Unknown);
    let unknown = unknown.map(|step| decide_view(&id, step)).collect_view();
    let buttons = match (is_open, is_child) {
        (true, _) => view! {
            <form method="post" action=format!("{PATH}/{id}/stop")><button class="cw-button">"Stop the run"</button></form>
        }
        .into_any(),
        (false, true) => ().into_any(),
        (false, false) => retry_view(&id, &steps),
    };
    let again = view.again.as_ref().map(|_| {
        view! { <p class="cw-admin-links">{link(format!("{PATH}/{id}/rerun"), "Run again with changed input")}</p> }
    });
    let picture = view.picture.as_ref().map(picture_view);
    let timeline = timeline_view(&view.steps, run.created_at, now_millis());
    let may_retry = !is_open && !is_child;
    let details = steps.iter().zip(&view.steps).map(|(row, step)| step_view(&id, row, step.state, may_retry));
    let none = steps.is_empty().then(|| view! { <p class="cw-account-note">"No step has started."</p> });
    view! {
        <div class="cw-admin-live" data-live="about">{about}</div>
        <div class="cw-admin-acts" data-live="buttons">{buttons}{again}</div>
        <div class="cw-admin-live" data-live="asks">{unknown}{cards}</div>
        <div class="cw-admin-live" data-live="picture">
            {picture}
            <h2>"Timeline"</h2>
            {timeline}
        </div>
        <h2>"Steps"</h2>
        <div class="cw-admin-live" data-live="steps">{none}{details.collect_view()}</div>
        <h2>"Input"</h2>
        {json_view(&run.input)}
        <h2>"Output"</h2>
        <div data-live="output">{json_view(&run.output)}</div>
    }
    .into_any()
}

fn run_state(state: RunState) -> AnyView {
    let (like, name) = match state {
        RunState::Running => (workflow::StepState::Running, "Running"),
        RunState::Waiting => (workflow::StepState::Waiting, "Waiting"),
        RunState::Done => (workflow::StepState::Done, "Done"),
        RunState::Failed => (workflow::StepState::Failed, "Failed"),
        RunState::Stopped => (workflow::StepState::Skipped, "Stopped"),
    };
    state_view(like, name)
}

pub(super) fn json_view(value: &Value) -> AnyView {
    // Characters that are not seen are escaped: administrators must see exactly what the step reads or has written.
    let text = escaped_json(&serde_json::to_string_pretty(value).unwrap_or_default());
    view! { <pre class="cw-admin-pre" tabindex="0">{text}</pre> }.into_any()
}

/// Renders the details of a step, which the picture links to.
fn step_view(run: &str, step: &StepRow, state: workflow::StepState, may_retry: bool) -> AnyView {
    let seconds = step.ended_at.map(|ended| web::html::seconds((ended - step.started_at) as f64));
    let about = facts([
        ("Type", text(step.kind.clone())),
        ("Started (UTC)", text(minute(step.started_at))),
        ("Time", text(seconds.unwrap_or_default())),
        ("Attempts", text(step.attempt.to_string())),
        ("Model requests", text(number(step.used.requests as f64))),
        ("Tokens", text(number(step.used.total_tokens as f64))),
        ("Tool calls", text(number(step.used.tool_calls as f64))),
        ("Cost", text(step.used.cost())),
    ]);
    let error = step.error.clone().map(|error| {
        let message = text_with_code_points(&error.message, TextKind::Value);
        view! { <p class="cw-account-problem">{format!("{}: {message}", error.kind)}</p> }
    });
    let child = step.child_id.as_ref().map(|child| link(format!("{PATH}/{child}"), "The run of this step"));
    let retry = may_retry.then(|| {
        view! {
            <form method="post" action=format!("{PATH}/{run}/retry")>
                <input type="hidden" name="path" value=step.path.clone() />
                <button class="cw-button">"Retry from here"</button>
            </form>
        }
    });
    let anchor = step_anchor(&step.path);
    // A step that needs attention is open from the start.
    let is_open = matches!(step.state, StepState::Failed | StepState::Unknown);
    view! {
        <details class="cw-admin-step" data-step=step.path.clone() open=is_open>
            <summary>
                <span class="cw-admin-step-name">{step.path.clone()}</span>
                {state_view(state, super::picture_view::state_name(state))}
            </summary>
            // A link into closed details opens them.
            <div class="cw-admin-step-body" id=anchor>
                {error}
                {about}
                {child}
                <h3>"Input"</h3>
                {json_view(&step.input)}
                <h3>"Output"</h3>
                {json_view(&step.output)}
                {retry}
            </div>
        </details>
    }
    .into_any()
}

fn retry_view(id: &str, steps: &[StepRow]) -> AnyView {
    let option = |step: &StepRow| view! { <option value=step.path.clone()>{format!("from {}", step.path)}</option> };
    let options = view! {
        <option value="">"the failed steps"</option>
        {steps.iter().map(option).collect_view()}
    };
    view! {
        <form method="post" action=format!("{PATH}/{id}/retry")>
            {options_field("path", "Run again", options)}
            <label class="cw-admin-check">
                <input type="checkbox" name="current" value="1" />
                "with the definition as it is now"
            </label>
            <button class="cw-button">"Retry"</button>
        </form>
    }
    .into_any()
}

fn decide_view(id: &str, step: &StepRow) -> AnyView {
    let action = format!("{PATH}/{id}/decide");
    let heading = format!("Did {} have its effect?", step.path);
    let label = heading.clone();
    view! {
        <section class="cw-account-part" aria-label=label>
            <h2>{heading}</h2>
            <p class="cw-account-note">
                "The server stopped while this step ran. Check its effects, then decide how the run goes on."
            </p>
            <form method="post" action=action>
                <input type="hidden" name="path" value=step.path.clone() />
                <label class="cw-admin-field">
                    <span>"Output as JSON, if it is skipped"</span>
                    <input type="text" name="output" autocomplete="off" />
                </label>
                <button class="cw-button" name="action" value="runAgain">"Run again"</button>
                <button class="cw-button" name="action" value="skip">"Skip with this output"</button>
                <button class="cw-button" name="action" value="fail">"Fail"</button>
            </form>
        </section>
    }
    .into_any()
}
