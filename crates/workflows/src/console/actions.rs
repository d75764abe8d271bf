//! The buttons of a run's page.

use super::run_page::PATH;
use crate::routes::current;
use crate::service::{self, Action, DecideRequest, REPEATED_EFFECTS, RetryRequest, Viewer};
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use capability::Context;
use leptos::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use web::admin::{Admin, PageError, page};
use web::html::{error_message, link, short_id};
use web::see_other;
use wire::UserError;

/// `POST /admin/workflows/{id}/stop`
pub(super) async fn stop(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let audit = admin.audit_entry("stop_workflow_run", "", json!({ "runId": id }));
    service::stop(&(&context).into(), Viewer::Admin, &id, Some(audit)).await?;
    Ok(see_other(&format!("{PATH}/{id}"), None))
}

/// The form that makes a run continue.
#[derive(Deserialize)]
pub(super) struct RetryForm {
    path: Option<String>,
    current: Option<String>,
    /// Whether steps run again that have had their effect. The page before has named these steps.
    repeat: Option<String>,
}

/// `POST /admin/workflows/{id}/retry`
pub(super) async fn retry(
    admin: Admin,
    State(context): State<Context>,
    Path(id): Path<String>,
    Form(form): Form<RetryForm>,
) -> Result<Response, PageError> {
    let path = form.path.filter(|path| !path.is_empty());
    let request = RetryRequest {
        path,
        use_current_definition: form.current.is_some(),
        repeat_effects: form.repeat.is_some(),
        ..RetryRequest::default()
    };
    let audit = admin.audit_entry("retry_workflow_run", "", json!({ "runId": id, "path": request.path }));
    let asked = request.clone();
    match service::retry(&(&context).into(), Viewer::Admin, &id, request, current(&context), Some(audit)).await {
        Ok(()) => Ok(see_other(&format!("{PATH}/{id}"), None)),
        Err(error) if error.path.as_deref() == Some(REPEATED_EFFECTS) => Ok(repeat_page(&admin, &id, &asked, error)),
        Err(error) => Err(error.into()),
    }
}

/// Asks whether steps are to have their effect once more.
fn repeat_page(admin: &Admin, id: &str, request: &RetryRequest, error: UserError) -> Response {
    let title = format!("Repeat steps of run {}?", short_id(id));
    let hidden = |name: &'static str, value: String| view! { <input type="hidden" name=name value=value /> };
    let content = view! {
        {error_message(Some(error.message))}
        <p class="cw-account-note">
            "An approval that was given before is not asked for again. Look up what these steps did, before you repeat them."
        </p>
        <form method="post" action=format!("{PATH}/{id}/retry")>
            {request.path.clone().map(|path| hidden("path", path))}
            {request.use_current_definition.then(|| hidden("current", "1".to_owned()))}
            {hidden("repeat", "1".to_owned())}
            <button class="cw-button">"Repeat these steps"</button>
        </form>
        <p class="cw-admin-links">{link(format!("{PATH}/{id}"), "Back to the run")}</p>
    };
    page(admin, PATH, StatusCode::UNPROCESSABLE_ENTITY, &title, content)
}

/// The form that decides about a step.
#[derive(Deserialize)]
pub(super) struct DecideForm {
    path: String,
    action: Action,
    #[serde(default)]
    output: String,
}

/// `POST /admin/workflows/{id}/decide`
pub(super) async fn decide(
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

/// Reads JSON from a field; `null` from an empty one.
fn json_field(name: &str, text: &str) -> Result<Value, UserError> {
    match text.trim() {
        "" => Ok(Value::Null),
        text => {
            serde_json::from_str(text).map_err(|error| UserError::invalid(name, format!("This is not JSON: {error}.")))
        }
    }
}
