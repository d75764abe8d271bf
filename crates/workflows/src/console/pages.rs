//! The page of a run, and its buttons.

use super::list::{RunList, cause};
use crate::definition::Ask;
use crate::plan::StepState;
use crate::routes::current;
use crate::service::{self, Action, Answer, DecideRequest, RetryRequest, RunDetail, Viewer};
use crate::store::{StepRow, TaskRow, TaskState};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use web::admin::list::List;
use web::admin::{Admin, PageError, page};
use web::html::Heading::{Number, Text};
use web::html::{dollars, facts, link, number, table, text};
use web::times::minute;
use web::{HttpError, see_other};
use wire::UserError;

const PATH: &str = RunList::PATH;

pub(super) fn routes() -> Router<Context> {
    Router::new()
        .route("/admin/workflows/{id}", get(show))
        .route("/admin/workflows/{id}/stop", post(stop))
        .route("/admin/workflows/{id}/retry", post(retry))
        .route("/admin/workflows/{id}/decide", post(decide))
        .route("/admin/workflow-tasks/{id}", post(answer))
}

/// Returns the end of an id, which differs most.
pub(super) fn short(id: &str) -> String {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id).to_owned()
}

/// `GET /admin/workflows/{id}`
async fn show(admin: Admin, State(context): State<Context>, Path(id): Path<String>) -> Result<Response, PageError> {
    let detail = service::detail(&(&context).into(), Viewer::Admin, &id).await?;
    let title = format!("Run {} of {}", short(&id), detail.run.workflow_id);
    Ok(page(&admin, PATH, StatusCode::OK, &title, run_view(detail)))
}

/// `GET /api/admin/workflows/{id}`
pub(super) async fn detail(
    _: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Json<RunDetail>, HttpError> {
    Ok(Json(service::detail(&(&context).into(), Viewer::Admin, &id).await?))
}

/// `POST /admin/workflows/{id}/stop`
async fn stop(admin: Admin, State(context): State<Context>, Path(id): Path<String>) -> Result<Response, PageError> {
    let audit = admin.audit_entry("stop_workflow_run", "", json!({ "runId": id }));
    service::stop(&(&context).into(), Viewer::Admin, &id, Some(audit)).await?;
    Ok(see_other(&format!("{PATH}/{id}"), None))
}

/// The form that makes a run go on.
#[derive(Deserialize)]
struct RetryForm {
    path: Option<String>,
    current: Option<String>,
}

/// `POST /admin/workflows/{id}/retry`
async fn retry(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(form): Form<RetryForm>,
) -> Result<Response, PageError> {
    let path = form.path.filter(|path| !path.is_empty());
    let request = RetryRequest { path, use_current_definition: form.current.is_some() };
    let audit = admin.audit_entry("retry_workflow_run", "", json!({ "runId": id, "path": request.path }));
    service::retry(&(&context).into(), Viewer::Admin, &id, request, current(&context), Some(audit)).await?;
    Ok(see_other(&format!("{PATH}/{id}"), None))
}

/// The form that decides about a step.
#[derive(Deserialize)]
struct DecideForm {
    path: String,
    action: Action,
    #[serde(default)]
    output: String,
}

/// `POST /admin/workflows/{id}/decide`
async fn decide(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(form): Form<DecideForm>,
) -> Result<Response, PageError> {
    let output = json_field("/output", &form.output)?;
    let audit = admin.audit_entry("decide_workflow_step", "", json!({ "runId": id, "path": form.path }));
    let request = DecideRequest { path: form.path, action: form.action, output };
    service::decide(&(&context).into(), Viewer::Admin, &id, request, Some(audit)).await?;
    Ok(see_other(&format!("{PATH}/{id}"), None))
}

/// The form that answers a question.
#[derive(Deserialize)]
struct AnswerForm {
    approved: Option<bool>,
    choice: Option<String>,
    values: Option<String>,
    comment: Option<String>,
}

/// `POST /admin/workflow-tasks/{id}`
async fn answer(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(form): Form<AnswerForm>,
) -> Result<Response, PageError> {
    let values = match form.values {
        None => None,
        Some(text) => match json_field("/values", &text)? {
            Value::Object(values) => Some(values),
            _ => return Err(UserError::invalid("/values", "The values are a JSON object.").into()),
        },
    };
    let comment = form.comment.filter(|comment| !comment.trim().is_empty());
    let answer = Answer { approved: form.approved, choice: form.choice, values, comment };
    let task = service::answer(&(&context).into(), &admin.caller, &id, answer).await?;
    Ok(see_other(&format!("{PATH}/{}", task.run_id), None))
}

/// Reads JSON from a field; `null` from an empty one.
fn json_field(name: &str, text: &str) -> Result<Value, UserError> {
    match text.trim() {
        "" => Ok(Value::Null),
        text => {
            serde_json::from_str(text).map_err(|error| UserError::invalid(name, format!("This is not JSON: {error}.")))
        }
    }
}

fn run_view(RunDetail { run, steps, tasks }: RunDetail) -> AnyView {
    let (id, is_open) = (run.id.clone(), run.ended_at.is_none());
    let is_child = run.parent_id.is_some();
    let parent = run.parent_id.as_ref().map_or_else(|| text(""), |id| link(format!("{PATH}/{id}"), short(id)));
    let about = facts([
        ("State", text(run.state.name())),
        ("Cause", text(cause(&run))),
        ("Version", text(run.version.clone())),
        ("Step of run", parent),
        ("Started (UTC)", text(minute(run.created_at))),
        ("Ended (UTC)", text(run.ended_at.map(minute).unwrap_or_default())),
        ("Goes on (UTC)", text(run.wakes_at.map(minute).unwrap_or_default())),
        ("Model requests", text(number(run.used.requests as f64))),
        ("Tokens", text(number(run.used.total_tokens as f64))),
        ("Cost", text(dollars(run.used.cost_usd))),
    ]);
    let open = tasks.into_iter().filter(|task| task.state == TaskState::Open).map(task_view).collect_view();
    let unknown = steps.iter().filter(|step| step.state == StepState::Unknown);
    let unknown = unknown.map(|step| decide_view(&id, step)).collect_view();
    let buttons = match (is_open, is_child) {
        (true, _) => view! {
            <form method="post" action=format!("{PATH}/{id}/stop")><button class="cw-button">"Stop"</button></form>
        }
        .into_any(),
        (false, true) => ().into_any(),
        (false, false) => retry_view(&id, &steps),
    };
    view! {
        {about}
        <div class="cw-admin-acts">{buttons}</div>
        {unknown}
        {open}
        <h2>"Steps"</h2>
        {steps_view(steps)}
        <h2>"Input"</h2>
        {json_view(&run.input)}
        <h2>"Output"</h2>
        {json_view(&run.output)}
    }
    .into_any()
}

fn json_view(value: &Value) -> AnyView {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    view! { <pre class="cw-admin-pre" tabindex="0">{text}</pre> }.into_any()
}

fn steps_view(steps: Vec<StepRow>) -> AnyView {
    let line = |step: StepRow| {
        let seconds = step.ended_at.map(|ended| web::html::seconds((ended - step.started_at) as f64));
        let path = match &step.child_id {
            Some(child) => link(format!("{PATH}/{child}"), &step.path),
            None => text(&step.path),
        };
        let details = view! {
            <details>
                <summary>"Show"</summary>
                <p>"Input"</p>
                {json_view(&step.input)}
                <p>"Output"</p>
                {json_view(&step.output)}
            </details>
        };
        let error = step.error.map(|error| error.message).unwrap_or_default();
        [
            path,
            text(step.kind),
            text(step_state(step.state)),
            text(step.attempt.to_string()),
            text(seconds.unwrap_or_default()),
            text(dollars(step.used.cost_usd)),
            text(error),
            details.into_any(),
        ]
    };
    let columns = [
        Text("Step"),
        Text("Type"),
        Text("State"),
        Number("Attempts"),
        Number("Time"),
        Number("Cost"),
        Text("Cause"),
        Text("Values"),
    ];
    table(columns, steps.into_iter().map(line), "No step has started.")
}

fn step_state(state: StepState) -> &'static str {
    match state {
        StepState::Running => "running",
        StepState::Unknown => "outcome unknown",
        StepState::Retrying => "will be tried again",
        StepState::Waiting => "waiting",
        StepState::Done => "done",
        StepState::Failed => "failed",
    }
}

fn retry_view(id: &str, steps: &[StepRow]) -> AnyView {
    let option = |step: &StepRow| view! { <option value=step.path.clone()>{format!("from {}", step.path)}</option> };
    let options = steps.iter().map(option).collect_view();
    view! {
        <form method="post" action=format!("{PATH}/{id}/retry")>
            <label class="cw-admin-field">
                <span>"Run again"</span>
                <span class="cw-select">
                    <select name="path">
                        <option value="">"the failed steps"</option>
                        {options}
                    </select>
                </span>
            </label>
            <label class="cw-admin-check">
                <input type="checkbox" name="current" value="1" />
                "with the definition that the config has now"
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
                "The server stopped while this step ran. Look up what it did, then decide how the run goes on."
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

fn task_view(task: TaskRow) -> AnyView {
    let action = format!("/admin/workflow-tasks/{}", task.id);
    let fields = match task.ask {
        Ask::Approve => view! {
            <button class="cw-button" name="approved" value="true">"Approve"</button>
            <button class="cw-button" name="approved" value="false">"Reject"</button>
        }
        .into_any(),
        Ask::Choose => {
            let button = |choice: String| {
                let value = choice.clone();
                view! { <button class="cw-button" name="choice" value=value>{choice}</button> }
            };
            task.choices.into_iter().map(button).collect_view().into_any()
        }
        Ask::Form => {
            let schema = serde_json::to_string_pretty(&task.form).unwrap_or_default();
            view! {
                <label class="cw-admin-field">
                    <span>"Values as JSON"</span>
                    <textarea name="values" rows="6">"{}"</textarea>
                </label>
                <details><summary>"Their schema"</summary><pre class="cw-admin-pre" tabindex="0">{schema}</pre></details>
                <button class="cw-button">"Send"</button>
            }
            .into_any()
        }
    };
    let details = (!task.details.is_null()).then(|| match task.details.as_str() {
        Some(details) => view! { <p>{details.to_owned()}</p> }.into_any(),
        None => json_view(&task.details),
    });
    view! {
        <section class="cw-account-part" aria-label=task.title.clone()>
            <h2>{task.title.clone()}</h2>
            {details}
            <form method="post" action=action>
                <label class="cw-admin-field">
                    <span>"Comment"</span>
                    <input type="text" name="comment" autocomplete="off" />
                </label>
                {fields}
            </form>
        </section>
    }
    .into_any()
}
